package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/fuse"
	"github.com/trtui/trtui/core/graph/passes/simplify"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestDeadCode(t *testing.T) {
	testPass(t, simplify.DeadCode, []passCase{
		{"chain", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			n.elt("Neg", elementwise.Neg, nil, n.elt("Exp", elementwise.Exp, nil, x))
			return n.output(n.relu("Relu", x))
		}},
	})
}

func TestFoldConstants(t *testing.T) {
	testPass(t, simplify.FoldConstants, []passCase{
		{"chain", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			w := n.elt("Exp", elementwise.Exp, nil, n.weights("w", -1, 1, 3))
			return n.output(n.binary("Mul", elementwise.Mul, x, n.elt("Neg", elementwise.Neg, nil, w)))
		}},
		{"output", func(n *net) *graph.Network {
			x := n.input("x", 3)
			w := n.elt("Exp", elementwise.Exp, nil, n.weights("w", -1, 1, 3))
			return n.output(w, n.binary("Mul", elementwise.Mul, x, w))
		}},
	})
	n := newNet(t, "large")
	x := n.input("x", 4096, 4096)
	a := n.binary("Add", elementwise.Add, n.weights("a", 0, 1, 4096, 1), n.weights("b", 0, 1, 1, 4096))
	_, steps := runPass(t, n.output(n.binary("Mul", elementwise.Mul, x, a)), []pass.Pass{simplify.FoldConstants}, pass.Config{})
	if m := steps[0].Missed; len(m) != 1 || m[0].Reason != pass.TooLarge {
		t.Errorf("64 MiB from 32 KiB: missed %v", m)
	}
}

func TestCommonSubexpressions(t *testing.T) {
	testPass(t, simplify.CommonSubexpressions, []passCase{
		{"layers", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			a, b := n.elt("Exp_1", elementwise.Exp, nil, x), n.elt("Exp_2", elementwise.Exp, nil, x)
			c, d := n.binary("Add_1", elementwise.Add, a, n.scalar(1)), n.binary("Add_2", elementwise.Add, b, n.scalar(1))
			return n.output(n.binary("Mul", elementwise.Mul, c, d))
		}},
		{"extents", func(n *net) *graph.Network { // those of rows are other ones, and one list is of I32
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Symbol("length"))
			y := n.relu("Relu", x)
			at := func(name string, t *graph.Tensor, axis int) *graph.Tensor {
				return n.add(name, graph.ShapeOf, graph.ShapeAttrs{Start: axis, End: axis + 1}, t)
			}
			a, b := at("Shape_1", x, 1), n.binary("Twice", elementwise.Mul, at("Shape_2", y, 1), n.ints(1))
			c, d := at("Shape_3", y, 0), n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.I32}, a)
			fill := func(name string, shape *graph.Tensor) *graph.Tensor {
				return n.add(name, graph.ConstantOfShape, graph.FillAttrs{Type: numeric.F32}, shape)
			}
			return n.output(fill("Fill_1", a), fill("Fill_2", b), fill("Fill_3", c), d)
		}},
		{"immediates-differ", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			a, b := n.elt("Clip_1", elementwise.Clamp, []float32{0, 6}, x), n.elt("Clip_2", elementwise.Clamp, []float32{0, 6.0000005}, x)
			return n.output(n.binary("Mul", elementwise.Mul, a, b))
		}},
		{"outputs", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			a, b, c := n.elt("Exp_1", elementwise.Exp, nil, x), n.elt("Exp_2", elementwise.Exp, nil, x), n.elt("Exp_3", elementwise.Exp, nil, x)
			return n.output(b, c, n.elt("Neg", elementwise.Neg, nil, a))
		}},
	})
}

func TestFoldBatchNorm(t *testing.T) {
	testPass(t, fuse.FoldBatchNorm, []passCase{
		{"conv", func(n *net) *graph.Network {
			x := n.input("x", 2, 4, 5, 5)
			return n.output(n.batchNorm("Bn", n.conv("Conv", x, 6, 3, 1, 1, false)))
		}},
		{"depthwise-bias", func(n *net) *graph.Network {
			x := n.input("x", 2, 4, 5, 5)
			return n.output(n.batchNorm("Bn", n.conv("Conv", x, 8, 3, 1, 4, true)))
		}},
		{"gemm", func(n *net) *graph.Network {
			x := n.input("x", 2, 4)
			y := n.add("Gemm", graph.Gemm, graph.GemmAttrs{Alpha: 2, Beta: .5}, x, n.weights("w", -1, 1, 4, 3), n.weights("b", -1, 1, 1, 3))
			return n.output(n.batchNorm("Bn", y))
		}},
		{"gemm-transposed", func(n *net) *graph.Network {
			x := n.input("x", 2, 4)
			y := n.add("Gemm", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, x, n.weights("w", -1, 1, 3, 4))
			return n.output(n.batchNorm("Bn", y))
		}},
		{"transposed-conv", func(n *net) *graph.Network {
			x := n.input("x", 2, 4, 3, 3)
			a := graph.ConvTransposeAttrs{Group: 2, Strides: []int{2, 2}}
			return n.output(n.batchNorm("Bn", n.add("Deconv", graph.ConvTranspose, a, x, n.weights("w", -1, 1, 4, 3, 2, 2), n.weights("b", -1, 1, 6))))
		}},
		{"before-transposed-conv", func(n *net) *graph.Network {
			x := n.batchNorm("Bn", n.input("x", 2, 4, 3, 3))
			return n.output(n.add("Deconv", graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1}, x, n.weights("w", -1, 1, 4, 3, 2, 2)))
		}},
		{"rows-are-flattened", func(n *net) *graph.Network {
			x := n.reshape("Flat", n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 6)), -1, 6)
			return n.output(n.reshape("Heads", n.batchNorm("Bn", x), 2, 3, 2, 3))
		}},
		{"rows-are-flattened-and-restored", func(n *net) *graph.Network { // as of LeViT
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(4))
			x = n.reshape("Flat", n.add("MatMul", graph.MatMul, nil, x, n.weights("w", -1, 1, 4, 6)), -1, 6)
			return n.output(n.reshape("Rows", n.batchNorm("Bn", x), -1, 3, 6))
		}},
		{"columns-are-others", func(n *net) *graph.Network {
			x := n.reshape("Flat", n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 6)), -1, 3)
			return n.output(n.batchNorm("Bn", x))
		}},
		{"channels-known-by-parameters", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Const(1), symbolic.Symbol("c"), symbolic.Const(3))
			return n.output(n.add("Bn", graph.BatchNorm, graph.BatchNormAttrs{}, x,
				n.weights("s", .5, 1.5, 1), n.weights("b", -1, 1, 1), n.weights("m", -1, 1, 1), n.weights("v", .5, 2, 1)))
		}},
		{"too-large-for-half", func(n *net) *graph.Network {
			half := func(name string, values ...float32) *graph.Tensor {
				v := numeric.NewValue(numeric.F16, len(values))
				numeric.FromReal(v, values, numeric.Range{})
				return n.AddConst(name, v)
			}
			x := n.AddInput("x", numeric.F16, symbolic.Shape(1, 1, 2, 2)...)
			w := half("w", 60000)
			w.Dims = symbolic.Shape(1, 1, 1, 1)
			c := n.add("Conv", graph.Conv, graph.ConvAttrs{Group: 1}, x, w)
			return n.output(n.add("Bn", graph.BatchNorm, graph.BatchNormAttrs{}, c, half("s", 2), half("b", 0), half("m", 0), half("v", 1)))
		}},
		{"before-conv", func(n *net) *graph.Network {
			x := n.input("x", 2, 4, 5, 5)
			return n.output(n.conv("Conv", n.batchNorm("Bn", x), 6, 3, 0, 2, true))
		}},
		{"before-padded-conv", func(n *net) *graph.Network {
			x := n.input("x", 2, 4, 5, 5)
			return n.output(n.conv("Conv", n.batchNorm("Bn", x), 6, 3, 1, 1, false))
		}},
		{"before-gemm", func(n *net) *graph.Network {
			y := n.batchNorm("Bn", n.input("x", 2, 4))
			return n.output(n.add("Gemm", graph.Gemm, graph.GemmAttrs{Alpha: 2, Beta: 1, TransB: true}, y, n.weights("w", -1, 1, 3, 4)))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 1, 2, 4, 4), 3, 1, 0, 1, false)
			return n.output(n.batchNorm("Bn", c), n.relu("Relu", c))
		}},
		{"computed-weights", func(n *net) *graph.Network {
			w := n.input("w", 3, 2, 1, 1)
			c := n.add("Conv", graph.Conv, graph.ConvAttrs{Group: 1}, n.input("x", 1, 2, 4, 4), w)
			return n.output(n.batchNorm("Bn", c))
		}},
	})
}

func TestFoldScale(t *testing.T) {
	testPass(t, fuse.FoldScale, []passCase{
		{"mul-add", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 2, 2, 4, 4), 3, 3, 1, 1, true)
			m := n.binary("Mul", elementwise.Mul, n.weights("s", .5, 2, 1, 3, 1, 1), c)
			return n.output(n.binary("Sub", elementwise.Sub, n.weights("b", -1, 1, 3, 1, 1), m))
		}},
		{"div-scalar", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 2, 2, 4, 4), 3, 3, 1, 1, false)
			return n.output(n.binary("Div", elementwise.Div, c, n.scalar(4)))
		}},
		{"gemm", func(n *net) *graph.Network {
			g := n.add("Gemm", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1}, n.input("x", 2, 4), n.weights("w", -1, 1, 4, 3))
			return n.output(n.binary("Add", elementwise.Add, g, n.weights("b", -1, 1, 3)))
		}},
		{"not-per-channel", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 1, 2, 4, 4), 3, 1, 0, 1, false)
			return n.output(n.binary("Add", elementwise.Add, c, n.weights("b", -1, 1, 4)))
		}},
		{"not-linear", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 1, 2, 4, 4), 3, 1, 0, 1, false)
			return n.output(n.binary("Div", elementwise.Div, n.weights("b", 1, 2, 3, 1, 1), c))
		}},
		{"widens", func(n *net) *graph.Network {
			c := n.conv("Conv", n.input("x", 1, 2, 4, 4), 1, 1, 0, 1, false)
			return n.output(n.binary("Mul", elementwise.Mul, c, n.weights("b", 1, 2, 3, 1, 1)))
		}},
	})
}

func TestCanonicalGemm(t *testing.T) {
	testPass(t, fuse.CanonicalGemm, []passCase{
		{"matmul", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 4), n.weights("w", -1, 1, 4, 3)))
		}},
		{"matmul-rank-3", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 4), n.weights("w", -1, 1, 4, 3)))
		}},
		{"bias", func(n *net) *graph.Network {
			g := graph.GemmAttrs{Alpha: 1, Beta: 1}
			y := n.add("Gemm_1", graph.Gemm, g, n.input("x", 2, 4), n.weights("w", -1, 1, 4, 3), n.weights("b", -1, 1, 1, 3))
			return n.output(n.add("Gemm_2", graph.Gemm, g, y, n.weights("v", -1, 1, 3, 2), n.weights("c", -1, 1, 2, 1)))
		}},
		{"factors", func(n *net) *graph.Network {
			g := graph.GemmAttrs{Alpha: 2, Beta: -3}
			return n.output(n.add("Gemm", graph.Gemm, g, n.input("x", 2, 4), n.weights("w", -1, 1, 4, 3), n.weights("b", -1, 1, 3)))
		}},
	})
}

// TestLateFoldConstants: what only a mask needed that is none any more goes before others ask who reads a tensor.
func TestLateFoldConstants(t *testing.T) {
	testPass(t, simplify.LateFoldConstants, []passCase{
		{"left-without-use", func(n *net) *graph.Network {
			x := n.elt("Exp", elementwise.Exp, nil, n.input("x", 2, 3))
			n.elt("Neg", elementwise.Neg, nil, n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 2}, x))
			return n.output(n.relu("Relu", x))
		}},
	})
}
