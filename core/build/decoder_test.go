package build_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda"
)

// decoder is a small network for segmentation: an encoder of two convolutions, and a decoder of two transposed ones with
// a connection past the middle. The channels' weights differ by factors of up to 16, so that one scale would not do.
func decoder(t *testing.T) *graph.Network {
	r := rand.New(rand.NewPCG(3, 5))
	d := graph.Define("decoder")
	weights := func(name string, axis int, dims ...int) *graph.Tensor {
		x := make([]float32, numeric.Count(dims))
		inner := numeric.Count(dims[axis+1:])
		for i := range x {
			x[i] = float32(r.NormFloat64()) / float32(4*int(1)<<(i/inner%dims[axis]%5))
		}
		return d.Weights(name, x, dims...)
	}
	bias := func(name string, n int) *graph.Tensor { return weights(name, 0, n) }
	x := d.Input("image", numeric.F32, symbolic.Shape(1, 3, 16, 16)...)
	down := d.Named("down").Conv(x, weights("down_w", 0, 8, 3, 3, 3), bias("down_b", 8), graph.ConvAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, Group: 1})
	down = d.Named("down_relu").Relu(down)
	deep := d.Named("deep").Conv(down, weights("deep_w", 0, 16, 8, 3, 3), bias("deep_b", 16), graph.ConvAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, Group: 1})
	deep = d.Named("deep_relu").Relu(deep)
	up := d.Named("up").Deconv(deep, weights("up_w", 1, 16, 8, 2, 2), bias("up_b", 8), graph.ConvTransposeAttrs{Strides: []int{2, 2}, Group: 1})
	up = d.Named("up_relu").Relu(up)
	both := d.Named("both").Concat(1, up, down)
	out := d.Named("out").Deconv(both, weights("out_w", 1, 16, 6, 3, 3), nil,
		graph.ConvTransposeAttrs{Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, OutputPadding: []int{1, 1}, Group: 1})
	classes := d.Named("classes").Conv(d.Named("out_relu").Relu(out), weights("classes_w", 0, 2, 6, 1, 1), nil, graph.ConvAttrs{Group: 1})
	d.Output("mask", classes)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// decoderImage is an input of the decoder.
func decoderImage(seed uint64) map[string]numeric.Value {
	r := rand.New(rand.NewPCG(seed, 1))
	v := numeric.NewValue(numeric.F32, 1, 3, 16, 16)
	for i := range v.F32() {
		v.F32()[i] = float32(r.NormFloat64())
	}
	return map[string]numeric.Value{"image": v}
}

// decoderRanges are the ranges that a few inputs have.
func decoderRanges(t *testing.T, n *graph.Network) map[string]numeric.Range {
	peaks := map[string]float64{}
	note := func(name string, v numeric.Value) {
		for _, x := range v.F32() {
			peaks[name] = max(peaks[name], math.Abs(float64(x)))
		}
	}
	for seed := range uint64(4) {
		in := decoderImage(seed)
		note("image", in["image"])
		if _, err := n.Eval(context.Background(), in, func(l *graph.Layer, out []numeric.Value) error { note(l.Outputs[0].Name, out[0]); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	ranges := map[string]numeric.Range{}
	for name, peak := range peaks {
		ranges[name] = quant.Scheme{}.Range(-peak, peak)
	}
	return ranges
}

// lowerDecoder calibrates the decoder and brings it to INT8 for a target.
func lowerDecoder(t *testing.T, supports func(*graph.Layer) error) (float *graph.Network, l *build.Lowered) {
	t.Helper()
	o, err := build.Optimize(t.Context(), decoder(t), pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err = build.Lower(t.Context(), o, build.LowerConfig{Precision: numeric.I8, Ranges: decoderRanges(t, o.Network)}, supports)
	if err != nil {
		t.Fatal(err)
	}
	return o.Network, l
}

func mask(t *testing.T, n *graph.Network, in map[string]numeric.Value) []float32 {
	t.Helper()
	out, err := n.Eval(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out["mask"].F32()
}

// TestDecoderInInt8 lowers the decoder for a GPU: every layer computes on integers, transposed convolutions with a scale for
// each output channel, which is as exact as the other convolutions are; and the kernels give what the definition says.
func TestDecoderInInt8(t *testing.T) {
	b, err := cuda.OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	float, l := lowerDecoder(t, run.Supports(b, nil))
	for _, layer := range l.Network.Layers {
		if layer.Op == graph.Quantize {
			continue
		}
		if !layer.Inputs[0].Quantized() {
			t.Errorf("%s does not compute on integers", layer)
		}
		if w := layer.Input(1); layer.Op == graph.ConvTranspose && (w.Type != numeric.I8 || w.Range.Axis != 1 || len(w.Range.Scale) < 6) {
			t.Errorf("%s has weights %s with %d scales along axis %d", layer, w.TypeString(), len(w.Range.Scale), w.Range.Axis)
		}
	}
	p, err := build.Plan(t.Context(), l.Network, nil, b, build.PlanConfig{})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	c, err := loaded.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := decoderImage(9)
	if err := errors.Join(c.SetInputs(in), c.Execute()); err != nil {
		t.Fatal(err)
	}
	got, err := c.Output("mask")
	if err != nil {
		t.Fatal(err)
	}
	want := mask(t, l.Network, in)
	for i, w := range want {
		if got.F32()[i] != w {
			t.Fatalf("element %d is %v, by definition %v", i, got.F32()[i], w)
		}
	}
	e, err := quant.Compare(mask(t, float, in), want)
	if err != nil || e.SQNRdB < 30 {
		t.Errorf("%.1f dB from FP32, %v", e.SQNRdB, err)
	}
}

// TestUnsupportedInInt8 lowers the decoder for a target without an 8-bit transposed convolution: the weights of those that
// stay in floating point are the model's, not rounded ones, and their inputs are not rounded for their sake.
func TestUnsupportedInInt8(t *testing.T) {
	float, l := lowerDecoder(t, func(l *graph.Layer) error {
		if l.Op == graph.ConvTranspose {
			return errors.New("there is none for the op")
		}
		return nil
	})
	for _, d := range l.Decisions {
		if strings.HasPrefix(d.Layer, "up") || strings.HasPrefix(d.Layer, "out") {
			if d.Precision != numeric.F32 || d.Reason != "the target has no 8-bit form of it: there is none for the op" {
				t.Errorf("%s: %v, %s", d.Layer, d.Precision, d.Reason)
			}
		}
	}
	seen := 0
	for _, layer := range l.Network.Layers {
		if layer.Op != graph.ConvTranspose {
			continue
		}
		seen++
		if w := layer.Inputs[1]; !w.IsConst() || !bytes.Equal(w.Weights, float.Tensor(w.Name).Weights) {
			t.Errorf("%s computes with weights %s", layer, w)
		}
		if isQuantization(layer.Inputs[0].Producer.Op) {
			t.Errorf("the input of %s was rounded", layer)
		}
	}
	if seen != 2 {
		t.Errorf("%d transposed convolutions", seen)
	}
}

func isQuantization(op *graph.Op) bool { return op == graph.Quantize || op == graph.Dequantize }
