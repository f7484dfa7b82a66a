package sessions_test

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// half opens a session on a product in F16, and waits for its times.
func half(t *testing.T, cfg config.Config) *report.Snapshot {
	n := graph.NewNetwork("half")
	x := n.AddInput("x", numeric.F16, symbolic.Const(2), symbolic.Const(4))
	l, err := n.Add("fc", graph.MatMul, nil, []*graph.Tensor{x, n.AddConst("w", numeric.NewValue(numeric.F16, 4, 4))}, "y")
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	b := cpu.Open(1)
	t.Cleanup(func() { b.Close() })
	s := sessions.Open(&model.Model{Network: n, Path: "half.onnx"}, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Data: halves{}, CalData: halves{}}, cfg)
	t.Cleanup(func() { s.Close() })
	return await(t, s, func(snap *report.Snapshot) bool { return snap.Timings != nil && !snap.Stale.Has(report.PartTimings) })
}

// TestInt8OfF16: a model in F16 is computed in F32 where it is quantised. Where that is switched off, INT8 changes nothing, and the
// report says so, and why, and so does every layer.
func TestInt8OfF16(t *testing.T) {
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1}
	product := func(l report.UnloweredLayer) bool { return l.Layer == "fc" }
	if p := half(t, cfg).Passes; p.Unchanged != "" || slices.ContainsFunc(p.Unlowered, product) {
		t.Errorf("%q, %+v", p.Unchanged, p.Unlowered)
	}
	cfg.Disable = []string{"f16-in-f32"}
	const reason = "the layer computes in f16 already; INT8 is placed on f32"
	snap := half(t, cfg)
	p := snap.Passes
	if p.Unchanged != "int8 changes nothing here: "+reason || len(p.Unlowered) != 1 || p.Unlowered[0].Layer != "fc" || p.Unlowered[0].Reason != reason {
		t.Errorf("%q, %+v", p.Unchanged, p.Unlowered)
	}
	if !slices.ContainsFunc(snap.Log, func(l report.LogLine) bool { return l.Level == "warning" && l.Text == p.Unchanged }) {
		t.Errorf("no warning: %v", snap.Log)
	}
}

// halves are two items of zeros for an F16 input.
type halves struct{}

func (halves) Len() int { return 2 }

func (halves) Inputs(int) (map[string]numeric.Value, error) {
	return map[string]numeric.Value{"x": numeric.NewValue(numeric.F16, 2, 4)}, nil
}

func (halves) Labels(int) []int { return nil }

func (halves) Name() string { return "zeros" }

func (halves) Random() bool { return false }
