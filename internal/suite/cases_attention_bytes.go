package suite

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// attentionsOfBytes are those whose queries, keys and values are quantised, and products that give such: columns with ranges of
// their own. A kernel may round the share of each key in bytes: of n keys with even values the result is wrong by the root of n
// times 1/880 of a value's deviation, if one key has nearly all, and by less if none has.
func (m *maker) attentionsOfBytes() {
	for i, n := range []attention{
		{1, 1, 1, 1, 1, 1, 1, true}, {1, 2, 2, 5, 5, 8, 8, false}, {2, 4, 2, 7, 9, 16, 24, true}, {1, 3, 1, 33, 17, 20, 20, false}, {1, 2, 2, 64, 64, 64, 64, false},
		{1, 1, 1, 17, 70, 64, 64, true}, {1, 2, 1, 1, 130, 32, 32, false}, {1, 1, 1, 3, 300, 128, 40, true},
	} {
		for j, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			zero := int32(128*j + 3)
			add := func(a graph.AttentionAttrs, out numeric.DataType, mask ...int) {
				a.Heads, a.KVHeads = n.heads, n.kvHeads
				in := m.attentionOperands(t, n)
				in[0].Range, in[1].Range, in[2].Range = numeric.PerTensor(0.015, zero), numeric.PerTensor(0.01, zero-9), numeric.PerTensor(0.02, zero+4)
				if len(mask) > 0 {
					in = append(in, m.tensor([]numeric.DataType{numeric.F32, numeric.Bool}[i%2], numeric.Range{}, mask...))
				}
				l := m.layer(graph.Attention, a, in...)
				if y := l.Outputs[0]; out != numeric.F32 {
					y.Type, y.Range = out, numeric.PerTensor(0.015, zero)
				}
				m.add(fmt.Sprintf("attention_%s%s_%v_%v_%v", t, out, n, a, mask), l, Tolerance{Real: 0.05, Step: 6})
			}
			add(graph.AttentionAttrs{}, t)
			add(graph.AttentionAttrs{Causal: true}, numeric.F32)
			add(graph.AttentionAttrs{Left: 3, Right: 2}, t, n.queries, n.keys)
			add(graph.AttentionAttrs{Causal: i == 0, Scale: 0.3}, numeric.U8, n.batch, 1, 1, n.keys)
		}
	}
	for i, widths := range [][]int{{64, 32, 96}, {32, 16, 16}} { // of the second, the columns of a panel differ
		for _, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			zeros := []int32{-7, 3, 9}
			if t == numeric.U8 {
				zeros = []int32{121, 128, 140}
			}
			var parts []numeric.Range
			columns := 0
			for j, n := range widths {
				parts, columns = append(parts, numeric.PerTensor([]float32{0.02, 0.03, 0.015}[j], zeros[j])), columns+n
			}
			l := m.layer(graph.MatMul, nil, m.tensor(t, numeric.PerTensor(0.02, zeros[0]), 1, 13+i, 40), m.constant(numeric.I8, numeric.PerTensor(0.01, 0), 1, 40, columns))
			y := l.Outputs[0]
			y.Type, y.Range = t, numeric.JoinRanges(2, parts, widths)
			m.add(fmt.Sprintf("matmul_columns_%s_%v", t, widths), l, Tolerance{Step: 1})
			split := m.layer(graph.Split, graph.SplitAttrs{Axis: 2}, m.tensor(t, y.Range, 1, 13+i, columns))
			for range widths[1:] {
				split.Outputs = append(split.Outputs, &graph.Tensor{Name: "y", Producer: split})
			}
			split.Attrs = graph.SplitAttrs{Axis: 2, Sizes: widths}
			if err := split.Infer(); err != nil || slices.ContainsFunc(split.Outputs, func(t *graph.Tensor) bool { return t.Range.PerChannel() }) {
				panic(fmt.Sprintf("suite: %v, %v", err, split))
			}
			m.add(fmt.Sprintf("split_columns_%s_%v", t, widths), split, Tolerance{})
		}
	}
}

// normalizationsToBytes read real numbers and quantise what they make of them.
func (m *maker) normalizationsToBytes() {
	for i, op := range []*graph.Op{graph.LayerNorm, graph.RMSNorm} {
		for j, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			for _, dims := range [][]int{{1, 1, 1}, {2, 3, 17}, {1, 5, 768}} {
				n := dims[2]
				in := []*graph.Tensor{m.tensor(numeric.F32, numeric.Range{}, dims...), m.constant(numeric.F32, numeric.Range{}, 1, n)}
				if i == 0 {
					in = append(in, m.constant(numeric.F32, numeric.Range{}, 1, n))
				}
				l := m.layer(op, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, in...)
				l.Outputs[0].Type, l.Outputs[0].Range = t, numeric.PerTensor(0.03, int32(128*j+5))
				m.add(fmt.Sprintf("%s_%s_%v", op.Name, t, dims), l, Tolerance{Step: 1})
			}
		}
	}
}
