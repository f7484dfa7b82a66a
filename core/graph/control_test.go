package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// controlNetwork has a loop with a loop and an If inside it, a Scan from the end on, and captures of inputs and constants.
func controlNetwork(t testing.TB) *Network {
	t.Helper()
	d := Define("control")
	n := symbolic.Symbol("n")
	x, flag, start := d.Input("x", numeric.F32, n, symbolic.Const(3)), d.Input("flag", numeric.Bool), d.Input("start", numeric.F32, symbolic.Const(3))
	w := d.Weights("w", []float32{1, 2, 3}, 3)
	trips := d.Constant("trips", numeric.Values(numeric.I64, []int64{4}))
	two := d.Constant("two", numeric.Values(numeric.I64, []int64{2}))
	looped := d.Named("loop").Loop(trips, nil, []*Tensor{start}, func(b *Definition, i, _ *Tensor, c []*Tensor) (*Tensor, []*Tensor) {
		inner := b.Named("inner").Loop(two, nil, c, func(b *Definition, _, _ *Tensor, c []*Tensor) (*Tensor, []*Tensor) {
			return nil, []*Tensor{b.Add(c[0], w)}
		})[0]
		y := b.Named("choice").If(flag,
			func(b *Definition) []*Tensor { return []*Tensor{b.Mul(inner, inner)} },
			func(b *Definition) []*Tensor { return []*Tensor{inner} })[0]
		return nil, []*Tensor{b.Sqrt(b.Abs(y)), b.Cast(i, numeric.F32)}
	})
	scanned := d.Named("scan").Scan([]*Tensor{looped[0]}, []*Tensor{x}, ScanAttrs{InBackwards: []bool{true}, OutBackwards: []bool{true}, OutAxes: []int{-1}},
		func(b *Definition, s, e []*Tensor) []*Tensor {
			sum := b.Add(s[0], e[0])
			return []*Tensor{sum, b.Mul(sum, w)}
		})
	d.Output("state", scanned[0])
	d.Output("all", scanned[1])
	d.Output("numbers", looped[1])
	net, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func controlInputs(flag bool, x ...float32) map[string]numeric.Value {
	c := numeric.Values(numeric.Bool, []uint8{0})
	if flag {
		c.Data[0] = 1
	}
	return map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, len(x)/3, 3), "flag": c, "start": numeric.Values(numeric.F32, []float32{1, 1, 1}, 3)}
}

func TestControlEval(t *testing.T) {
	n := controlNetwork(t)
	var raw [][]byte
	stored, err := n.Encode(func(b []byte) int { raw = append(raw, b); return len(raw) - 1 })
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := DecodeNetwork(Ops(), stored, func(i int) ([]byte, error) { return raw[i], nil })
	if err != nil {
		t.Fatal(err)
	}
	if decoded.String() != n.String() {
		t.Errorf("stored: %s\nwant %s", decoded, n)
	}
	for _, net := range []*Network{n, n.Clone(), decoded} {
		got, err := net.Eval(context.Background(), controlInputs(true, 1, 2, 3, 10, 20, 30), nil)
		if err != nil {
			t.Fatal(err)
		}
		// Each iteration adds 2w, squares, takes the root: 1 + 8w. Then 10 20 30 is added, and 1 2 3.
		if want := []float32{9 + 11, 17 + 22, 25 + 33}; !slices.Equal(got["state"].F32(), want) {
			t.Errorf("state %v, want %v", got["state"].F32(), want)
		}
		if want := []float32{20, 19, 39 * 2, 37 * 2, 58 * 3, 55 * 3}; !slices.Equal(got["all"].F32(), want) {
			t.Errorf("all %v, want %v", got["all"].F32(), want)
		}
		if want := []float32{0, 1, 2, 3}; !slices.Equal(got["numbers"].F32(), want) {
			t.Errorf("numbers %v, want %v", got["numbers"].F32(), want)
		}
		got, err = net.Eval(context.Background(), controlInputs(false), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got["all"].Data) != 0 || !slices.Equal(got["all"].Dims, []int{3, 0}) || len(got["state"].F32()) != 3 {
			t.Errorf("of nothing: %v", got)
		}
	}
	if l := n.AllLayers(); len(l) != 14 {
		t.Errorf("%d layers", len(l))
	}
}

// TestWhile ends loops by their conditions: before the first iteration, and by data.
func TestWhile(t *testing.T) {
	d := Define("while")
	x, most, goes := d.Input("x", numeric.F32), d.Input("most", numeric.I64, symbolic.Const(1)), d.Input("goes", numeric.Bool)
	limit := d.Weights("limit", []float32{100})
	d.Output("y", d.Loop(most, goes, []*Tensor{x}, func(b *Definition, _, _ *Tensor, c []*Tensor) (*Tensor, []*Tensor) {
		y := b.Add(c[0], c[0])
		return b.Less(y, limit), []*Tensor{y}
	})[0])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int64
		goes uint8
		want float32
	}{{1000, 1, 128}, {3, 1, 8}, {0, 1, 1}, {-5, 1, 1}, {1000, 0, 1}} {
		got, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{1}), "most": numeric.Values(numeric.I64, []int64{c.most}, 1), "goes": numeric.Values(numeric.Bool, []uint8{c.goes})}, nil)
		if err != nil || got["y"].F32()[0] != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// TestControlErrors has what is no layer refused, with a reason.
func TestControlErrors(t *testing.T) {
	one := func(t *Tensor) []*Tensor { return []*Tensor{t} }
	for _, c := range []struct {
		name  string
		build func(d *Definition, x, flag, n *Tensor)
		want  string
	}{
		{"shapes", func(d *Definition, x, flag, n *Tensor) {
			d.If(flag, func(*Definition) []*Tensor { return one(x) }, func(b *Definition) []*Tensor { return one(b.Transpose(x, 1, 0)) })
		}, "output 0 is f32[2,3] of one branch and f32[3,2] of the other"},
		{"numbers of results", func(d *Definition, x, flag, n *Tensor) {
			d.If(flag, func(*Definition) []*Tensor { return one(x) }, func(b *Definition) []*Tensor { return []*Tensor{x, x} })
		}, "2 outputs, the layer 1"},
		{"condition", func(d *Definition, x, flag, n *Tensor) {
			d.If(x, func(*Definition) []*Tensor { return one(x) }, func(b *Definition) []*Tensor { return one(x) })
		}, "the condition is x f32[2,3], want one bool"},
		{"carried", func(d *Definition, x, flag, n *Tensor) {
			d.Loop(n, nil, one(x), func(b *Definition, _, _ *Tensor, c []*Tensor) (*Tensor, []*Tensor) {
				return nil, one(b.Concat(0, c[0], c[0]))
			})
		}, "carried value 0 is f32[2,3] before an iteration and f32[4,3] after it"},
		{"endless", func(d *Definition, x, flag, n *Tensor) {
			d.Loop(nil, nil, one(x), func(b *Definition, _, _ *Tensor, c []*Tensor) (*Tensor, []*Tensor) { return nil, c })
		}, "neither a number of iterations nor a condition ends it"},
		{"gathered", func(d *Definition, x, flag, n *Tensor) {
			d.Loop(n, flag, nil, func(b *Definition, _, c *Tensor, _ []*Tensor) (*Tensor, []*Tensor) { return nil, one(x) })
		}, "how many there are depends on data"},
		{"lengths", func(d *Definition, x, flag, n *Tensor) {
			d.Scan(nil, []*Tensor{x, d.Transpose(x, 1, 0)}, ScanAttrs{}, func(b *Definition, _, e []*Tensor) []*Tensor { return e })
		}, "input 1 has 3 elements to scan, the first one 2"},
		{"axis", func(d *Definition, x, flag, n *Tensor) {
			d.Scan(nil, one(x), ScanAttrs{InAxes: []int{2}}, func(b *Definition, _, e []*Tensor) []*Tensor { return e })
		}, "has no axis to scan"},
		{"inside", func(d *Definition, x, flag, n *Tensor) {
			d.If(flag, func(b *Definition) []*Tensor { return one(b.MatMul(x, x)) }, func(b *Definition) []*Tensor { return one(x) })
		}, "layer If/then/MatMul (MatMul)"},
		{"input of a body", func(d *Definition, x, flag, n *Tensor) {
			d.If(flag, func(b *Definition) []*Tensor { return one(b.Input("z", numeric.F32)) }, func(b *Definition) []*Tensor { return one(x) })
		}, "a body has no inputs but those that it is given"},
	} {
		d := Define("bad")
		c.build(d, d.Input("x", numeric.F32, symbolic.Const(2), symbolic.Const(3)), d.Input("flag", numeric.Bool), d.Input("n", numeric.I64))
		if err := d.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestEndless ends what does not end, by an error that names the layer.
func TestEndless(t *testing.T) {
	d := Define("endless")
	x, goes := d.Input("x", numeric.Bool), d.Input("goes", numeric.Bool)
	d.Output("y", d.Named("forever").Loop(nil, goes, []*Tensor{x}, func(b *Definition, _, goes *Tensor, c []*Tensor) (*Tensor, []*Tensor) {
		return b.Or(c[0], c[0]), []*Tensor{c[0]}
	})[0])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	yes := numeric.Values(numeric.Bool, []uint8{1})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := n.Eval(ctx, map[string]numeric.Value{"x": yes, "goes": yes}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ends with %v", err)
	}
	_, err = n.Eval(context.Background(), map[string]numeric.Value{"x": yes, "goes": yes}, nil)
	if want := fmt.Sprintf("layer forever (Loop): it does not end within %d iterations", MaxIterations); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestControlText prints the networks inside layers.
func TestControlText(t *testing.T) {
	d := Define("text")
	x, flag := d.Input("x", numeric.F32, symbolic.Const(2)), d.Input("flag", numeric.Bool)
	d.Output("y", d.Named("choice").If(flag, func(b *Definition) []*Tensor { return []*Tensor{b.Neg(x)} }, func(b *Definition) []*Tensor { return []*Tensor{x} })[0])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	const want = `network text
input  x f32[2]
input  flag bool[]
choice: y f32[2] = If(flag, x)
  then
    input  choice/then/x f32[2]
    choice/then/Neg: choice/then/Neg f32[2] = Neg(choice/then/x) program=neg($0)
    output choice/then/Neg
  else
    input  choice/else/x f32[2]
    choice/else/output0: choice/else/output0 f32[2] = Identity(choice/else/x)
    output choice/else/output0
output y
`
	if n.String() != want {
		t.Errorf("%s\nwant %s", n, want)
	}
}
