package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// groupQueryAttention is an attention whose keys and values are written behind those of the past, of which each item has as many as
// input 5 says less the new ones, and present has room for all. Queries and keys may be turned first. Smooth
// softmax is that with a sink of 0. Not supported are quantised or sliding pasts, normalised queries and keys, and the output of
// scores. A past whose buffer present shares is imported as any other: present is as much longer as there are new keys.
func groupQueryAttention(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 5, 6); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3}}, axes{1, []int{3}}, axes{2, []int{3}}, axes{3, []int{4}}, axes{4, []int{4}}); err != nil {
		return nil, err
	}
	a, err := n.groupQueryAttrs()
	if err != nil {
		return nil, err
	}
	q, k, v := n.Input(0), n.Input(1), n.Input(2)
	width, err := n.extent(0, 2)
	if err != nil {
		return nil, err
	}
	size := width / a.Heads
	if k == nil {
		size = width / (a.Heads + 2*a.KVHeads)
		list := d.Split(q, 2, a.Heads*size, a.KVHeads*size, a.KVHeads*size)
		q, k, v = list[0], list[1], list[2]
	}
	count := d.extentOf(q, 1)
	lengths := d.Add(d.as(d.Reshape(n.Input(5), -1), numeric.I64), d.number(1))
	places := d.Max(d.Sub(lengths, count), d.number(0)) // of the first new keys
	if n.Flag("do_rotary", false) {
		if q, k, err = d.turnedOperands(n, a, size, q, k, places); err != nil {
			return nil, err
		}
	}
	pastK, pastV := n.Input(3), n.Input(4)
	if pastK == nil || pastV == nil {
		return d.Layers(Attention, a, max(1, min(3, n.Outputs)), d.withSinks(n, a.Heads, q, k, v, n.Input(10))...), nil
	}
	allK, allV := d.written(pastK, k, places, a.KVHeads), d.written(pastV, v, places, a.KVHeads)
	y := d.Layer(Attention, a, d.withSinks(n, a.Heads, q, allK, allV, n.Input(10), nil, nil, d.Add(places, count))...)
	return []*Tensor{y, allK, allV}, nil
}

// withSinks returns the inputs of an attention with the sinks that the node has.
func (d *Definition) withSinks(n *Node, heads int, inputs ...*Tensor) []*Tensor {
	sinks := n.Input(11)
	if sinks == nil && n.Int("smooth_softmax", 0) > 0 {
		sinks = d.Constant("sinks", numeric.NewValue(numeric.F32, heads))
	}
	if sinks == nil {
		return inputs
	}
	inputs = append(inputs, make([]*Tensor, AttentionSinks-len(inputs))...)
	return append(inputs, sinks)
}

func (n *Node) groupQueryAttrs() (a AttentionAttrs, err error) {
	a = AttentionAttrs{Heads: n.Int("num_heads", 0), KVHeads: n.Int("kv_num_heads", 0), Scale: n.Float("scale", 0), Softcap: n.Float("softcap", 0), Causal: n.Flag("causal", true)}
	if a.Heads < 1 || a.KVHeads < 1 {
		return a, fmt.Errorf("num_heads %d and kv_num_heads %d, want at least 1", a.Heads, a.KVHeads)
	}
	if w := n.Int("local_window_size", -1); w > 0 { // its own key is one of them
		a.Left = w
	}
	for _, name := range []string{"qk_output", "sliding_window_cache", "kv_cache_bit_width"} {
		if v := n.Int(name, 0); v > 0 {
			return a, fmt.Errorf("%s %d is not supported", name, v)
		}
	}
	for _, name := range []string{"k_quant_type", "v_quant_type"} {
		if s := n.String(name, "NONE"); s != "NONE" {
			return a, fmt.Errorf("%s %q is not supported", name, s)
		}
	}
	for _, name := range []string{"qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon"} {
		n.Float(name, 0) // of normalisations, whose inputs are refused
	}
	n.Int("smooth_softmax", 0)          // read where there are no sinks
	n.Flag("rotary_interleaved", false) // and where nothing is turned
	return a, n.lacks("quantised pasts, normalisations and padded queries", 12, 13, 14, 15, 16)
}

// turnedOperands turns queries and keys by the angles of their places.
func (d *Definition) turnedOperands(n *Node, a AttentionAttrs, size int, q, k, places *Tensor) (turnedQ, turnedK *Tensor, err error) {
	if err := n.needs(7, 8); err != nil {
		return nil, nil, err
	}
	half, err := n.extent(7, 1)
	if err != nil {
		return nil, nil, err
	}
	positions := n.Input(9)
	if positions == nil {
		positions = d.Add(d.Unsqueeze(places, 1), d.counting(q, 1))
	}
	r := RotaryAttrs{Heads: a.Heads, Interleaved: n.Flag("rotary_interleaved", false)}
	if 2*half != size {
		r.Size = 2 * half
	}
	turnedQ = d.Rotary(q, n.Input(7), n.Input(8), positions, r)
	r.Heads = a.KVHeads
	return turnedQ, d.Rotary(k, n.Input(7), n.Input(8), positions, r), nil
}

// written adds keys or values [B,S,heads*D] to those of the past, [B,heads,P,D], at the place of each item.
func (d *Definition) written(past, x, places *Tensor, heads int) *Tensor {
	split := d.Transpose(d.Reshape(x, 0, 0, heads, -1), 0, 2, 1, 3)
	return d.TensorScatter(d.Concat(2, past, split), split, places, TensorScatterAttrs{Axis: 2})
}

// microsoftRotary is a rotary embedding, by angles of a table, at the given places or at those from a given one on.
func microsoftRotary(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2, 3); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3, 4}}, axes{1, []int{1, 2}}, axes{2, []int{2}}, axes{3, []int{2}}); err != nil {
		return nil, err
	}
	if s := n.Float("scale", 1); s != 1 {
		return nil, fmt.Errorf("scale %g is not supported", s)
	}
	if n.Flag("is_packed_batching", false) {
		return nil, fmt.Errorf("is_packed_batching 1 is not supported")
	}
	x, positions, axis := n.Input(0), n.Input(1), 1
	a := RotaryAttrs{Heads: n.Int("num_heads", 0), Size: n.Int("rotary_embedding_dim", 0), Interleaved: n.Flag("interleaved", false)}
	switch {
	case len(x.Dims) == 4:
		a.Heads, axis = 0, 2
	case a.Heads == 0:
		width, err := n.extent(0, 2)
		if err != nil {
			return nil, err
		}
		half, err := n.extent(2, 1)
		if err != nil {
			return nil, err
		}
		a.Heads = width / max(1, 2*half)
	}
	if len(positions.Dims) == 1 {
		positions = d.Unsqueeze(d.Add(positions, d.counting(x, axis)), 0)
	}
	return result(d.Rotary(x, n.Input(2), n.Input(3), positions, a))
}
