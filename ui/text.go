package ui

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// glyphWidth returns the number of cells of r, or 0 where r must not reach the
// screen: control characters, marks that join their neighbours, scripts that
// terminals shape or reorder. Every rune it admits has the same width alone and
// next to any other admitted rune.
func glyphWidth(r rune) int {
	if r < 0x7f {
		if r < ' ' {
			return 0
		}
		return 1
	}
	switch {
	case r >= 0x2500 && r < 0x25a0, r >= 0x2800 && r < 0x2900: // lines, blocks, braille
		return 1
	case r >= 0x1f1e6 && r <= 0x1f1ff, // regional indicators join in pairs
		r >= 0x1f3fb && r <= 0x1f3ff, // skin tones join to the left
		r >= 0xff9e && r <= 0xff9f,   // half-width voice marks join to the left
		!unicode.IsPrint(r), unicode.Is(unicode.M, r):
		return 0
	case r >= 0xac00 && r <= 0xd7a3, unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic,
		unicode.Armenian, unicode.Georgian, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Bopomofo, unicode.Common):
		if w := ansi.StringWidth(string(r)); w == 1 || w == 2 {
			return w
		}
	}
	return 0
}

// Visible returns text for a terminal or a log in which all that would act on a terminal is spelled out, as \x1b and \u202e:
// control characters but for the end of a line and a tab, characters that turn the direction of writing, and bytes that are
// no text. Names in a user's file may hold any of them.
func Visible(s string) string {
	if !strings.ContainsFunc(s, acts) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n > 1: // the character of that meaning
			b.WriteString(s[i : i+n])
		case r == utf8.RuneError, r < 0x80 && acts(r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case acts(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// VisibleName is [Visible] for a name in a line, which ends no line either.
func VisibleName(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Visible(s))
}

// VisibleJSON is [Visible] for JSON, whose texts it spells out so that they mean what they did.
func VisibleJSON(data []byte) []byte {
	if !bytes.ContainsFunc(data, acts) {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		if acts(r) && r != utf8.RuneError {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// acts reports whether a terminal does something on r, or might where it is not text at all.
func acts(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError: // perhaps a byte that is no text
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Width returns the number of cells that s takes on a [Canvas].
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i + wideWidth(s[i:])
		}
	}
	return len(s)
}

// wideWidth is Width of text that may hold more than ASCII.
func wideWidth(s string) int {
	w := 0
	for _, r := range s {
		w += max(glyphWidth(r), 1) // what cannot be shown becomes a question mark
	}
	return w
}

// Truncate shortens s to at most w cells, ending it with mark where it was cut.
func Truncate(s string, w int, mark rune) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w || Width(s) <= w { // a rune is never wider than its bytes
		return s
	}
	if mark == 0 {
		return s[:prefix(s, w)]
	}
	return s[:prefix(s, w-1)] + string(mark)
}

// Clauses shortens a line of several facts to at most w cells by leaving out the last ones whole: it cuts at a comma, a
// semicolon, two spaces or a dot between spaces, and as [Truncate] does where not even a third of the line would be left.
func Clauses(s string, w int, mark rune) string {
	if w <= 0 || len(s) <= w || Width(s) <= w {
		return Truncate(s, w, mark)
	}
	end := 0
	for _, separator := range []string{", ", "; ", "  ", " · ", " . "} {
		end = max(end, strings.LastIndex(s[:min(prefix(s, w)+len(separator), len(s))], separator))
	}
	if end < prefix(s, w/3) {
		return Truncate(s, w, mark)
	}
	if open := strings.LastIndexByte(s[:end], '('); open >= 0 && strings.Count(s[:end], "(") > strings.Count(s[:end], ")") { // of several things in brackets
		if closed := s[:end] + string(mark) + ")"; mark != 0 && Width(closed) <= w {
			return closed
		}
		return Truncate(s, w, mark)
	}
	return s[:end]
}

// Middle shortens a name to at most w cells by putting mark in place of its middle: names of layers and tensors begin with
// where they are and end with what they are, "layer1.0…conv2", and shapes differ at either end.
func Middle(s string, w int, mark rune) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w || Width(s) <= w {
		return s
	}
	if mark == 0 || w < 4 { // too little for two ends
		return Truncate(s, w, mark)
	}
	return s[:prefix(s, w/2)] + string(mark) + s[suffix(s, w-1-w/2):]
}

// suffix returns where the end of s begins that fits into w cells.
func suffix(s string, w int) int {
	for i := len(s); i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if w -= max(glyphWidth(r), 1); w < 0 {
			return i
		}
		i -= n
	}
	return 0
}

// prefix returns the length in bytes of what of s fits into w cells.
func prefix(s string, w int) int {
	used := 0
	for i, r := range s {
		g := max(glyphWidth(r), 1)
		if used+g > w {
			return i
		}
		used += g
	}
	return len(s)
}

// Wrap breaks s into lines of at most w cells, at spaces where it can, and what has no spaces, as the paths of layers, behind the
// signs between its words.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && Width(line)+1+Width(word) <= w {
				line += " " + word
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for Width(word) > w {
				head := cut(word, w)
				if head == "" { // a wide glyph in a column of one cell
					break
				}
				if i := strings.LastIndexAny(head, "/._-:+,") + 1; i > len(head)/3 {
					head = head[:i]
				}
				lines, word = append(lines, head), word[len(head):]
			}
			line = word
		}
		lines = append(lines, line)
	}
	return lines
}

// cut returns the longest prefix of s that takes at most w cells.
func cut(s string, w int) string {
	used := 0
	for i, r := range s {
		if used += max(glyphWidth(r), 1); used > w {
			return s[:i]
		}
	}
	return s
}

// fold returns what stands for r where only ASCII can be shown.
func fold(r rune) rune {
	switch r {
	case 'µ', 'μ':
		return 'u'
	case '×':
		return 'x'
	case '–', '—', '−', '─':
		return '-'
	case '·', '•':
		return '.'
	case '…':
		return '~'
	case '→':
		return '>'
	case '←':
		return '<'
	case 'σ':
		return 's'
	case '≤':
		return '<'
	case '≥':
		return '>'
	}
	return '?'
}

// wholeWords returns the words of a text that fit w cells, and a mark where that is not all; "" where not even the first does.
func wholeWords(s string, w int, mark rune) string {
	if Width(s) <= w {
		return s
	}
	end := ""
	if mark != 0 {
		end = string(mark)
	}
	for i := len(s); i > 0; {
		if i = strings.LastIndexByte(s[:i], ' '); i > 0 && Width(s[:i]+end) <= w {
			return s[:i] + end
		}
	}
	return ""
}
