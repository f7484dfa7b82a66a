package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// attention is the shape of one: heads in the last axis, or in one of their own.
type attention struct {
	batch, heads, kvHeads, queries, keys, size, valueSize int
	split                                                 bool
}

// attentions are of lengths around those of tiles, with heads that are shared, masks of every form, and a past.
func (m *maker) attentions() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		add := func(n attention, a graph.AttentionAttrs, mask ...int) {
			a.Heads, a.KVHeads = n.heads, n.kvHeads
			in := m.attentionOperands(t, n)
			if len(mask) > 0 {
				in = append(in, m.tensor(numeric.F32, numeric.Range{}, mask...))
			}
			l := m.layer(graph.Attention, a, in...)
			m.add(fmt.Sprintf("attention_%s_%v_%v_%v", t, n, a, mask), l, Tolerance{Real: 2e-5})
		}
		for _, n := range []attention{
			{1, 1, 1, 1, 1, 1, 1, true}, {1, 2, 2, 5, 5, 8, 8, false}, {2, 4, 2, 7, 9, 16, 24, true}, {1, 3, 1, 33, 17, 20, 20, false}, {1, 2, 2, 64, 64, 64, 64, false},
			{1, 1, 1, 17, 70, 64, 64, true}, {1, 2, 1, 1, 130, 32, 32, false}, {1, 1, 1, 3, 40, 128, 128, true}, {1, 1, 1, 2, 5, 256, 256, false},
		} {
			add(n, graph.AttentionAttrs{})
			add(n, graph.AttentionAttrs{Causal: true})
			add(n, graph.AttentionAttrs{}, n.queries, n.keys)
			add(n, graph.AttentionAttrs{Causal: i == 0, Scale: 0.3}, n.batch, 1, 1, n.keys)
		}
		n := attention{2, 4, 2, 6, 19, 16, 16, i == 0}
		add(n, graph.AttentionAttrs{Softcap: 0.8})
		add(n, graph.AttentionAttrs{Left: 3, Right: 2})
		add(n, graph.AttentionAttrs{}, 1, 4, 6, 19)
		add(n, graph.AttentionAttrs{}, 11)                                    // hides the keys behind its end
		add(attention{1, 2, 1, 3, 2100, 16, 8, true}, graph.AttentionAttrs{}) // which blocks of a GPU share
		m.attentionStates(t)
		for _, n := range []attention{{1, 2, 2, 1, 19, 16, 16, i == 0}, {2, 4, 2, 5, 19, 16, 16, i == 1}} { // queries that a model has learnt
			in := m.attentionOperands(t, n)
			in[graph.AttentionQ] = m.constant(t, numeric.Range{}, 1, symbolic.Eval(in[graph.AttentionQ].Dims, nil)...)
			m.add(fmt.Sprintf("attention_%s_constant_%v", t, n), m.layer(graph.Attention, graph.AttentionAttrs{Heads: n.heads, KVHeads: n.kvHeads}, in...), Tolerance{Real: 2e-5})
		}
	}
}

// sunkAttentions have a score of each head beside those of its keys, far above, among and far below them.
func (m *maker) sunkAttentions() {
	for i, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for _, n := range []attention{{1, 1, 1, 1, 1, 1, 1, true}, {2, 4, 2, 7, 9, 16, 24, true}, {1, 3, 1, 33, 17, 20, 20, false}, {1, 4, 1, 1, 700, 32, 32, false}, {1, 1, 1, 17, 70, 64, 64, i == 0}} {
			for k, a := range []graph.AttentionAttrs{{}, {Causal: true}, {Left: 3, Softcap: 0.8}} {
				a.Heads, a.KVHeads = n.heads, n.kvHeads
				in := append(m.attentionOperands(t, n), make([]*graph.Tensor, graph.AttentionSinks+1-3)...)
				if k == 1 {
					in[graph.AttentionMask] = m.tensor(numeric.F32, numeric.Range{}, n.batch, 1, 1, n.keys)
				}
				sinks := numeric.NewValue(numeric.F32, n.heads)
				for h := range sinks.F32() {
					sinks.F32()[h] = []float32{0.3, -200, 3, 200}[h]
				}
				in[graph.AttentionSinks] = &graph.Tensor{Name: "sinks", Type: numeric.F32, Dims: symbolic.Shape(n.heads), Weights: sinks.Data}
				m.add(fmt.Sprintf("attention_sinks_%s_%v_%v", t, n, a), m.layer(graph.Attention, a, in...), Tolerance{Real: 2e-5})
			}
		}
	}
}

// turnedAttentions turn queries and keys first, by angles of each item and of all, beside those of the past.
func (m *maker) turnedAttentions() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for i, n := range []attention{{1, 1, 1, 1, 1, 2, 1, true}, {2, 4, 2, 5, 5, 6, 3, false}, {1, 2, 1, 33, 33, 64, 64, t == numeric.F32}, {2, 2, 2, 9, 9, 40, 16, true}} {
			angles := m.tensor(t, numeric.Range{}, []int{1, n.batch}[i%2], n.queries, n.size/2)
			a := graph.AttentionAttrs{Heads: n.heads, KVHeads: n.kvHeads, Causal: i > 1, Interleaved: i%2 == 0}
			in := append(m.attentionOperands(t, n), nil, nil, nil, nil, angles, angles)
			if i == 3 {
				in[graph.AttentionPastK], in[graph.AttentionPastV] = m.tensor(t, numeric.Range{}, 2, 2, 7, 40), m.tensor(t, numeric.Range{}, 2, 2, 7, 16)
			}
			m.add(fmt.Sprintf("attention_turned_%s_%v", t, n), m.layer(graph.Attention, a, in...), Tolerance{Real: 2e-5})
		}
	}
}

func (m *maker) attentionOperands(t numeric.DataType, n attention) []*graph.Tensor {
	one := func(heads, length, size int) *graph.Tensor {
		if n.split {
			return m.tensor(t, numeric.Range{}, n.batch, heads, length, size)
		}
		return m.tensor(t, numeric.Range{}, n.batch, length, heads*size)
	}
	return []*graph.Tensor{one(n.heads, n.queries, n.size), one(n.kvHeads, n.keys, n.size), one(n.kvHeads, n.keys, n.valueSize)}
}

// attentionStates have earlier keys and values in front, of which the second outputs are the next ones, and masks of booleans.
func (m *maker) attentionStates(t numeric.DataType) {
	n := attention{batch: 2, heads: 4, kvHeads: 2, queries: 3, keys: 3, size: 16, valueSize: 8}
	for _, past := range []int{0, 1, 13} {
		in := append(m.attentionOperands(t, n), m.tensor(numeric.Bool, numeric.Range{}, 3, past+3),
			m.tensor(t, numeric.Range{}, n.batch, n.kvHeads, past, n.size), m.tensor(t, numeric.Range{}, n.batch, n.kvHeads, past, n.valueSize))
		a := graph.AttentionAttrs{Heads: n.heads, KVHeads: n.kvHeads, Causal: past > 0}
		m.add(fmt.Sprintf("attention_%s_past_%d", t, past), m.layer(graph.Attention, a, in...), Tolerance{Real: 2e-5})
		l := m.layer(graph.Attention, a, in...)
		for range 2 {
			l.Outputs = append(l.Outputs, &graph.Tensor{Name: "y", Producer: l})
		}
		if err := l.Infer(); err != nil {
			panic(fmt.Sprintf("suite: %v", err))
		}
		m.add(fmt.Sprintf("attention_%s_past_%d_present", t, past), l, Tolerance{Real: 2e-5})
	}
}
