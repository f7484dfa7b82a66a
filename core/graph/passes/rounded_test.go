package passes

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
)

// TestRounded makes one layer of a quantisation to 16 bits and back, and leaves what is not one.
func TestRounded(t *testing.T) {
	there := func(n *net, x *graph.Tensor, typ numeric.DataType, r numeric.Range) *graph.Tensor {
		return n.add("Q", graph.Quantize, graph.QuantAttrs{Range: r, Type: typ}, x)
	}
	signed, unsigned := numeric.PerTensor(0.01, 0), numeric.PerTensor(1.0/32768, 30000) // clips from 1.08 on
	testPass(t, recognise.Rounded, []passCase{
		{"i16", func(n *net) *graph.Network {
			return n.output(n.dequantize("DQ", there(n, n.input("x", 2, 3), numeric.I16, signed), signed))
		}},
		{"u16", func(n *net) *graph.Network {
			return n.output(n.dequantize("DQ", there(n, n.input("x", 2, 3), numeric.U16, unsigned), unsigned))
		}},
		{"i8", func(n *net) *graph.Network {
			return n.output(n.dequantize("DQ", there(n, n.input("x", 2, 3), numeric.I8, signed), signed))
		}},
		{"another-scale", func(n *net) *graph.Network {
			return n.output(n.dequantize("DQ", there(n, n.input("x", 2, 3), numeric.I16, signed), numeric.PerTensor(0.02, 0)))
		}},
		{"per-channel", func(n *net) *graph.Network {
			r := numeric.Range{Scale: []float32{0.01, 0.02, 0.03}, Axis: 1}
			return n.output(n.dequantize("DQ", there(n, n.input("x", 2, 3), numeric.I16, r), r))
		}},
		{"read-elsewhere", func(n *net) *graph.Network {
			q := there(n, n.input("x", 2, 3), numeric.I16, signed)
			return n.output(n.dequantize("DQ", q, signed), q)
		}},
	})
}

// TestRoundedExactly has the same bits as the two layers, at halves, beyond the integers and at infinities.
func TestRoundedExactly(t *testing.T) {
	r := numeric.PerTensor(0.3, 7)
	n := newNet(t, "exact")
	x := n.input("x", 9)
	q := n.add("Q", graph.Quantize, graph.QuantAttrs{Range: r, Type: numeric.I16}, x)
	source := n.output(n.dequantize("DQ", q, r))
	made, _ := runPass(t, source, []pass.Pass{recognise.Rounded}, pass.Config{})
	if len(made.Layers) != 1 || made.Layers[0].Op != graph.Pointwise {
		t.Fatal(made)
	}
	v := numeric.NewValue(numeric.F32, 9)
	inf := float32(math.Inf(1))
	copy(v.F32(), []float32{0.15, 0.45, -0.15, 0.1, 9828, 9829, -9835, inf, -inf})
	in := map[string]numeric.Value{"x": v}
	want, got := evalAll(t, source, in), evalAll(t, made, in)
	for i, w := range want[source.Outputs[0].Name] {
		if g := got[source.Outputs[0].Name][i]; g != w {
			t.Errorf("%v becomes %v, want %v", v.F32()[i], g, w)
		}
	}
}
