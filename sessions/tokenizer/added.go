package tokenizer

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in the text before anything else.
type addedToken struct {
	id             int
	content        string
	single         bool // only where no letter or digit touches it
	left, right    bool // spaces on that side belong to it
	normalized     bool // it is found in normalised text
	normalizedText string
}

// piece is a part of the text: a token that is found already, or text.
type piece struct {
	token int // -1 for text
	text  string
	first bool // it begins where the text began
}

// segments finds added tokens, first in the text as it is and then in what is normalised.
func (t *Tokenizer) segments(text string) ([]piece, error) {
	raw := findAdded(piece{-1, text, true}, t.added, false)
	var all []piece
	for _, p := range raw {
		if p.token >= 0 {
			all = append(all, p)
			continue
		}
		var err error
		if p.text, err = normalized(t.normalize, p.text); err != nil {
			return nil, err
		}
		all = append(all, findAdded(p, t.added, true)...)
	}
	return all, nil
}

// findAdded cuts the tokens out of a piece of text: the leftmost first, and of those the longest.
func findAdded(p piece, tokens []addedToken, normalized bool) []piece {
	var found []piece
	text, from := p.text, 0
	for from < len(text) {
		at, end, which := nextAdded(text, from, tokens, normalized)
		if which < 0 {
			break
		}
		a := &tokens[which]
		if a.left {
			at = from + len(strings.TrimRightFunc(text[from:at], unicode.IsSpace))
		}
		if a.right {
			end += len(text[end:]) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if at > from {
			found = append(found, piece{-1, text[from:at], p.first && from == 0})
		}
		found = append(found, piece{token: a.id})
		from = end
	}
	if from < len(text) {
		found = append(found, piece{-1, text[from:], p.first && from == 0})
	}
	return found
}

// nextAdded returns where the next added token stands, and its index, -1 if there is none.
func nextAdded(text string, from int, tokens []addedToken, normalized bool) (at, end, which int) {
	at, which = len(text), -1
	for i := range tokens {
		a := &tokens[i]
		content := a.content
		if normalized {
			content = a.normalizedText
		}
		if a.normalized != normalized || content == "" {
			continue
		}
		for start := from; start <= at; {
			k := strings.Index(text[start:], content)
			if k < 0 || start+k > at {
				break
			}
			k += start
			if a.single && !alone(text, k, k+len(content)) {
				start = k + len(content)
				continue
			}
			if k < at || which < 0 || len(content) > end-at {
				at, end, which = k, k+len(content), i
			}
			break
		}
	}
	return at, end, which
}

// alone reports whether no word touches text[at:end].
func alone(text string, at, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (at == 0 || !isWord(before)) && (end == len(text) || !isWord(after))
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r)
}

// prepareAdded brings the tokens into an order that does not depend on the file's, and normalises those that are looked for so.
func (t *Tokenizer) prepareAdded() (err error) {
	sort.SliceStable(t.added, func(i, k int) bool { return t.added[i].id < t.added[k].id })
	for i := range t.added {
		a := &t.added[i]
		if a.normalizedText, err = normalized(t.normalize, a.content); err != nil {
			return err
		}
	}
	return nil
}
