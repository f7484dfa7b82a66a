package graph

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// list adds a constant I64 list.
func list(n *Network, values ...int64) *Tensor {
	return n.AddConst("c", numeric.Values(numeric.I64, values, len(values)))
}

// TestShapeArithmetic follows the chains by which exporters compute shapes.
func TestShapeArithmetic(t *testing.T) {
	scalar := func(n *Network, v int64) *Tensor { return n.AddConst("c", numeric.Values(numeric.I64, []int64{v})) }
	for _, c := range []struct {
		name string
		want string // of the reshaped x [batch,3,h,w]
		make func(add func(op *Op, attrs any, in ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor
	}{
		{"flatten by shape, gather, concat", "[batch,3*h*w]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			b := add(Gather, GatherAttrs{}, shape, scalar(n, 0))
			return add(Concat, ConcatAttrs{}, add(Unsqueeze, UnsqueezeAttrs{[]int{0}}, b), list(n, -1))
		}},
		{"slices", "[batch,3,h*w]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			return add(Concat, ConcatAttrs{}, add(Slice, SliceAttrs{Starts: []int{0}, Ends: []int{2}}, shape), list(n, -1))
		}},
		{"products", "[3*batch,h*w]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			mul := n.ops("Mul")
			g := func(i int64) *Tensor { return add(Gather, GatherAttrs{}, shape, list(n, i)) }
			return add(Concat, ConcatAttrs{}, add(mul, Elementwise{elementwise.Binary(elementwise.Mul)}, g(0), g(1)), add(mul, Elementwise{elementwise.Binary(elementwise.Mul)}, g(2), g(-1)))
		}},
		{"division", "[6*batch,div(h,2),w]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			g := func(i int64) *Tensor { return add(Gather, GatherAttrs{}, shape, list(n, i)) }
			half := add(n.ops("Div"), Elementwise{elementwise.Binary(elementwise.Div)}, g(2), list(n, 2))
			six := add(n.ops("Mul"), Elementwise{elementwise.Binary(elementwise.Mul)}, g(0), list(n, 6))
			return add(Concat, ConcatAttrs{}, six, half, g(3))
		}},
		{"where equal", "[batch,3,h,w]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			minus := add(ConstantOfShape, FillAttrs{numeric.I64, numeric.Values(numeric.I64, []int64{-1}).Data}, list(n, 4))
			same := add(n.ops("Equal"), Elementwise{elementwise.Binary(elementwise.Equal)}, shape, minus)
			return add(n.ops("Where"), Elementwise{elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}}, same, minus, shape)
		}},
		{"reversed twice, cast", "[batch,3,h,w]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			reverse := SliceAttrs{Starts: []int{-1}, Ends: []int{-1 << 62}, Steps: []int{-1}}
			return add(Cast, CastAttrs{To: numeric.I64}, add(Slice, reverse, add(Cast, CastAttrs{To: numeric.I32}, add(Slice, reverse, shape))))
		}},
		{"the root of a constant", "[batch,4,div(3*h*w,4)]", func(add func(*Op, any, ...*Tensor) *Tensor, n *Network, shape *Tensor) *Tensor {
			real := func(f float32) *Tensor { return n.AddConst("c", numeric.Values(numeric.F32, []float32{f}, 1)) }
			root := add(n.ops("Pow"), Elementwise{elementwise.Binary(elementwise.Pow)}, real(16.5), real(0.5))
			return add(Concat, ConcatAttrs{}, list(n, 0), add(Cast, CastAttrs{To: numeric.I64}, root), list(n, -1))
		}},
	} {
		n := NewNetwork("shapes")
		x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Symbol("h"), symbolic.Symbol("w"))
		add := func(op *Op, attrs any, in ...*Tensor) *Tensor {
			l, err := n.Add("", op, attrs, in)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return l.Outputs[0]
		}
		y := add(Reshape, ReshapeAttrs{}, x, c.make(add, n, add(ShapeOf, ShapeAttrs{0, 4}, x)))
		if got := symbolic.Format(y.Dims); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		n.MarkOutput(y)
		if out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 2, 3, 4, 5)}, nil); err != nil || out[y.Name].Len() != 120 {
			t.Errorf("%s: %v %v", c.name, out[y.Name].Dims, err)
		}
	}
}

// ops returns a built-in op.
func (n *Network) ops(name string) *Op { return Ops().Named(name) }

// TestTileBySymbols: repeats that follow from shapes make extents of symbols, and the layer repeats as often as they say.
func TestTileBySymbols(t *testing.T) {
	n := NewNetwork("tile")
	x := n.AddInput("x", numeric.F32, symbolic.Const(1), symbolic.Symbol("s"))
	y := n.AddInput("y", numeric.F32, symbolic.Symbol("heads"))
	add := func(op *Op, attrs any, in ...*Tensor) *Tensor {
		l, err := n.Add("", op, attrs, in)
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	z := add(Tile, TileAttrs{}, x, add(Concat, ConcatAttrs{}, add(ShapeOf, ShapeAttrs{0, 1}, y), list(n, 2)))
	n.MarkOutput(z)
	if got := symbolic.Format(z.Dims); got != "[heads,2*s]" {
		t.Errorf("the result is %s", got)
	}
	out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{1, 2}, 1, 2), "y": numeric.NewValue(numeric.F32, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := out[z.Name].F32(); !slices.Equal(got, []float32{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}) {
		t.Errorf("it has %v", got)
	}
	// What is repeated on one axis is written as OneHot of that axis, of 1 and how often.
	often := add(Concat, ConcatAttrs{}, list(n, 1), add(ShapeOf, ShapeAttrs{0, 1}, y))
	one := add(OneHot, OneHotAttrs{Axis: 1, Depth: 2}, list(n, 1), often)
	if got := symbolic.Format(add(Tile, TileAttrs{}, x, add(Reshape, ReshapeAttrs{}, one, list(n, 2))).Dims); got != "[1,heads*s]" {
		t.Errorf("repeated by OneHot it is %s", got)
	}
	if _, err := n.Add("", Tile, TileAttrs{}, []*Tensor{x, n.AddInput("r", numeric.I64, symbolic.Const(2))}); err == nil || !strings.Contains(err.Error(), "repeats") {
		t.Errorf("repeats that nobody knows: %v", err)
	}
}

func TestSliceDim(t *testing.T) {
	h := symbolic.Symbol("h")
	for _, c := range []struct {
		start, end symbolic.Dim
		step       int
		want       string
	}{
		{symbolic.Const(0), symbolic.Const(1 << 62), 1, "h"},
		{symbolic.Const(1), symbolic.Const(1 << 62), 1, "max(h-1,0)"},
		{symbolic.Const(0), symbolic.Const(-1), 1, "max(h-1,0)"},
		{symbolic.Const(-1), symbolic.Const(1 << 62), 1, "min(h,1)"},
		{symbolic.Const(0), symbolic.Const(5), 1, "min(5,h)"},
		{symbolic.Const(0), symbolic.Const(1 << 62), 2, "div(h+1,2)"},
		{symbolic.Const(-1), symbolic.Const(-1 << 62), -1, "h"},
		{symbolic.Const(0), h, 1, "h"},
		{symbolic.Const(0), symbolic.Symbol("k"), 1, "min(k,h)"},
		{symbolic.Symbol("k").MulN(-1), symbolic.Const(1 << 62), 1, "min(h,k)"},
		{symbolic.Symbol("k").DivN(2).MulN(-1), h, 1, "min(h,div(k,2))"},
		{symbolic.Const(1), symbolic.Symbol("k").MulN(-1), 1, "max(max(h-k,0)-1,0)"},
		{symbolic.Symbol("k").MulN(-1), symbolic.Const(-1), 1, "max(max(h-1,0)-max(h-k,0),0)"},
		{symbolic.Const(-1 << 62), symbolic.Const(1 << 62), 1, "h"},
	} {
		got, err := sliceDim(h, c.start, c.end, c.step)
		if err != nil || got.String() != c.want {
			t.Errorf("[%s:%s:%d]: got %v, %v, want %s", c.start, c.end, c.step, got, err, c.want)
		}
		for n := range 9 {
			env := map[string]int{"h": n, "k": 3}
			_, count := clampSlice(c.start.Eval(env), c.end.Eval(env), c.step, n)
			if v := got.Eval(env); v != count {
				t.Errorf("[%s:%s:%d] of %d: got %d, want %d", c.start, c.end, c.step, n, v, count)
			}
		}
	}
	if _, err := sliceDim(h, symbolic.Const(2), symbolic.Const(0), -1); err == nil {
		t.Error("part of a symbolic axis reversed")
	}
}

// TestSequenceOfReals: how many numbers there are up to a symbol in floating point, as RT-DETR's positions have it, at which extents
// which the definition gives as many.
func TestSequenceOfReals(t *testing.T) {
	for _, c := range []struct{ start, delta float32 }{{0, 1}, {0, 2}, {0.5, 1}, {1, 0.25}, {0, 0.1}, {9, -1}, {20.5, -2}, {7, -0.3}} {
		n := NewNetwork("n")
		x := n.AddInput("x", numeric.F32, symbolic.Symbol("h"))
		layer := func(name string, op *Op, attrs any, in ...*Tensor) *Tensor {
			l, err := n.Add(name, op, attrs, in, name)
			if err != nil {
				t.Fatal(err)
			}
			return l.Outputs[0]
		}
		scalar := func(name string, v float32) *Tensor {
			return n.AddConst(name, numeric.Values(numeric.F32, []float32{v}))
		}
		limit := layer("limit", Cast, CastAttrs{To: numeric.F32}, layer("size", SizeOf, nil, x))
		n.MarkOutput(layer("y", Sequence, nil, scalar("start", c.start), limit, scalar("delta", c.delta)))
		for h := range 30 {
			all, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, h)}, nil)
			want := int(max(0, math.Ceil((float64(h)-float64(c.start))/float64(c.delta))))
			if err != nil || all["y"].Len() != want {
				t.Errorf("from %v to %d by %v: %v, %v, want %d numbers", c.start, h, c.delta, all["y"].Dims, err, want)
			}
		}
	}
}

// TestSequenceLength: how many numbers there are up to a symbol, as many as can be counted.
func TestSequenceLength(t *testing.T) {
	scalar := func(d symbolic.Dim) *Tensor { return &Tensor{Name: "s", Type: numeric.I64, Value: []symbolic.Dim{d}} }
	for delta := -3; delta < 4; delta++ {
		for start := range 9 {
			d, err := sequenceLength([3]*Tensor{scalar(symbolic.Const(start)), scalar(symbolic.Symbol("h")), scalar(symbolic.Const(delta))})
			if err != nil || delta == 0 {
				if delta != 0 || err == nil || !strings.Contains(err.Error(), "other than 0") {
					t.Errorf("by %d: %v, %v", delta, d, err)
				}
				continue
			}
			for h := range 12 {
				n := 0
				for i := start; delta*(h-i) > 0; i += delta {
					n++
				}
				if got := d.Eval(map[string]int{"h": h}); got != n {
					t.Errorf("from %d to %d by %d: %d numbers by %s, want %d", start, h, delta, got, d, n)
				}
			}
		}
	}
}

// TestRangePassesThrough checks that ops which only move elements keep the range, and follow its axis or refuse.
func TestRangePassesThrough(t *testing.T) {
	perTensor := numeric.PerTensor(0.5, 3)
	perChannel := numeric.Range{Scale: []float32{1, 2, 3}, Axis: 1}
	for _, c := range []struct {
		op    *Op
		attrs any
		axis  int // of the result for a tensor quantised on axis 1; -1 where that is refused
	}{
		{Transpose, TransposeAttrs{[]int{1, 0, 2}}, 0},
		{Flatten, FlattenAttrs{2}, -1},
		{Unsqueeze, UnsqueezeAttrs{[]int{0}}, 2},
		{Slice, SliceAttrs{Starts: []int{1}, Ends: []int{2}, Axes: []int{2}}, 1},
		{Slice, SliceAttrs{Starts: []int{1}, Ends: []int{2}, Axes: []int{1}}, -1},
		{Slice, SliceAttrs{Starts: []int{-1}, Ends: []int{-9}, Axes: []int{1}, Steps: []int{-1}}, -1},
		{Slice, SliceAttrs{Starts: []int{-1}, Ends: []int{-9}, Axes: []int{2}, Steps: []int{-1}}, 1},
		{Pad, PadAttrs{Mode: "constant", Pads: []int{0, 0, 1, 0, 0, 1}}, 1},
		{Pad, PadAttrs{Mode: "constant", Pads: []int{0, 1, 0, 0, 0, 0}}, -1},
		{Identity, nil, 1},
	} {
		for _, r := range []numeric.Range{perTensor, perChannel} {
			n := NewNetwork("q")
			x := n.AddInput("x", numeric.I8, symbolic.Shape(2, 3, 4)...)
			x.Range = r
			l, err := n.Add("", c.op, c.attrs, []*Tensor{x})
			if r.PerChannel() && c.axis < 0 {
				if err == nil || !strings.Contains(err.Error(), "per channel") {
					t.Errorf("%s: got %v", c.op.Name, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.PerChannel() {
				r.Axis = c.axis
			}
			if got := l.Outputs[0]; got.Type != numeric.I8 || !got.Range.Equal(r) {
				t.Errorf("%s: got %s", l, got)
			}
		}
	}
}

// TestPadQuantized pads with the integer that stands for the value.
func TestPadQuantized(t *testing.T) {
	n := NewNetwork("q")
	x := n.AddInput("x", numeric.U8, symbolic.Const(2))
	x.Range = numeric.PerTensor(0.5, 100)
	l, err := n.Add("pad", Pad, PadAttrs{Mode: "constant", Pads: []int{1, 1}, Value: 2}, []*Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	out := numeric.NewValue(numeric.U8, 4)
	if err := l.Eval([]numeric.Value{numeric.Values(numeric.U8, []uint8{7, 8}, 2)}, []numeric.Value{out}); err != nil {
		t.Fatal(err)
	}
	if got := string(out.Data); got != "\x68\x07\x08\x68" {
		t.Errorf("got %v", out.Data)
	}
}

// TestCheckShapes refuses extents that break what was taken for granted of symbols.
func TestCheckShapes(t *testing.T) {
	n := NewNetwork("sum")
	a, b := n.AddInput("a", numeric.F32, symbolic.Symbol("n")), n.AddInput("b", numeric.F32, symbolic.Symbol("m"))
	l, err := n.Add("sum", n.ops("Add"), Elementwise{elementwise.Binary(elementwise.Add)}, []*Tensor{a, b})
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	_, err = n.Eval(context.Background(), map[string]numeric.Value{"a": numeric.NewValue(numeric.F32, 3), "b": numeric.NewValue(numeric.F32, 4)}, nil)
	if err == nil || !strings.Contains(err.Error(), "layer sum (Add)") {
		t.Errorf("got %v", err)
	}
	if _, err := n.Eval(context.Background(), map[string]numeric.Value{"a": numeric.NewValue(numeric.F32, 3), "b": numeric.NewValue(numeric.F32, 3)}, nil); err != nil {
		t.Error(err)
	}
}
