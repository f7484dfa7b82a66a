package run_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// rows is a network that takes as many rows of a table as its input has: the end is computed of its shape. With out that is an output,
// too; in a loop it is the number of iterations.
func rows(t *testing.T, out, loop bool) *graph.Network {
	t.Helper()
	d := graph.Define("rows")
	x := d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(4))
	list := func(name string, e ...int64) *graph.Tensor { return d.Constant(name, numeric.Values(numeric.I64, e)) }
	n := d.Named("take").Gather(d.Named("extents").ShapeOf(x), list("first", 0), 0)
	table := make([]float32, 32)
	for i := range table {
		table[i] = float32(i)
	}
	y := d.Named("rows").Layer(graph.Slice, graph.SliceAttrs{}, d.Weights("table", table, 8, 4), list("begin", 0), n, list("axes", 0))
	y = d.Named("sum").Add(x, y)
	if loop {
		trips := d.Named("trips").Reshape(n)
		y = d.Named("loop").Loop(trips, nil, []*graph.Tensor{y}, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
			return nil, []*graph.Tensor{b.Tanh(v[0])}
		})[0]
	}
	d.Output("y", y)
	if out {
		d.Output("n", n)
	}
	made, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestKnown: what follows from extents is computed by no step, unless it is an output or goes into another network, and results are the
// same at every extent, from a file, too.
func TestKnown(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	for _, c := range []struct {
		what      string
		out, loop bool
		steps     []string
	}{
		{"alone", false, false, []string{"rows", "sum"}},
		{"an output", true, false, []string{"take", "rows", "sum"}},
		{"a number of iterations", false, true, []string{"rows", "sum", "trips", "loop"}},
	} {
		n := rows(t, c.out, c.loop)
		p, err := run.NewPlanOf(t.Context(), n, run.Extents{Opt: map[string]int{"n": 3}, Min: map[string]int{"n": 1}, Max: map[string]int{"n": 8}}, b, run.BestGuess)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		var steps []string
		for _, s := range p.Steps {
			steps = append(steps, s.Name)
		}
		if !slices.Equal(steps, c.steps) {
			t.Errorf("%s: steps %q, want %q", c.what, steps, c.steps)
		}
		computed := 0
		for _, s := range p.AllSteps() {
			if !s.Reformat {
				computed++
			}
		}
		if all := len(n.AllLayers()); p.Known() == 0 || computed+p.Known() != all {
			t.Errorf("%s: %d layers are computed and %d known, of %d", c.what, computed, p.Known(), all)
		}
		var file bytes.Buffer
		if _, err := (&run.Engine{Plans: []*run.Plan{p}, Profiles: []run.Profile{run.ProfileOf("", p)}}).WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		e, err := run.ReadEngine(graph.Ops(), file.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		for _, p := range []*run.Plan{p, e.Plans[0]} {
			loaded, err := run.Load(t.Context(), p, b)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			ctx, err := loaded.NewContext()
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []int{3, 8, 1, 5, 3} {
				x := numeric.NewValue(numeric.F32, rows, 4)
				for i := range x.F32() {
					x.F32()[i] = float32(i%5) - 2
				}
				in := map[string]numeric.Value{"x": x}
				want, err := n.Eval(t.Context(), in, nil)
				if err == nil {
					err = ctx.SetShapes(map[string][]int{"x": {rows, 4}})
				}
				if err == nil {
					err = ctx.SetInputs(in)
				}
				if err == nil {
					err = ctx.Execute()
				}
				if err != nil {
					t.Fatalf("%s: %d rows: %v", c.what, rows, err)
				}
				for name, w := range want {
					got, err := ctx.Output(name)
					if err != nil || !slices.Equal(got.Dims, w.Dims) || !near(got, w) {
						t.Errorf("%s: %d rows: %v: %s is %v, want %v", c.what, rows, err, name, got, w)
					}
				}
			}
			ctx.Close()
			loaded.Close()
		}
	}
}

// near reports whether values differ by no more than kernels of one function do.
func near(a, b numeric.Value) bool {
	x, y := a.Float64s(), b.Float64s()
	return slices.EqualFunc(x, y, func(p, q float64) bool { return max(p-q, q-p) <= 1e-5 })
}

// A file whose step reads what no step computes, and what does not follow from extents, is refused.
func TestUnknownOfFile(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), rows(t, false, false), map[string]int{"n": 3}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	last := &p.Steps[len(p.Steps)-1]
	last.In = slices.Clone(last.In)
	last.In[0] = -1
	var file bytes.Buffer
	if _, err := (&run.Engine{Plans: []*run.Plan{p}, Profiles: []run.Profile{run.ProfileOf("", p)}}).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := run.ReadEngine(graph.Ops(), file.Bytes()); err == nil {
		t.Error("the file is read")
	}
}
