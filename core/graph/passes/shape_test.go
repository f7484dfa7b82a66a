package passes

import (
	"math"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/fuse"
	"github.com/trtui/trtui/core/graph/passes/simplify"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func (n *net) reshape(name string, x *graph.Tensor, shape ...int64) *graph.Tensor {
	return n.add(name, graph.Reshape, graph.ReshapeAttrs{}, x, n.ints(shape...))
}

func (n *net) transpose(name string, x *graph.Tensor, perm ...int) *graph.Tensor {
	return n.add(name, graph.Transpose, graph.TransposeAttrs{Perm: perm}, x)
}

func (n *net) pad(name string, x *graph.Tensor, value float32, p int) *graph.Tensor {
	return n.add(name, graph.Pad, graph.PadAttrs{Mode: "constant", Value: value, Pads: []int{0, 0, p, p, 0, 0, p, p}}, x)
}

func TestStaticReshapes(t *testing.T) {
	testPass(t, simplify.StaticReshapes, []passCase{
		{"flatten-symbolic", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(2), symbolic.Const(2))
			return n.output(n.add("Flatten", graph.Flatten, graph.FlattenAttrs{Axis: 1}, x))
		}},
		{"squeeze", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 1, 1)
			y := n.add("Squeeze", graph.Squeeze, graph.SqueezeAttrs{Axes: []int{2, 3}}, x)
			return n.output(n.add("Unsqueeze", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{0}}, y))
		}},
		{"two-unknown", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("a"), symbolic.Symbol("b"), symbolic.Const(2))
			y := n.add("Unsqueeze", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{0}}, x)
			return n.output(y)
		}},
		{"heads-of-an-open-text", func(n *net) *graph.Network { // the shape is that of what is computed; the extents of another one no input has
			x := n.relu("Relu", n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("length"), symbolic.Const(6)))
			cut := func(name string, start int) *graph.Tensor {
				return n.add(name, graph.ShapeOf, graph.ShapeAttrs{Start: start, End: start + 1}, x)
			}
			list := func(name string, parts ...*graph.Tensor) *graph.Tensor {
				return n.add(name, graph.Concat, graph.ConcatAttrs{}, parts...)
			}
			b, l := cut("Batch", 0), cut("Length", 1)
			y := n.add("Cut", graph.Reshape, graph.ReshapeAttrs{}, x, list("Heads", b, n.ints(2), l, n.ints(3)))
			all := n.binary("Rows", elementwise.Mul, b, n.ints(2))
			z := n.add("Join", graph.Reshape, graph.ReshapeAttrs{}, y, list("Together", all, l, n.ints(3)))
			twice := n.binary("Twice", elementwise.Mul, l, n.ints(2))
			return n.output(z, n.add("Halve", graph.Reshape, graph.ReshapeAttrs{}, x, list("Halves", b, twice, n.ints(3))),
				n.add("Both", graph.Reshape, graph.ReshapeAttrs{}, x, list("Rest", twice, b, n.ints(3), n.ints(1))))
		}},
		{"extents-of-what-is-computed", func(n *net) *graph.Network { // of the last Shape no input has the first one
			a := n.AddInput("a", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("length"))
			x := n.relu("Relu", n.add("Unsqueeze", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{2}}, a))
			y := n.add("Expand", graph.Expand, nil, n.weights("one", 1, 1, 1), n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 3}, x))
			z := n.add("Twice", graph.Concat, graph.ConcatAttrs{}, x, x)
			return n.output(y, n.add("Extents", graph.ShapeOf, graph.ShapeAttrs{End: 3}, z))
		}},
	})
}

func TestRemoveNoOps(t *testing.T) {
	testPass(t, simplify.RemoveNoOps, []passCase{
		{"moves-elements", func(n *net) *graph.Network { // the second one moves a single axis of 1
			x := n.transpose("Transpose_1", n.input("x", 1, 2, 3, 4), 0, 2, 1, 3)
			return n.output(n.transpose("Transpose_2", n.relu("Relu", x), 1, 0, 2, 3))
		}},
		{"chain", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4, 4)
			a := n.add("Identity", graph.Identity, nil, x)
			b := n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.F32}, a)
			c := n.reshape("Reshape", b, 0, 3, 4, -1)
			d := n.transpose("Transpose", c, 0, 1, 2, 3)
			e := n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: 1}, d)
			f := n.pad("Pad", e, 1, 0)
			g := n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{0}, Ends: []int{1 << 40}, Axes: []int{2}}, f)
			h := n.add("MaxPool", graph.MaxPool, graph.PoolAttrs{Kernel: []int{1, 1}}, g)
			i := n.binary("Mul", elementwise.Mul, n.scalar(1), h)
			j := n.binary("Sub", elementwise.Sub, i, n.scalar(0))
			return n.output(n.relu("Relu", j))
		}},
		{"operands-without-elements", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			none := n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{3}, Ends: []int{9}, Axes: []int{1}}, x)
			y := n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: -1}, n.relu("Relu", x), none)
			return n.output(n.add("Concat_1", graph.Concat, graph.ConcatAttrs{Axis: 1}, none, y, n.elt("Exp", elementwise.Exp, nil, x)))
		}},
		{"output-behind-a-layer", func(n *net) *graph.Network {
			y := n.relu("Relu", n.input("x", 2, 3))
			return n.output(n.add("Identity", graph.Identity, nil, y), n.elt("Exp", elementwise.Exp, nil, y))
		}},
		{"output-behind-an-input", func(n *net) *graph.Network {
			return n.output(n.add("Identity", graph.Identity, nil, n.input("x", 2, 3)))
		}},
		{"outputs-twice", func(n *net) *graph.Network {
			y := n.relu("Relu", n.input("x", 2, 3))
			return n.output(y, n.add("Identity_1", graph.Identity, nil, y), n.add("Identity_2", graph.Identity, nil, y))
		}},
		{"not-neutral", func(n *net) *graph.Network {
			x := n.input("x", 1, 3)
			a := n.binary("Mul", elementwise.Mul, x, n.weights("ones", 1, 1, 2, 1)) // widens
			b := n.binary("Sub", elementwise.Sub, n.scalar(0), a)                   // negates
			c := n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{-1}, Ends: []int{-1 << 40}, Axes: []int{1}, Steps: []int{-1}}, b)
			return n.output(n.transpose("Transpose", n.reshape("Reshape", c, 1, 2, 3), 0, 2, 1))
		}},
		{"filled-with-zeros", func(n *net) *graph.Network { // at open extents they are no constant; three of them widen the last sum
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Const(3))
			zeros := n.add("ConstantOfShape", graph.ConstantOfShape, graph.FillAttrs{Type: numeric.F32}, n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 2}, x))
			y := n.relu("Relu", n.binary("Add", elementwise.Add, zeros, x))
			row := n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{0}, Ends: []int{1}, Axes: []int{1}}, y)
			return n.output(n.binary("Add_1", elementwise.Add, row, zeros), n.binary("Mul", elementwise.Mul, y, zeros))
		}},
		{"gathers-between-transposes", func(n *net) *graph.Network { // the last one is not turned back
			x := n.transpose("Transpose", n.input("x", 2, 5, 4, 3), 2, 0, 1, 3)
			index := func(name string, list []int64, dims ...int) *graph.Tensor {
				return n.AddConst(name, numeric.Values(numeric.I64, list, dims...))
			}
			a := n.add("GatherND", graph.GatherND, graph.GatherNDAttrs{}, x, index("places", []int64{-2}, 1, 1))
			b := n.add("Gather", graph.Gather, graph.GatherAttrs{Axis: 2}, x, index("places_1", []int64{3, 0}, 2))
			c := n.add("Gather_1", graph.Gather, graph.GatherAttrs{}, x, index("places_2", []int64{1}, 1))
			return n.output(n.transpose("Transpose_1", a, 1, 2, 0, 3), n.transpose("Transpose_2", b, 1, 2, 0, 3), n.transpose("Transpose_3", c, 2, 1, 0, 3))
		}},
		{"casts-of-sums", func(n *net) *graph.Network { // as PyTorch's exporters count positions; the largest wrap around
			x := n.Network.AddInput("x", numeric.I32, symbolic.Shape(2, 5)...)
			wide := n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.I64}, x)
			narrow := func(name string, t *graph.Tensor, to numeric.DataType) *graph.Tensor {
				return n.add(name, graph.Cast, graph.CastAttrs{To: to}, t)
			}
			fires := narrow("Cast_1", n.add("CumSum", graph.CumSum, graph.CumAttrs{Axis: 1}, wide), numeric.I32)
			fires2 := narrow("Cast_2", n.add("ReduceSum", graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, narrow("Cast_3", x, numeric.I64)), numeric.I32)
			kept := n.add("CumSum_1", graph.CumSum, graph.CumAttrs{Axis: 1}, wide)
			return n.output(fires, fires2, narrow("Cast_4", kept, numeric.I32), kept, narrow("Cast_5", n.add("CumSum_2", graph.CumSum, graph.CumAttrs{Axis: 1}, wide), numeric.U32))
		}},
	})
}

func TestCancelReshapes(t *testing.T) {
	testPass(t, simplify.CancelReshapes, []passCase{
		{"transposes-of-what-is-joined", func(n *net) *graph.Network { // as PyTorch's exporter joins along the last axis; the last ones differ
			x, z := n.input("x", 2, 3, 4, 5), n.input("z", 2, 3, 4, 1)
			a, b := n.transpose("Transpose", x, 3, 1, 2, 0), n.transpose("Transpose_1", z, 3, 1, 2, 0)
			y := n.transpose("Transpose_2", n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: 0}, a, b), 3, 1, 2, 0)
			c, d := n.transpose("Transpose_3", x, 3, 2, 1, 0), n.transpose("Transpose_4", n.input("w", 4, 3, 6, 2), 2, 0, 1, 3)
			return n.output(y, n.add("Concat_1", graph.Concat, graph.ConcatAttrs{Axis: -4}, c, d))
		}},
		{"merge", func(n *net) *graph.Network {
			x := n.input("x", 2, 12)
			return n.output(n.reshape("Reshape_2", n.reshape("Reshape_1", x, 4, 6), 3, 8))
		}},
		{"cancel", func(n *net) *graph.Network {
			x := n.relu("Relu", n.input("x", 2, 12))
			return n.output(n.elt("Exp", elementwise.Exp, nil, n.reshape("Reshape_2", n.reshape("Reshape_1", x, 4, 6), 2, 12)))
		}},
		{"cancel-one-of-two", func(n *net) *graph.Network {
			x := n.relu("Relu", n.input("x", 2, 12))
			a := n.reshape("Reshape_1", x, 4, 6)
			return n.output(a, n.elt("Exp", elementwise.Exp, nil, n.reshape("Reshape_2", a, 2, 12)))
		}},
		{"transposes", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4, 5)
			return n.output(n.transpose("Transpose_2", n.transpose("Transpose_1", x, 0, 2, 3, 1), 0, 2, 3, 1))
		}},
		{"transposes-cancel", func(n *net) *graph.Network {
			x := n.relu("Relu", n.input("x", 2, 3, 4, 5))
			return n.output(n.transpose("Transpose_2", n.transpose("Transpose_1", x, 0, 2, 3, 1), 0, 3, 1, 2))
		}},
		{"moves-only-ones", func(n *net) *graph.Network {
			return n.output(n.transpose("Transpose", n.input("x", 2, 1, 1, 5), 0, 2, 3, 1))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			a := n.reshape("Reshape_1", n.input("x", 2, 12), 4, 6)
			return n.output(n.relu("Relu", a), n.reshape("Reshape_2", a, 3, 8))
		}},
	})
}

func TestFusePads(t *testing.T) {
	pool := graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}
	testPass(t, fuse.Pads, []passCase{
		{"conv", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 5, 5)
			return n.output(n.conv("Conv", n.pad("Pad", x, 0, 1), 4, 3, 1, 1, true))
		}},
		{"conv-value", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 5, 5)
			return n.output(n.conv("Conv", n.pad("Pad", x, 1, 1), 4, 3, 0, 1, true))
		}},
		{"average", func(n *net) *graph.Network {
			return n.output(n.add("AveragePool", graph.AveragePool, pool, n.pad("Pad", n.input("x", 2, 3, 5, 5), 0, 1)))
		}},
		{"maximum-infinity", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 5, 5)
			return n.output(n.add("MaxPool", graph.MaxPool, pool, n.pad("Pad", x, float32(math.Inf(-1)), 1)))
		}},
		{"maximum-of-relu", func(n *net) *graph.Network {
			x := n.relu("Relu", n.input("x", 2, 3, 5, 5))
			return n.output(n.add("MaxPool", graph.MaxPool, pool, n.pad("Pad", x, 0, 1)))
		}},
		{"maximum-of-any", func(n *net) *graph.Network {
			return n.output(n.add("MaxPool", graph.MaxPool, pool, n.pad("Pad", n.input("x", 2, 3, 5, 5), 0, 1)))
		}},
		{"maximum-window-outside", func(n *net) *graph.Network {
			x := n.relu("Relu", n.input("x", 2, 3, 5, 5))
			return n.output(n.add("MaxPool", graph.MaxPool, pool, n.pad("Pad", x, 0, 2)))
		}},
	})
}

func TestSinkReshapes(t *testing.T) {
	table := func(name string, build func(n *net) *graph.Network) {
		t.Run(name, func(t *testing.T) {
			n := build(newNet(t, name))
			got, steps := runPass(t, n, []pass.Pass{simplify.CancelReshapes, fuse.Epilogue, fuse.Pointwise, fuse.Casts}, pass.Config{})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps)))
		})
	}
	table("mask", func(n *net) *graph.Network { // the Cast takes all that is done to its result
		m := n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.F32}, n.AddInput("mask", numeric.I64, symbolic.Shape(1, 9)...))
		a := n.reshape("Reshape", n.binary("Sub", elementwise.Sub, n.scalar(1), m), 1, 1, 1, 9)
		return n.output(n.binary("Mul", elementwise.Mul, a, n.weights("far", -9, -8, 1, 1, 1, 1)))
	})
	table("product", func(n *net) *graph.Network {
		x := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 8))
		return n.output(n.relu("Relu", n.reshape("Reshape", x, 2, 3, 2, 4)))
	})
	table("not-an-element", func(n *net) *graph.Network {
		a := n.reshape("Reshape", n.relu("Relu", n.input("x", 2, 6)), 3, 4)
		return n.output(n.binary("Mul", elementwise.Mul, a, n.weights("row", -1, 1, 4)))
	})
	table("second-consumer", func(n *net) *graph.Network {
		a := n.relu("Relu", n.input("x", 2, 6))
		return n.output(n.elt("Exp", elementwise.Exp, nil, n.reshape("Reshape", a, 3, 4)), n.elt("Tanh", elementwise.Tanh, nil, a))
	})
	table("network-output", func(n *net) *graph.Network {
		a := n.reshape("Reshape", n.relu("Relu", n.input("x", 2, 6)), 3, 4)
		return n.output(a, n.elt("Exp", elementwise.Exp, nil, a))
	})
	table("more-axes", func(n *net) *graph.Network {
		a := n.reshape("Reshape", n.relu("Relu", n.input("x", 2, 6)), 3, 4)
		return n.output(n.binary("Mul", elementwise.Mul, a, n.weights("one", 2, 3, 1, 1, 1)))
	})
}

func TestSliceGathers(t *testing.T) {
	gather := func(n *net, x *graph.Tensor, axis int, v numeric.Value) *graph.Network {
		return n.output(n.add("Gather", graph.Gather, graph.GatherAttrs{Axis: axis}, x, n.AddConst("index", v)))
	}
	testPass(t, simplify.SliceGathers, []passCase{
		{"first-row", func(n *net) *graph.Network {
			return gather(n, n.input("x", 1, 5, 4), 1, numeric.Values(numeric.I64, []int64{0}))
		}},
		{"last-rows", func(n *net) *graph.Network {
			return gather(n, n.input("x", 5, 4), 0, numeric.Values(numeric.I64, []int64{-2, -1}, 2))
		}},
		{"open-extents", func(n *net) *graph.Network {
			batch, length := symbolic.Symbol("batch"), symbolic.Symbol("length")
			return gather(n, n.AddInput("x", numeric.F32, symbolic.Const(3), batch, length, symbolic.Const(4)), 0, numeric.Values(numeric.I64, []int64{1}))
		}},
		{"not-in-order", func(n *net) *graph.Network {
			return gather(n, n.input("x", 5, 4), 0, numeric.Values(numeric.I64, []int64{2, 1}, 2))
		}},
		{"indices-are-computed", func(n *net) *graph.Network {
			return n.output(n.add("Gather", graph.Gather, graph.GatherAttrs{}, n.input("x", 5, 4), n.add("ArgMax", graph.ArgMax, graph.ArgAttrs{}, n.input("z", 5))))
		}},
		{"unknown-extent", func(n *net) *graph.Network {
			return gather(n, n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(4)), 0, numeric.Values(numeric.I64, []int64{0}))
		}},
	})
}
