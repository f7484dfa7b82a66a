package ui

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Filter selects text: a substring, a regular expression if the text has the
// marks of one and compiles, "!text" for what does not match, "-f text" for
// letters in that order with anything between. Case matters only if the text
// has an upper-case letter.
type Filter struct {
	Source  string
	invert  bool
	fuzzy   bool
	exact   bool // case matters
	pattern string
	re      *regexp.Regexp
	bad     string // why it is no regular expression though it has the marks of one
}

// ParseFilter reads a filter; the empty text gives nil, which matches everything.
func ParseFilter(source string) *Filter {
	f := &Filter{Source: source}
	text := strings.TrimSpace(source)
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		f.invert, text = true, strings.TrimSpace(rest)
	}
	if rest, ok := strings.CutPrefix(text, "-f"); ok && (rest == "" || rest[0] == ' ') {
		f.fuzzy, text = true, strings.TrimSpace(rest)
	}
	if text == "" {
		return nil
	}
	f.exact = strings.ContainsFunc(text, unicode.IsUpper)
	f.pattern = text
	if !f.exact {
		f.pattern = strings.ToLower(text)
	}
	if !f.fuzzy && strings.ContainsAny(text, `*+?[](){}|^$\`) {
		expression := text
		if !f.exact {
			expression = "(?i)" + text
		}
		var err error
		if f.re, err = regexp.Compile(expression); err != nil { // half-typed: taken as a substring
			f.bad = "no regular expression"
			if e := (*syntax.Error)(nil); errors.As(err, &e) {
				f.bad += ", " + e.Code.String()
			}
		}
	}
	return f
}

// Bad says that the filter has the marks of a regular expression and is none, and why; it is taken as a substring then. Else it is
// empty.
func (f *Filter) Bad() string {
	if f == nil {
		return ""
	}
	return f.bad
}

// nothing says that a filter leaves nothing.
func (f *Filter) nothing() string {
	text := "nothing matches " + f.Source
	if f.bad != "" {
		text += " as text: it is " + f.bad
	}
	return text
}

// Match reports whether s is selected. A nil filter selects everything.
func (f *Filter) Match(s string) bool {
	if f == nil {
		return true
	}
	_, ok := f.find(s)
	return ok != f.invert
}

// Spans returns the byte ranges of s to highlight; none for inverted filters.
func (f *Filter) Spans(s string) [][2]int {
	if f == nil || f.invert {
		return nil
	}
	spans, _ := f.find(s)
	return spans
}

func (f *Filter) find(s string) ([][2]int, bool) {
	folded := s
	if !f.exact {
		if folded = strings.ToLower(s); len(folded) != len(s) {
			folded = s // lower case of another length would shift the spans
		}
	}
	switch {
	case f.fuzzy:
		return subsequence(folded, f.pattern)
	case f.re != nil:
		at := f.re.FindStringIndex(s)
		if at == nil {
			return nil, false
		}
		return [][2]int{{at[0], at[1]}}, true
	default:
		i := strings.Index(folded, f.pattern)
		if i < 0 {
			return nil, false
		}
		return [][2]int{{i, i + len(f.pattern)}}, true
	}
}

// subsequence finds the runes of pattern in s in that order.
func subsequence(s, pattern string) ([][2]int, bool) {
	var spans [][2]int
	from := 0
	for _, r := range pattern {
		if r == ' ' {
			continue
		}
		i := strings.IndexRune(s[from:], r)
		if i < 0 {
			return nil, false
		}
		start := from + i
		_, width := utf8.DecodeRuneInString(s[start:]) // a byte that is no UTF-8 matches too, and is one byte wide
		from = start + width
		spans = append(spans, [2]int{start, from})
	}
	return spans, true
}
