package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter cuts pieces into smaller ones, which tokens do not cross, and may rewrite them.
type splitter func([]piece) ([]piece, error)

// What becomes of matches.
const (
	removed     = "Removed"            // they go
	isolated    = "Isolated"           // they are pieces
	contiguous  = "Contiguous"         // so, and neighbours are one
	withBefore  = "MergedWithPrevious" // they end a piece
	withBehind  = "MergedWithNext"     // they begin one
	gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

var gpt2 = mustCompile(gpt2Pattern)

// splittersOf returns the splits as the file describes them.
func splittersOf(s *section) []splitter {
	switch kind := s.kind(); kind {
	case "":
		return nil
	case "Sequence":
		var all []splitter
		for _, part := range s.list("pretokenizers") {
			all = append(all, splittersOf(part)...)
		}
		return all
	case "ByteLevel":
		var all []splitter
		if s.flag("add_prefix_space", true) {
			all = append(all, prefixed(" ", false))
		}
		if s.flag("use_regex", true) {
			all = append(all, splitOn(gpt2.find, isolated, false))
		}
		return append(all, rewritten(byteLevel))
	case "Whitespace":
		return []splitter{splitOn(mustCompile(`\w+|[^\w\s]+`).find, removed, true)}
	case "WhitespaceSplit":
		return []splitter{splitOn(runes(unicode.IsSpace), removed, false)}
	case "BertPreTokenizer":
		return []splitter{splitOn(runes(unicode.IsSpace), removed, false), splitOn(runes(isPunctuation), isolated, false)}
	case "Punctuation":
		return []splitter{splitOn(runes(isPunctuation), s.behavior(isolated), false)}
	case "Digits":
		how := contiguous
		if s.flag("individual_digits", false) {
			how = isolated
		}
		return []splitter{splitOn(runes(unicode.IsNumber), how, false)}
	case "CharDelimiterSplit":
		return []splitter{splitOn((&pattern{text: s.text("delimiter")}).find, removed, false)}
	case "Split":
		return []splitter{splitOn(s.pattern("pattern").find, s.behavior(""), s.flag("invert", false))}
	case "Metaspace":
		return metaspace(s)
	default:
		s.unknown("pre_tokenizer")
		return nil
	}
}

// metaspace writes spaces as another character and begins pieces with it.
func metaspace(s *section) []splitter {
	mark, scheme := s.mark(), s.scheme()
	all := []splitter{rewritten(func(text string) string { return strings.ReplaceAll(text, " ", mark) })}
	if scheme != "never" {
		all = append(all, prefixed(mark, scheme == "first"))
	}
	if s.flag("split", true) {
		all = append(all, splitOn((&pattern{text: mark}).find, withBehind, false))
	}
	return all
}

// rewritten rewrites each piece.
func rewritten(f func(string) string) splitter {
	return func(pieces []piece) ([]piece, error) {
		for i := range pieces {
			pieces[i].text = f(pieces[i].text)
		}
		return pieces, nil
	}
}

// prefixed begins pieces with a prefix that do not have it; only that which begins the text, if so asked.
func prefixed(prefix string, onlyFirst bool) splitter {
	return func(pieces []piece) ([]piece, error) {
		for i, p := range pieces {
			if p.text != "" && !strings.HasPrefix(p.text, prefix) && (p.first || !onlyFirst) {
				pieces[i].text = prefix + p.text
			}
		}
		return pieces, nil
	}
}

// runes finds letters, one by one, for which is holds.
func runes(is func(rune) bool) func(string) ([][]int, error) {
	return func(text string) (found [][]int, err error) {
		for i, r := range text {
			if is(r) {
				found = append(found, []int{i, i + utf8.RuneLen(r)})
			}
		}
		return found, nil
	}
}

// isPunctuation is BERT's: all of ASCII that is no letter, digit or space, and Unicode's.
func isPunctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// span is a part of a piece, which a match is or what lies between two.
type span struct {
	from, to int
	match    bool
}

// spansOf covers a text of so many bytes by matches and what lies between them; empty matches are none.
func spansOf(length int, found [][]int, invert bool) []span {
	var spans []span
	from := 0
	for _, at := range found {
		if at[0] > from {
			spans = append(spans, span{from, at[0], invert})
		}
		if at[1] > at[0] {
			spans = append(spans, span{at[0], at[1], !invert})
		}
		from = max(from, at[1])
	}
	if length > from {
		spans = append(spans, span{from, length, invert})
	}
	return spans
}

// splitOn cuts pieces at matches.
func splitOn(find func(string) ([][]int, error), behavior string, invert bool) splitter {
	return func(pieces []piece) ([]piece, error) {
		var all []piece
		for _, p := range pieces {
			found, err := find(p.text)
			if err != nil {
				return nil, err
			}
			for _, s := range joined(spansOf(len(p.text), found, invert), behavior) {
				all = append(all, piece{-1, p.text[s.from:s.to], p.first && s.from == 0})
			}
		}
		return all, nil
	}
}

// joined merges spans, or drops them, as the behaviour says.
func joined(spans []span, behavior string) []span {
	var all []span
	for i, s := range spans {
		last := len(all) - 1
		switch {
		case behavior == removed && s.match:
			continue
		case last >= 0 && (behavior == contiguous && s.match == spans[i-1].match ||
			behavior == withBefore && s.match && !spans[i-1].match ||
			behavior == withBehind && !s.match && spans[i-1].match):
			all[last].to = s.to
			continue
		}
		all = append(all, s)
	}
	return all
}

// byteRunes are the letters by which bytes are written in vocabularies: itself, if it is printable, and otherwise one from
// U+0100 on, as GPT-2's published code has it.
var byteRunes, runeBytes = func() (runes [256]rune, bytes map[rune]byte) {
	bytes = map[rune]byte{}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r, next = next, next+1
		}
		runes[b], bytes[r] = r, byte(b)
	}
	return runes, bytes
}()

// byteLevel writes each byte of the text as a letter.
func byteLevel(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(byteRunes[text[i]])
	}
	return b.String()
}
