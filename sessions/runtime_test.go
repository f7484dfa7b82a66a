package sessions_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// A session tells what its engine does at the shapes that it serves: at one where it serves one, else at the ends of the range
// and along its axis, in the memory of the plan.
func TestRuntimeReport(t *testing.T) {
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried}
	s := open(t, cfg)
	of := func(ranged bool) *report.Runtime {
		return await(t, s, func(s *report.Snapshot) bool {
			return s.Stale == 0 && len(s.Config.MaxShapes) > 0 == ranged
		}).Runtime
	}
	r := of(false)
	if len(r.Points) != 1 || len(r.Axes) != 1 || len(r.Axes[0].Curve) != 0 || !r.Axes[0].Batch || r.Axes[0].Max != 1 || r.Points[0].Latency.Count == 0 {
		t.Errorf("of one batch: %+v", r)
	}
	cfg.MinShapes = r.Shapes(func(a *report.RuntimeAxis) int { return a.Min })
	cfg.MaxShapes = r.Shapes(func(*report.RuntimeAxis) int { return 6 })
	if len(cfg.MaxShapes) != 1 || cfg.MaxShapes["image"][0] != 6 {
		t.Fatalf("up to a batch of 6: %v", cfg.MaxShapes)
	}
	s.Set(cfg)
	r = of(true)
	var batches []int
	for _, p := range append(slices.Clone(r.Points), r.Axes[0].Curve...) {
		batches = append(batches, p.Batch)
		if p.Latency.Count == 0 || p.Throughput <= 0 || p.MemoryBytes <= 0 || p.MemoryBytes > r.ArenaBytes+r.IOBytes || p.HeldBytes != r.ArenaBytes+r.IOBytes {
			t.Errorf("%+v of %d bytes", p, r.ArenaBytes+r.IOBytes)
		}
	}
	if want := []int{1, 1, 6, 1, 2, 3, 4, 5, 6}; !slices.Equal(batches, want) {
		t.Errorf("it is measured at %v, want %v", batches, want)
	}
}

// An engine of one shape is measured at that alone, whatever its layers count.
func TestRuntimeOfCounts(t *testing.T) {
	d := graph.Define("counts")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(64))
	d.Output("places", d.NonZero(d.Named("square").ElementWise(elementwise.Mul, x, x)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Random(n.Inputs, nil, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	w := workplace(t, b)
	if w.Data, err = set.Bind(n.Inputs); err != nil {
		t.Fatal(err)
	}
	w.CalData, w.Live = w.Data, time.Millisecond
	s := sessions.Open(&model.Model{Network: n, Path: "counts"}, w, config.Config{Precision: config.FP32, Batch: 1})
	defer s.Close()
	r := await(t, s, func(s *report.Snapshot) bool { return s.Stale == 0 }).Runtime
	if len(r.Points) != 1 {
		t.Errorf("an engine of one shape is measured at %d: %+v", len(r.Points), r.Points)
	}
}

// Every axis with a range has a curve of its own, along which the others are at their best, and a recording has them all. Data that are
// made up are made anew at other best shapes, which the reference and calibration have, too.
func TestCurves(t *testing.T) {
	d := graph.Define("two axes")
	d.Output("y", d.Named("square").ElementWise(elementwise.Mul, d.Input("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Symbol("columns")), d.Input("z", numeric.F32, symbolic.Symbol("rows"), symbolic.Symbol("columns"))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Random(n.Inputs, map[string]int{"columns": 8}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	w := workplace(t, b)
	if w.Data, err = set.Bind(n.Inputs); err != nil {
		t.Fatal(err)
	}
	w.CalData, w.Live = w.Data, time.Millisecond
	at := func(rows, columns int) map[string][]int {
		return map[string][]int{"x": {rows, columns}, "z": {rows, columns}}
	}
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Shapes: at(1, 8), MinShapes: at(1, 8), MaxShapes: at(3, 256), Quantization: untried}
	s := sessions.Open(&model.Model{Network: n, Path: "two axes"}, w, cfg)
	defer s.Close()
	file := filepath.Join(t.TempDir(), "curves.trtui")
	if err := s.Record(file); err != nil {
		t.Fatal(err)
	}
	curves := func(r *report.Runtime) string {
		var extents [][]int
		for _, a := range r.Axes {
			var list []int
			for _, p := range a.Curve {
				if p.Latency.Count == 0 || p.Within == false || p.Best && !a.Batch {
					t.Errorf("%s: %+v", a.Symbol, p)
				}
				list = append(list, p.Shapes["x"]...)
			}
			extents = append(extents, list)
		}
		return fmt.Sprint(r.MadeUp, extents)
	}
	grid := func(r *report.Runtime) string {
		if len(r.Grids) != 1 {
			return "none"
		}
		best, text, g := 0, "", &r.Grids[0]
		for _, a := range g.Axes {
			text += fmt.Sprint(a.Name, a.Values, a.Items, " ")
		}
		for i, p := range g.Points {
			if p.Latency.Count == 0 || !p.Within || !slices.Equal(p.Shapes["x"], p.Values) || g.At(p.Values...) != &g.Points[i] {
				t.Errorf("the grid has %+v", p)
			}
			if p.Best {
				best++
			}
		}
		return fmt.Sprint(text, len(g.Points), " points, best ", best)
	}
	const wantGrid = "rows[1 2 3] true columns[8 16 32 64 128 256] false 18 points, best 6"
	early := false // the shapes that are served are told before they are measured
	settled := func(columns int) *report.Snapshot {
		return await(t, s, func(s *report.Snapshot) bool {
			early = early || s.Runtime != nil && s.Runtime.Contexts == nil
			return s.Settled() && s.Busy == nil && s.Config.Shapes["x"][1] == columns
		})
	}
	want := "true [[1 8 1 16 1 32 1 64 1 128 1 256] [1 8 2 8 3 8]]"
	first := settled(8).Runtime
	if got := curves(first); got != want {
		t.Errorf("the curves are %s, want %s", got, want)
	}
	if got := grid(first); got != wantGrid {
		t.Errorf("the grid is %s, want %s", got, wantGrid)
	}
	cfg.Shapes, cfg.Batch = at(2, 64), 2
	s.Set(cfg)
	snap := settled(64)
	if got, want := curves(snap.Runtime), "true [[2 8 2 16 2 32 2 64 2 128 2 256] [1 64 2 64 3 64]]"; got != want {
		t.Errorf("the curves are %s, want %s", got, want)
	}
	if snap.Err != "" || snap.Accuracy == nil || snap.Accuracy.Outputs[0].SQNR < 20 || snap.Calibration == nil {
		t.Errorf("at other best shapes: %q, accuracy %+v", snap.Err, snap.Accuracy)
	}
	if !early {
		t.Error("the shapes that are served are not told before they are measured")
	}
	if err := s.StopRecording(); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found := false
	for i := range r.Steps() {
		snap, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		found = found || snap.Runtime != nil && curves(snap.Runtime) == want && grid(snap.Runtime) == wantGrid
	}
	if !found {
		t.Error("the recording has no state with both curves and the grid")
	}
}

// TestOtherProfiles: an engine is measured in each of its profiles, at its ends and with several contexts, and of one shape at that.
func TestOtherProfiles(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	at := func(batch int) map[string][]int { return map[string][]int{"image": {batch, 1, 32, 32}} }
	cfg := config.Config{Precision: config.FP32, Batch: 2, Shapes: at(2), MinShapes: at(1), MaxShapes: at(3),
		Profiles: []config.Profile{{Shapes: at(5), MinShapes: at(2), MaxShapes: at(8)}, {Shapes: at(9)}}}
	snap, err := sessions.NewRunner(embedded(t), workplace(t, b), nil).Report(t.Context(), cfg, report.PartRuntime, run.Profiling{Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := snap.Runtime
	if len(r.Others) != 2 {
		t.Fatalf("%d other profiles", len(r.Others))
	}
	for k, want := range [][]int{{1, 2, 3}, {2, 5, 8}, {9}} {
		of := r.In(k)
		var batches []int
		for _, p := range of.Points {
			batches = append(batches, p.Batch)
			if p.Profile != k || p.Latency.Count == 0 || p.HeldBytes != of.ArenaBytes+of.IOBytes {
				t.Errorf("profile %d: %+v of %d bytes", k, p, of.ArenaBytes+of.IOBytes)
			}
		}
		if !slices.Equal(batches, want) || len(of.Contexts) != len(r.Contexts) || of.Contexts[0].Batch != want[len(want)/2] {
			t.Errorf("profile %d at %v, %+v", k, batches, of.Contexts)
		}
	}
	if of := r.In(3); of.Points != nil {
		t.Errorf("a profile that there is not: %+v", of)
	}
}
