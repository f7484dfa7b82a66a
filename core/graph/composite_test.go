package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestCompositesRefuse imports nodes with inputs and attributes at random: what is wrong with them is an error that says so, and the
// network stays as it was.
func TestCompositesRefuse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	attrs, ops := compositeAttrs(), Ops()
	for _, c := range ops.Composites() {
		_, op, _ := strings.Cut(c.Onnx, ":")
		for range 150 {
			n := NewNetwork("n")
			node := &Node{Name: "node", OpType: op, Version: 1, Outputs: 1 + rnd.IntN(3), Attrs: map[string]Attr{}}
			for i := range rnd.IntN(11) {
				node.Inputs = append(node.Inputs, randomInput(rnd, n, i))
			}
			for _, name := range attrs {
				if rnd.IntN(4) == 0 {
					node.Attrs[name] = randomAttr(rnd)
				}
			}
			layers := len(n.Layers)
			_, errs := c.Add(n, ops, node, []string{"y"}, func(string) bool { return false })
			for _, err := range errs {
				if strings.Contains(err.Error(), "internal error") {
					t.Fatalf("%s of %v with %v: %v", c.Onnx, node.Inputs, node.Attrs, err)
				}
			}
			if len(errs) > 0 && len(n.Layers) != layers {
				t.Fatalf("%s left %d layers behind", c.Onnx, len(n.Layers)-layers)
			}
		}
	}
}

func compositeAttrs() []string {
	return []string{"num_heads", "kv_num_heads", "epsilon", "axis", "K", "N", "bits", "block_size", "alpha", "transA", "activation", "activation_params",
		"do_rotary", "local_window_size", "rotary_embedding_dim", "qkv_hidden_sizes", "scale", "channels_last", "kernel_shape", "group", "pads",
		"strides", "dilations", "offset_group", "ceil_mode", "p", "axes", "align_corners", "equation"}
}

func randomInput(rnd *rand.Rand, n *Network, i int) *Tensor {
	dims := make([]int, rnd.IntN(6))
	for j := range dims {
		dims[j] = rnd.IntN(9)
	}
	typ := []numeric.DataType{numeric.F32, numeric.F32, numeric.F32, numeric.F16, numeric.I32, numeric.I64, numeric.U8, numeric.I8, numeric.Bool}[rnd.IntN(9)]
	name := fmt.Sprint("x", i)
	switch rnd.IntN(6) {
	case 0:
		return nil
	case 1:
		return n.AddConst(name, numeric.NewValue(typ, dims...))
	}
	shape := symbolic.Shape(dims...)
	for j := range shape {
		if rnd.IntN(3) == 0 {
			shape[j] = symbolic.Symbol(fmt.Sprint("s", rnd.IntN(4)))
		}
	}
	return n.AddInput(name, typ, shape...)
}

func randomAttr(rnd *rand.Rand) Attr {
	number := []int64{-1, 0, 1, 2, 4, 8, 16, 1 << 40, -1 << 62, 1 << 62}
	switch rnd.IntN(5) {
	case 0:
		return Attr{Kind: AttrFloat, Float: 0.5}
	case 1:
		return Attr{Kind: AttrString, String: "Relu"}
	case 2:
		return Attr{Kind: AttrInts, Ints: []int64{number[rnd.IntN(10)], number[rnd.IntN(10)], 4}}
	}
	return Attr{Kind: AttrInt, Int: number[rnd.IntN(10)]}
}

// TestCompositeErrors are what nodes say that ask for what is not supported.
func TestCompositeErrors(t *testing.T) {
	real := func(dims ...int) numeric.Value { return numeric.NewValue(numeric.F32, dims...) }
	for _, c := range []struct {
		op     string
		inputs []numeric.Value
		attrs  map[string]int64
		want   string
	}{
		{"GroupQueryAttention", []numeric.Value{real(1, 2, 8), real(1, 2, 8), real(1, 2, 8), {}, {}, numeric.NewValue(numeric.I32, 1), numeric.NewValue(numeric.I32)}, map[string]int64{"num_heads": 2, "kv_num_heads": 2, "qk_output": 1}, "qk_output 1 is not supported"},
		{"GroupQueryAttention", []numeric.Value{real(1, 2, 8), real(1, 2, 8), real(1, 2, 8), {}, {}, numeric.NewValue(numeric.I32, 1), numeric.NewValue(numeric.I32)}, map[string]int64{"num_heads": 2, "kv_num_heads": 2, "new": 1}, "attribute new is not supported"},
		{"MultiHeadAttention", []numeric.Value{real(1, 2, 8), real(1, 2, 8), real(1, 2, 8), {}, numeric.NewValue(numeric.I32, 5)}, map[string]int64{"num_heads": 2}, "of masks with one axis only the number of keys of each item is supported"},
		{"Attention", []numeric.Value{real(1, 2, 8), real(8, 24)}, map[string]int64{"num_heads": 2, "do_rotary": 1}, "do_rotary 1 is not supported"},
		{"MatMulNBits", []numeric.Value{real(2, 32), numeric.NewValue(numeric.U8, 3, 1, 16), real(3)}, map[string]int64{"K": 32, "N": 3, "block_size": 32}, "the weights and their scales must be constants"},
		{"MatMulNBits", []numeric.Value{real(2, 32)}, nil, "input 1 is missing"},
		{"RotaryEmbedding", []numeric.Value{real(1, 2, 8), numeric.NewValue(numeric.I64, 1), real(9, 4), real(9, 4)}, map[string]int64{"is_packed_batching": 1}, "is_packed_batching 1 is not supported"},
	} {
		n := NewNetwork("n")
		node := &Node{Name: "node", OpType: c.op, Version: 1, Outputs: 1, Attrs: map[string]Attr{}}
		for i, v := range c.inputs {
			if v.Dims == nil && v.Data == nil {
				node.Inputs = append(node.Inputs, nil)
			} else {
				node.Inputs = append(node.Inputs, n.AddInput(fmt.Sprint("x", i), v.Type, symbolic.Shape(v.Dims...)...))
			}
		}
		for name, v := range c.attrs {
			node.Attrs[name] = Attr{Kind: AttrInt, Int: v}
		}
		_, errs := Ops().Composite("com.microsoft", c.op).Add(n, Ops(), node, []string{"y"}, func(string) bool { return false })
		if !slices.ContainsFunc(errs, func(err error) bool { return strings.Contains(err.Error(), c.want) }) {
			t.Errorf("%s: %v, want %q", c.op, errs, c.want)
		}
	}
}

// TestCompositeNames adds a composite to a network in which the names of its layers are taken.
func TestCompositeNames(t *testing.T) {
	n := NewNetwork("n")
	x, b := n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(3)), n.AddInput("b", numeric.F32, symbolic.Const(3))
	taken := map[string]bool{"node/Add": true, "node/Gelu": true}
	node := &Node{Name: "node", OpType: "BiasGelu", Version: 1, Outputs: 1, Inputs: []*Tensor{x, b}}
	list, errs := Ops().Composite("com.microsoft", "BiasGelu").Add(n, Ops(), node, []string{"node/Gelu"}, func(s string) bool { return taken[s] })
	if len(errs) > 0 || len(list) != 1 || list[0].Name != "node/Gelu" {
		t.Fatal(list, errs)
	}
	var names []string
	for _, l := range n.Layers {
		names = append(names, l.Name)
	}
	if want := []string{"node/Add_2", "node/Gelu_2"}; !slices.Equal(names, want) {
		t.Errorf("layers %v, want %v", names, want)
	}
}
