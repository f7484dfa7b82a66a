package sessions_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// TestAblateOnDemand: a session measures what each rule is worth when that is asked for, and shows it as it comes; what is built
// stays, and another configuration does not measure it anew. So it does with precisions side by side.
func TestAblateOnDemand(t *testing.T) {
	d := graph.Define("small")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(64))
	y := d.Relu(d.MatMul(x, d.Constant("w", numeric.Values(numeric.F32, make([]float32, 64*64), 64, 64))))
	d.Output("y", d.Exp(y))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Network: n, Path: "small"}
	b := cpu.Open(0)
	defer b.Close()
	fp32 := config.Config{Precision: config.FP32, Batch: 1}
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache()}, fp32)
	defer s.Close()
	await(t, s, func(snap *report.Snapshot) bool { return snap.Settled() && snap.Busy == nil })
	s.Ask(report.PartAblation)
	snap := await(t, s, func(snap *report.Snapshot) bool {
		return snap.Ablation != nil && snap.Ablation.Left == 0 && snap.Busy == nil
	})
	a := snap.Ablation
	if len(a.Rows) == 0 || a.Median <= 0 || a.Base.Precision != config.FP32 || snap.Stale != 0 || snap.Timings == nil {
		t.Errorf("%+v; stale %v", a, snap.Stale)
	}
	for _, r := range a.Rows {
		if r.Err != "" || r.Sites == 0 || !r.Same && r.Without <= 0 {
			t.Errorf("%+v", r)
		}
	}
	columnsOnDemand(t, s)
}

// columnsOnDemand has layers measured in every precision. INT8, for which there is no data here, has the reason in its column; what is
// built stays.
func columnsOnDemand(t *testing.T, s *sessions.Session) {
	var configs []config.Config
	for _, p := range []config.Precision{config.FP32, config.FP16, config.INT8} {
		configs = append(configs, config.Config{Precision: p, Calibrator: "minmax", Batch: 1})
	}
	during, later := filepath.Join(t.TempDir(), "during.trtui"), filepath.Join(t.TempDir(), "later.trtui")
	if err := s.Record(during); err != nil {
		t.Fatal(err)
	}
	s.Beside(configs)
	snap := await(t, s, func(snap *report.Snapshot) bool {
		return snap.Columns != nil && !snap.Columns.Live && snap.Busy == nil
	})
	c := snap.Columns
	if len(c.Columns) != 3 || c.Columns[0].Latency.Median <= 0 || c.Columns[2].Err == "" || snap.Stale != 0 || snap.Timings == nil {
		t.Fatalf("%+v; stale %v", c, snap.Stale)
	}
	if len(c.Rows) == 0 || c.Rows[0].Cells[0] == nil || len(c.Rows[0].Cells) != 2 {
		t.Errorf("rows %+v", c.Rows)
	}
	if p := c.Columns[1].Point; p == nil || p.Weights == 0 {
		t.Errorf("of FP16 is known %+v", p)
	}
	if r := c.Columns[1]; r.Timings == nil || r.Memory == nil || r.Timings.Beside == nil || r.Timings.EndToEnd.Median != c.Columns[1].Latency.Median || len(r.Timings.Layers) == 0 {
		t.Errorf("of the rounds of FP16 is known %+v", r)
	}
	if !c.Of(snap.Config, false) || snap.Made()&report.PartColumns == 0 {
		t.Error("they are not of the configuration at hand")
	}
	if err := s.StopRecording(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Record(later), s.StopRecording()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{during, later} {
		besideIsRecorded(t, path, c.Columns[1].Timings)
	}
}

// besideIsRecorded reads a recording in which FP16 was measured beside FP32, which was shown before and after.
func besideIsRecorded(t *testing.T, path string, times *report.Timings) {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.Find("fp16")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := r.At(i)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Config.Precision != config.FP16 || snap.Passes == nil || snap.Memory == nil || snap.Overview == nil || snap.Timings == nil ||
		snap.Timings.EndToEnd.Median != times.EndToEnd.Median || len(snap.Timings.Layers) != len(times.Layers) {
		t.Errorf("%s: of FP16 is recorded %+v", path, snap)
	}
	if last, err := r.At(r.Last()); err != nil || last.Config.Precision != config.FP32 || last.Columns == nil {
		t.Errorf("%s ends with %+v, %v", path, last.Config, err)
	}
	for _, c := range r.Tried() {
		if c.Aside || c.Runs == 0 {
			t.Errorf("%s has of %s %+v", path, c.Name, c)
		}
	}
}
