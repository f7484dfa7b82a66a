package networks

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// someWords are what constant strings are drawn from.
var someWords = []string{"", "a", "b", "Ab", "one two", " x ", "1,2,,3", "Ü", "12"}

// words is a constant of strings.
func (g *generator) words(dims ...int) string {
	list := make([]string, numeric.Count(dims))
	for i := range list {
		list[i] = someWords[g.rnd.IntN(len(someWords))]
	}
	return g.constant(numeric.Strings(list, dims...))
}

// texts proposes the operators on strings, which constants are.
func texts() map[string]proposal {
	return map[string]proposal{
		"StringConcat": {since: 20, make: func(g *generator) *Node {
			shape := g.shape(g.rnd.IntN(3))
			return node(nil, g.words(shape...), g.words(shape...))
		}},
		"RegexFullMatch": {since: 20, make: func(g *generator) *Node {
			patterns := []string{"[a-z]*", "(a|b|Ab)", ".+ .*", "[0-9,]+"}
			return node(attrs{"pattern": stringOf(patterns[g.rnd.IntN(len(patterns))])}, g.words(g.shape(g.rnd.IntN(3))...))
		}},
		"StringSplit": {since: 20, make: func(g *generator) *Node {
			a := attrs{"delimiter": stringOf([]string{"", ",", " "}[g.rnd.IntN(3)])}
			if g.flip() {
				a["maxsplit"] = intOf(g.rnd.IntN(3))
			}
			return node(a, g.words(1+g.rnd.IntN(4)))
		}},
		"StringNormalizer": {since: 10, make: func(g *generator) *Node {
			a := attrs{
				"case_change_action": stringOf([]string{"LOWER", "UPPER"}[g.rnd.IntN(2)]), "is_case_sensitive": boolOf(g.flip()),
				"stopwords": {Kind: graph.AttrStrings, Strings: []string{"a", "AB"}},
			}
			return node(a, g.words(1+g.rnd.IntN(5)))
		}},
	}
}
