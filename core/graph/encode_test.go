package graph

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestEncodeRoundTrip(t *testing.T) {
	n := convNet(t)
	n.Layer("conv").Fuse(elementwise.Unary(elementwise.Clamp, 0, 6), 0)
	n.Layer("conv").Outputs[0].Range = numeric.PerTensor(0.5, 3)
	var store [][]byte
	data, err := n.Encode(func(b []byte) int { store = append(store, b); return len(store) - 1 })
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeNetwork(Ops(), data, func(i int) ([]byte, error) { return store[i], nil })
	if err != nil {
		t.Fatal(err)
	}
	if m.String() != n.String() {
		t.Errorf("got\n%s\nwant\n%s", m, n)
	}
}

// TestEncodeNoElements: that a tensor of no elements is known comes back, and that another one is not.
func TestEncodeNoElements(t *testing.T) {
	n := NewNetwork("n")
	for name, known := range map[string][]symbolic.Dim{"known": {}, "unknown": nil} {
		x := n.AddInput(name, numeric.I64, symbolic.Const(0))
		x.Value = known
	}
	data, err := n.Encode(func([]byte) int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeNetwork(Ops(), data, func(int) ([]byte, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Inputs {
		if known := x.Value != nil; known != (x.Name == "known") {
			t.Errorf("%s: known %v", x.Name, known)
		}
	}
}

func TestParseDim(t *testing.T) {
	b, h := symbolic.Symbol("batch"), symbolic.Symbol("h")
	for _, d := range []symbolic.Dim{symbolic.Const(0), symbolic.Const(-7), b, b.MulN(-1), b.Mul(h).MulN(3).AddN(-2), h.AddN(3).DivN(2).AddN(1), b.Max(h.Min(symbolic.Const(4))).Sub(b)} {
		got, err := symbolic.Parse(d.String())
		if err != nil || !got.Equal(d) {
			t.Errorf("%s: got %s, %v", d, got, err)
		}
	}
	for _, s := range []string{"", "+", "2*", "div(1,0)", "div(1)", "f(1,2)", "a b", "99999999999999999999", "div("} {
		if d, err := symbolic.Parse(s); err == nil {
			t.Errorf("%q parsed as %s", s, d)
		}
	}
}

// TestEncodeLargeValues: integers of any size that are followed through shape arithmetic come back.
func TestEncodeLargeValues(t *testing.T) {
	n := NewNetwork("large")
	x := n.AddInput("x", numeric.I64, symbolic.Const(3))
	c := n.AddConst("c", numeric.Values(numeric.I64, []int64{math.MaxInt64, math.MinInt64, 1e15}, 3))
	l, err := n.Add("sum", Ops().Named("Add"), Elementwise{elementwise.Binary(elementwise.Add)}, []*Tensor{x, c})
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	var weights [][]byte
	data, err := n.Encode(func(b []byte) int { weights = append(weights, b); return len(weights) - 1 })
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeNetwork(Ops(), data, func(i int) ([]byte, error) { return weights[i], nil })
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != n.String() || !symbolic.Equal(got.Tensor("c").Value, c.Value) {
		t.Errorf("got %s with %v, want %s with %v", got, got.Tensor("c").Value, n, c.Value)
	}
}
