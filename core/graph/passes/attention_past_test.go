package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/passes/fuse"
)

// TestAttentionPast checks that attention reads a past where it lies, and when it does not.
func TestAttentionPast(t *testing.T) {
	plain := graph.AttentionAttrs{Heads: 4, KVHeads: 2}
	causal := plain
	causal.Causal = true
	build := func(a graph.AttentionAttrs, axis int, more func(n *net, k *graph.Tensor)) func(n *net) *graph.Network {
		return func(n *net) *graph.Network {
			join := func(name string) *graph.Tensor {
				past := []int{2, 2, 5, 8}
				if axis == 0 {
					past = []int{1, 2, 6, 8}
				}
				fresh := n.input(name, 2, 2, 6, 8)
				if axis == 0 {
					fresh = n.input(name+"_one", 1, 2, 6, 8)
				}
				return n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: axis}, n.input("past_"+name, past...), fresh)
			}
			k, v := join("k"), join("v")
			y := n.add("Attention", graph.Attention, a, n.input("q", 2, 6, 32), k, v)
			if more != nil {
				more(n, k)
			}
			return n.output(y)
		}
	}
	testPass(t, fuse.AttentionPast, []passCase{
		{"past", build(plain, 2, nil)},
		{"places-count", build(causal, 2, nil)},
		{"joined-items", build(plain, 0, nil)},
		{"present-is-an-output", build(plain, 2, func(n *net, k *graph.Tensor) { n.MarkOutput(k) })},
	})
}
