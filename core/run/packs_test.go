package run_test

import (
	"runtime"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// product is a matrix product of rows by constants that begin with a number.
func product(t *testing.T, rows int, first float32) *graph.Network {
	d := graph.Define("product")
	w := make([]float32, 1024*1024)
	for i := range w {
		w[i] = first + float32(i%7)
	}
	d.Output("y", d.MatMul(d.Input("x", numeric.F32, symbolic.Const(rows), symbolic.Const(1024)), d.Weights("w", w, 1024, 1024)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Plans of an engine have constants that are the same once, as they are and as kernels have packed them, though each has a
// network of its own; constants that differ stay apart.
func TestPacksOfPlans(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	e := &run.Engine{}
	for i, n := range []*graph.Network{product(t, 64, 1), product(t, 48, 1), product(t, 48, 2)} {
		p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		if e.Add(p); p.Profile != i {
			t.Errorf("plan %d has profile %d", i, p.Profile)
		}
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	taken := func(load func() (*run.Loaded, error)) (*run.Loaded, int64) {
		before := heap()
		l, err := load()
		if err != nil {
			t.Fatal(err)
		}
		return l, heap() - before
	}
	const weights = 4 << 20
	first, bytes := taken(func() (*run.Loaded, error) {
		list, err := run.LoadProfiles(t.Context(), e.Plans[:1], b, nil)
		return list[0], err
	})
	if bytes < weights {
		t.Fatalf("%d bytes are packed in %s; the test needs a tactic that packs", bytes, first.Plan.Steps[0].Tactic)
	}
	for i, own := range []bool{false, true} {
		l, bytes := taken(func() (*run.Loaded, error) { return run.LoadBeside(t.Context(), e.Plans[1+i], first) })
		if own != (bytes >= weights) {
			t.Errorf("plan %d takes %d bytes", 1+i, bytes)
		}
		c, err := l.NewContext()
		if err != nil {
			t.Fatal(err)
		}
		x := numeric.NewValue(numeric.F32, 48, 1024)
		x.F32()[0] = 1
		if err := c.SetInput("x", x); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		if y, err := c.Output("y"); err != nil || y.F32()[0] != float32(1+i) {
			t.Errorf("plan %d: %v, %v", 1+i, y.F32()[0], err)
		}
		c.Close()
	}
	runtime.KeepAlive(e)
}
