package generate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/dataset"
)

// openWindow is how many tokens an item of a text has where the model leaves that open, if it takes so many.
const openWindow = 128

// Windows cuts the tokens of a text into items for the inputs of a language model: so many tokens each as its input takes, or as the
// shapes of inputs say where that is open; where they do not, 128, or so many fewer that the model's layers take. The token behind each
// is what the model is to hold likely there. The last item is filled up; what it is filled with counts nowhere, and changes nothing in
// front of it where the model looks back only. Past keys and values are zeros, which the mask hides. logits names the output of scores;
// empty: it is found.
func Windows(n *graph.Network, logits, name string, tokens []int, shapes map[string][]int) (*dataset.Set, error) {
	r, err := findRoles(n, logits)
	if err != nil {
		return nil, err
	}
	length := r.window(n, shapes, min(openWindow, len(tokens)-1))
	if len(tokens) < 2 || length < 1 {
		return nil, fmt.Errorf("a text of %d tokens: want two at least, one to follow the other", len(tokens))
	}
	if words, ok := r.logits.Dims[2].IsConst(); ok {
		for i, token := range tokens {
			if token < 0 || token >= words {
				return nil, fmt.Errorf("token %d of the text is %d, but output %s has %d: the tokenizer is another model's", i, token, r.logits.Name, words)
			}
		}
	}
	return r.windows(name, tokens, length)
}

// window returns how many tokens an item has: most where nothing says it.
func (r *roles) window(n *graph.Network, shapes map[string][]int, most int) int {
	if fixed, ok := r.tokens.Dims[1].IsConst(); ok {
		return fixed
	}
	if given := shapes[r.tokens.Name]; len(given) == 2 {
		return given[1]
	}
	for length := most; length >= shortest; length /= 2 {
		if r.takes(n, length, r.pastOfNone()) {
			return length
		}
	}
	return most
}

// windows makes the items: the tokens but the last, as each has one behind it.
func (r *roles) windows(name string, tokens []int, length int) (*dataset.Set, error) {
	items := (len(tokens) - 1 + length - 1) / length
	arrays, past, err := r.emptyPast(items)
	if err != nil {
		return nil, err
	}
	seen := past + length
	ids, there, places := make([]int64, items*length), make([]int64, items*seen), make([]int64, items*length)
	next := make([][]int, items)
	for i := range ids {
		if i%length == 0 {
			next[i/length] = make([]int, length)
		}
		places[i], next[i/length][i%length] = int64(i%length), -1
		if i+1 < len(tokens) {
			ids[i], there[i/length*seen+past+i%length], next[i/length][i%length] = int64(tokens[i]), 1, tokens[i+1]
		}
	}
	add := func(t *graph.Tensor, list []int64) {
		if t != nil {
			arrays = append(arrays, dataset.Array{Name: t.Name, Value: numeric.Values(numeric.I64, list, items, len(list)/items)})
		}
	}
	add(r.tokens, ids)
	add(r.mask, there)
	add(r.positions, places)
	for _, t := range r.zeros {
		add(t, make([]int64, items*length))
	}
	set, err := dataset.New(name, arrays, nil)
	if err != nil {
		return nil, err
	}
	set.Next, set.Scores = next, r.logits.Name
	sum := sha256.New()
	for _, token := range append([]int{length}, tokens...) {
		sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(token)))
	}
	set.Identity.Hash = hex.EncodeToString(sum.Sum(nil))
	return set, nil
}

// pastOfNone returns how many earlier tokens a text has that has none: as many as the model must have, or else one, since arrays are of
// something; none where the model keeps nothing.
func (r *roles) pastOfNone() int {
	if len(r.cache) == 0 {
		return 0
	}
	if n, ok := r.cache[0].past.Dims[2].IsConst(); ok {
		return n
	}
	return 1
}

// emptyPast returns keys and values for so many items whose text has nothing in front of it, and of how many tokens they are.
func (r *roles) emptyPast(items int) (arrays []dataset.Array, past int, err error) {
	if len(r.cache) == 0 {
		return nil, 0, nil
	}
	if err := r.keepable(); err != nil {
		return nil, 0, err
	}
	past = r.pastOfNone()
	var need int64
	for _, c := range r.cache {
		dims, err := fixed(c.past, []int{1, -1, past, -1})
		if err != nil {
			return nil, 0, err
		}
		dims[0] = items
		arrays = append(arrays, dataset.Array{Name: c.past.Name, Value: numeric.Value{Type: c.past.Type, Dims: dims}})
		need += int64(numeric.Count(dims) * c.past.Type.Size())
	}
	if err := host.Room(fmt.Sprintf("past keys and values of %d pieces of the text", items), need); err != nil {
		return nil, 0, err
	}
	for i, a := range arrays {
		arrays[i].Value = numeric.NewValue(a.Value.Type, a.Value.Dims...)
	}
	return arrays, past, nil
}
