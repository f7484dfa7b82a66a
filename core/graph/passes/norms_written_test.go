package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/passes/recognise"
)

// spelled are ways to write a normalisation down.
type spelled struct {
	product, reciprocal, power, twice, plain bool // x*x, 1/sqrt, ^-0.5, the deviation twice, without scale and bias
	axes                                     []int
}

func (n *net) mean(name string, x *graph.Tensor, axes ...int) *graph.Tensor {
	return n.add(name, graph.ReduceMean, graph.ReduceAttrs{Axes: axes, KeepDims: true}, x)
}

func (n *net) spelledNorm(x *graph.Tensor, centred bool, s spelled) *graph.Tensor {
	if s.axes == nil {
		s.axes = []int{-1}
	}
	d, again := x, x
	if centred {
		d = n.binary("Sub", elementwise.Sub, x, n.mean("Mean", x, s.axes...))
		if again = d; s.twice {
			again = n.binary("Sub_2", elementwise.Sub, x, n.mean("Mean_2", x, s.axes...))
		}
	}
	var square *graph.Tensor
	if s.product {
		square = n.binary("Square", elementwise.Mul, d, d)
	} else {
		square = n.binary("Pow", elementwise.Pow, d, n.scalar(2))
	}
	v := n.binary("Epsilon", elementwise.Add, n.mean("Variance", square, s.axes...), n.scalar(1e-5))
	var y *graph.Tensor
	switch {
	case s.power:
		y = n.binary("Norm", elementwise.Mul, again, n.binary("Root", elementwise.Pow, v, n.scalar(-0.5)))
	case s.reciprocal:
		y = n.binary("Norm", elementwise.Mul, n.binary("Inverse", elementwise.Div, n.scalar(1), n.elt("Sqrt", elementwise.Sqrt, nil, v)), again)
	default:
		y = n.binary("Norm", elementwise.Div, again, n.elt("Sqrt", elementwise.Sqrt, nil, v))
	}
	if s.plain {
		return y
	}
	y = n.binary("Scale", elementwise.Mul, y, n.weights("scale", 0.5, 2, 6))
	if centred {
		y = n.binary("Bias", elementwise.Add, n.weights("bias", -1, 1, 1, 6), y)
	}
	return y
}

func TestNormsAsWritten(t *testing.T) {
	of := func(centred bool, s spelled) func(n *net) *graph.Network {
		return func(n *net) *graph.Network { return n.output(n.spelledNorm(n.input("x", 2, 3, 6), centred, s)) }
	}
	testPass(t, recognise.Norms, []passCase{
		{"layer-norm", of(true, spelled{})},
		{"layer-norm-product", of(true, spelled{product: true})},
		{"layer-norm-reciprocal", of(true, spelled{reciprocal: true})},
		{"layer-norm-power", of(true, spelled{power: true, twice: true})},
		{"layer-norm-plain", of(true, spelled{plain: true})},
		{"layer-norm-two-axes", of(true, spelled{plain: true, axes: []int{1, 2}})},
		{"rms-norm", of(false, spelled{})},
		{"rms-norm-reciprocal", of(false, spelled{reciprocal: true, product: true})},
		{"first-axis", of(true, spelled{plain: true, axes: []int{0}})},
		{"other-deviation", func(n *net) *graph.Network { // over another axis
			x := n.input("x", 4, 4)
			d := n.binary("Sub", elementwise.Sub, x, n.mean("Mean", x, 0))
			v := n.binary("Epsilon", elementwise.Add, n.mean("Variance", n.binary("Square", elementwise.Mul, d, d), -1), n.scalar(1e-5))
			return n.output(n.binary("Norm", elementwise.Div, n.binary("Sub_2", elementwise.Sub, x, n.mean("Mean_2", x, -1)), n.elt("Sqrt", elementwise.Sqrt, nil, v)))
		}},
		{"variance-is-used", func(n *net) *graph.Network {
			y := n.spelledNorm(n.input("x", 2, 3, 6), true, spelled{})
			return n.output(y, n.elt("Exp", elementwise.Exp, nil, n.Layer("Variance").Outputs[0]))
		}},
	})
}
