package build_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// detector selects boxes and gathers them with their scores; with rows in front of them, and sums over them.
func detector(t *testing.T) *graph.Network {
	d := graph.Define("detector")
	batch := symbolic.Symbol("batch")
	boxes := d.Input("boxes", numeric.F32, batch, symbolic.Const(20), symbolic.Const(4))
	scores := d.Input("scores", numeric.F32, batch, symbolic.Const(3), symbolic.Const(20))
	one := func(name string, v float32) *graph.Tensor {
		return d.Constant(name, numeric.Values(numeric.F32, []float32{v}, 1))
	}
	most := d.Constant("most", numeric.Values(numeric.I64, []int64{5}, 1))
	abs := d.Abs(boxes)
	first := d.Reshape(d.Reduce(graph.ReduceMean, boxes, false, 0, 1), 1, 4)
	early := d.Sigmoid(d.Reduce(graph.ReduceMean, boxes, true, 0)) // [1,20,4], before anything is counted
	selected := d.Named("nms").NonMaxSuppression(abs, d.Sigmoid(scores), most, one("overlap", 0.4), one("score", 0.6), graph.NonMaxSuppressionAttrs{})
	items := d.Slice(selected, graph.SliceAttrs{Starts: []int{0}, Ends: []int{3}, Axes: []int{1}, Steps: []int{2}})
	rows := d.Relu(d.GatherND(abs, items, 0)) // [count,4]
	score := d.Unsqueeze(d.GatherND(scores, selected, 0), 1)
	d.Output("selected", selected)
	d.Output("rows", d.Concat(0, rows, first, rows))
	d.Output("joined", d.Transpose(d.Concat(1, d.Neg(d.Unsqueeze(d.GatherND(boxes, items, 0), 0)), early), 2, 1, 0))
	d.Output("scored", d.Concat(1, rows, score))
	d.Output("sum", d.Reduce(graph.ReduceSum, rows, false, 0))
	d.Output("exp", d.Activation(elementwise.Exp, d.Add(d.MatMul(rows, d.Weights("w", []float32{1, 0, 0, 1, 1, 1, -1, 2}, 4, 2)), one("shift", 0.5))))
	kinds, _, _, often := d.Named("kinds").Unique(selected, graph.UniqueAttrs{Sorted: true}) // slices along axis 0
	labels, first, _, _ := d.Named("labels").Unique(d.Slice(selected, graph.SliceAttrs{Starts: []int{1}, Ends: []int{2}, Axes: []int{1}, Steps: []int{1}}), graph.UniqueAttrs{Flat: true})
	d.Output("how_often", d.Add(kinds, d.Unsqueeze(often, 1)))
	d.Output("where_first", d.Add(labels, first))
	d.Output("large", d.Transpose(d.Named("places").NonZero(d.Greater(d.Reduce(graph.ReduceSum, rows, false, 1), one("limit", 3))), 1, 0))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCounted builds an engine whose shapes depend on what is selected, and compares it with the network's definition on data of
// which much, little or nothing is.
func TestCounted(t *testing.T) {
	n := detector(t)
	b := cpu.Open(2)
	defer b.Close()
	shapes := map[string]int{"batch": 2}
	o, err := build.Optimize(t.Context(), n, pass.Config{Shapes: shapes, Supports: build.Target(b, shapes)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: numeric.F32, Pass: pass.Config{Shapes: shapes}}, run.Supports(b, shapes))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []build.PlanConfig{{Untimed: true}, {}, {Untimed: true, Min: map[string]int{"batch": 1}, Max: map[string]int{"batch": 3}}} {
		p, err := build.Plan(t.Context(), l.Network, shapes, b, c)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := (&run.Engine{Profiles: []run.Profile{{Name: "one", Shapes: map[string][]int{"boxes": {2, 20, 4}, "scores": {2, 3, 20}}}}, Plans: []*run.Plan{p}}).WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		e, err := run.ReadEngine(graph.Ops(), file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		checkCounted(t, n, e.Plans[0], b, c.Max != nil)
	}
}

func checkCounted(t *testing.T, n *graph.Network, p *run.Plan, b run.Backend, ranged bool) {
	loaded, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	c, err := loaded.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(3, 3))
	counts := map[int]bool{}
	for round := range 60 {
		batch := 2
		if ranged {
			batch = 1 + round%3
		}
		in := map[string]numeric.Value{"boxes": numeric.NewValue(numeric.F32, batch, 20, 4), "scores": numeric.NewValue(numeric.F32, batch, 3, 20)}
		for _, v := range in {
			for i := range v.F32() {
				v.F32()[i] = float32(rnd.NormFloat64()) + float32(round%7-4)
			}
		}
		if ranged {
			if err := c.SetShapes(map[string][]int{"boxes": in["boxes"].Dims, "scores": in["scores"].Dims}); err != nil {
				t.Fatal(err)
			}
		}
		want, err := n.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetInputs(in); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		got, err := c.Outputs()
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			g := got[name]
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*(1+math.Abs(b)) }
			if !slices.Equal(g.Dims, w.Dims) || !slices.EqualFunc(g.Float64s(), w.Float64s(), near) {
				t.Fatalf("round %d: %s is %v %v, want %v %v", round, name, g.Dims, g.Float64s(), w.Dims, w.Float64s())
			}
		}
		counts[want["selected"].Dims[0]] = true
	}
	if len(counts) < 10 || !counts[0] {
		t.Errorf("counts %v, want many and 0", counts)
	}
}
