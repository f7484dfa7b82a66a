package graph

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestAttentionDetails(t *testing.T) {
	d := Define("attentions")
	q := d.Input("q", numeric.F32, symbolic.Symbol("n"), symbolic.Const(12), symbolic.Const(8*64))
	k, v := d.Input("k", numeric.F32, symbolic.Symbol("n"), symbolic.Const(10), symbolic.Const(2*64)), d.Input("v", numeric.F32, symbolic.Symbol("n"), symbolic.Const(10), symbolic.Const(2*32))
	pastK, pastV := d.Input("pastK", numeric.F32, symbolic.Symbol("n"), symbolic.Const(2), symbolic.Const(5), symbolic.Const(64)), d.Input("pastV", numeric.F32, symbolic.Symbol("n"), symbolic.Const(2), symbolic.Const(5), symbolic.Const(32))
	mask := d.Input("mask", numeric.Bool, symbolic.Const(12), symbolic.Const(15))
	shared, _, _ := d.AttentionWithPast(q, k, v, mask, pastK, pastV, AttentionAttrs{Heads: 8, KVHeads: 2, Causal: true})
	d.Output("shared", shared)
	d.Output("plain", d.Attention(q, q, q, nil, AttentionAttrs{Heads: 8, KVHeads: 8}))
	one := d.Input("one", numeric.F32, symbolic.Const(1), symbolic.Const(1), symbolic.Const(2*64))
	d.Output("first", d.Attention(one, one, one, nil, AttentionAttrs{Heads: 2, KVHeads: 2}))
	scores := d.Layers(Attention, AttentionAttrs{Heads: 8, KVHeads: 8, Left: 4}, 4, q, q, q)
	d.Output("scores", scores[3])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Detail{
		{
			{Name: "heads", Text: "8 of queries, 2 of keys and values, of size 64, values of 32"}, {Name: "lengths", Text: "12 queries, 15 keys, 5 of them of the past, for each of 3 items"},
			{Name: "mask", Text: "causal, bool[12,15] selects"}, {Name: "scores", Text: "never in memory as a whole", Bytes: 4 * 3 * 8 * 12 * 15},
		},
		{
			{Name: "heads", Text: "8, of size 64"}, {Name: "lengths", Text: "12 queries, 12 keys, for each of 3 items"},
			{Name: "mask", Text: "none: every query sees every key"}, {Name: "scores", Text: "never in memory as a whole", Bytes: 4 * 3 * 8 * 12 * 12},
		},
		{
			{Name: "heads", Text: "2, of size 64"}, {Name: "lengths", Text: "1 query, 1 key"},
			{Name: "mask", Text: "none: every query sees every key"}, {Name: "scores", Text: "never in memory as a whole", Bytes: 4 * 2},
		},
		{
			{Name: "heads", Text: "8, of size 64"}, {Name: "lengths", Text: "12 queries, 12 keys, for each of 3 items"},
			{Name: "mask", Text: "3 keys before a query's place"}, {Name: "scores", Text: "written, as an output", Bytes: 4 * 3 * 8 * 12 * 12},
		},
	}
	for i, l := range n.Layers {
		if got := l.Details(map[string]int{"n": 3}); !slices.Equal(got, want[i]) {
			t.Errorf("%s: %+v, want %+v", l.Name, got, want[i])
		}
	}
}

// TestAttentionUnseen: a key and a value that a query does not look at may be anything.
func TestAttentionUnseen(t *testing.T) {
	inf := float32(math.Inf(1))
	in := numeric.Values(numeric.F32, []float32{1, -2, inf, inf}, 1, 2, 2)
	x := &Tensor{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, 2, 2)}
	l := &Layer{Op: Attention, Attrs: AttentionAttrs{Heads: 1, KVHeads: 1, Scale: 1, Causal: true}, Inputs: []*Tensor{x, x, x}, Outputs: []*Tensor{{Name: "y"}}}
	if err := l.Infer(); err != nil {
		t.Fatal(err)
	}
	y := numeric.NewValue(numeric.F32, 1, 2, 2)
	if err := l.Eval([]numeric.Value{in, in, in}, []numeric.Value{y}); err != nil {
		t.Fatal(err)
	}
	if got := y.F32()[:2]; got[0] != 1 || got[1] != -2 {
		t.Errorf("the first query gives %v, want its own value", got)
	}
}
