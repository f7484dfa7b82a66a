package graph

import (
	"context"
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestDim(t *testing.T) {
	b, h := symbolic.Symbol("batch"), symbolic.Symbol("h")
	for _, c := range []struct {
		d    symbolic.Dim
		want string
	}{
		{b.AddN(2).Sub(b), "2"},
		{b.MulN(4).DivN(2), "2*batch"},
		{b.Mul(h).Div(h), "batch"},
		{h.AddN(3).DivN(2).AddN(1), "div(h+1,2)+2"},
		{h.Add(b).Sub(h.MulN(2)), "batch-h"},
		{b.Min(b), "batch"},
		{b.Max(symbolic.Const(3)), "max(batch,3)"},
		{symbolic.Const(-3).DivN(2), "-2"},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if v := h.AddN(3).DivN(2).AddN(1).Eval(map[string]int{"h": 28}); v != 16 {
		t.Errorf("div(28+3,2)+1 = %d", v)
	}
}

func TestProgramThen(t *testing.T) {
	// relu(x) then $0 - y, with the chained value as argument 1: y - relu(x).
	p := elementwise.Unary(elementwise.Relu).Then(elementwise.Binary(elementwise.Sub), 1)
	if got := p.String(); got != "sub($1, relu($0))" {
		t.Errorf("got %s", got)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if got := p.Eval([]float32{-2, 5, 0, 0}); got != 5 {
		t.Errorf("5 - relu(-2) = %v", got)
	}
	q := p.Then(elementwise.Unary(elementwise.Clamp, 0, 3), 0)
	if got := q.String(); got != "clamp(sub($1, relu($0)), 0, 3)" {
		t.Errorf("got %s", got)
	}
}

func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		f := numeric.F16ToF32(uint16(h))
		back := numeric.F32ToF16(f)
		if f != f {
			if back&0x7c00 != 0x7c00 || back&0x3ff == 0 {
				t.Fatalf("%#04x: NaN became %#04x", h, back)
			}
			continue
		}
		if back != uint16(h) {
			t.Fatalf("%#04x -> %v -> %#04x", h, f, back)
		}
	}
	for _, c := range []struct {
		f    float32
		want uint16
	}{{65519, 0x7bff}, {65520, 0x7c00}, {1 + 1.0/2048, 0x3c00}, {1 + 3.0/2048, 0x3c02}, {float32(math.Ldexp(1, -25)), 0}, {float32(math.Ldexp(1.5, -25)), 1}} {
		if got := numeric.F32ToF16(c.f); got != c.want {
			t.Errorf("%v -> %#04x, want %#04x", c.f, got, c.want)
		}
	}
}

// convNet is x[batch,2,4,4] -> Conv 3x3 pad 1 -> Relu.
func convNet(t *testing.T) *Network {
	n := NewNetwork("tiny")
	x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(2), symbolic.Const(4), symbolic.Const(4))
	w := make([]float32, 3*2*9)
	for i := range w {
		w[i] = float32(i%7) - 3
	}
	c, err := n.Add("conv", Conv, ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}, []*Tensor{x, n.AddConst("w", numeric.Values(numeric.F32, w, 3, 2, 3, 3))})
	if err != nil {
		t.Fatal(err)
	}
	r, err := n.Add("relu", Ops().Named("Relu"), Elementwise{elementwise.Unary(elementwise.Relu)}, c.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(r.Outputs[0])
	if err := n.Verify(); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEvalFusedEqualsUnfused(t *testing.T) {
	n := convNet(t)
	x := numeric.NewValue(numeric.F32, 2, 2, 4, 4)
	for i := range x.F32() {
		x.F32()[i] = float32(i%11) - 5
	}
	want, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := n.Clone()
	conv, relu := m.Layer("conv"), m.Layer("relu")
	conv.Fuse(elementwise.Unary(elementwise.Relu), 0)
	y := relu.Outputs[0]
	mid := conv.Outputs[0]
	conv.SetOutput(0, y)
	m.Remove(relu)
	m.forget(mid)
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	got, err := m.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want["relu"].F32() {
		if got["relu"].F32()[i] != v {
			t.Fatalf("element %d: %v, want %v", i, got["relu"].F32()[i], v)
		}
	}
	if s := m.String(); s != `network tiny
input  x f32[batch,2,4,4]
conv: relu f32[batch,3,4,4] = Conv(x, w f32[3,2,3,3]) pads=[1 1 1 1] group=1 | relu($0)
output relu
` {
		t.Error(s)
	}
}
