package networks

import (
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/reduce"
)

// Sizes of Language's models; Vocabulary is how many tokens they know.
const (
	Vocabulary = 24
	embedding  = 8
)

// Language returns a language model of one layer of attention with random weights. One that is cached takes the keys of earlier
// tokens, which are their values too, a mask and positions; another takes tokens alone.
func Language(seed uint64, cached bool) *Model {
	rnd := rand.New(rand.NewPCG(seed, 17))
	const fed, past = 3, 2 // of the feeds; both are open
	m := &Model{Opset: 17, Outputs: []string{"logits"}}
	weights := func(name string, dims ...int) {
		v := numeric.NewValue(numeric.F32, dims...)
		for i := range v.F32() {
			v.F32()[i] = float32(rnd.NormFloat64())
		}
		m.Consts = append(m.Consts, Const{Name: name, Value: v})
	}
	ints := func(name string, list ...int64) {
		m.Consts = append(m.Consts, Const{Name: name, Value: numeric.Values(numeric.I64, list, len(list))})
	}
	integers := func(name, axis string, dims ...int) {
		v := numeric.NewValue(numeric.I64, dims...)
		for i := range v.I64() {
			v.I64()[i] = 1
		}
		m.Inputs = append(m.Inputs, Input{Name: name, Open: []string{"", axis}, Feed: v})
	}
	add := func(op, out string, a attrs, in ...string) {
		m.Nodes = append(m.Nodes, Node{Op: op, Name: op + " " + out, In: in, Out: []string{out}, Attrs: a})
	}
	weights("embed", Vocabulary, embedding)
	weights("head", embedding, Vocabulary)
	ints("axis1", 1)
	integers("input_ids", "sequence", 1, fed)
	add("Gather", "words", nil, "embed", "input_ids")
	now := "words"
	if cached {
		weights("places", 64, embedding)
		integers("position_ids", "sequence", 1, fed)
		add("Gather", "placed", nil, "places", "position_ids")
		add("Add", "sum", nil, "words", "placed")
		now = "sum"
	}
	add("Unsqueeze", "new", nil, now, "axis1") // [1, 1, sequence, embedding]
	keys := "new"
	if cached {
		m.Inputs = append(m.Inputs, Input{Name: "past_key_values.0.key", Open: []string{"", "", "past", ""}, Feed: numeric.NewValue(numeric.F32, 1, 1, past, embedding)})
		m.Outputs = append(m.Outputs, "present.0.key")
		add("Concat", "present.0.key", attrs{"axis": intOf(2)}, "past_key_values.0.key", "new")
		keys = "present.0.key"
	}
	add("Transpose", "turned", attrs{"perm": intsOf(0, 1, 3, 2)}, keys)
	add("MatMul", "scores", nil, "new", "turned")
	scores := "scores"
	if cached {
		integers("attention_mask", "total", 1, past+fed)
		ints("axes12", 1, 2)
		m.Consts = append(m.Consts, Const{Name: "one", Value: reduce.Scalar(numeric.F32, 1)}, Const{Name: "far", Value: reduce.Scalar(numeric.F32, -1e4)})
		add("Cast", "seen", attrs{"to": intOf(1)}, "attention_mask")
		add("Sub", "hidden", nil, "one", "seen")
		add("Mul", "bias", nil, "hidden", "far")
		add("Unsqueeze", "bias4", nil, "bias", "axes12")
		add("Add", "masked", nil, "scores", "bias4")
		scores = "masked"
	}
	add("Softmax", "shares", attrs{"axis": graph.Attr{Kind: graph.AttrInt, Int: -1}}, scores)
	add("MatMul", "mixed", nil, "shares", keys)
	add("Squeeze", "flat", nil, "mixed", "axis1")
	add("MatMul", "logits", nil, "flat", "head")
	return m
}
