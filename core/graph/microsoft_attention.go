package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

var microsoftAttentions = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:Attention":           packedAttention,
	"com.microsoft:GroupQueryAttention": groupQueryAttention,
	"com.microsoft:MultiHeadAttention":  multiHeadAttention,
	"com.microsoft:QAttention":          quantisedAttention,
	"com.microsoft:RotaryEmbedding":     microsoftRotary,
}

// multiHeadAttention is the attention of q, k and v with their biases, which may come packed, [B,S,Heads,3,D] or, keys and values
// alone, [B,L,Heads,2,D]. Masks of keys add a number to scores. Not supported are buffers that past and present share, beams, and the
// output of scores.
func multiHeadAttention(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3, 5}}, axes{1, []int{3, 4, 5}}, axes{2, []int{3, 4}}, axes{6, []int{4}}, axes{7, []int{4}}); err != nil {
		return nil, err
	}
	if err := n.lacks("buffers that are shared, and beams", 8, 9); err != nil {
		return nil, err
	}
	q, k, v := n.Input(0), n.Input(1), n.Input(2)
	switch {
	case len(q.Dims) == 5:
		list := d.unpacked(q, 3)
		q, k, v = list[0], list[1], list[2]
	case k != nil && len(k.Dims) == 5:
		list := d.unpacked(k, 2)
		k, v = list[0], list[1]
	}
	if k == nil || v == nil {
		return nil, fmt.Errorf("keys or values are missing")
	}
	if bias := n.Input(3); bias != nil {
		list, err := d.biased(bias, q, k, v)
		if err != nil {
			return nil, err
		}
		q, k, v = list[0], list[1], list[2]
	}
	heads := n.Int("num_heads", 0)
	a := AttentionAttrs{Heads: heads, KVHeads: heads, Scale: n.Float("scale", 0), Causal: n.Flag("unidirectional", false)}
	keys := d.keyCount(k, n.Input(6))
	mask, err := d.scoreBias(n.Input(4), n.Input(5), n.Float("mask_filter_value", -10000), q, keys)
	if err != nil {
		return nil, err
	}
	return d.Layers(Attention, a, max(1, min(3, n.Outputs)), q, k, v, mask, n.Input(6), n.Input(7)), nil
}

// unpacked cuts operands [B,S,Heads,count,D] into count operands [B,S,Heads*D].
func (d *Definition) unpacked(x *Tensor, count int) []*Tensor {
	sizes := make([]int, count)
	for i := range sizes {
		sizes[i] = 1
	}
	list := d.Split(x, 3, sizes...)
	for i, t := range list {
		list[i] = d.Reshape(t, 0, 0, -1)
	}
	return list
}

// biased adds their parts of a bias to operands that have their heads in the last axis; those that come from a past have theirs.
func (d *Definition) biased(bias *Tensor, operands ...*Tensor) ([]*Tensor, error) {
	if len(bias.Dims) != 1 || len(operands[0].Dims) != 3 {
		return nil, fmt.Errorf("the bias is %s, want a list for queries, keys and values", bias.TypeString())
	}
	all, ok := bias.Dims[0].IsConst()
	size, ok2 := operands[0].Dims[2].IsConst()
	if !ok || !ok2 || all < 2*size {
		return nil, fmt.Errorf("the bias is %s, and queries are %s", bias.TypeString(), operands[0].TypeString())
	}
	for i, b := range d.Split(bias, 0, size, size, all-2*size) {
		if len(operands[i].Dims) == 3 {
			operands[i] = d.Add(operands[i], b)
		}
	}
	return operands, nil
}

// keyCount returns a function that adds the number of all keys.
func (d *Definition) keyCount(k, past *Tensor) func() *Tensor {
	return func() *Tensor {
		axis := 1
		if len(k.Dims) == 4 {
			axis = 2
		}
		count := d.extentOf(k, axis)
		if past == nil {
			return count
		}
		return d.Add(count, d.extentOf(past, 2))
	}
}

// scoreBias returns what is added to scores: a bias, and the filter where a mask of integers has zeros: of keys [B,L], of queries
// and keys [B,S,L], or as the number of keys of each item, [B]. nil: nothing.
func (d *Definition) scoreBias(mask, bias *Tensor, filter float32, q *Tensor, keys func() *Tensor) (*Tensor, error) {
	if mask == nil {
		return bias, nil
	}
	kept := mask
	switch len(mask.Dims) {
	case 1:
		if conflict(mask.Dims[0], q.Dims[0]) {
			return nil, fmt.Errorf("the mask is %s; of masks with one axis only the number of keys of each item is supported", mask.TypeString())
		}
		all := d.Sequence(d.number(0), keys(), d.number(1))
		kept = d.Less(all, d.Unsqueeze(d.as(mask, numeric.I64), 1, 2, 3))
	case 2:
		kept = d.Unsqueeze(mask, 1, 2)
	case 3:
		kept = d.Unsqueeze(mask, 1)
	default:
		return nil, fmt.Errorf("the mask is %s, want up to three axes", mask.TypeString())
	}
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Add, b.Do(elementwise.Mul, 0, b.Constant(-filter)), b.Constant(filter))
	hidden := d.Program(b.Program, d.Cast(d.as(kept, numeric.Bool), numeric.F32))
	if bias == nil {
		return hidden, nil
	}
	return d.Add(hidden, d.as(bias, numeric.F32)), nil
}

// packedAttention is an attention of one tensor, whose product with the weights, plus bias, has queries, keys and values side by
// side; past and present have keys and values along a new first axis. Not supported are rotations, shared buffers, and masks as places
// where keys begin and end or for the longest sequence.
func packedAttention(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	if err := n.lacks("the length of a past in a shared buffer", 6); err != nil {
		return nil, err
	}
	return d.packedAttention(n, n.Input(0), n.Input(1), n.Input(2), n.Input(3), n.Input(4), n.Input(5))
}

// quantisedAttention is packedAttention on 8-bit integers.
func quantisedAttention(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 3, 4); err != nil {
		return nil, err
	}
	x := d.dequantised(n.Input(0), n.Input(3), n.Input(6))
	return d.packedAttention(n, x, d.dequantised(n.Input(1), n.Input(4), n.Input(7)), n.Input(2), n.Input(5), n.Input(8), nil)
}

func (d *Definition) packedAttention(n *Node, x, w, bias, mask, past, scores *Tensor) ([]*Tensor, error) {
	if err := n.ranked(axes{0, []int{3}}, axes{1, []int{2}}); err != nil {
		return nil, err
	}
	if past != nil && len(past.Dims) != 5 {
		return nil, fmt.Errorf("the past is %s, want five axes", past.TypeString())
	}
	for _, name := range []string{"do_rotary", "past_present_share_buffer"} {
		if n.Flag(name, false) {
			return nil, fmt.Errorf("%s 1 is not supported", name)
		}
	}
	n.Int("rotary_embedding_dim", 0) // of rotations
	sizes, heads := n.Ints("qkv_hidden_sizes"), n.Int("num_heads", 0)
	if sizes == nil {
		all, err := n.extent(1, 1)
		if err != nil {
			return nil, err
		}
		sizes = []int{all / 3, all / 3, all / 3}
	}
	if len(sizes) != 3 {
		return nil, fmt.Errorf("qkv_hidden_sizes %v, want three", sizes)
	}
	qkv := d.Split(d.plus(d.MatMul(x, w), bias), -1, sizes...)
	var pastK, pastV *Tensor
	if past != nil {
		kv := d.Split(past, 0, 1, 1)
		pastK, pastV = d.Squeeze(kv[0], 0), d.Squeeze(kv[1], 0)
	}
	mask, err := d.scoreBias(mask, scores, n.Float("mask_filter_value", -10000), x, d.keyCount(x, pastK))
	if err != nil {
		return nil, err
	}
	a := AttentionAttrs{Heads: heads, KVHeads: heads, Scale: n.Float("scale", 0), Causal: n.Flag("unidirectional", false)}
	if n.Outputs < 2 {
		return result(d.Layer(Attention, a, qkv[0], qkv[1], qkv[2], mask, pastK, pastV))
	}
	out := d.Layers(Attention, a, 3, qkv[0], qkv[1], qkv[2], mask, pastK, pastV)
	return []*Tensor{out[0], d.Concat(0, d.Unsqueeze(out[1], 0), d.Unsqueeze(out[2], 0))}, nil
}
