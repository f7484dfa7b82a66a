package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestDefinition defines a network with every kind of layer that has a method, and checks what is inferred.
func TestDefinition(t *testing.T) {
	d := Define("all")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(4), symbolic.Const(8), symbolic.Const(8))
	ones := func(name string, dims ...int) *Tensor {
		return d.Weights(name, slices.Repeat([]float32{1}, numeric.Count(dims)), dims...)
	}
	x = d.Deconv(x, ones("w0", 4, 4, 2, 2), nil, ConvTransposeAttrs{Strides: []int{2, 2}})
	x = d.Named("bn").BatchNorm(x, ones("scale", 4), ones("bias", 4), ones("mean", 4), ones("var", 4), 1e-5)
	x = d.Scale(x, ones("s", 4), ones("t", 1), nil)
	x = d.Clip(x, 0, 6)
	x = d.AveragePool(x, PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}})
	x = d.Concat(1, x, d.Sigmoid(x), d.Tanh(x))
	x = d.ElementWise(elementwise.Max, x, d.Pad(d.Slice(x, SliceAttrs{Starts: []int{1}, Ends: []int{8}, Axes: []int{3}}), 0, 0, 0, 0, 1, 0, 0, 0, 0))
	x = d.Named("shuffle").Shuffle(x, Shuffle{First: []int{0, 2, 3, 1}, Reshape: []int{0, 64, 12}, Second: []int{0, 2, 1}})
	x = d.MatMul(x, ones("w1", 64, 5))
	x = d.Reduce(ReduceMean, x, false, 1)
	x = d.Gemm(x, ones("w2", 5, 3), nil, GemmAttrs{Alpha: 2, Beta: 1})
	d.Output("half", d.Cast(x, numeric.F16))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range n.Layers {
		lines = append(lines, fmt.Sprintf("%s %s %s", l.Name, l.Op.Name, l.Outputs[0].TypeString()))
	}
	want := []string{
		"ConvTranspose ConvTranspose f32[batch,4,16,16]", "bn BatchNormalization f32[batch,4,16,16]",
		"Pointwise Pointwise f32[batch,4,16,16]", "Clip Clip f32[batch,4,16,16]", "AveragePool AveragePool f32[batch,4,8,8]",
		"Sigmoid Sigmoid f32[batch,4,8,8]", "Tanh Tanh f32[batch,4,8,8]", "Concat Concat f32[batch,12,8,8]",
		"Slice Slice f32[batch,12,8,7]", "Pad Pad f32[batch,12,8,8]", "Max Max f32[batch,12,8,8]",
		"shuffle_0 Transpose f32[batch,8,8,12]", "shuffle_1 Reshape f32[batch,64,12]", "shuffle Transpose f32[batch,12,64]",
		"MatMul MatMul f32[batch,12,5]", "ReduceMean ReduceMean f32[batch,5]", "Gemm Gemm f32[batch,3]", "Cast Cast f16[batch,3]",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 2, 4, 8, 8)}, nil); err != nil || !slices.Equal(out["half"].Dims, []int{2, 3}) {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestDefinitionErrors(t *testing.T) {
	input := func(d *Definition) *Tensor {
		return d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(3), symbolic.Const(8), symbolic.Const(8))
	}
	for _, c := range []struct {
		name   string
		define func(d *Definition)
		want   string
	}{
		{"shape", func(d *Definition) {
			y := d.Named("conv1").Conv(input(d), d.Weights("w", make([]float32, 72), 2, 4, 3, 3), nil, ConvAttrs{})
			d.Output("y", d.Relu(y))
		}, "network bad: layer conv1 (Conv): input f32[n,3,8,8] has 3 channels"},
		{"no outputs", func(d *Definition) { d.Relu(input(d)) }, "no outputs"},
		{"weights", func(d *Definition) { d.Weights("w", make([]float32, 5), 2, 3) }, "weights w: 5 elements"},
		{"name twice", func(d *Definition) { d.Named("a").Relu(d.Named("a").Relu(input(d))) }, "layer a: there is a layer of this name"},
		{"activation", func(d *Definition) { d.Activation(elementwise.Clamp, input(d)) }, "clamp takes 1 tensors and 2 parameters"},
		{"missing", func(d *Definition) { d.Named("sum").ElementWise(elementwise.Add, input(d), nil) }, "layer sum (Add): 1 inputs, want 2"},
		{"input twice", func(d *Definition) { input(d); input(d) }, "input x: there is a tensor of this name"},
		{"output input", func(d *Definition) { d.Output("y", input(d)) }, "keeps its name"},
		{"no reduction", func(d *Definition) { d.Reduce(Conv, input(d), false) }, "Conv is no reduction"},
		{"types", func(d *Definition) { x := input(d); d.ElementWise(elementwise.Add, x, d.Cast(x, numeric.I32)) }, "layer Add (Add): add: f32 meets i32"},
	} {
		d := Define("bad")
		c.define(d)
		if _, err := d.Network(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
