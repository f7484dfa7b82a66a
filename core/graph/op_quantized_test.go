package graph

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestQuantizedProducts checks that ops that sum products compute with quantised tensors what they compute with the real
// numbers that these stand for: per-tensor asymmetric u8 inputs, per-channel i8 weights.
func TestQuantizedProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scales := func(n, axis int) numeric.Range {
		r := numeric.Range{Axis: axis}
		for range n {
			r.Scale = append(r.Scale, float32(rng.IntN(99)+1)/1000)
			r.Zero = append(r.Zero, int32(rng.IntN(9)-4))
		}
		return r
	}
	for _, c := range []struct {
		name  string
		op    *Op
		attrs any
		x, w  []int
		axis  int // of the weights' output channels, -1 for one scale
	}{
		{"conv", Conv, ConvAttrs{Pads: []int{1, 0, 0, 1}, Group: 2, Strides: []int{2, 1}}, []int{2, 4, 5, 4}, []int{6, 2, 3, 2}, 0},
		{"conv transpose", ConvTranspose, ConvTransposeAttrs{Group: 2, Strides: []int{2}}, []int{2, 4, 5}, []int{4, 3, 2}, 1},
		{"gemm", Gemm, GemmAttrs{Alpha: 0.5, Beta: 1}, []int{3, 7}, []int{7, 5}, 1},
		{"gemm transposed", Gemm, GemmAttrs{Alpha: 1, Beta: 1, TransA: true, TransB: true}, []int{7, 3}, []int{5, 7}, 0},
		{"matmul", MatMul, nil, []int{2, 3, 7}, []int{7, 5}, 1},
	} {
		xr, wr := numeric.PerTensor(0.03, 131), numeric.PerTensor(0.02, 3)
		if c.axis >= 0 {
			wr = scales(c.w[c.axis], c.axis)
		}
		x, w := numeric.NewValue(numeric.U8, c.x...), numeric.NewValue(numeric.I8, c.w...)
		for _, v := range []numeric.Value{x, w} {
			for i := range v.Data {
				v.Data[i] = byte(rng.IntN(256))
			}
		}
		eval := func(x, w numeric.Value, xr, wr numeric.Range) numeric.Value {
			n := NewNetwork(c.name)
			in := n.AddInput("x", x.Type, symbolic.Shape(x.Dims...)...)
			in.Range = xr
			weights := n.AddConst("w", w)
			weights.Range = wr
			l, err := n.Add("l", c.op, c.attrs, []*Tensor{in, weights})
			if err != nil {
				t.Fatal(err)
			}
			n.MarkOutput(l.Outputs[0])
			out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out["l"]
		}
		got := eval(x, w, xr, wr)
		want := eval(numeric.ToReal(x, xr), numeric.ToReal(w, wr), numeric.Range{}, numeric.Range{})
		if got.Type != numeric.F32 {
			t.Fatalf("%s: result is %s", c.name, got.Type)
		}
		for i, y := range want.F32() {
			if g := got.F32()[i]; math.Abs(float64(g-y)) > 1e-4 {
				t.Fatalf("%s: element %d is %v, want %v", c.name, i, g, y)
			}
		}
	}
}

// TestQuantizedMaxPool checks that pooling moves integers as they are and passes their range on.
func TestQuantizedMaxPool(t *testing.T) {
	n := NewNetwork("pool")
	x := n.AddInput("x", numeric.I8, symbolic.Shape(1, 1, 4)...)
	x.Range = numeric.PerTensor(0.5, 3)
	l, err := n.Add("p", MaxPool, PoolAttrs{Kernel: []int{2}, Pads: []int{1, 0}, Strides: []int{2}}, []*Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	y := l.Outputs[0]
	if y.Type != numeric.I8 || !y.Range.Equal(x.Range) {
		t.Errorf("output is %s", y)
	}
	n.MarkOutput(y)
	out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.I8, []int8{-128, -5, 7, 127}, 1, 1, 4)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := numeric.View[int8](out["p"].Data); len(got) != 2 || got[0] != -128 || got[1] != 7 {
		t.Errorf("got %v", got)
	}
}

// TestDimGrowth checks that repeated multiplication of unknown extents ends in an error and not in ever longer
// expressions.
func TestDimGrowth(t *testing.T) {
	d := symbolic.Symbol("a").Add(symbolic.Symbol("b")).AddN(1)
	for i := 0; !d.IsLarge(); i++ {
		if i == 10 {
			t.Fatal("no end of growth")
		}
		d = d.Mul(d)
	}
	e := symbolic.Symbol("a")
	for i := 0; !e.IsLarge(); i++ {
		if i == 20 {
			t.Fatal("no end of nesting")
		}
		e = e.Max(symbolic.Const(3).Sub(e))
	}
}

// An operator whose scales are inputs takes what QuantizeLinear makes, which has a range of its own.
func TestQLinearConvOfQuantized(t *testing.T) {
	d := Define("qlinear")
	scale := func(name string, s float32) *Tensor {
		return d.Constant(name, numeric.Values(numeric.F32, []float32{s}))
	}
	zero := func(name string, z byte) *Tensor {
		return d.Constant(name, numeric.Value{Type: numeric.U8, Dims: nil, Data: []byte{z}})
	}
	sx, zx, sy, zy := scale("sx", 0.5), zero("zx", 3), scale("sy", 0.5), zero("zy", 10)
	x := d.Layer(Quantize, QuantAttrs{Range: numeric.PerTensor(0.5, 3), Type: numeric.U8}, d.Input("x", numeric.F32, symbolic.Shape(1, 1, 1, 3)...))
	w := d.Constant("w", numeric.Value{Type: numeric.I8, Dims: []int{1, 1, 1, 1}, Data: []byte{2}})
	y := d.Layer(QLinearConv, ConvAttrs{Group: 1}, x, sx, zx, w, scale("sw", 0.25), d.Constant("zw", numeric.Value{Type: numeric.I8, Dims: nil, Data: []byte{0}}), sy, zy)
	d.Output("y", d.Layer(Dequantize, QuantAttrs{Type: numeric.F32}, y, sy, zy))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	in := numeric.NewValue(numeric.F32, 1, 1, 1, 3)
	copy(in.F32(), []float32{2, -1, 100})
	out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := out["y"].F32(); got[0] != 1 || got[1] != -0.5 || got[2] != 50 {
		t.Errorf("%v, want half of 2, -1 and 100", got)
	}
}

// TestNarrowIsStorage: no layer computes in the narrow types; some convert and move.
func TestNarrowIsStorage(t *testing.T) {
	n := NewNetwork("storage")
	x := n.AddInput("x", numeric.F8E5M2, symbolic.Const(2))
	_, err := n.Add("relu", Ops().Named("Relu"), Elementwise{Program: elementwise.Unary(elementwise.Relu)}, []*Tensor{x})
	if err == nil || !strings.Contains(err.Error(), "in which nothing is computed") {
		t.Errorf("a Relu of %s: %v", x.Type, err)
	}
	if _, err := n.Add("cast", Cast, CastAttrs{To: numeric.F32}, []*Tensor{x}); err != nil {
		t.Error(err)
	}
	if _, err := n.Add("transpose", Transpose, TransposeAttrs{Perm: []int{0}}, []*Tensor{x}); err != nil {
		t.Error(err)
	}
}
