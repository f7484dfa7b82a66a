package cpu_test

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestParts checks that the parts of one wide product are read where they lie by an attention, and copied where a softmax
// is to read them or a shape that only dense tensors have.
func TestParts(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	for _, c := range []struct {
		name     string
		read     func(d *graph.Definition, p []*graph.Tensor) *graph.Tensor
		inMemory bool
	}{
		{"attention", func(d *graph.Definition, p []*graph.Tensor) *graph.Tensor {
			return d.Attention(p[0], p[1], p[2], nil, graph.AttentionAttrs{Heads: 4, KVHeads: 2})
		}, true},
		{"heads", func(d *graph.Definition, p []*graph.Tensor) *graph.Tensor {
			return d.Attention(d.Reshape(p[0], 2, 5, 32), p[1], p[2], nil, graph.AttentionAttrs{Heads: 4, KVHeads: 2})
		}, false},
		{"softmax", func(d *graph.Definition, p []*graph.Tensor) *graph.Tensor {
			return d.Attention(d.Softmax(p[0], -1), p[1], p[2], nil, graph.AttentionAttrs{Heads: 4, KVHeads: 2})
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := graph.Define("parts")
			x := d.Input("x", numeric.F32, symbolic.Shape(2, 5, 12)...)
			w := make([]float32, 12*72)
			for i := range w {
				w[i] = float32(i*i%17)/17 - .5
			}
			y := d.MatMul(x, d.Weights("w", w, 12, 72))
			d.Output("y", c.read(d, d.Split(y, 2, 32, 16, 24)))
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			p, err := build.Plan(t.Context(), n, nil, b, build.PlanConfig{Untimed: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Steps {
				if s.Layer.Op == graph.Split && (s.Tactic == run.InMemory) != c.inMemory {
					t.Errorf("the split is %s", s.Tactic)
				}
			}
			checkEngine(t, b, p, 1e-5)
			var file bytes.Buffer
			e := run.Engine{Profiles: []run.Profile{{Name: "p", Shapes: map[string][]int{"x": {2, 5, 12}}}}, Plans: []*run.Plan{p}}
			if _, err := e.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			read, err := run.ReadEngine(graph.Ops(), file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			checkEngine(t, b, read.Plans[0], 1e-5)
		})
	}
}

// TestPartsOfItems checks that parts along the channels, which are read where they lie, are split and joined along the batch.
func TestPartsOfItems(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	for _, c := range []struct {
		name string
		read func(d *graph.Definition, p *graph.Tensor) *graph.Tensor
	}{
		{"split", func(d *graph.Definition, p *graph.Tensor) *graph.Tensor { return d.Split(p, 0, 1, 2)[1] }},
		{"whole", func(d *graph.Definition, p *graph.Tensor) *graph.Tensor { return d.Split(p, 0, 3)[0] }},
		{"concat", func(d *graph.Definition, p *graph.Tensor) *graph.Tensor {
			return d.Concat(0, p, d.Weights("c", []float32{7, 8, 9, 10, 11, 12, 13, 14}, 1, 2, 2, 2), p)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := graph.Define("items")
			x := d.Input("x", numeric.F32, symbolic.Shape(3, 5, 2, 2)...)
			part := d.Slice(x, graph.SliceAttrs{Starts: []int{2}, Ends: []int{4}, Axes: []int{1}})
			d.Output("y", c.read(d, part))
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
			if err != nil {
				t.Fatal(err)
			}
			if s := p.Steps[0]; s.Tactic != run.InMemory {
				t.Errorf("the slice is %s", s.Tactic)
			}
			checkEngine(t, b, p, 0)
		})
	}
}
