package cuda

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// TestConcatenation looks at where the parts of a concatenation of channels lie: in its place where each but the last
// fills blocks of 16 bytes, else in memory of their own.
func TestConcatenation(t *testing.T) {
	b := simulated(t)
	for _, c := range []struct {
		name  string
		parts [2]int
		slice bool
	}{{"whole blocks", [2]int{16, 32}, true}, {"odd end", [2]int{16, 21}, true}, {"odd middle", [2]int{18, 16}, false}} {
		t.Run(c.name, func(t *testing.T) {
			d := graph.Define("n")
			x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(16), symbolic.Const(16), symbolic.Const(16))
			conv := func(name string, x *graph.Tensor, from, to int) *graph.Tensor {
				w := d.Weights(name, make([]float32, to*from*9), to, from, 3, 3)
				return d.Conv(x, w, nil, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}})
			}
			y := d.Concat(1, conv("w1", x, 16, c.parts[0]), conv("w2", x, 16, c.parts[1]))
			d.Output("y", conv("w3", y, c.parts[0]+c.parts[1], 16))
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Steps {
				if s.Layer.Op != graph.Concat {
					continue
				}
				if got := s.Tactic == run.InMemory; got != c.slice {
					t.Errorf("the tactic is %s", s.Tactic)
				}
				for _, in := range s.In {
					d, whole := p.Slots[in].Desc, p.Slots[s.Out[0]].Desc
					if want := whole.Width(); c.slice && d.Pitch != want {
						t.Errorf("%v has %d elements from pixel to pixel, not %d", d, d.Pitch, want)
					}
				}
			}
		})
	}
}
