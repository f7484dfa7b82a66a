package ui

import (
	"reflect"
	"testing"
)

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		source, text string
		want         bool
		spans        [][2]int
	}{
		{"", "anything", true, nil},
		{"!", "anything", true, nil},
		{"-f", "anything", true, nil},
		{"conv", "stage1/Conv_3", true, [][2]int{{7, 11}}},
		{"Conv", "stage1/conv_3", false, nil},
		{"!conv", "stage1/conv_3", false, nil},
		{"!conv", "relu", true, nil},
		{"conv_[0-9]+$", "a/Conv_12", true, [][2]int{{2, 9}}},
		{"conv_[0-9]+$", "a/conv_12b", false, nil},
		{"conv[", "a conv[ b", true, [][2]int{{2, 7}}}, // half-typed
		{"layer1.0", "layer1.0.conv", true, [][2]int{{0, 8}}},
		{"-f s1c3", "stage1/conv_3", true, [][2]int{{0, 1}, {5, 6}, {7, 8}, {12, 13}}},
		{"-f c1s", "stage1/conv_3", false, nil},
		{"!-f c1s", "stage1/conv_3", true, nil},
		{"-fast", "run -fast", true, [][2]int{{4, 9}}},
		{"畳み", "層/畳み込み", true, [][2]int{{4, 10}}},
		{"i̇", "İstanbul", false, nil},
		{"relu|gelu", "x/Gelu", true, [][2]int{{2, 6}}},
	} {
		f := ParseFilter(c.source)
		if got := f.Match(c.text); got != c.want {
			t.Errorf("%q matches %q: %v", c.source, c.text, got)
		}
		if got := f.Spans(c.text); !reflect.DeepEqual(got, c.spans) {
			t.Errorf("%q in %q: spans %v, want %v", c.source, c.text, got, c.spans)
		}
	}
}

// FuzzFilter checks that no filter panics and that spans are inside the text.
func FuzzFilter(f *testing.F) {
	f.Add("!-f a b", "banana")
	f.Add("(", "İ")
	f.Fuzz(func(t *testing.T, source, text string) {
		filter := ParseFilter(source)
		filter.Match(text)
		for _, s := range filter.Spans(text) {
			_ = text[s[0]:s[1]]
		}
	})
}
