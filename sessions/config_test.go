package sessions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/testdata"
)

// TestLayerPrecisions runs the embedded model in each precision with layers set to every other one: those layers and no
// others have it, and the result is as close to FP32 as the coarsest of the precisions lets it be.
func TestLayerPrecisions(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := sessions.ParseModel(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	r := sessions.NewRunner(m, sessions.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 4}, CalData: pictures{testdata.CalibrationImages(), 8},
	}, nil)
	types := map[sessions.Precision]string{sessions.FP32: "f32", sessions.FP16: "f16", sessions.INT8: "i8"}
	for whole := range types {
		for set := range types {
			cfg := sessions.Config{Precision: whole, Calibrator: "minmax", Batch: 1, LayerPrecisions: []string{"block2/*:" + string(set), "block3/first/*:" + string(set)}}
			snap, err := r.Report(t.Context(), cfg, sessions.PartPasses|sessions.PartAccuracy, run.Profiling{Iterations: 1})
			if err != nil {
				t.Fatalf("%s with layers in %s: %v", whole, set, err)
			}
			for _, l := range snap.Passes.Engine {
				if l.Op != "Conv" {
					continue
				}
				want := types[whole]
				if strings.Contains(l.Name, "block2/") || strings.Contains(l.Name, "block3/first/") {
					want = types[set]
				}
				if !slices.ContainsFunc(snap.Accuracy.Layers, func(e sessions.LayerError) bool { return e.Name == l.Name && e.Precision == want }) {
					t.Errorf("%s with layers in %s: there is no error of %s", whole, set, l.Name)
				}
				if l.Precision != want {
					t.Errorf("%s with layers in %s: %s is %s, want %s", whole, set, l.Name, l.Precision, want)
				}
			}
			least := 15.0
			if whole != sessions.INT8 && set != sessions.INT8 {
				least = 55
			}
			if got := snap.Accuracy.Outputs[0].SQNR; got < least {
				t.Errorf("%s with layers in %s: %.1f dB, want at least %.0f", whole, set, got, least)
			}
			if quantizes := whole == sessions.INT8 || set == sessions.INT8; cfg.Quantizes() != quantizes || (snap.Accuracy.Calibrator != "") != quantizes {
				t.Errorf("%s with layers in %s: quantizes %v with calibrator %q", whole, set, cfg.Quantizes(), snap.Accuracy.Calibrator)
			}
		}
	}
}

// TestSetLayerPrecision edits the list of rules as the workbench does.
func TestSetLayerPrecision(t *testing.T) {
	var c sessions.Config
	for _, step := range []struct {
		source string
		p      sessions.Precision
		want   []string
	}{
		{"a/Conv", sessions.INT8, []string{"a/Conv:int8"}},
		{"b,c:d", sessions.FP16, []string{"a/Conv:int8", "b*c:d:fp16"}},
		{"a/Conv", sessions.FP32, []string{"b*c:d:fp16", "a/Conv:fp32"}},
		{"b,c:d", "", []string{"a/Conv:fp32"}},
		{"none", "", []string{"a/Conv:fp32"}},
		{"a/Conv", "", nil},
	} {
		c.SetLayerPrecision(step.source, step.p)
		if !slices.Equal(c.LayerPrecisions, step.want) {
			t.Errorf("%s to %q: %q, want %q", step.source, step.p, c.LayerPrecisions, step.want)
		}
	}
	c.LayerPrecisions = []string{"*:fp16,head/*:fp32", "x:int8"}
	for _, q := range []struct {
		name string
		from []string
		p    sessions.Precision
		rule string
	}{
		{"y", nil, sessions.FP16, "*:fp16"},
		{"head/y", nil, sessions.FP32, "head/*:fp32"},
		{"fused", []string{"head/y", "x"}, sessions.INT8, "x:int8"},
	} {
		if p, rule := c.LayerPrecision(q.name, q.from); p != q.p || rule != q.rule {
			t.Errorf("%s is %s by %s, want %s by %s", q.name, p, rule, q.p, q.rule)
		}
	}
}
