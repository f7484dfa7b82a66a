package ui

import "testing"

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"conv_1 → µs 漢字 \ufffd": "conv_1 → µs 漢字 \ufffd",
		"a\x1b]0;t\ab":          `a\x1b]0;t\x07b`,
		"a\rb\x00\x7f":          `a\x0db\x00\x7f`,
		"\u009b2J\u0085":        `\u009b2J\u0085`,
		"\x9b2J\xff":            `\x9b2J\xff`,
		"\u202egnp\u2066\u200f": `\u202egnp\u2066\u200f`,
		"one\n\ttwo\u2028":      "one\n\ttwo" + `\u2028`,
	} {
		if got := Visible(text); got != want || Visible(got) != got {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := VisibleName("one\n\ttwo\x1b"); got != `one\n\ttwo\x1b` {
		t.Errorf("%q", got)
	}
}
