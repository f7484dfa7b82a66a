package graph_test

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// sized defines networks whose weights are all zeros.
type sized struct {
	*graph.Definition
	zeros []byte
	n     int
}

func newSized(name string) *sized {
	return &sized{graph.Define(name), make([]byte, 4*768*3072*4), 0}
}

func (s *sized) weights(dims ...int) *graph.Tensor {
	s.n++
	return s.Constant(fmt.Sprintf("w%d", s.n), numeric.Value{Type: numeric.F32, Dims: dims, Data: s.zeros[:4*numeric.Count(dims)]})
}

func (s *sized) image() *graph.Tensor {
	return s.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(224), symbolic.Const(224))
}

func (s *sized) conv(x *graph.Tensor, from, to, kernel, stride, group int) *graph.Tensor {
	pad := kernel / 2
	a := graph.ConvAttrs{Strides: []int{stride, stride}, Pads: []int{pad, pad, pad, pad}, Group: group}
	return s.Relu(s.Conv(x, s.weights(to, from/group, kernel, kernel), nil, a))
}

// resnet50 is the network of He et al. (Deep residual learning, 2016) with strides in the 3x3 convolutions, as torchvision has it.
func resnet50() (*graph.Network, error) {
	s := newSized("resnet50")
	x := s.MaxPool(s.conv(s.image(), 3, 64, 7, 2, 1), graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}})
	from := 64
	for stage, blocks := range []int{3, 4, 6, 3} {
		width := 64 << stage
		for b := range blocks {
			stride, short := 1, x
			if b == 0 {
				if stage > 0 {
					stride = 2
				}
				short = s.conv(x, from, 4*width, 1, stride, 1)
			}
			y := s.conv(s.conv(s.conv(x, from, width, 1, 1, 1), width, width, 3, stride, 1), width, 4*width, 1, 1, 1)
			x, from = s.ElementWise(elementwise.Add, y, short), 4*width
		}
	}
	x = s.Reduce(graph.ReduceMean, x, false, 2, 3)
	s.Output("scores", s.FullyConnected(x, s.weights(1000, 2048), nil))
	return s.Network()
}

// mobileNet is version 1 (Howard et al., 2017), of full width.
func mobileNet() (*graph.Network, error) {
	s := newSized("mobilenet")
	x, from := s.conv(s.image(), 3, 32, 3, 2, 1), 32
	for _, b := range []struct{ to, stride int }{{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}} {
		x, from = s.conv(s.conv(x, from, from, 3, b.stride, from), from, b.to, 1, 1, 1), b.to
	}
	x = s.Reduce(graph.ReduceMean, x, false, 2, 3)
	s.Output("scores", s.FullyConnected(x, s.weights(1000, 1024), nil))
	return s.Network()
}

// bertBase is the encoder of Devlin et al. (2019) behind its embeddings, at 128 tokens.
func bertBase(fused bool) (*graph.Network, error) {
	const size, heads, tokens = 768, 12, 128
	s := newSized("bert")
	x := s.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(tokens), symbolic.Const(size))
	split := func(x *graph.Tensor, perm ...int) *graph.Tensor {
		return s.Shuffle(x, graph.Shuffle{Reshape: []int{0, tokens, heads, size / heads}, Second: perm})
	}
	for range 12 {
		q, k, v := s.MatMul(x, s.weights(size, size)), s.MatMul(x, s.weights(size, size)), s.MatMul(x, s.weights(size, size))
		var y *graph.Tensor
		if fused {
			y = s.Attention(q, k, v, nil, graph.AttentionAttrs{Heads: heads, KVHeads: heads})
		} else {
			scores := s.MatMul(split(q, 0, 2, 1, 3), split(k, 0, 2, 3, 1))
			y = s.Shuffle(s.MatMul(s.Softmax(scores, -1), split(v, 0, 2, 1, 3)), graph.Shuffle{First: []int{0, 2, 1, 3}, Reshape: []int{0, tokens, size}})
		}
		x = s.MatMul(y, s.weights(size, size))
		x = s.MatMul(s.Relu(s.MatMul(x, s.weights(size, 4*size))), s.weights(4*size, size))
	}
	s.Output("y", x)
	return s.Network()
}

// TestFLOPsOfModels holds what is counted to what is published: 4.09 billion multiply-adds of ResNet-50 and 0.569 of MobileNet
// (torchvision and the paper), and of BERT-base at 128 tokens 85 million weights for each token and the two products of attention.
func TestFLOPsOfModels(t *testing.T) {
	const attention = 12 * 2 * 128 * 128 * 768
	for _, c := range []struct {
		name   string
		define func() (*graph.Network, error)
		want   int64 // multiply-adds
	}{
		{"resnet50", resnet50, 4_089_184_256},
		{"mobilenet", mobileNet, 568_740_352},
		{"bert", func() (*graph.Network, error) { return bertBase(false) }, 12*12*768*768*128 + attention},
		{"bert, attention fused", func() (*graph.Network, error) { return bertBase(true) }, 12*12*768*768*128 + attention},
	} {
		n, err := c.define()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, batch := range []int64{1, 4} {
			sum := int64(0)
			for _, l := range n.Layers {
				sum += graph.FLOPs(l, map[string]int{"batch": int(batch)})
			}
			if sum != 2*batch*c.want {
				t.Errorf("%s, batch %d: %d FLOPs, want %d multiply-adds", c.name, batch, sum, batch*c.want)
			}
		}
	}
}
