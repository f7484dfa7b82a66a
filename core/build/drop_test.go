package build_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestDropQuantization compares what is left of a quantised network with the one of real numbers that its integers stand for, written
// down beside it: pairs around a convolution, at a residual and at the output, weights by channel, a bias of 32 bits.
func TestDropQuantization(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	weights := numeric.NewValue(numeric.I8, 4, 3, 3, 3)
	real := numeric.NewValue(numeric.F32, 4, 3, 3, 3)
	scales := []float32{1.0 / 64, 1.0 / 32, 1.0 / 128, 0.01}
	for i := range weights.Data {
		weights.Data[i] = byte(rnd.IntN(256))
		real.F32()[i] = float32(int8(weights.Data[i])) * scales[i/27]
	}
	bias := numeric.Values(numeric.I32, []int32{90, -300, 7, 0}, 4)
	realBias := numeric.Values(numeric.F32, []float32{9, -30, 0.7, 0}, 4)
	by, attrs := numeric.PerTensor(0.1, 3), graph.ConvAttrs{Group: 1, Pads: []int{1, 1, 1, 1}, Strides: []int{1, 1}, Dilations: []int{1, 1}}
	quantised := func(input numeric.DataType) *graph.Network {
		n := graph.NewNetwork("n")
		add := func(name string, op *graph.Op, a any, in ...*graph.Tensor) *graph.Tensor {
			return addLayer(t, n, name, op, a, in...)
		}
		pair := func(name string, x *graph.Tensor) *graph.Tensor {
			q := add(name+"_Q", graph.Quantize, graph.QuantAttrs{Range: by, Type: numeric.I8}, x)
			return add(name+"_DQ", graph.Dequantize, graph.QuantAttrs{Range: by, Type: numeric.F32}, q)
		}
		x := n.AddInput("x", input, symbolic.Shape(1, 3, 5, 5)...)
		if input == numeric.F32 {
			x = pair("x", x)
		} else {
			x = add("x_DQ", graph.Dequantize, graph.QuantAttrs{Range: by, Type: numeric.F32}, x)
		}
		w := add("w_DQ", graph.Dequantize, graph.QuantAttrs{Range: numeric.Range{Scale: scales}, Type: numeric.F32}, n.AddConst("w", weights))
		b := add("b_DQ", graph.Dequantize, graph.QuantAttrs{Range: numeric.PerTensor(0.1, 0), Type: numeric.F32}, n.AddConst("b", bias))
		n.MarkOutput(pair("y", add("Conv", graph.Conv, attrs, x, w, b)))
		return n
	}
	want := graph.NewNetwork("real")
	want.MarkOutput(addLayer(t, want, "Conv", graph.Conv, attrs, want.AddInput("x", numeric.F32, symbolic.Shape(1, 3, 5, 5)...), want.AddConst("w", real), want.AddConst("b", realBias)))
	before := quantised(numeric.F32)
	got, step, err := build.DropQuantization(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Layers) != 1 || got.Layers[0].Name != "Conv" || got.Outputs[0].Name != before.Outputs[0].Name {
		t.Fatalf("what is left:\n%s", got)
	}
	if len(step.Fired) < 4 { // pairs of x and y, the integers of w and b
		t.Errorf("%d places of %s", len(step.Fired), step.Pass)
	}
	x := numeric.NewValue(numeric.F32, 1, 3, 5, 5)
	for i := range x.F32() {
		x.F32()[i] = float32(rnd.NormFloat64()) * 40 // much of it out of range
	}
	a, err := got.Eval(t.Context(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Eval(t.Context(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range b[want.Outputs[0].Name].F32() {
		if g := a[got.Outputs[0].Name].F32()[i]; g-v > 1e-4 || v-g > 1e-4 {
			t.Fatalf("element %d is %v, want %v", i, g, v)
		}
	}
	if _, _, err := build.DropQuantization(t.Context(), quantised(numeric.I8)); err == nil || !strings.Contains(err.Error(), "layer x_DQ: ") {
		t.Errorf("integers that the network is given: %v", err)
	}
}

func addLayer(t *testing.T, n *graph.Network, name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
	t.Helper()
	l, err := n.Add(name, op, attrs, in, name+"_out")
	if err != nil {
		t.Fatal(err)
	}
	return l.Outputs[0]
}

// TestDropMoved drops a quantisation between whose ends integers are moved: real numbers are moved in their place, under the layer's name.
func TestDropMoved(t *testing.T) {
	n := graph.NewNetwork("n")
	add := func(name string, op *graph.Op, a any, in ...*graph.Tensor) *graph.Tensor {
		return addLayer(t, n, name, op, a, in...)
	}
	by := numeric.PerTensor(0.5, 3)
	left, right := n.AddInput("left", numeric.F32, symbolic.Shape(1, 2, 2, 2)...), n.AddInput("right", numeric.F32, symbolic.Shape(1, 1, 2, 2)...)
	quantise := func(x *graph.Tensor) *graph.Tensor {
		return add(x.Name+"_Q", graph.Quantize, graph.QuantAttrs{Range: by, Type: numeric.I8}, x)
	}
	joined := add("joined", graph.Concat, graph.ConcatAttrs{Axis: 1}, quantise(left), quantise(right))
	flat := add("flat", graph.Flatten, graph.FlattenAttrs{Axis: 1}, joined)
	n.MarkOutput(add("y_DQ", graph.Dequantize, graph.QuantAttrs{Range: by, Type: numeric.F32}, flat))
	got, _, err := build.DropQuantization(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Layers) != 2 || got.Layers[0].Name != "joined" || got.Layers[1].Name != "flat" || got.Outputs[0].Type != numeric.F32 {
		t.Errorf("what is left:\n%s", got)
	}
}
