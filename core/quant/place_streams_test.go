package quant

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// streamNet is two products each of which adds what it was given, and a third, with normalisations behind each sum or none.
func streamNet(t *testing.T, normalized bool) *graph.Network {
	b := newNet(t, "stream")
	x := b.n.AddInput("x", numeric.F32, symbolic.Shape(4, 16)...)
	norm := func(name string, x *graph.Tensor) *graph.Tensor {
		if !normalized {
			return b.add(name, graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, x)
		}
		gamma := make([]float32, 16)
		for c := range gamma {
			if gamma[c] = 1; c%5 == 3 {
				gamma[c] = 60
			}
		}
		scale := b.n.AddConst(name+"_gamma", numeric.Values(numeric.F32, gamma, 16))
		return b.add(name, graph.LayerNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, x, scale)
	}
	for _, name := range []string{"1", "2"} {
		x = norm("norm"+name, x)
		y := b.add("product"+name, graph.MatMul, nil, x, b.random("w"+name, 16, 16))
		y.Producer.Fuse(elementwise.Binary(elementwise.Add), 0, x)
		x = y
	}
	x = norm("norm3", x)
	b.n.MarkOutput(b.add("head", graph.MatMul, nil, x, b.random("w3", 16, 16)))
	if err := b.n.Verify(); err != nil {
		t.Fatal(err)
	}
	return b.n
}

// TestStreams: what a product adds stays in floating point where the sum is normalised, though the product itself reads the same in 8
// bits; elsewhere with KeepResiduals alone.
func TestStreams(t *testing.T) {
	c := MinMax{}
	for _, normalized := range []bool{false, true} {
		for _, keep := range []bool{false, true} {
			n, decisions := place(t, streamNet(t, normalized), c, Policy{KeepResiduals: keep})
			for _, d := range decisions {
				if l := d.Layer; (l == "product1" || l == "product2" || l == "head") != (d.Precision == numeric.I8) && normalized {
					t.Errorf("%s is in %s: %s", d.Layer, d.Precision, d.Reason)
				}
			}
			for _, l := range n.Layers {
				if l.Name != "product1" && l.Name != "product2" {
					continue
				}
				first, added := l.Inputs[0].Producer, l.EpilogueInputs()[0].Producer
				if first.Op != graph.Dequantize || (added.Op == graph.Dequantize) == (normalized || keep) {
					t.Errorf("normalised %v, residuals kept %v: %s reads what %s gives, and adds what %s gives", normalized, keep, l.Name, first, added)
				}
			}
		}
	}
}
