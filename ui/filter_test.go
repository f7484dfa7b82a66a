package ui

import (
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
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

// filtered is a view of a table.
type filtered struct {
	look  *Look
	table Table
}

func (v *filtered) Title() string              { return "Layers" }
func (v *filtered) Keys() []Key                { return v.table.Keys() }
func (v *filtered) Update(msg tea.Msg) tea.Cmd { v.table.Update(msg); return nil }
func (v *filtered) Render(w, h int) string     { return v.look.Render(w, h, v.table.Draw) }

// TestFilterTitle: the title of a filtered pane says how many rows of how many are left, and that a filter is no regular
// expression though it looks like one.
func TestFilterTitle(t *testing.T) {
	names := []string{"stem/Conv", "stem/Relu", "head/Gemm"}
	table := &filtered{table: Table{Columns: []Column{{Title: "layer", Width: 10, Cell: func(r int) Cell { return Cell{Text: names[r]} }}}, Rows: len(names)}}
	s := &Screen{Views: []View{table}}
	s.init()
	a := &App{look: NewLook(Options{NoColor: true}), screens: []*Screen{s}}
	table.look = a.look
	for _, c := range []struct{ filter, want string }{
		{"stem", "/stem  2 of 3"},
		{"conv|gemm", "/conv|gemm  2 of 3"},
		{"conv(", "/conv(  0 of 3  no regular expression, missing closing ): taken as text"},
	} {
		a.setFilter(c.filter)
		if got := ansi.Strip(strings.Join(s.lines(a.look, 100, 6), "\n")); !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in\n%s", c.filter, c.want, got)
		}
	}
	a.setFilter("")
	if got := strings.Join(s.lines(a.look, 100, 6), "\n"); strings.Contains(got, " of 3") {
		t.Errorf("nothing is filtered:\n%s", got)
	}
}
