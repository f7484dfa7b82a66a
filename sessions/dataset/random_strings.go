package dataset

import (
	"github.com/trtui/trtui/core/graph"
)

// plainWords are what strings are made up of where no layer tells which it knows.
var plainWords = []string{"a", "b", "one two", "Three", "4", "5.5", ""}

// maxVocabulary bounds the words that are taken from a layer.
const maxVocabulary = 256

// vocabularyOf returns the strings that are made up for an input: words that layers behind it know, and one that none does, or plain
// ones.
func vocabularyOf(t *graph.Tensor) []string {
	seen := map[*graph.Tensor]bool{}
	var words []string
	var follow func(t *graph.Tensor)
	follow = func(t *graph.Tensor) {
		if seen[t] {
			return
		}
		seen[t] = true
		for _, l := range t.Users {
			switch a := l.Attrs.(type) {
			case graph.StringIndexAttrs:
				words = append(words, a.Words...)
			case graph.TfIdfAttrs:
				words = append(words, a.Words...)
			}
			for _, out := range l.Outputs {
				if out.Type == t.Type {
					follow(out)
				}
			}
		}
	}
	follow(t)
	if len(words) == 0 {
		return plainWords
	}
	return append(append([]string{}, words[:min(len(words), maxVocabulary)]...), "no word")
}
