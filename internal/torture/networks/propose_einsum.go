package networks

import (
	"slices"
	"strings"
)

// proposeEinsum makes an equation of one to three operands: a tensor, and others that share some of its axes and have new ones.
func proposeEinsum(g *generator) *Node {
	x := g.real(0, 4)
	letters, extents := []byte{}, map[byte]int{}
	fresh := func(extent int) byte {
		letter := "abcdefghijklm"[len(letters)]
		letters, extents[letter] = append(letters, letter), extent
		return letter
	}
	var term []byte
	for _, n := range x.dims() {
		term = append(term, fresh(n))
	}
	in, terms := []string{x.Name}, []string{string(term)}
	for range []int{0, 1, 1, 1, 2}[g.rnd.IntN(5)] {
		term, dims := []byte{}, []int{}
		for _, letter := range letters {
			if g.flip() && len(term) < 3 {
				term = append(term, letter)
			}
		}
		if g.flip() && len(letters) < 8 {
			term = append(term, fresh(1+g.rnd.IntN(9)))
		}
		if len(term) > 0 && g.rnd.IntN(8) == 0 {
			term = append(term, term[0])
		}
		g.rnd.Shuffle(len(term), func(i, j int) { term[i], term[j] = term[j], term[i] })
		for _, letter := range term {
			dims = append(dims, extents[letter])
		}
		if g.flip() {
			in = append(in, g.weights(4, dims...))
		} else {
			in = append(in, g.pickWhere(x.Type, len(dims), len(dims), func(y tensor) bool { return slices.Equal(y.value.Dims, dims) }).Name)
			if !slices.Equal(g.values[in[len(in)-1]].value.Dims, dims) {
				return nil
			}
		}
		terms = append(terms, string(term))
	}
	equation := strings.Join(terms, ",")
	if g.rnd.IntN(5) > 0 {
		g.rnd.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
		equation += "->" + string(letters[:g.rnd.IntN(len(letters)+1)])
	}
	return node(attrs{"equation": stringOf(equation)}, in...)
}
