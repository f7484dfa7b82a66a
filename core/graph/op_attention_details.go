package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Detail is a fact about a layer that its attributes do not say, or say in terms of the op: a name of a word and a text. Where it
// is about memory, Bytes is how much.
type Detail struct {
	Name, Text string
	Bytes      int64
}

// Details returns what the layer's op has to tell of it at the given values of the symbols.
func (l *Layer) Details(env map[string]int) []Detail {
	if l.Op.Details == nil {
		return nil
	}
	return l.Op.Details(l, env)
}

// attentionDetails tells the heads, lengths, mask and scores of an attention.
func attentionDetails(l *Layer, env map[string]int) []Detail {
	n, err := l.attentionDims()
	if err != nil {
		return nil
	}
	heads := fmt.Sprint(n.heads.Eval(env))
	if kv := n.kvHeads.Eval(env); kv != n.heads.Eval(env) {
		heads = fmt.Sprintf("%d of queries, %d of keys and values", n.heads.Eval(env), kv)
	}
	heads += ", of size " + sizesText(n.size.Eval(env), n.valueSize.Eval(env))
	queries, keys, past := n.queries.Eval(env), n.keys.Eval(env), n.past.Eval(env)
	lengths := counted(queries, "query", "queries") + ", " + counted(past+keys, "key", "keys")
	if past > 0 {
		lengths += fmt.Sprintf(", %d of them of the past", past)
	}
	if batch := n.batch.Eval(env); batch > 1 {
		lengths += fmt.Sprintf(", for each of %d items", batch)
	}
	scores := Detail{Name: "scores", Text: "never in memory as a whole", Bytes: 4 * int64(n.batch.Eval(env)) * int64(n.heads.Eval(env)) * int64(queries) * int64(past+keys)}
	if len(l.Outputs) > 3 && l.Outputs[3] != nil {
		scores.Text = "written, as an output"
	}
	return []Detail{{Name: "heads", Text: heads}, {Name: "lengths", Text: lengths}, {Name: "mask", Text: l.attentionMaskText()}, scores}
}

// counted says how many there are of something.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

// sizesText says how many elements a head has.
func sizesText(keys, values int) string {
	if keys == values {
		return fmt.Sprint(keys)
	}
	return fmt.Sprintf("%d, values of %d", keys, values)
}

// attentionMaskText says which keys a query sees.
func (l *Layer) attentionMaskText() string {
	a := l.Attrs.(AttentionAttrs)
	text := ""
	also := func(format string, args ...any) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf(format, args...)
	}
	if a.Causal {
		also("causal")
	}
	if a.Left > 0 {
		also("%d keys before a query's place", a.Left-1)
	}
	if a.Right > 0 {
		also("%d keys behind it", a.Right-1)
	}
	switch m := l.Input(AttentionMask); {
	case m == nil:
	case m.Type == numeric.Bool:
		also("%s selects", m.TypeString())
	default:
		also("%s is added", m.TypeString())
	}
	if l.Input(AttentionKVLengths) != nil {
		also("lengths of keys by item")
	}
	if l.Input(AttentionSinks) != nil {
		also("a sink for each head")
	}
	if text == "" {
		return "none: every query sees every key"
	}
	return text
}
