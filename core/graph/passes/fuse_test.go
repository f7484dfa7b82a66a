package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/passes/fuse"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestFuseEpilogue(t *testing.T) {
	testPass(t, fuse.Epilogue, []passCase{
		{"chain", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 2, 2, 4, 4), 3, 3, 1, 1, true)
			a := n.elt("Clip", elementwise.Clamp, []float32{0, 6}, n.relu("Relu", c))
			return n.output(n.binary("Mul", elementwise.Mul, n.weights("s", -1, 1, 3, 1, 1), a))
		}},
		{"gate", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 2, 2, 4, 4), 3, 1, 0, 1, false)
			return n.output(n.binary("Mul", elementwise.Mul, n.input("gate", 2, 3, 1, 1), c))
		}},
		{"twice-the-result", func(n *net) *graph.Network {
			g := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 3))
			return n.output(n.binary("Mul", elementwise.Mul, g, g))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 1, 2, 4, 4), 3, 1, 0, 1, false)
			return n.output(n.relu("Relu", c), n.elt("Exp", elementwise.Exp, nil, c))
		}},
		{"network-output", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 1, 2, 4, 4), 3, 1, 0, 1, false)
			return n.output(c, n.relu("Relu", c))
		}},
	})
}

func TestFuseResidual(t *testing.T) {
	testPass(t, fuse.Residual, []passCase{
		{"block", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4, 4)
			c := n.conv("Conv_2", n.relu("Relu_1", n.conv("Conv_1", x, 3, 3, 1, 1, false)), 3, 3, 1, 1, false)
			return n.output(n.relu("Relu_2", n.binary("Add", elementwise.Add, x, c)))
		}},
		{"two-convolutions", func(n *net) *graph.Network { // the later one takes the addition
			x := n.input("x", 2, 2, 4, 4)
			a, b := n.conv("Conv_1", x, 3, 3, 1, 1, false), n.conv("Conv_2", x, 3, 1, 0, 1, false)
			return n.output(n.relu("Relu", n.binary("Add", elementwise.Add, a, b)))
		}},
		{"later-is-taken", func(n *net) *graph.Network { // the earlier one takes it and moves behind the other operand
			x := n.input("x", 2, 2, 4, 4)
			a, b := n.conv("Conv_1", x, 3, 3, 1, 1, false), n.conv("Conv_2", x, 3, 1, 0, 1, false)
			return n.output(b, n.binary("Add", elementwise.Add, a, n.relu("Relu", b)))
		}},
		{"both-used", func(n *net) *graph.Network {
			x := n.input("x", 2, 2, 4, 4)
			a, b := n.conv("Conv_1", x, 3, 3, 1, 1, false), n.conv("Conv_2", x, 3, 1, 0, 1, false)
			return n.output(a, b, n.binary("Add", elementwise.Add, a, b))
		}},
	})
}

func TestFusePointwise(t *testing.T) {
	testPass(t, fuse.Pointwise, []passCase{
		{"diamond", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			a := n.relu("Relu", x)
			return n.output(n.binary("Add", elementwise.Add, n.elt("Exp", elementwise.Exp, nil, a), n.elt("Neg", elementwise.Neg, nil, a)))
		}},
		{"gate", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4, 4)
			return n.output(n.binary("Mul", elementwise.Mul, x, n.elt("Sigmoid", elementwise.Sigmoid, nil, n.input("g", 2, 3, 1, 1))))
		}},
		{"two-consumers", func(n *net) *graph.Network {
			a := n.relu("Relu", n.input("x", 2, 3))
			return n.output(n.elt("Exp", elementwise.Exp, nil, a), n.elt("Neg", elementwise.Neg, nil, a))
		}},
		{"integers", func(n *net) *graph.Network { // a bucket of distances: values wrap around to their own type, and one is bool
			x, y := n.AddInput("x", numeric.I8, symbolic.Shape(4, 1)...), n.AddInput("y", numeric.I8, symbolic.Shape(1, 5)...)
			four := n.AddConst("four", numeric.Values(numeric.I8, []int8{4}))
			d := n.binary("Mul", elementwise.Mul, n.binary("Sub", elementwise.Sub, x, y), four)
			near := n.binary("Less", elementwise.Less, d, n.AddConst("near", numeric.Values(numeric.I8, []int8{9})))
			return n.output(n.elt("Where", elementwise.Select, nil, near, n.elt("Neg", elementwise.Neg, nil, d), four))
		}},
		{"extents", func(n *net) *graph.Network { // integers that extents are made of are known
			dims := n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 1}, n.AddInput("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(2)))
			two := n.ints(2)
			return n.output(n.binary("Mul", elementwise.Mul, n.binary("Add", elementwise.Add, dims, two), two))
		}},
	})
	testPass(t, fuse.Pointwise, []passCase{
		{"alone", func(n *net) *graph.Network { // each operand says why nothing takes the addition
			x := n.input("x", 1, 2, 4, 4)
			c := n.conv("Conv", x, 2, 1, 0, 1, false)
			pool := n.add("MaxPool", graph.MaxPool, graph.PoolAttrs{Kernel: []int{1, 1}}, x)
			return n.output(n.binary("Add", elementwise.Add, c, pool), n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 1}, c))
		}},
	})
	n := newNet(t, "wide")
	sum := n.input("x0", 4)
	for i := range 12 {
		sum = n.binary("Add", elementwise.Add, sum, n.input("x"+string(rune('a'+i)), 4))
	}
	src := n.output(sum)
	got, _ := runPass(t, src, []pass.Pass{fuse.Pointwise}, pass.Config{})
	sameMeaning(t, src, got, 1e-6)
	for _, l := range got.Layers {
		if len(l.Inputs) > match.MaxProgramArgs {
			t.Errorf("region of %d arguments:\n%s", len(l.Inputs), got)
		}
	}
}

// TestWhichProducer: of two layers that could take an addition in, the record says which one has it, and why.
func TestWhichProducer(t *testing.T) {
	n := newNet(t, "two")
	x := n.input("x", 2, 2, 4, 4)
	a, b := n.conv("Conv_1", x, 3, 3, 1, 1, false), n.conv("Conv_2", x, 3, 1, 0, 1, false)
	_, steps := runPass(t, n.output(n.binary("Add", elementwise.Add, a, b)), []pass.Pass{fuse.Residual}, pass.Config{})
	want := "Conv_2 took Add rather than Conv_1: it is the later of the two, when the other's result is there"
	if got := steps[0].Fired[0].Note; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
