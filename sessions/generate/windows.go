package generate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
)

// openWindow is how many tokens an item of a text has where the model leaves that open.
const openWindow = 128

// Windows cuts the tokens of a text into items for the inputs of a language model: so many tokens each as its input takes, or
// length where that is open; 0 stands for 128. The token behind each is what the model is to hold likely there. The last item is
// filled up; what it is filled with counts nowhere, and changes nothing in front of it where the model looks back only.
func Windows(n *graph.Network, name string, tokens []int, length int) (*dataset.Set, error) {
	r, err := findRoles(n)
	if err != nil {
		return nil, err
	}
	if len(r.cache) > 0 {
		return nil, fmt.Errorf("input %s: a text is run in pieces of their own, by a model without past keys and values", r.cache[0].past.Name)
	}
	if fixed, ok := r.tokens.Dims[1].IsConst(); ok {
		length = fixed
	} else if length == 0 {
		length = min(openWindow, len(tokens)-1)
	}
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

// windows makes the items: the tokens but the last, as each has one behind it.
func (r *roles) windows(name string, tokens []int, length int) (*dataset.Set, error) {
	items := (len(tokens) - 1 + length - 1) / length
	ids, there, places := make([]int64, items*length), make([]int64, items*length), make([]int64, items*length)
	next := make([][]int, items)
	for i := range ids {
		if i%length == 0 {
			next[i/length] = make([]int, length)
		}
		places[i], next[i/length][i%length] = int64(i%length), -1
		if i+1 < len(tokens) {
			ids[i], there[i], next[i/length][i%length] = int64(tokens[i]), 1, tokens[i+1]
		}
	}
	var arrays []dataset.Array
	add := func(t *graph.Tensor, list []int64) {
		if t != nil {
			arrays = append(arrays, dataset.Array{Name: t.Name, Value: numeric.Values(numeric.I64, list, items, length)})
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
	set.Next = next
	sum := sha256.New()
	for _, token := range append([]int{length}, tokens...) {
		sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(token)))
	}
	set.Identity.Hash = hex.EncodeToString(sum.Sum(nil))
	return set, nil
}
