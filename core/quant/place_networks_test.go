package quant

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestPlaceExplicit: in a model that brings its own quantisation, a product behind a layer that moves integers is quantised.
func TestPlaceExplicit(t *testing.T) {
	b := newNet(t, "explicit")
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(4), symbolic.Const(1), symbolic.Const(1))
	pair := func(name string, x *graph.Tensor) *graph.Tensor {
		r := numeric.PerTensor(1.0/64, 0)
		q := b.add(name+"_q", graph.Quantize, graph.QuantAttrs{Range: r, Type: numeric.I8}, x)
		return b.add(name+"_dq", graph.Dequantize, graph.QuantAttrs{Range: r, Type: numeric.F32}, q)
	}
	flat := b.add("flat", graph.Flatten, graph.FlattenAttrs{Axis: 1}, pair("x", x))
	fc := b.add("fc", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, flat, pair("w", b.random("fc_w", 5, 4)))
	b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, fc))
	list, err := Place(b.n, nil, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if want := d.Layer != "softmax"; want != (d.Precision == numeric.I8) {
			t.Errorf("%s: %v, %s", d.Layer, d.Precision, d.Reason)
		}
	}
}

// TestPlaceResampled: what is resampled to the nearest has its input's range, what lies between has one of its own; extents
// that are other expressions of a symbol are of one shape where its value is known.
func TestPlaceResampled(t *testing.T) {
	b := newNet(t, "pyramid")
	size := symbolic.Symbol("size")
	x := b.n.AddInput("image", numeric.F32, symbolic.Const(4), symbolic.Const(3), size, size)
	shrink := func(name string, x *graph.Tensor) *graph.Tensor {
		return b.add(name, graph.MaxPool, graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}, x)
	}
	grow := func(name, mode string, x *graph.Tensor) *graph.Tensor {
		a := graph.ResizeAttrs{Scales: []float32{1, 1, 2, 2}, Mode: mode, Coordinates: "half_pixel", Nearest: "round_prefer_floor"}
		return b.add(name, graph.Resize, a, x)
	}
	fine := b.conv("fine", x, 8, 3, nil)
	coarse := b.conv("coarse", shrink("half", fine), 8, 3, nil)
	deep := b.conv("deep", shrink("quarter", coarse), 8, 3, nil)
	b.n.MarkOutput(b.conv("middle", coarse, 8, 1, grow("nearest", "nearest", deep)))
	b.n.MarkOutput(b.conv("last", grow("linear", "linear", coarse), 8, 3, nil))
	env := map[string]int{"size": 8}
	ranges := map[string]numeric.Range{}
	for i, l := range b.n.Layers {
		ranges[l.Outputs[0].Name] = numeric.PerTensor(float32(i+1)/64, 0)
	}
	ranges["image"] = numeric.PerTensor(1.0/32, 0)
	for _, shapes := range []map[string]int{nil, env} {
		q := b.n.Clone()
		list, err := Place(q, ranges, Policy{Shapes: shapes})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Verify(); err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			want := d.Layer != "nearest" || shapes != nil
			if got := d.Precision == numeric.I8; got != want {
				t.Errorf("shapes %v: %s is %v: %s", shapes, d.Layer, d.Precision, d.Reason)
			}
		}
		from, to, between := q.Tensor("deep_out").Range, q.Tensor("nearest_out").Range, q.Tensor("linear_out").Range
		if shapes != nil && !from.Equal(to) || between.Equal(q.Tensor("coarse_out").Range) {
			t.Errorf("ranges %v of the input, %v and %v resampled", from, to, between)
		}
	}
}

// TestPlaceRandom places in random networks with every mix of kinds, sharing and outputs.
func TestPlaceRandom(t *testing.T) {
	for seed := range uint64(60) {
		b := newNet(t, fmt.Sprint("random", seed))
		b.r = rand.New(rand.NewPCG(seed, 4))
		x := b.n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(4), symbolic.Const(6), symbolic.Const(6))
		live := []*graph.Tensor{x}
		pick := func() *graph.Tensor { return live[b.r.IntN(len(live))] }
		for i := range 3 + b.r.IntN(10) {
			name := fmt.Sprint("l", i)
			var y *graph.Tensor
			switch b.r.IntN(10) {
			case 0, 1, 2:
				var add *graph.Tensor
				if b.r.IntN(3) == 0 {
					add = pick()
				}
				y = b.conv(name, pick(), 4, 1+2*b.r.IntN(2), add)
			case 3:
				y = b.add(name, graph.MaxPool, graph.PoolAttrs{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}}, pick())
			case 4:
				c := b.add(name+"cat", graph.Concat, graph.ConcatAttrs{Axis: 1}, pick(), pick())
				y = b.conv(name, c, 4, 1, nil)
			case 5:
				y = b.add(name, graph.Ops().Named("Add"), graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, pick(), pick())
			case 6:
				y = b.add(name, graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, pick())
			case 7:
				a := graph.ConvTransposeAttrs{Pads: []int{1, 1, 1, 1}, Group: 1 + b.r.IntN(2)}
				y = b.add(name, graph.ConvTranspose, a, pick(), b.random(name+"_w", 4, 4/a.Group, 3, 3))
			case 8:
				a := graph.ResizeAttrs{Scales: []float32{1, 1, 2, 2}, Mode: []string{"nearest", "linear"}[b.r.IntN(2)], Coordinates: "half_pixel", Nearest: "floor"}
				up := b.add(name+"up", graph.Resize, a, pick())
				y = b.add(name, graph.MaxPool, graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}, up)
			case 9:
				x, pointwise := pick(), graph.Ops().Named("Pointwise")
				square := b.add(name+"square", pointwise, graph.Elementwise{Program: elementwise.Binary(elementwise.Mul)}, x, x)
				mean := b.add(name+"mean", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, square)
				root := b.add(name+"root", pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Sqrt)}, mean)
				y = b.add(name, pointwise, graph.Elementwise{Program: elementwise.Binary(elementwise.Max)}, x, root)
			}
			live = append(live, y)
		}
		b.n.MarkOutput(live[len(live)-1])
		if y := pick(); y != x && y != b.n.Outputs[0] {
			b.n.MarkOutput(y)
		}
		scheme := []Scheme{{}, {Asymmetric: true, Type: numeric.U8}}[seed%2]
		policy := Policy{Scheme: scheme}
		if seed%3 == 0 { // for a target that computes some of it
			policy.Supports = func(l *graph.Layer) error {
				if len(l.Name)%2 == int(seed/3%2) {
					return errors.New("not here")
				}
				return nil
			}
		}
		q, _ := place(t, b.n, MinMax{scheme}, policy)
		if e, err := Compare(eval(t, b.n), eval(t, q)); err != nil || e.SQNRdB < 15 {
			t.Errorf("seed %d: %.1f dB, %v\n%s\n%s", seed, e.SQNRdB, err, b.n, q)
		}
		half := b.n.Clone()
		if _, err := PlaceFP16(half, Policy{}); err != nil {
			t.Fatal(err)
		}
		if err := half.Verify(); err != nil {
			t.Fatalf("%v\n%s", err, half)
		}
		if e, err := Compare(eval(t, b.n), eval(t, half)); err != nil || e.SQNRdB < 50 {
			t.Errorf("seed %d in F16: %.1f dB, %v\n%s\n%s", seed, e.SQNRdB, err, b.n, half)
		}
	}
}
