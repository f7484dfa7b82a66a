package tokenizer

import (
	"math"
	"unicode/utf8"
)

// unigram cuts a text such that the sum of its tokens' scores, logarithms of their probabilities, is largest.
type unigram struct {
	ids          map[string]int
	scores       []float64 // by id
	longest      int       // bytes of the longest token
	unknown      int       // -1 if there is no token for what is unknown
	lowest       float64   // of a letter that is unknown
	byteFallback bool
}

// unknownPenalty is how much worse a letter is that no token has than the worst token.
const unknownPenalty = 10

// node is the best way to cut the text up to a place.
type node struct {
	score float64
	from  int // where its last token begins; -1 if there is no way
	id    int
}

func (m *unigram) tokenize(text string) ([]int, error) {
	best := make([]node, len(text)+1)
	for i := range best {
		best[i] = node{math.Inf(-1), -1, -1}
	}
	best[0].score = 0
	for at := 0; at < len(text); {
		_, letter := utf8.DecodeRuneInString(text[at:])
		single := false
		for size := 1; size <= m.longest && at+size <= len(text); size++ {
			id, ok := m.ids[text[at:at+size]]
			if !ok {
				continue
			}
			single = single || size == letter
			if score := best[at].score + m.scores[id]; best[at+size].from < 0 || score > best[at+size].score {
				best[at+size] = node{score, at, id}
			}
		}
		if score := best[at].score + m.lowest; !single && (best[at+letter].from < 0 || score > best[at+letter].score) {
			best[at+letter] = node{score, at, m.unknown}
		}
		at += letter
	}
	return m.path(text, best), nil
}

// path goes back from the end. Neighbours that are unknown are one.
func (m *unigram) path(text string, best []node) []int {
	var ids []int
	for end := len(text); end > 0; {
		from := best[end].from
		if best[end].id != m.unknown {
			ids = append(ids, best[end].id)
			end = from
			continue
		}
		for from > 0 && best[from].id == m.unknown {
			from = best[from].from
		}
		bytes, ok := byteTokens(m.ids, text[from:end])
		id, known := m.ids[text[from:end]]
		switch {
		case known: // the name of the unknown token
			ids = append(ids, id)
		case m.byteFallback && ok:
			for i := range bytes {
				ids = append(ids, bytes[len(bytes)-1-i])
			}
		case m.unknown >= 0:
			ids = append(ids, m.unknown)
		}
		end = from
	}
	for i, k := 0, len(ids)-1; i < k; i, k = i+1, k-1 {
		ids[i], ids[k] = ids[k], ids[i]
	}
	return ids
}
