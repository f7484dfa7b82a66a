package quant

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// products are networks of one product whose input "x" has the given shape.
func products(t *testing.T) map[string]*netBuilder {
	nets := map[string]*netBuilder{}
	for name, c := range map[string]struct {
		op      *graph.Op
		attrs   any
		x       []int
		weights []int
		bias    int // 0: none
		fuse    func(b *netBuilder, l *graph.Layer)
	}{
		"valid":      {graph.Conv, graph.ConvAttrs{Group: 1}, []int{2, 3, 6, 5}, []int{4, 3, 3, 2}, 4, nil},
		"padded":     {graph.Conv, graph.ConvAttrs{Group: 1, Pads: []int{1, 0, 2, 1}, Strides: []int{2, 1}, Dilations: []int{1, 2}}, []int{1, 3, 7, 9}, []int{4, 3, 3, 3}, 4, nil},
		"same":       {graph.Conv, graph.ConvAttrs{Group: 1, AutoPad: graph.AutoPadSameUpper, Strides: []int{2, 2}}, []int{1, 2, 5, 6}, []int{3, 2, 3, 3}, 0, nil},
		"groups":     {graph.Conv, graph.ConvAttrs{Group: 2, Pads: []int{1, 1, 1, 1}}, []int{1, 4, 4, 4}, []int{6, 2, 3, 3}, 6, nil},
		"depthwise":  {graph.Conv, graph.ConvAttrs{Group: 5, Pads: []int{1, 1, 1, 1}}, []int{1, 5, 4, 4}, []int{5, 1, 3, 3}, 5, nil},
		"line":       {graph.Conv, graph.ConvAttrs{Group: 1, Pads: []int{2, 2}}, []int{1, 3, 8}, []int{4, 3, 5}, 0, nil},
		"transposed": {graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1, Strides: []int{2, 2}, Pads: []int{1, 0, 0, 1}}, []int{1, 3, 4, 5}, []int{3, 4, 3, 3}, 4, nil},
		"gemm":       {graph.Gemm, graph.GemmAttrs{Alpha: 0.5, Beta: 2, TransB: true}, []int{3, 6}, []int{4, 6}, 4, nil},
		"gemm bare":  {graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1}, []int{3, 6}, []int{6, 4}, 0, nil},
		"matmul":     {graph.MatMul, nil, []int{2, 3, 6}, []int{6, 4}, 0, nil},
		"matmul with a bias": {graph.MatMul, nil, []int{2, 3, 6}, []int{6, 4}, 0, func(b *netBuilder, l *graph.Layer) {
			l.Fuse(elementwise.Binary(elementwise.Add), 0, b.random("bias", 4))
		}},
		"conv with a sum": {graph.Conv, graph.ConvAttrs{Group: 1}, []int{1, 3, 4, 4}, []int{3, 3, 1, 1}, 0, func(b *netBuilder, l *graph.Layer) {
			l.Fuse(elementwise.Binary(elementwise.Add), 0, l.Inputs[0])
		}},
	} {
		b := newNet(t, name)
		in := []*graph.Tensor{b.n.AddInput("x", numeric.F32, symbolic.Shape(c.x...)...), b.random("w", c.weights...)}
		if c.bias > 0 {
			in = append(in, b.random("b", c.bias))
		}
		y := b.add("product", c.op, c.attrs, in...)
		if c.fuse != nil {
			c.fuse(b, y.Producer)
		}
		b.n.MarkOutput(y)
		if err := b.n.Infer(); err != nil {
			t.Fatal(err)
		}
		nets[name] = b
	}
	return nets
}

// evenInput returns an input that is the same all over each channel.
func evenInput(t *graph.Tensor, axis int) numeric.Value {
	dims := symbolic.Eval(t.Dims, nil)
	x := make([]float32, numeric.Count(dims))
	inner := numeric.Count(dims[axis+1:])
	for i := range x {
		x[i] = float32(math.Sin(float64(i/inner%dims[axis]) + 0.7))
	}
	return numeric.Values(numeric.F32, x, dims...)
}

// evalMeans evaluates a network and returns the means of its output's channels, and of what the product reads.
func evalMeans(t *testing.T, n *graph.Network, x numeric.Value) (out, read []float64) {
	t.Helper()
	l := n.Layer("product")
	axis := len(l.Outputs[0].Dims) - 1
	if l.Op.Class == graph.ClassConvolution {
		axis = 1
	}
	o, r := NewMeans(axis), NewMeans(ChannelAxis(l))
	if l.Inputs[0].Producer == nil {
		r.AddValue(x, numeric.Range{})
	}
	if _, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x}, func(d *graph.Layer, values []numeric.Value) error {
		if d == l {
			o.AddValue(values[0], numeric.Range{})
		}
		if d == l.Inputs[0].Producer {
			r.AddValue(values[0], numeric.Range{})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	om, _ := o.Of()
	rm, _ := r.Of()
	return om.Mean, rm.Mean
}

// The shift is by how much Eval says that the means differ, where each channel is the same everywhere; and with it in the bias
// they do not differ any more.
func TestShift(t *testing.T) {
	for name, b := range products(t) {
		before := b.n.Clone()
		x := evenInput(b.n.Inputs[0], ChannelAxis(before.Layer("product")))
		ranges := map[string]numeric.Range{"x": Scheme{Asymmetric: true}.Range(-0.8, 0.9)} // which clips
		n := b.n
		if _, err := Place(n, ranges, Policy{Scheme: Scheme{Asymmetric: true}}); err != nil {
			t.Fatal(err)
		}
		p, err := NewProduct(n.Layer("product"), before.Layer("product"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, real := evalMeans(t, before, x)
		got, read := evalMeans(t, n, x)
		shift, err := p.Shift(real, read)
		if err != nil || len(shift) != len(want) {
			t.Errorf("%s: %v, %v", name, shift, err)
			continue
		}
		var moved float64
		for c := range shift {
			moved = max(moved, math.Abs(shift[c]))
			if d := want[c] - got[c] - shift[c]; math.Abs(d) > 2e-6 && !strings.Contains(name, "sum") {
				t.Errorf("%s: channel %d moves by %g, want %g", name, c, shift[c], want[c]-got[c])
			}
		}
		if moved < 1e-4 {
			t.Errorf("%s: quantisation moves no channel: nothing is tested", name)
		}
		before2 := got
		p.AddBias(n, shift)
		if err := n.Infer(); err != nil {
			t.Fatal(err)
		}
		if err := n.Verify(); err != nil {
			t.Fatal(err)
		}
		got, _ = evalMeans(t, n, x)
		for c := range shift {
			if d := got[c] - before2[c] - shift[c]; math.Abs(d) > 2e-6 {
				t.Errorf("%s: with its bias corrected, channel %d moves by %g, want %g", name, c, got[c]-before2[c], shift[c])
			}
		}
		if _, err := p.Shift(real[1:], read); err == nil {
			t.Errorf("%s: means of too few channels are taken", name)
		}
	}
}

// A product of which something is not known says what.
func TestNewProductRefuses(t *testing.T) {
	b := products(t)["gemm"]
	before := b.n.Clone()
	if _, err := NewProduct(b.n.Layer("product"), before.Layer("product"), nil); err == nil || !strings.Contains(err.Error(), "floating point") {
		t.Errorf("weights that are not quantised: %v", err)
	}
	if _, err := Place(b.n, map[string]numeric.Range{"x": {Scale: []float32{0.1}, Zero: []int32{0}}}, Policy{}); err != nil {
		t.Fatal(err)
	}
	if _, err := NewProduct(b.n.Layer("product"), nil, nil); err == nil {
		t.Error("a product without the layer that it was")
	}
	for _, l := range b.n.Layers {
		if l.Op == graph.Quantize {
			if _, err := NewProduct(l, l, nil); err == nil {
				t.Error("Quantize is a product")
			}
		}
	}
}

// Means are those of a plain sum, whatever the axis, and what is not finite is left out.
func TestMeans(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := []float32{1, 2, 3, nan, 5, 6, 7, 8, inf, 10, 11, 12}
	for _, c := range []struct {
		axis int
		dims []int
		want []float64
	}{
		{1, []int{2, 2, 3}, []float64{(1 + 2 + 3 + 7 + 8) / 5.0, (5 + 6 + 10 + 11 + 12) / 5.0}},
		{2, []int{2, 2, 3}, []float64{(1 + 7 + 10) / 3.0, (2 + 5 + 8 + 11) / 4.0, (3 + 6 + 12) / 3.0}},
		{0, []int{3, 4}, []float64{2, 6.5, 11}},
		{1, []int{1, 12, 1}, []float64{1, 2, 3, 0, 5, 6, 7, 8, 0, 10, 11, 12}},
	} {
		m, twice := NewMeans(c.axis), NewMeans(c.axis)
		v := numeric.Values(numeric.F32, x, c.dims...)
		m.AddValue(v, numeric.Range{})
		twice.AddValue(v, numeric.Range{})
		twice.Merge(m)
		for _, m := range []*Means{m, twice} {
			got, ok := m.Of()
			for i, want := range c.want {
				if !ok || math.Abs(got.Mean[i]-want) > 1e-12 {
					t.Errorf("axis %d: %v, want %v", c.axis, got, c.want)
					break
				}
			}
		}
		m.AddValue(numeric.Values(numeric.F32, x, 12), numeric.Range{})
		if _, ok := m.Of(); ok && c.axis > 0 {
			t.Error("a tensor without the axis has means")
		}
	}
}

// Ranges of weights reach where an exhaustive search says.
func TestWeightRanges(t *testing.T) {
	b := newNet(t, "weights")
	w, _ := b.random("w", 1, 5000).Const()
	x := w.F32()
	x[7] = 0.5 // far outside
	error2 := func(by string) (sum float64, scale float32) {
		r, err := ParseWeightRange(by)
		if err != nil || r.String() != by {
			t.Fatal(r, err)
		}
		q, rng := QuantizeWeights(w, 0, r)
		for i, v := range rng.Dequantize(q) {
			sum += math.Pow(float64(v-x[i]), 2)
		}
		return sum, rng.Scale[0]
	}
	whole, scale := error2("minmax")
	if math.Abs(float64(scale)*127-0.5) > 1e-6 {
		t.Errorf("minmax reaches to %g", scale*127)
	}
	best := whole
	for k := range 200 {
		s := 0.5 / 127 * (1 - float32(k)/300)
		r := numeric.Range{Scale: []float32{s}}
		q := numeric.NewValue(numeric.I8, 1, 5000)
		r.Quantize(q, x)
		var sum float64
		for i, v := range r.Dequantize(q) {
			sum += math.Pow(float64(v-x[i]), 2)
		}
		best = min(best, sum)
	}
	if got, _ := error2("mse"); got > best*1.02 || got > whole {
		t.Errorf("mse leaves an error of %g, the best range %g, minmax %g", got, best, whole)
	}
	if _, s := error2("percentile:99"); float64(s)*127 > 0.06 || float64(s)*127 < 0.02 {
		t.Errorf("percentile:99 reaches to %g", s*127)
	}
	for _, by := range []string{"minmax/7bit", "mse/7bit", "percentile:99/7bit"} {
		r, err := ParseWeightRange(by)
		if err != nil || r.String() != by || !r.Reduced() {
			t.Fatal(r, err)
		}
		q, rng := QuantizeWeights(w, 0, r)
		end := 0.0
		for _, v := range numeric.View[int8](q.Data) {
			end = max(end, math.Abs(float64(v)))
		}
		_, of8 := error2(r.Reduce(false).String())
		if end != 64 || by != "mse/7bit" && math.Abs(float64(rng.Scale[0]*64/of8)-127) > 1e-4 {
			t.Errorf("%s: integers up to %g, scale %g, that of 8 bits %g", by, end, rng.Scale[0], of8)
		}
	}
	for _, bad := range []string{"", "mse:3", "percentile:x", "percentile:20", "entropy", "/7bit", "minmax/8bit", "minmax/7bit/7bit"} {
		if _, err := ParseWeightRange(bad); err == nil {
			t.Errorf("%q is a range", bad)
		}
	}
}
