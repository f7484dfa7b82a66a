package quant

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// netBuilder makes small networks with random weights.
type netBuilder struct {
	t *testing.T
	n *graph.Network
	r *rand.Rand
}

func newNet(t *testing.T, name string) *netBuilder {
	return &netBuilder{t, graph.NewNetwork(name), rand.New(rand.NewPCG(1, 2))}
}

func (b *netBuilder) add(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
	b.t.Helper()
	l, err := b.n.Add(name, op, attrs, in, name+"_out")
	if err != nil {
		b.t.Fatal(err)
	}
	return l.Outputs[0]
}

func (b *netBuilder) random(name string, dims ...int) *graph.Tensor {
	x := make([]float32, numeric.Count(dims))
	for i := range x {
		x[i] = float32(b.r.NormFloat64() / math.Sqrt(float64(len(x)/dims[0])))
	}
	return b.n.AddConst(name, numeric.Values(numeric.F32, x, dims...))
}

// conv adds a convolution with a Relu in its epilogue, and the tensor add before that.
func (b *netBuilder) conv(name string, x *graph.Tensor, out, kernel int, add *graph.Tensor) *graph.Tensor {
	in, _ := x.Dims[1].IsConst()
	p := kernel / 2
	y := b.add(name, graph.Conv, graph.ConvAttrs{Pads: []int{p, p, p, p}, Group: 1}, x, b.random(name+"_w", out, in, kernel, kernel), b.random(name+"_b", out))
	if add != nil {
		y.Producer.Fuse(elementwise.Binary(elementwise.Add), 0, add)
	}
	y.Producer.Fuse(elementwise.Unary(elementwise.Relu), 0)
	return y
}

// sampleNet is a small residual network with a branch and a head, as the standard passes leave it.
func sampleNet(t *testing.T) *graph.Network {
	b := newNet(t, "sample")
	x := b.n.AddInput("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(8), symbolic.Const(8))
	stem := b.conv("stem", x, 8, 3, nil)
	pool := b.add("pool", graph.MaxPool, graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}, stem)
	body := b.conv("body", pool, 8, 3, nil)
	res := b.conv("residual", body, 8, 3, pool)
	left, right := b.conv("left", res, 4, 1, nil), b.conv("right", res, 12, 3, nil)
	cat := b.add("cat", graph.Concat, graph.ConcatAttrs{Axis: 1}, left, right)
	mixed := b.conv("mix", cat, 6, 1, nil)
	mean := b.add("mean", graph.AveragePool, graph.PoolAttrs{Global: true}, mixed)
	flat := b.add("flat", graph.Flatten, graph.FlattenAttrs{Axis: 1}, mean)
	logits := b.add("fc", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, flat, b.random("fc_w", 5, 6), b.random("fc_b", 5))
	b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, logits))
	if err := b.n.Verify(); err != nil {
		t.Fatal(err)
	}
	return b.n
}

func inputOf(n *graph.Network, seed uint64) map[string]numeric.Value {
	r := rand.New(rand.NewPCG(seed, 0))
	in := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		v := numeric.NewValue(numeric.F32, symbolic.Eval(t.Dims, map[string]int{"batch": 4})...)
		for i := range v.F32() {
			v.F32()[i] = float32(r.NormFloat64())
		}
		in[t.Name] = v
	}
	return in
}

// calibrate runs the network and returns each tensor's range.
func calibrate(t *testing.T, n *graph.Network, c Calibrator) map[string]numeric.Range {
	in := inputOf(n, 1)
	ranges := map[string]numeric.Range{}
	for name, v := range in {
		ranges[name] = c.Range(histogram(v.F32()))
	}
	_, err := n.Eval(context.Background(), in, func(l *graph.Layer, out []numeric.Value) error {
		for i, v := range out {
			if v.Type == numeric.F32 {
				ranges[l.Outputs[i].Name] = c.Range(histogram(v.F32()))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ranges
}

func eval(t *testing.T, n *graph.Network) []float32 {
	t.Helper()
	out, err := n.Eval(context.Background(), inputOf(n, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out[n.Outputs[0].Name].F32()
}

func decisionText(list []Decision) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%-10s %s  %s\n", d.Layer, PrecisionName(d.Precision), d.Reason)
	}
	return b.String()
}

func place(t *testing.T, n *graph.Network, c Calibrator, policy Policy) (*graph.Network, []Decision) {
	t.Helper()
	ranges := calibrate(t, n, c)
	q := n.Clone()
	d, err := Place(q, ranges, policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Verify(); err != nil {
		t.Fatal(err)
	}
	if len(d) != len(n.Layers) {
		t.Errorf("%d decisions for %d layers", len(d), len(n.Layers))
	}
	return q, d
}

func TestPlace(t *testing.T) {
	n := sampleNet(t)
	q, d := place(t, n, MinMax{}, Policy{})
	golden.RequireEqual(t, []byte(decisionText(d)+"\n"+q.String()))
	for _, c := range []struct {
		policy Policy
		least  float64
	}{{Policy{}, 25}, {Policy{Scheme: Scheme{Asymmetric: true}}, 28}, {Policy{Scheme: Scheme{Asymmetric: true, Type: numeric.U8}}, 28},
		{Policy{Scheme: Scheme{Type: numeric.U8}}, 25}, {Policy{PerTensor: true}, 20}} {
		q, _ := place(t, n, MinMax{c.policy.Scheme}, c.policy)
		e, err := Compare(eval(t, n), eval(t, q))
		if err != nil || e.SQNRdB < c.least || e.SQNRdB == MaxDB {
			t.Errorf("%v: %.1f dB, %v", c.policy, e.SQNRdB, err)
		}
	}
}

// TestPlaceTwice: the same input gives the same network.
func TestPlaceTwice(t *testing.T) {
	n := sampleNet(t)
	a, _ := place(t, n, Entropy{}, Policy{})
	b, _ := place(t, n, Entropy{}, Policy{})
	if a.String() != b.String() {
		t.Error("two placements differ")
	}
}

func TestPlaceDecisions(t *testing.T) {
	rules := func(s string) []Rule {
		r, err := ParseRules(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	without := func(ranges map[string]numeric.Range, names ...string) map[string]numeric.Range {
		for _, n := range names {
			delete(ranges, n)
		}
		return ranges
	}
	n := sampleNet(t)
	for _, c := range []struct {
		name    string
		policy  Policy
		missing []string
		want    map[string]string // layer: precision and reason
	}{
		{"first and last", Policy{KeepFirst: true, KeepLast: true}, nil, map[string]string{
			"stem": "fp32 the first layer is kept in floating point", "fc": "fp32 the last layer is kept in floating point",
			"flat": "fp32 no 8-bit layer reads its result", "mean": "fp32 no 8-bit layer reads its result",
			"pool": "int8 an 8-bit layer reads its result", "softmax": "fp32 Softmax has no 8-bit form"}},
		{"rules", Policy{KeepFirst: true, Rules: rules("*:fp32, stem:int8, le*t:int8,body:fp16")}, nil, map[string]string{
			"stem": "int8 asked for by stem:int8", "left": "int8 asked for by le*t:int8", "body": "fp16 asked for by body:fp16",
			"right": "fp32 asked for by *:fp32", "cat": "fp32 asked for by *:fp32"}},
		{"softmax in int8", Policy{Rules: rules("softmax:int8")}, nil, map[string]string{"softmax": "fp32 Softmax has no 8-bit form"}},
		{"no range", Policy{}, []string{"image", "left_out", "body_out"}, map[string]string{
			"stem": "fp32 no range for tensor image", "residual": "fp32 no range for tensor body_out",
			"cat": "int8 an 8-bit layer reads its result"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := n.Clone()
			list, err := Place(q, without(calibrate(t, n, MinMax{}), c.missing...), c.policy)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Verify(); err != nil {
				t.Fatal(err)
			}
			for _, d := range list {
				got := PrecisionName(d.Precision) + " " + d.Reason
				if want, ok := c.want[d.Layer]; ok && got != want {
					t.Errorf("%s: %s, want %s", d.Layer, got, want)
				}
			}
			if e, err := Compare(eval(t, n), eval(t, q)); err != nil || e.SQNRdB < 20 {
				t.Errorf("%.1f dB, %v", e.SQNRdB, err)
			}
		})
	}
}

func TestPlaceErrors(t *testing.T) {
	n := sampleNet(t)
	ranges := calibrate(t, n, MinMax{})
	for _, c := range []struct {
		policy Policy
		want   string
	}{
		{Policy{Rules: []Rule{{Pattern: "nothing*", Precision: numeric.F32}}}, "layer precision nothing*:fp32: no layer of sample has such a name"},
		{Policy{Scheme: Scheme{Type: numeric.I32}}, "activations cannot be quantised to i32, only to i8 or u8"},
	} {
		if _, err := Place(n.Clone(), ranges, c.policy); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	lowered := n.Clone()
	lowered.Lowered = true
	if _, err := Place(lowered, ranges, Policy{}); err == nil {
		t.Error("a lowered network was accepted")
	}
	q, _ := place(t, n, MinMax{}, Policy{})
	before := q.String()
	list, err := Place(q, ranges, Policy{})
	if err != nil || q.String() != before {
		t.Errorf("a network with quantisation of its own was changed: %v", err)
	}
	for _, d := range list {
		if d.Layer == "stem" && d.Precision != numeric.I8 || d.Layer == "softmax" && d.Precision != numeric.F32 {
			t.Errorf("%+v", d)
		}
	}
}

func TestQuantizeWeights(t *testing.T) {
	w := []float32{1, -2, 0.5, 0, 0, 0, 100, -50, 127}
	for _, c := range []struct {
		axis   int
		scales []float32
		q      []int8
	}{
		{0, []float32{2.0 / 127, 1.0 / 127, 1}, []int8{64, -127, 32, 0, 0, 0, 100, -50, 127}},
		{1, []float32{100.0 / 127, 50.0 / 127, 1}, []int8{1, -5, 0, 0, 0, 0, 127, -127, 127}},
		{-1, []float32{1}, []int8{1, -2, 0, 0, 0, 0, 100, -50, 127}},
	} {
		q, r := QuantizeWeights(numeric.Values(numeric.F32, w, 3, 3), c.axis, WeightRange{})
		if fmt.Sprint(numeric.View[int8](q.Data)) != fmt.Sprint(c.q) || fmt.Sprint(r.Scale) != fmt.Sprint(c.scales) || r.Zero != nil {
			t.Errorf("axis %d: %v %v", c.axis, numeric.View[int8](q.Data), r)
		}
	}
	odd := []float32{float32(math.Inf(1)), float32(math.NaN()), 3, -3}
	q, r := QuantizeWeights(numeric.Values(numeric.F32, odd, 4), -1, WeightRange{})
	if got := fmt.Sprint(numeric.View[int8](q.Data)); got != "[127 0 127 -127]" {
		t.Errorf("%s %v", got, r)
	}
	if q, r := QuantizeWeights(numeric.NewValue(numeric.F32, 0, 3), 0, WeightRange{}); q.Len() != 0 || len(r.Scale) != 0 {
		t.Errorf("empty: %v %v", q, r)
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"conv1", "conv1", true}, {"conv1", "conv10", false}, {"conv*", "conv10", true}, {"*", "", true}, {"*1", "conv1", true},
		{"a*b*c", "a-b-c", true}, {"a*b*c", "a-c", false}, {"a*a", "a", false}, {"**", "x", true}, {"*b*", "abc", true},
	} {
		if got := wildcard(c.pattern, c.name); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.name, got)
		}
	}
	rules, err := ParseRules("/layer:1/conv:fp32, *:int8,")
	if err != nil || fmt.Sprint(rules) != "[/layer:1/conv:fp32 *:int8]" {
		t.Errorf("%v, %v", rules, err)
	}
	for spec, want := range map[string]string{
		"conv1":      `layer precision "conv1": want NAME:PRECISION, as in *conv*:fp32`,
		":fp32":      `layer precision ":fp32": want NAME:PRECISION, as in *conv*:fp32`,
		"conv1:int4": `layer precision "conv1:int4": "int4" is not one of fp32, fp16, int8, int8:token`,
	} {
		if _, err := ParseRules(spec); err == nil || err.Error() != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// TestPlaceOnF16 leaves a model whose tensors are F16 as it is, and says why for each layer.
func TestPlaceOnF16(t *testing.T) {
	b := newNet(t, "half")
	x := b.n.AddInput("x", numeric.F16, symbolic.Const(2), symbolic.Const(4))
	w := b.n.AddConst("w", numeric.NewValue(numeric.F16, 4, 4))
	y := b.add("fc", graph.MatMul, nil, x, w)
	b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, y))
	d, err := Place(b.n, nil, Policy{})
	if err != nil || len(d) != 2 {
		t.Fatalf("%v, %v", d, err)
	}
	for _, d := range d {
		if d.Precision == numeric.I8 || d.Reason != "the layer computes in f16 already; INT8 is placed on f32" {
			t.Errorf("%s: %v, %s", d.Layer, d.Precision, d.Reason)
		}
	}
}
