package graph_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// alexnet defines AlexNet in its form of one column (Krizhevsky, One weird trick for parallelizing convolutional neural
// networks, 2014), as torchvision has it.
func alexnet() (*graph.Network, error) {
	d := graph.Define("alexnet")
	zeros := make([]byte, 4*9216*4096) // all weights are parts of it
	weights := func(name string, dims ...int) *graph.Tensor {
		return d.Constant(name, numeric.Value{Type: numeric.F32, Dims: dims, Data: zeros[:4*numeric.Count(dims)]})
	}
	conv := func(x *graph.Tensor, name string, from, to, kernel, stride, pad int) *graph.Tensor {
		w, b := weights(name+".weight", to, from, kernel, kernel), weights(name+".bias", to)
		a := graph.ConvAttrs{Strides: []int{stride, stride}, Pads: []int{pad, pad, pad, pad}}
		return d.Relu(d.Named(name).Conv(x, w, b, a))
	}
	pool := func(x *graph.Tensor) *graph.Tensor {
		return d.MaxPool(x, graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{2, 2}})
	}
	dense := func(x *graph.Tensor, name string, from, to int) *graph.Tensor {
		return d.Named(name).FullyConnected(x, weights(name+".weight", to, from), weights(name+".bias", to))
	}
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(224), symbolic.Const(224))
	x = pool(conv(x, "conv1", 3, 64, 11, 4, 2))
	x = pool(conv(x, "conv2", 64, 192, 5, 1, 2))
	x = conv(x, "conv3", 192, 384, 3, 1, 1)
	x = conv(x, "conv4", 384, 256, 3, 1, 1)
	x = pool(conv(x, "conv5", 256, 256, 3, 1, 1))
	x = d.Relu(dense(x, "fc6", 9216, 4096))
	x = d.Relu(dense(x, "fc7", 4096, 4096))
	d.Output("scores", dense(x, "fc8", 4096, 1000))
	return d.Network()
}

// AlexNet, with functions for what it repeats.
func ExampleDefinition_alexNet() {
	net, err := alexnet()
	if err != nil {
		fmt.Println(err)
		return
	}
	parameters := 0
	for _, t := range net.Consts() {
		v, _ := t.Const()
		parameters += v.Len()
	}
	operations := int64(0)
	for _, l := range net.Layers {
		if l.Op.IsProduct() {
			operations += l.Op.FLOPs(l, map[string]int{"batch": 1})
		}
	}
	fmt.Println(len(net.Layers), "layers,", parameters, "parameters,", operations/2, "multiply-adds an image")
	for _, name := range []string{"conv1", "conv5", "fc6", "fc8"} {
		fmt.Println(name, net.Layer(name).Outputs[0].TypeString())
	}
	// Output:
	// 19 layers, 61100840 parameters, 714188480 multiply-adds an image
	// conv1 f32[batch,64,55,55]
	// conv5 f32[batch,256,13,13]
	// fc6 f32[batch,4096]
	// fc8 f32[batch,1000]
}

// The sizes of the transformer block.
const (
	tokens, width, heads, hidden = 5, 8, 2, 16
	head                         = width / heads
)

// transformer defines an encoder block with the normalisation before attention and before the two dense layers (Xiong et
// al., On layer normalization in the transformer architecture, 2020). mask [1,1,tokens,tokens] is added to the scores.
func transformer() (*graph.Network, error) {
	d := graph.Define("block")
	seed := 0
	weights := func(name string, dims ...int) *graph.Tensor {
		seed++
		return d.Weights(name, lenetWeights(seed, numeric.Count(dims), 0.5), dims...)
	}
	dense := func(x *graph.Tensor, name string, from, to int) *graph.Tensor {
		return d.Named(name).Add(d.MatMul(x, weights(name+".weight", from, to)), weights(name+".bias", to))
	}
	norm := func(x *graph.Tensor, name string) *graph.Tensor {
		return d.Named(name).LayerNorm(x, weights(name+".scale", width), weights(name+".bias", width), -1, 1e-5)
	}
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(tokens), symbolic.Const(width))
	mask := d.Input("mask", numeric.F32, symbolic.Const(1), symbolic.Const(1), symbolic.Const(tokens), symbolic.Const(tokens))

	// Queries, keys and values of all heads are one product; axes become [3, batch, heads, tokens, head].
	qkv := d.Reshape(dense(norm(x, "norm1"), "qkv", width, 3*width), 0, 0, 3, heads, head)
	parts := d.Split(d.Transpose(qkv, 2, 0, 3, 1, 4), 0, 1, 1, 1)
	q, k, v := d.Squeeze(parts[0], 0), d.Squeeze(parts[1], 0), d.Squeeze(parts[2], 0)
	scores := d.MatMul(q, d.Transpose(k, 0, 1, 3, 2))
	scores = d.Add(d.Mul(scores, d.Weights("scale", []float32{float32(1 / math.Sqrt(head))})), mask)
	mixed := d.MatMul(d.Named("attention").Softmax(scores, -1), v)
	mixed = d.Reshape(d.Transpose(mixed, 0, 2, 1, 3), 0, 0, width)
	x = d.Add(x, dense(mixed, "project", width, width))

	y := dense(d.Gelu(dense(norm(x, "norm2"), "up", width, hidden)), "down", hidden, width)
	d.Output("y", d.Add(x, y))
	return d.Network()
}

// A block of a transformer, defined with one function for each thing that it repeats.
func ExampleDefinition_transformer() {
	net, err := transformer()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"norm1", "qkv", "attention", "project", "down"} {
		l := net.Layer(name)
		fmt.Println(name, l.Op.Name, l.Outputs[0].TypeString())
	}
	// Output:
	// norm1 LayerNormalization f32[batch,5,8]
	// qkv Add f32[batch,5,24]
	// attention Softmax f32[batch,2,5,5]
	// project Add f32[batch,5,8]
	// down Add f32[batch,5,8]
}

// TestTransformer checks the block against loops that share nothing with the ops.
func TestTransformer(t *testing.T) {
	net, err := transformer()
	if err != nil {
		t.Fatal(err)
	}
	const batch = 2
	x, mask := lenetWeights(50, batch*tokens*width, 1), make([]float32, tokens*tokens)
	for i := range tokens {
		for j := i + 1; j < tokens; j++ {
			mask[i*tokens+j] = float32(math.Inf(-1)) // no token sees a later one
		}
	}
	out, err := net.Eval(context.Background(), map[string]numeric.Value{
		"x": numeric.Values(numeric.F32, x, batch, tokens, width), "mask": numeric.Values(numeric.F32, mask, 1, 1, tokens, tokens),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range batch {
		for i, want := range naiveBlock(net, x[n*tokens*width:(n+1)*tokens*width]) {
			if got := float64(out["y"].F32()[n*tokens*width+i]); math.Abs(got-want) > 1e-4 {
				t.Errorf("item %d, element %d: %v, want %v", n, i, got, want)
			}
		}
	}
}

// naiveBlock computes one item in float64, with the network's constants and a mask that hides later tokens.
func naiveBlock(net *graph.Network, item []float32) []float64 {
	dense := func(x []float64, name string, to int) []float64 {
		w, _ := net.Tensor(name + ".weight").Const()
		b, _ := net.Tensor(name + ".bias").Const()
		from := len(x) / tokens
		y := make([]float64, tokens*to)
		for i := range y {
			y[i] = float64(b.F32()[i%to])
			for k := range from {
				y[i] += x[i/to*from+k] * float64(w.F32()[k*to+i%to])
			}
		}
		return y
	}
	norm := func(x []float64, name string) []float64 {
		scale, _ := net.Tensor(name + ".scale").Const()
		bias, _ := net.Tensor(name + ".bias").Const()
		y := make([]float64, len(x))
		for r := 0; r < len(x); r += width {
			mean, square := 0.0, 0.0
			for _, v := range x[r : r+width] {
				mean += v / width
			}
			for _, v := range x[r : r+width] {
				square += (v - mean) * (v - mean) / width
			}
			for i := range width {
				y[r+i] = (x[r+i]-mean)/math.Sqrt(square+1e-5)*float64(scale.F32()[i]) + float64(bias.F32()[i])
			}
		}
		return y
	}
	x := make([]float64, len(item))
	for i, v := range item {
		x[i] = float64(v)
	}
	qkv, mixed := dense(norm(x, "norm1"), "qkv", 3*width), make([]float64, len(x))
	for h := range heads {
		for i := range tokens {
			weights, sum := make([]float64, i+1), 0.0
			for j := range weights {
				dot := 0.0
				for k := range head {
					dot += qkv[i*3*width+h*head+k] * qkv[j*3*width+width+h*head+k]
				}
				weights[j] = math.Exp(dot / math.Sqrt(head))
				sum += weights[j]
			}
			for j, w := range weights {
				for k := range head {
					mixed[i*width+h*head+k] += w / sum * qkv[j*3*width+2*width+h*head+k]
				}
			}
		}
	}
	for i, v := range dense(mixed, "project", width) {
		x[i] += v
	}
	up := dense(norm(x, "norm2"), "up", hidden)
	for i, v := range up {
		up[i] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
	}
	for i, v := range dense(up, "down", width) {
		x[i] += v
	}
	return x
}
