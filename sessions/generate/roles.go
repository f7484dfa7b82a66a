package generate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// roles says what the inputs and outputs of a language model are for, as the common exports name and type them.
type roles struct {
	tokens    *graph.Tensor // [batch, sequence], integers
	mask      *graph.Tensor // [batch, past and sequence]: which positions are there; nil if there is none
	positions *graph.Tensor // [batch, sequence]: counted from the text's first token; nil if there is none
	zeros     []*graph.Tensor
	cache     []cached
	logits    *graph.Tensor // [batch, sequence, vocabulary]
	others    int           // outputs of three axes that might have been the logits
}

// cached is the state of one layer's keys or values: what an input reads of earlier tokens, [batch, heads, past, size], and the
// output with those of this run behind them.
type cached struct{ past, present *graph.Tensor }

// The beginnings of names that exporters give.
var (
	pastPrefix    = []string{"past"}
	presentPrefix = []string{"present", "updated", "new_past"}
)

// findRoles looks at a model's inputs and outputs; logits names the output of scores, where it is not to be found. The error says which of
// them it cannot serve.
func findRoles(n *graph.Network, logits string) (*roles, error) {
	r := &roles{}
	var pasts, presents, rows []*graph.Tensor
	for _, t := range n.Inputs {
		name := strings.ToLower(t.Name)
		switch {
		case hasPrefix(name, pastPrefix):
			pasts = append(pasts, t)
		case strings.Contains(name, "attention_mask"):
			r.mask = t
		case strings.Contains(name, "position"):
			r.positions = t
		case strings.Contains(name, "token_type"):
			r.zeros = append(r.zeros, t)
		case r.tokens == nil && isTokens(t):
			r.tokens = t
		default:
			return nil, fmt.Errorf("input %s, %s: what it is for is not known; a language model has tokens, and may have an attention mask, positions and past keys and values", t.Name, t.TypeString())
		}
	}
	if r.tokens == nil {
		return nil, fmt.Errorf("the model has no input of tokens: integers of [batch, sequence]")
	}
	for _, t := range n.Outputs {
		switch {
		case hasPrefix(strings.ToLower(t.Name), presentPrefix):
			presents = append(presents, t)
		case t.Type.IsFloat() && len(t.Dims) == 3:
			rows = append(rows, t)
		}
	}
	if err := r.choose(n, rows, logits); err != nil {
		return nil, err
	}
	return r, r.pair(pasts, presents)
}

// choose finds the scores among the outputs of three axes: those of that name, or else of those that are as wide as the vocabulary, as
// hidden states are not, one that is called logits, or the first.
func (r *roles) choose(n *graph.Network, rows []*graph.Tensor, name string) error {
	if len(rows) == 0 {
		return errors.New("the model has no output of scores: real numbers of [batch, sequence, vocabulary]")
	}
	r.others = len(rows) - 1
	if name != "" {
		i := slices.IndexFunc(rows, func(t *graph.Tensor) bool { return t.Name == name })
		if i < 0 {
			var names []string
			for _, t := range rows {
				names = append(names, t.Name)
			}
			return fmt.Errorf("logits %q: want an output of [batch, sequence, vocabulary]: %s", name, strings.Join(names, ", "))
		}
		r.logits = rows[i]
		return nil
	}
	var unfit error
	for _, t := range rows {
		if err := r.checkScores(n, t); err != nil {
			unfit = cmp.Or(unfit, err)
			continue
		}
		if r.logits == nil || isLogits(t) && !isLogits(r.logits) {
			r.logits = t
		}
	}
	if r.logits == nil {
		return unfit
	}
	return nil
}

// isLogits reports whether an output is called so.
func isLogits(t *graph.Tensor) bool { return strings.Contains(strings.ToLower(t.Name), "logits") }

// checkScores returns an error where an output cannot be scores of tokens, since it is not as wide as the table that tokens are looked
// up in has rows. They may differ by a few: one of them is padded to a round number, or some tokens are read and never written.
func (r *roles) checkScores(n *graph.Network, t *graph.Tensor) error {
	width, known := t.Dims[2].IsConst()
	for _, l := range n.Layers {
		if !known || !isLookup(l) {
			continue
		}
		rows, fixed := l.Inputs[0].Dims[0].IsConst()
		if more, ok := beyond(l.Inputs[1], r.tokens); !fixed || !ok || more != 0 {
			continue
		}
		if least, most := min(width, rows), max(width, rows); most-least > most/10 {
			return fmt.Errorf("output %s, %s: %d values for each token, and a vocabulary of %d, the rows of %s: these are no scores of a next token, as an encoder's hidden states are not; give a language model, exported with its head",
				t.Name, t.TypeString(), width, rows, l.Inputs[0].Name)
		}
	}
	return nil
}

// isLookup reports whether a layer takes rows of a table.
func isLookup(l *graph.Layer) bool {
	a, ok := l.Attrs.(graph.GatherAttrs)
	return ok && l.Op == graph.Gather && a.Axis == 0 && len(l.Inputs[0].Dims) == 2
}

// keepable returns an error where earlier tokens cannot lie in one place, of which some are not there yet: nothing would hide these.
func (r *roles) keepable() error {
	if r.mask == nil || r.positions == nil {
		return errors.New("the model takes past keys and values, but not an attention mask and positions, so that they could be kept in place; export it with both as inputs")
	}
	return nil
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func isTokens(t *graph.Tensor) bool {
	return len(t.Dims) == 2 && (t.Type == numeric.I64 || t.Type == numeric.I32)
}

// places returns how many positions the model has, where it looks them up in a table by the input of positions, or by that and a
// constant; 0 where they have no end that is known. Devices need not tell that a position is behind the last one.
func (r *roles) places(n *graph.Network) int {
	least := 0
	for _, l := range n.Layers {
		if a, ok := l.Attrs.(graph.GatherAttrs); !ok || a.Axis != 0 || !l.Inputs[0].IsConst() {
			continue
		}
		rows, _ := l.Inputs[0].Dims[0].IsConst()
		if first, ok := beyond(l.Inputs[1], r.positions); ok && rows > first && (least == 0 || rows-first < least) {
			least = rows - first
		}
	}
	return least
}

// beyond returns what the integers t are more than those of an input; ok is false where they are something else.
func beyond(t, input *graph.Tensor) (more int, ok bool) {
	for t != input {
		l := t.Producer
		if l == nil {
			return 0, false
		}
		if l.Op.Memory == graph.Viewed || l.Op == graph.Cast {
			t = l.Inputs[0]
			continue
		}
		e, ok := l.Attrs.(graph.Elementwise)
		if !ok || len(e.Program.Code) != 1 || e.Program.Code[0].Op != elementwise.Add || len(l.Inputs) != 2 || l.Outputs[0].Type.IsFloat() {
			return 0, false
		}
		k := 0 // which is the constant
		if l.Inputs[1].IsConst() {
			k = 1
		}
		v, ok := l.Inputs[k].Const()
		if !ok || numeric.Count(v.Dims) != 1 {
			return 0, false
		}
		more, t = more+int(v.Ints()[0]), l.Inputs[1-k]
	}
	return more, true
}

// pair finds the output of each input of earlier keys and values: by their names without what stands before them, or by their
// order where names say nothing.
func (r *roles) pair(pasts, presents []*graph.Tensor) error {
	if len(pasts) != len(presents) {
		return fmt.Errorf("the model has %d inputs of past keys and values and %d outputs of present ones", len(pasts), len(presents))
	}
	for i, in := range pasts {
		if len(in.Dims) != 4 || !in.Type.IsFloat() {
			return fmt.Errorf("input %s, %s: want past keys or values, [batch, heads, past, size]", in.Name, in.TypeString())
		}
		k := slices.IndexFunc(presents, func(t *graph.Tensor) bool { return rest(t.Name) == rest(in.Name) })
		if k < 0 {
			k = i
		}
		r.cache = append(r.cache, cached{in, presents[k]})
	}
	return nil
}

// rest returns what follows the first word of a name: "past_key_values.0.key" and "present.0.key" are of one layer.
func rest(name string) string {
	if k := strings.IndexAny(name, "0123456789"); k >= 0 {
		return name[k:]
	}
	return name
}
