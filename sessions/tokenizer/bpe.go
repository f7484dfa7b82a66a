package tokenizer

import (
	"container/heap"
	"fmt"
	"unicode/utf8"
)

// pair is two tokens side by side.
type pair struct{ left, right int }

// merge is what a pair becomes, and when: pairs of a lower rank first.
type merge struct {
	rank float64
	id   int
}

// bpe is byte pair encoding: letters, of which pairs are merged in the order in which they were learnt.
type bpe struct {
	ids            map[string]int
	merges         map[pair]merge
	unknown        int    // -1 if there is no token for what is unknown
	fuseUnknown    bool   // neighbours that are unknown become one
	byteFallback   bool   // what is unknown becomes its bytes, where there are tokens for these
	prefix, suffix string // of letters that do not begin a word, and of the one that ends it
	whole          bool   // a word that is a token is taken as it is
}

func (m *bpe) tokenize(word string) ([]int, error) {
	if id, ok := m.ids[word]; ok && m.whole {
		return []int{id}, nil
	}
	letters, err := m.letters(word)
	if err != nil {
		return nil, err
	}
	return m.merged(letters), nil
}

// letters returns the tokens of single letters.
func (m *bpe) letters(word string) ([]int, error) {
	var ids []int
	unknown := false // the last one is
	for i, r := range word {
		letter := string(r)
		end := i + utf8.RuneLen(r)
		text := letter
		if i > 0 {
			text = m.prefix + text
		}
		if end == len(word) {
			text += m.suffix
		}
		id, ok := m.ids[text]
		if ok {
			ids, unknown = append(ids, id), false
			continue
		}
		if bytes, ok := byteTokens(m.ids, letter); m.byteFallback && ok {
			ids, unknown = append(ids, bytes...), false
			continue
		}
		if m.unknown < 0 {
			continue // as the library that wrote the file: there is nothing to stand for it
		}
		if !unknown || !m.fuseUnknown {
			ids = append(ids, m.unknown)
		}
		unknown = true
	}
	return ids, nil
}

// byteTokens returns the tokens that stand for the bytes of a text, if there are such.
func byteTokens(ids map[string]int, text string) (tokens []int, ok bool) {
	for i := range len(text) {
		id, ok := ids[fmt.Sprintf("<0x%02X>", text[i])]
		if !ok {
			return nil, false
		}
		tokens = append(tokens, id)
	}
	return tokens, true
}

// candidate is a pair that may be merged: that which begins at a place, as it was when it was found.
type candidate struct {
	at int
	pair
	merge
}

// candidates is a heap: lower ranks first, and of equal ones what stands further left.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c candidates) Less(i, k int) bool {
	return c[i].rank < c[k].rank || c[i].rank == c[k].rank && c[i].at < c[k].at
}

func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// merged merges pairs until none is left that may be. It takes n log n steps: next and previous are the neighbours of what is
// left, and a candidate whose tokens have changed since is dropped.
func (m *bpe) merged(ids []int) []int {
	next, previous := make([]int, len(ids)), make([]int, len(ids))
	var queue candidates
	offer := func(at int) {
		if at < 0 || next[at] >= len(ids) {
			return
		}
		p := pair{ids[at], ids[next[at]]}
		if to, ok := m.merges[p]; ok {
			heap.Push(&queue, candidate{at, p, to})
		}
	}
	for i := range ids {
		next[i], previous[i] = i+1, i-1
	}
	for i := range ids {
		offer(i)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		behind := next[c.at]
		if ids[c.at] != c.left || behind >= len(ids) || ids[behind] != c.right {
			continue
		}
		ids[c.at], ids[behind] = c.id, -1
		if next[c.at] = next[behind]; next[c.at] < len(ids) {
			previous[next[c.at]] = c.at
		}
		offer(previous[c.at])
		offer(c.at)
	}
	left := ids[:0]
	for _, id := range ids {
		if id >= 0 {
			left = append(left, id)
		}
	}
	return left
}
