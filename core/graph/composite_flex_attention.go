package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// onnxPreview are operators that ONNX has on trial today, in the domain ai.onnx.preview.
var onnxPreview = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"ai.onnx.preview:FlexAttention": flexAttention,
}

// flexAttention is softmax(q kT * scale) v of q [B,Heads,Sq,D], k [B,KVHeads,Skv,D] and v [B,KVHeads,Skv,Dv]. The graph score_mod changes
// the scores, [B,Heads,Sq,Skv], and prob_mod the weights that the softmax makes of them; without either, it is an [Attention].
func flexAttention(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{4}}, axes{1, []int{4}}, axes{2, []int{4}}); err != nil {
		return nil, err
	}
	q, k, v := n.Input(0), n.Input(1), n.Input(2)
	wide := numeric.F32 // what scores and softmax are computed in
	if q.Type == numeric.F64 {
		wide = numeric.F64
	}
	if n.Has("softmax_precision") {
		var err error
		if wide, err = onnxDataType(n.Int("softmax_precision", 0)); err != nil || !wide.IsFloat() {
			return nil, fmt.Errorf("softmax_precision %d is no floating-point type that is computed in", n.Int("softmax_precision", 0))
		}
	}
	scale := n.Float("scale", 0)
	if !n.Has("score_mod") && !n.Has("prob_mod") && q.Type != numeric.F64 && wide != numeric.F64 {
		return result(d.Attention(q, k, v, nil, AttentionAttrs{Scale: scale}))
	}
	size, err := n.extent(0, 3)
	if err != nil {
		return nil, err
	}
	var heads [3]int
	for i := range heads {
		if heads[i], err = n.extent(i, 1); err != nil {
			return nil, err
		}
	}
	if heads[1] < 1 || heads[0]%heads[1] != 0 || heads[1] != heads[2] {
		return nil, fmt.Errorf("%d heads of queries, %d of keys and %d of values: want as many keys as values, and a multiple of queries", heads[0], heads[1], heads[2])
	}
	if !n.Has("scale") {
		scale = float32(1 / math.Sqrt(float64(max(1, size))))
	}
	scores := d.MatMul(d.times(q, scale), d.Transpose(d.repeatedHeads(k, heads[0]/heads[1], heads[1]), 0, 1, 3, 2))
	weights, err := d.modified(n, "score_mod", d.as(scores, wide))
	if err != nil {
		return nil, err
	}
	if weights, err = d.modified(n, "prob_mod", d.Softmax(weights, -1)); err != nil {
		return nil, err
	}
	return result(d.as(d.MatMul(weights, d.as(d.repeatedHeads(v, heads[0]/heads[1], heads[1]), wide)), v.Type))
}

// repeatedHeads gives each of the heads on axis 1 as many times behind itself.
func (d *Definition) repeatedHeads(x *Tensor, times, heads int) *Tensor {
	if times == 1 {
		return x
	}
	var places []int
	for i := range times * heads {
		places = append(places, i/times)
	}
	return d.Gather(x, d.list("FlexAttention", "heads", places), 1)
}

// modified is what a graph of one input among the node's attributes makes of x, which is of the same shape; x where there is no graph.
func (d *Definition) modified(n *Node, graph string, x *Tensor) (*Tensor, error) {
	if _, given := n.ask(graph, AttrGraph); !given || !x.IsKnown() {
		return x, nil
	}
	list, err := n.Inline(graph, x)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s has %d outputs, want 1", graph, len(list))
	}
	y := list[0]
	differs := y.Type != x.Type || len(y.Dims) != len(x.Dims)
	for i := 0; !differs && i < len(x.Dims); i++ {
		differs = conflict(x.Dims[i], y.Dims[i])
	}
	if differs {
		return nil, fmt.Errorf("%s makes %s of %s, want the same type and shape", graph, y.TypeString(), x.TypeString())
	}
	return y, nil
}
