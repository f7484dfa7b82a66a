package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestCountedProfile times the steps of an inference that goes on at what was counted, and splits it.
func TestCountedProfile(t *testing.T) {
	d := graph.Define("counted")
	x := d.Input("x", numeric.F32, symbolic.Const(12))
	values := d.Gather(x, d.Squeeze(d.NonZero(d.Relu(x)), 0), 0)
	trips := d.Constant("trips", numeric.Values(numeric.I64, []int64{3}))
	y := d.Named("loop").Loop(trips, nil, []*graph.Tensor{values}, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		return nil, []*graph.Tensor{b.Named("tanh").Tanh(v[0])}
	})
	d.Output("y", y[0])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, b, p)
	in := numeric.Values(numeric.F32, []float32{0, 1, 0, 2, 0, 0, 3, 0, 0, 0, 4, 0}, 12)
	if err := c.SetInput("x", in); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Profile(t.Context(), run.Profiling{Iterations: 3, PerStep: true}, func(s run.Sample) {
			found := 0
			for _, x := range s.Inside {
				if x.Step.Name == "loop/body/tanh" {
					if found++; x.Runs != 3 || x.Time == 0 {
						t.Errorf("%s runs %d times in %v", x.Step.Name, x.Runs, x.Time)
					}
				}
			}
			if found != 1 {
				t.Errorf("%d steps of bodies", found)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ExecuteSplit(); err != nil {
			t.Fatal(err)
		}
		want, err := n.Eval(t.Context(), map[string]numeric.Value{"x": in}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Output("y")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.F32()) != 4 || got.Dims[0] != want["y"].Dims[0] {
			t.Errorf("%v, want %v", got.Dims, want["y"].Dims)
		}
		if err := c.SetShapes(map[string][]int{"x": {12}}); err != nil {
			t.Fatal(err)
		}
		if dims := c.Dims("y"); dims[0] != 12 {
			t.Errorf("there is room for %v", dims)
		}
	}
}

// TestCountedInside: a layer inside which one counts is computed by its definition.
func TestCountedInside(t *testing.T) {
	d := graph.Define("inside")
	x := d.Input("x", numeric.I64, symbolic.Const(4))
	y := d.Named("loop").Loop(d.Constant("trips", numeric.Values(numeric.I64, []int64{2}, 1)), nil, []*graph.Tensor{x}, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		return nil, []*graph.Tensor{b.Add(v[0], b.Reduce(graph.ReduceSum, b.Named("places").NonZero(v[0]), false, 0, 1))}
	})
	d.Output("y", y[0])
	c := rereadContext(t, d)
	for _, m := range []map[string][]int64{{"x": {0, 1, 0, 2}, "y": {10, 11, 10, 12}}, {"x": {0, 0, 0, 0}, "y": {0, 0, 0, 0}}, {"x": {1, 1, 1, 1}, "y": {13, 13, 13, 13}}} {
		checkControl(t, c, map[string]numeric.Value{"x": numeric.Values(numeric.I64, m["x"], 4)}, map[string]numeric.Value{"y": numeric.Values(numeric.I64, m["y"], 4)})
	}
}

// TestCountsThatAgree: what is selected by one mask is scattered by another one, counted later, with as many places. Until that is
// counted it is as large as it can be, and does not fit what was selected.
func TestCountsThatAgree(t *testing.T) {
	d := graph.Define("experts")
	dims := []symbolic.Dim{symbolic.Const(2), symbolic.Const(3)}
	x, from, to := d.Input("x", numeric.F32, append(dims, symbolic.Const(2))...), d.Input("from", numeric.I64, dims...), d.Input("to", numeric.I64, dims...)
	y := x
	for _, expert := range []int64{1, 2} { // which multiplies what is its own by 10 or 20
		number := d.Constant(fmt.Sprintf("expert%d", expert), numeric.Values(numeric.I64, []int64{expert}))
		factor := d.Constant(fmt.Sprintf("factor%d", expert), numeric.Values(numeric.F32, []float32{float32(10 * expert)}))
		rows := d.GatherND(x, d.Transpose(d.NonZero(d.Equal(from, number)), 1, 0), 0)
		elements := d.NonZero(d.Expand(d.Unsqueeze(d.Equal(to, number), 2), 2, 3, 2))
		y = d.ScatterND(y, d.Transpose(elements, 1, 0), d.Reshape(d.Mul(rows, factor), -1), graph.ScatterAttrs{})
	}
	d.Output("y", y)
	c := rereadContext(t, d)
	in := numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 3, 2)
	for range 2 { // the second time at what is bound
		for _, experts := range [][]int64{{0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}, {2, 1, 0, 0, 1, 2}, {0, 0, 0, 2, 0, 0}} {
			want := numeric.NewValue(numeric.F32, 2, 3, 2)
			for i, v := range in.F32() {
				want.F32()[i] = v * float32(max(1, 10*experts[i/2]))
			}
			mask := numeric.Values(numeric.I64, experts, 2, 3)
			checkControl(t, c, map[string]numeric.Value{"x": in, "from": mask, "to": mask}, map[string]numeric.Value{"y": want})
		}
	}
	for name, v := range map[string]numeric.Value{"x": in, "from": numeric.Values(numeric.I64, []int64{1, 1, 0, 0, 0, 0}, 2, 3), "to": numeric.Values(numeric.I64, []int64{1, 0, 0, 0, 0, 0}, 2, 3)} {
		if err := c.SetInput(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "ScatterND): updates") {
		t.Errorf("four elements to two places: %v", err)
	}
}

// rereadContext returns a context of what was defined, on the CPU, as it comes back from an engine's file.
func rereadContext(t *testing.T, d *graph.Definition) *run.ExecutionContext {
	t.Helper()
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	t.Cleanup(func() { b.Close() })
	p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	return contextOf(t, b, reread(t, p))
}
