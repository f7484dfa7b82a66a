package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// exportAttention brings keys and values into the form that queries have, since ONNX wants one for all.
func exportAttention(e *Exporter) error {
	l := e.Layer
	a, since, inputs := l.Attrs.(AttentionAttrs), 23, e.Inputs()
	sinks := ""
	if l.Input(AttentionSinks) != nil {
		sinks, inputs = inputs[AttentionSinks], inputs[:AttentionSinks]
	}
	if l.Input(AttentionCos) != nil {
		for i, heads := range []int{a.Heads, a.KVHeads} {
			turn := Attributes{"interleaved": a.Interleaved}
			if len(l.Inputs[i].Dims) == 3 {
				turn["num_heads"] = heads
			}
			inputs[i] = e.Step("RotaryEmbedding", turn, inputs[i], e.ofAllItems(l.Inputs[i], AttentionCos, inputs), e.ofAllItems(l.Inputs[i], AttentionSin, inputs))
		}
	}
	inputs = inputs[:min(len(inputs), AttentionCos)]
	rank := len(l.Inputs[AttentionQ].Dims)
	if l.Input(AttentionMask) != nil {
		inputs[AttentionMask] = e.ofAllQueries(inputs[AttentionMask])
	}
	for _, i := range []int{AttentionK, AttentionV} {
		switch have := len(l.Inputs[i].Dims); {
		case have == rank:
		case rank == 3:
			rows := e.Step("Transpose", Attributes{"perm": []int{0, 2, 1, 3}}, inputs[i])
			inputs[i] = e.Step("Reshape", nil, rows, e.list("heads in the last axis", []int{0, 0, -1}))
		default:
			split := e.Step("Reshape", nil, inputs[i], e.list("heads", []int{0, 0, a.KVHeads, -1}))
			inputs[i] = e.Step("Transpose", Attributes{"perm": []int{0, 2, 1, 3}}, split)
		}
	}
	attrs := Attributes{"softcap": a.Softcap, "is_causal": a.Causal, "qk_matmul_output_mode": int(a.Scores)}
	if a.Scale != 0 {
		attrs["scale"] = a.Scale
	}
	if rank == 3 {
		n, err := l.attentionDims()
		if err != nil {
			return err
		}
		kv, _ := n.kvHeads.IsConst()
		attrs["q_num_heads"], attrs["kv_num_heads"] = a.Heads, kv
	}
	if l.Input(AttentionKVLengths) != nil {
		since = 24
	}
	if a.Left > 0 || a.Right > 0 {
		since = 25
		attrs["left_window_size"], attrs["right_window_size"] = a.Left-1, a.Right-1
	}
	if sinks != "" {
		return e.sunk(since, attrs, inputs, sinks)
	}
	return e.NodeSince(since, "Attention", attrs, inputs...)
}

// ofAllQueries returns the mask, which is called so, with a row for each query: ONNX has one row for all, but not every runtime does.
func (e *Exporter) ofAllQueries(mask string) string {
	m, q := e.Layer.Inputs[AttentionMask], e.Layer.Inputs[AttentionQ]
	rows, queries := len(m.Dims)-2, len(q.Dims)-2
	if len(q.Dims) == 3 { // heads lie in the last axis
		queries = 1
	}
	if rows < 0 || !m.Dims[rows].Is(1) || q.Dims[queries].Is(1) {
		return mask
	}
	parts := []string{e.Step("Shape", Attributes{"start": queries, "end": queries + 1}, q.Name), e.Step("Shape", Attributes{"start": rows + 1}, mask)}
	if rows > 0 {
		parts = append([]string{e.Step("Shape", Attributes{"start": 0, "end": rows}, mask)}, parts...)
	}
	return e.Step("Expand", nil, mask, e.Step("Concat", Attributes{"axis": 0}, parts...))
}

// sunk adds an attention whose heads have sinks, which ONNX's has not: of what the keys alone give each row has the share that
// their scores have beside its head's sink, exp(s) / (exp(s) + exp(sink)), with s the logarithm of the sum of their exponentials.
func (e *Exporter) sunk(since int, attrs Attributes, inputs []string, sinks string) error {
	l := e.Layer
	if len(e.outputs) > 3 {
		return fmt.Errorf("ONNX has no scores beside sinks")
	}
	inputs, typ := e.suited("Attention", inputs)
	if typ == numeric.Invalid {
		typ = l.Outputs[0].Type
	}
	y, scores := e.unique(l.Name+"_Attention"), e.unique(l.Name+"_scores")
	outputs := append([]string{y}, e.outputs[1:]...)
	for len(outputs) < 3 {
		outputs = append(outputs, "")
	}
	attrs["qk_matmul_output_mode"] = int(ScoresMasked)
	if err := e.add(since, "Attention", attrs, inputs, append(outputs, scores)); err != nil {
		return err
	}
	if l.Inputs[AttentionSinks].Type != typ {
		sinks = e.Step("Cast", Attributes{"to": typ}, sinks)
	}
	all := e.Step("ReduceLogSumExp", Attributes{"keepdims": 1}, scores, e.list("keys", []int{-1}))
	share := e.Step("Sigmoid", nil, e.Step("Sub", nil, all, e.Step("Reshape", nil, sinks, e.list("sinks of heads", []int{1, -1, 1, 1}))))
	if len(l.Inputs[AttentionQ].Dims) == 3 {
		heads := l.Attrs.(AttentionAttrs).Heads
		y = e.Step("Reshape", nil, y, e.list("heads of rows", []int{0, 0, heads, -1}))
		y = e.Step("Mul", nil, y, e.Step("Transpose", Attributes{"perm": []int{0, 2, 1, 3}}, share))
		y = e.Step("Reshape", nil, y, e.list("rows", []int{0, 0, -1}))
	} else {
		y = e.Step("Mul", nil, y, share)
	}
	if typ != l.Outputs[0].Type {
		return e.add(OldestExport, "Cast", Attributes{"to": l.Outputs[0].Type}, []string{y}, e.outputs[:1])
	}
	return e.add(OldestExport, "Identity", nil, []string{y}, e.outputs[:1])
}
