package cmd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/trtui/trtui/ui"
)

// errorText returns what an error says, for a terminal or a log. Its lines are those of errors that are several, and of those that
// tell their lines themselves: a line that ends in any other was ended by a name in a user's file, and is spelled out.
func errorText(err error) string { return boundWords(linesOf(err)) }

// longestWord is the most characters of a word in an error that are written as they are: a path has no more, a name may be as long as
// its file.
const longestWord = 1024

var wordPattern = regexp.MustCompile(`\S+`)

// boundWords leaves out what is in the middle of words that nobody reads to their end.
func boundWords(text string) string {
	if len(text) <= longestWord {
		return text
	}
	return wordPattern.ReplaceAllStringFunc(text, func(word string) string {
		r := []rune(word)
		if len(r) <= longestWord {
			return word
		}
		end := longestWord / 4
		return fmt.Sprintf("%s...(%d characters)...%s", string(r[:end]), len(r)-2*end, string(r[len(r)-end:]))
	})
}

// linesOf returns what an error says, whose names end no line.
func linesOf(err error) string {
	text := err.Error()
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	if e, ok := err.(interface{ Lines() []string }); ok {
		var lines []string
		for _, l := range e.Lines() {
			lines = append(lines, ui.VisibleName(l))
		}
		return strings.Join(lines, "\n")
	}
	var inside []error
	several := false
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inside = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inside, several = e.Unwrap(), true
	}
	var b strings.Builder
	for _, in := range inside {
		if in == nil {
			continue
		}
		before, after, found := strings.Cut(text, in.Error())
		if !found {
			continue
		}
		if several && before == "\n" {
			b.WriteString(before)
		} else {
			b.WriteString(ui.VisibleName(before))
		}
		b.WriteString(linesOf(in))
		text = after
	}
	return b.String() + ui.VisibleName(text)
}
