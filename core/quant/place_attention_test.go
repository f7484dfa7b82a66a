package quant

import (
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// attendingNet returns a network with one attention whose keys come from a product, or from the input.
func attendingNet(t *testing.T, product bool) *graph.Network {
	b := newNet(t, "attending")
	x := b.n.AddInput("x", numeric.F32, symbolic.Shape(1, 6, 8)...)
	q, k := b.add("q", graph.MatMul, nil, x, b.random("q_w", 8, 8)), x
	if product {
		k = b.add("k", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 2, 1}}, b.add("k_turned", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 2, 1}},
			b.add("k_product", graph.MatMul, nil, x, b.random("k_w", 8, 8))))
	}
	v := b.add("v", graph.MatMul, nil, x, b.random("v_w", 8, 8))
	y := b.add("attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, q, k, v)
	b.n.MarkOutput(b.add("out", graph.MatMul, nil, y, b.random("o_w", 8, 5)))
	return b.n
}

// TestPlaceAttention: an attention is quantised where products give it all, and its scores stay apart.
func TestPlaceAttention(t *testing.T) {
	for _, c := range []struct {
		name    string
		product bool
		step    float32 // of queries and keys
		policy  Policy
		want    numeric.DataType
		reason  string
	}{
		{"of products", true, 1.0 / 64, Policy{}, numeric.I8, "results of products"},
		{"of the input", false, 1.0 / 64, Policy{}, numeric.F32, "its keys do not come from a product alone"},
		{"apart", true, 1.0 / 8, Policy{}, numeric.F32, "8 bits of queries and keys would change its scores by 0.2"},
		{"named", true, 1.0 / 8, Policy{Rules: []Rule{{Pattern: "attention", Precision: numeric.I8}}}, numeric.I8, "asked for by attention:int8"},
		{"kept", true, 1.0 / 64, Policy{KeepOps: []string{"Attention"}}, numeric.F32, "Attention layers are kept"},
		{"not supported", true, 1.0 / 64, Policy{Supports: func(l *graph.Layer) error {
			if l.Op == graph.Attention {
				return errors.New("not here")
			}
			return nil
		}}, numeric.F32, "the target has no 8-bit form of it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, ranges := attendingNet(t, c.product), map[string]numeric.Range{"x": numeric.PerTensor(c.step, 0)}
			for _, l := range n.Layers {
				ranges[l.Outputs[0].Name] = numeric.PerTensor(c.step, 0)
			}
			list, err := Place(n, ranges, c.policy)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Verify(); err != nil {
				t.Fatal(err)
			}
			for _, d := range list {
				if d.Layer == "attention" && (d.Precision != c.want || !strings.Contains(d.Reason, c.reason)) {
					t.Errorf("%v, %q; want %v, %q", d.Precision, d.Reason, c.want, c.reason)
				}
			}
		})
	}
}
