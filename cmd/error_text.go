package cmd

import (
	"strings"

	"github.com/trtui/trtui/ui"
)

// errorText returns what an error says, for a terminal or a log. Its lines are those of errors that are several, and of those that
// tell their lines themselves: a line that ends in any other was ended by a name in a user's file, and is spelled out.
func errorText(err error) string {
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
		b.WriteString(errorText(in))
		text = after
	}
	return b.String() + ui.VisibleName(text)
}
