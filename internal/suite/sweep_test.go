package suite_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// wrong is the CPU with a fault in the kernels of one tactic.
type wrong struct {
	run.Backend
	tactic string
	launch func(k kernels.Kernel, s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error
}

func (w wrong) Tactics(op *graph.Op) []kernels.Tactic {
	list := slices.Clone(w.Backend.Tactics(op))
	for i, t := range list {
		if t.Name == w.tactic {
			list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) {
				k, err := t.Bind(b)
				return faulty{w, k}, err
			}
		}
	}
	return list
}

type faulty struct {
	w wrong
	kernels.Kernel
}

func (f faulty) Launch(s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error {
	return f.w.launch(f.Kernel, s, in, out, scratch)
}

// sticky is an error after which a context is lost.
type sticky struct{ error }

func (sticky) Sticky() bool { return true }

// few keeps the sweeps short.
func few() []suite.Case {
	var list []suite.Case
	for i, c := range suite.Layers() {
		if c.Layer.Op == graph.Softmax || c.Layer.Op == graph.MaxPool && i%7 == 0 {
			list = append(list, c)
		}
	}
	return list
}

func ignore(int, bool) {}

// rowsOf runs a whole sweep.
func rowsOf(t *testing.T, s *suite.Sweep, repetitions int) []suite.Row {
	t.Helper()
	var rows []suite.Row
	next, err := s.Run(context.Background(), 0, repetitions, ignore, func(r suite.Row) { rows = append(rows, r) })
	if err != nil || next != s.Len() || len(rows) != s.Len() {
		t.Fatalf("%d of %d, %d rows: %v", next, s.Len(), len(rows), err)
	}
	return rows
}

// TestSweep: every pair is right, each tactic runs once before any runs twice, and the order is always the same.
func TestSweep(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	s := suite.NewSweep(b, few(), nil)
	rows := rowsOf(t, s, 2)
	seen := map[string]bool{}
	for i, r := range rows {
		if !r.OK || r.Error != "" || r.US <= 0 || r.Shape == "" {
			t.Errorf("%+v", r)
		}
		if i < s.Tactics() == seen[r.Tactic] {
			t.Errorf("row %d of %d tactics: %s, seen before: %v", i, s.Tactics(), r.Tactic, seen[r.Tactic])
		}
		seen[r.Tactic] = true
	}
	if len(seen) != s.Tactics() || s.Tactics() < 2 {
		t.Errorf("%d tactics ran, of %d", len(seen), s.Tactics())
	}
	left := suite.NewSweep(b, few(), nil)
	left.Skip = map[string]bool{rows[0].Tactic: true}
	for i, r := range rowsOf(t, left, 1) {
		if skipped := r.Error == suite.ErrSkipped.Error(); skipped != (r.Tactic == rows[0].Tactic) || r.OK == skipped {
			t.Errorf("row %d, with %s left out: %+v", i, rows[0].Tactic, r)
		}
	}
	again := rowsOf(t, suite.NewSweep(b, few(), nil), 1)
	for i := range rows {
		if rows[i].Tactic != again[i].Tactic || rows[i].Layer != again[i].Layer {
			t.Fatalf("row %d: %s on %s, then %s on %s", i, rows[i].Tactic, rows[i].Layer, again[i].Tactic, again[i].Layer)
		}
	}
}

// TestSweepFaults: wrong numbers, other bits in a second launch, and a lost context are found.
func TestSweepFaults(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	tactic := b.Tactics(graph.Softmax)[0].Name
	keep := func(_, name string) bool { return name == tactic }
	launches := 0
	right := func(k kernels.Kernel, s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error {
		if err := k.Launch(s, in, out, scratch); err != nil {
			return err
		}
		return s.Wait()
	}
	for name, launch := range map[string]func(k kernels.Kernel, s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error{
		"wrong": func(k kernels.Kernel, s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error {
			err := right(k, s, in, out, scratch)
			out[0].Host[3] ^= 0x40 // an f32's exponent
			return err
		},
		"unstable": func(k kernels.Kernel, s kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error {
			err := right(k, s, in, out, scratch)
			launches++
			out[0].Host[0] ^= byte(launches & 1)
			return err
		},
		"unwritten": func(kernels.Kernel, kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error { return nil },
	} {
		s := suite.NewSweep(wrong{b, tactic, launch}, few(), keep)
		for _, r := range rowsOf(t, s, 1) {
			if r.OK || r.Error == "" {
				t.Errorf("%s: not found: %+v", name, r)
			}
		}
	}
	lost := func(kernels.Kernel, kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error {
		return sticky{errors.New("illegal address")}
	}
	rows := 0
	next, err := suite.NewSweep(wrong{b, tactic, lost}, few(), keep).Run(context.Background(), 3, 1, ignore, func(suite.Row) { rows++ })
	if !errors.Is(err, suite.ErrLost) || next != 4 || rows != 1 {
		t.Errorf("a lost context: next %d, %d rows, %v", next, rows, err)
	}
}

// TestSweepBudget: a sweep ends where its context does, and another goes on from there.
func TestSweepBudget(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	s := suite.NewSweep(b, few(), nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows := 0
	next, err := s.Run(ctx, 0, 1, ignore, func(suite.Row) {
		if rows++; rows == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || next != rows || rows < 5 || rows > 6 {
		t.Fatalf("next %d after %d rows: %v", next, rows, err)
	}
	if next, err = suite.NewSweep(b, few(), nil).Run(context.Background(), next, 1, ignore, func(suite.Row) { rows++ }); err != nil || next != s.Len() || rows != s.Len() {
		t.Errorf("next %d after %d rows of %d: %v", next, rows, s.Len(), err)
	}
}

// TestNames: no two layers have one name, by which a run that was interrupted goes on.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range suite.Layers() {
		if seen[c.Name] {
			t.Errorf("two layers are called %s", c.Name)
		}
		seen[c.Name] = true
	}
}

// TestSmallSweep: each tactic runs once, on no layer that is larger than another that it computes.
func TestSmallSweep(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	all, small := suite.NewSweep(b, few(), nil), suite.NewSmallSweep(b, few(), nil)
	if small.Len() != all.Tactics() || small.Tactics() != all.Tactics() {
		t.Fatalf("%d pairs of %d tactics, want one for each of %d", small.Len(), small.Tactics(), all.Tactics())
	}
	seen := map[string]bool{}
	for _, r := range rowsOf(t, small, 1) {
		if !r.OK || seen[r.Tactic] {
			t.Errorf("%+v, seen before: %v", r, seen[r.Tactic])
		}
		seen[r.Tactic] = true
	}
	for i := range small.Len() {
		if p := small.Pair(i); p.Tactic == "softmax_linear" && !strings.Contains(p.Layer, "1 1 1 1") {
			t.Errorf("softmax runs on %s", p.Layer)
		}
	}
}

// TestTimes: without repetitions a sweep takes times and compares nothing: with a reference of these layers it would not end.
func TestTimes(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	layers := suite.Networks()
	if len(layers) != 2*10+4*23 {
		t.Errorf("%d layers", len(layers))
	}
	s := suite.NewTimeSweep(b, layers, func(layer, _ string) bool {
		return layer == "gemm_i8_1x1000x2048" || layer == "conv_f16_b1_7x7_512_512_k3_s1"
	})
	for _, r := range rowsOf(t, s, 0) {
		if !r.OK || r.US <= 0 || r.MaxError != 0 {
			t.Errorf("%+v", r)
		}
	}
	if s.Len() == 0 {
		t.Error("no tactic computes them")
	}
}

// TestEveryOp: each op has a layer of its own, on which its kernels and its export are tested, but for those that are an
// element-wise program, as the layers of Pointwise are.
func TestEveryOp(t *testing.T) {
	has := map[string]bool{}
	for _, c := range suite.Layers() {
		has[c.Layer.Op.Name] = true
	}
	for _, op := range graph.Ops().All() {
		if op.Class != graph.ClassElementwise && !has[op.Name] {
			t.Errorf("no layer of the suite is a %s: see cases.go", op.Name)
		}
	}
}
