package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

func numbers(n int) (*Table, []int) {
	values := make([]int, n)
	for i := range values {
		values[i] = (i * 7) % n
	}
	return &Table{Rows: n, Columns: []Column{
		{Title: "name", Width: 8, Cell: func(r int) Cell { return Cell{Text: fmt.Sprint("row", values[r])} }},
		{Title: "n", Width: 6, Cell: func(r int) Cell { return Cell{Text: fmt.Sprint(values[r])} },
			Order: func(a, b int) int { return values[a] - values[b] }, Down: true},
	}}, values
}

// TestTableMotion checks where every motion key leads, before and after drawing.
func TestTableMotion(t *testing.T) {
	table, _ := numbers(100)
	NewLook(Options{}).Render(40, 11, table.Draw) // a page of ten
	for _, c := range []struct {
		key  string
		want int
	}{
		{"up", 0}, {"down", 1}, {"j", 2}, {"k", 1}, {"G", 99}, {"j", 99}, {"g", 0}, {"ctrl+d", 5}, {"pgdown", 14},
		{"pgup", 5}, {"ctrl+u", 0}, {"end", 99}, {"home", 0}, {"l", 0}, {"h", 0},
	} {
		if !table.Update(Press(c.key)) || table.Row() != c.want {
			t.Errorf("%s: row %d, want %d", c.key, table.Row(), c.want)
		}
	}
	if table.Update(Press("x")) {
		t.Error("x is no key of a table")
	}
}

// TestTableOrder sorts, reverses and filters; the cursor stays on its row, or first where it was first.
func TestTableOrder(t *testing.T) {
	table, values := numbers(50)
	table.Select(3)
	table.Update(Press("o"))
	if column, reverse := table.Sorted(); column != 1 || !reverse {
		t.Fatalf("sorted by %d, reverse %v", column, reverse)
	}
	if table.Row() != 3 {
		t.Errorf("sorting moved the cursor to row %d", table.Row())
	}
	table.Update(Press("g"))
	table.Update(Press("O"))
	if values[table.Row()] != 0 {
		t.Errorf("reversed %d is first, want the smallest", values[table.Row()])
	}
	table.Update(Press("O"))
	if values[table.Row()] != 49 {
		t.Errorf("first is %d, want the largest", values[table.Row()])
	}
	table.Update(Press("O"))
	table.Update(Press("g"))
	if values[table.Row()] != 0 {
		t.Errorf("first is %d, want the smallest", values[table.Row()])
	}
	table.Update(FilterMsg{ParseFilter("row4")})
	if table.Shown() != 11 {
		t.Errorf("%d rows match row4, want 11", table.Shown())
	}
	before := table.Row()
	for range 11 {
		table.Update(MatchMsg{1})
	}
	if table.Row() != before {
		t.Error("next match does not go around")
	}
	table.Update(FilterMsg{ParseFilter("nothing")})
	if table.Row() != -1 {
		t.Error("a row under the cursor of an empty table")
	}
	table.Update(FilterMsg{nil})
	table.Rows = 2
	table.Refresh()
	if table.Shown() != 2 || table.Row() < 0 {
		t.Errorf("after shrinking: %d rows, cursor %d", table.Shown(), table.Row())
	}
}

// TestTableColumns drops columns by priority where it is narrow.
func TestTableColumns(t *testing.T) {
	cell := func(int) Cell { return Cell{} }
	table := &Table{Columns: []Column{{Title: "keep", Width: 10, Cell: cell}, {Title: "second", Width: 10, Priority: 1, Cell: cell}, {Title: "first", Width: 10, Priority: 2, Cell: cell}}}
	for _, c := range []struct {
		w    int
		want string
	}{{40, "keep second first"}, {30, "keep second"}, {20, "keep"}, {6, "ke…"}} {
		got := strings.Join(strings.Fields(ansi.Strip(NewLook(Options{}).Render(c.w, 1, table.Draw))), " ")
		if got != c.want {
			t.Errorf("width %d: %q, want %q", c.w, got, c.want)
		}
	}
}

// TestTableVirtual draws a million rows by asking for the visible ones only.
func TestTableVirtual(t *testing.T) {
	asked := 0
	table := &Table{Rows: 1e6, Columns: []Column{{Width: 8, Cell: func(r int) Cell { asked++; return Cell{Text: fmt.Sprint(r)} }}}}
	table.Update(Press("G"))
	s := NewLook(Options{}).Render(20, 11, table.Draw)
	if asked != 10 || !strings.Contains(s, "999999") {
		t.Errorf("asked for %d cells", asked)
	}
}

// TestListSearch goes through matches without hiding the other lines.
func TestListSearch(t *testing.T) {
	list := &List{Lines: 20, Line: func(i int) ListLine { return ListLine{Spans: []Span{{Text: fmt.Sprint("line", i)}}} }}
	var seen []int
	list.Update(FilterMsg{ParseFilter("5")})
	for range 3 {
		seen = append(seen, list.At())
		list.Update(MatchMsg{1})
	}
	list.Update(MatchMsg{-1})
	if want := []int{5, 15, 5}; !slices.Equal(seen, want) || list.At() != 5 {
		t.Errorf("matches at %v then %d, want %v then 5", seen, list.At(), want)
	}
}

// TestListFollow keeps the end of a growing log in view until the cursor leaves it.
func TestListFollow(t *testing.T) {
	list := &List{Lines: 5, Follow: true, Line: func(i int) ListLine { return ListLine{Spans: []Span{{Text: fmt.Sprint("line", i)}}} }}
	draw := func() string { return NewLook(Options{}).Render(20, 3, list.Draw) }
	draw()
	list.Lines = 50
	if !strings.Contains(draw(), "line49") {
		t.Error("does not follow")
	}
	list.Update(Press("k"))
	list.Lines = 90
	if strings.Contains(draw(), "line89") {
		t.Error("follows though the cursor left the end")
	}
}

// TestLine edits a line of text.
func TestLine(t *testing.T) {
	l := NewLine("one two")
	for _, c := range []struct{ key, want string }{
		{"backspace", "one tw"}, {"ctrl+w", "one "}, {"x", "one x"}, {"home", "one x"}, {"delete", "ne x"}, {"right", "ne x"},
		{"é", "née x"}, {"ctrl+k", "né"}, {"left", "né"}, {"backspace", "é"}, {"ctrl+e", "é"}, {"ctrl+u", ""}, {"backspace", ""}, {"delete", ""},
	} {
		l.Update(Press(c.key))
		if l.String() != c.want {
			t.Fatalf("%s: %q, want %q", c.key, l.String(), c.want)
		}
	}
	l.Update(tea.PasteMsg{Content: "a\nb\x1b[m"})
	if l.String() != "a b[m" { // one line, of what can be shown
		t.Errorf("pasted %q", l.String())
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 B"}, {Bytes(1536), "1.5 KiB"}, {Bytes(1 << 19), "512 KiB"}, {Bytes(3 << 30), "3.0 GiB"}, {Bytes(5 << 50), "5120 TiB"},
		{Count(0), "0"}, {Count(-1234567), "-1,234,567"}, {Count(-123), "-123"}, {Count(1000), "1,000"},
		{Number(0), "0"}, {Number(0.00012), "1.2e-04"}, {Number(12.3456), "12.3"}, {Number(1234), "1234"}, {Number(12345), "12.3k"}, {Number(-2e7), "-20M"},
		{Number(999.6), "1000"}, {Number(9999), "9999"}, {Number(9999.9), "10k"}, {Number(999_499), "999k"}, {Number(999_999), "1M"}, {Number(1.01e12), "1.01T"},
		{Number(999.9e9), "1T"}, {Number(2.5e15), "2.5P"}, {Number(1e18), "1.00e+18"},
		{Quantity(1.01e12, "FLOP/s"), "1.01 TFLOP/s"}, {Quantity(1.183e11, "FLOP/s"), "118 GFLOP/s"}, {Quantity(5, "FLOP"), "5 FLOP"},
		{Duration(999), "999 ns"}, {Duration(-1072), "-1.1 µs"}, {Duration(1500), "1.5 µs"}, {Duration(1500 * time.Microsecond), "1.50 ms"}, {Duration(90 * time.Second), "90.00 s"},
		{Truncate("layer", 5, '…'), "layer"}, {Truncate("layers", 5, '…'), "laye…"}, {Truncate("層層層", 4, '…'), "層…"}, {Truncate("x", 0, '…'), ""},
		{strings.Join(Wrap("one two three", 7), "|"), "one two|three"}, {strings.Join(Wrap("abcdefgh i", 3), "|"), "abc|def|gh|i"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestMapBlocks checks that every block can be seen, however small.
func TestMapBlocks(t *testing.T) {
	m := Map{Steps: 1000, Size: 1 << 30, Selected: -1, Cursor: -1}
	m.Blocks = append(m.Blocks, Block{First: 0, Last: 999, From: 0, To: 1 << 30, Series: 0})
	m.Blocks = append(m.Blocks, Block{First: 500, Last: 500, From: 1 << 29, To: 1<<29 + 4, Series: 1})
	look := NewLook(Options{NoColor: true})
	s := look.Render(60, 20, m.Draw)
	if strings.Count(s, string(look.Glyphs.Fill(1))) != 1 {
		t.Errorf("the small block is not one cell:\n%s", s)
	}
}

// TestListFilter hides the lines that do not match and keeps the cursor on its line, or on the next one that is left.
func TestListFilter(t *testing.T) {
	lines := []string{"conv one", "relu one", "conv two", "relu two", "pool"}
	l := &List{Lines: len(lines), Line: func(i int) ListLine { return ListLine{Spans: []Span{{Text: lines[i]}}} }, Empty: "empty"}
	look := NewLook(Options{})
	for _, c := range []struct {
		do    func()
		at    int
		shown string
	}{
		{func() { l.Select(1) }, 1, "01234"},
		{func() { l.Update(FilterMsg{ParseFilter("one")}) }, 1, "01"},
		{func() { l.Update(FilterMsg{ParseFilter("conv")}) }, 2, "02"},
		{func() { l.Update(FilterMsg{ParseFilter("convx")}) }, -1, ""},
		{func() { l.Update(FilterMsg{ParseFilter("conv")}) }, 2, "02"},
		{func() { l.Update(FilterMsg{}) }, 1, "01234"}, // nothing moved the cursor
		{func() { l.Update(FilterMsg{ParseFilter("relu")}); l.Update(MatchMsg{1}) }, 3, "13"},
		{func() { l.Update(MatchMsg{1}) }, 1, "13"},
		{func() { l.key("G") }, 3, "13"},
		{func() { lines[4] = "relu three"; l.Refresh() }, 3, "134"},
		{func() { l.Lines = 2 }, 1, "1"},
		{func() { l.Lines = 5; l.Update(FilterMsg{}) }, 3, "01234"},
	} {
		c.do()
		picture := ansi.Strip(look.Render(30, 6, l.Draw))
		shown := ""
		for i, line := range lines {
			if strings.Contains(picture, line) {
				shown += fmt.Sprint(i)
			}
		}
		if l.At() != c.at || shown != c.shown || l.Shown() != len(c.shown) {
			t.Errorf("cursor on %d, %d shown: %s; want %d and %s", l.At(), l.Shown(), shown, c.at, c.shown)
		}
	}
}

// TestMiddle cuts names so that both ends stay, and never takes more cells than there are.
func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{"layer1.0.block.conv2", 14, "layer1.….conv2"},
		{"layer1.0.block.conv2", 20, "layer1.0.block.conv2"},
		{"[1,256,56,56]", 9, "[1,2…,56]"},
		{"conv", 3, "co…"},
		{"conv", 1, "…"},
		{"conv", 0, ""},
		{"", 5, ""},
		{"畳み込み層/出力", 9, "畳み…出力"},
		{"\x1b[31mred", 5, "\x1b[…ed"},
	} {
		got := Middle(c.name, c.w, '…')
		if got != c.want || Width(got) > c.w {
			t.Errorf("%q in %d cells: %q, want %q", c.name, c.w, got, c.want)
		}
	}
}

// TestClauses leaves out whole facts, the last ones first.
func TestClauses(t *testing.T) {
	const line = "69 hits, 56 misses, 0 of other devices, 3 disturbed"
	for _, c := range []struct {
		w    int
		want string
	}{
		{51, line},
		{50, "69 hits, 56 misses, 0 of other devices"},
		{38, "69 hits, 56 misses, 0 of other devices"},
		{37, "69 hits, 56 misses"},
		{7, "69 hits"},
		{6, "69 hi…"},
		{0, ""},
	} {
		if got := Clauses(line, c.w, '…'); got != c.want {
			t.Errorf("in %d cells: %q, want %q", c.w, got, c.want)
		}
	}
	for w, want := range map[int]string{40: "random (ids 0 to 999, mask 0 to 1)", 30: "random (ids 0 to 999…)", 22: "random (ids 0 to 999…)", 21: "random (ids 0 to 999…", 18: "random (ids 0 to …"} {
		if got := Clauses("random (ids 0 to 999, mask 0 to 1)", w, '…'); got != want {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

// TestChartTop: an axis ends where it is asked to, a value above is marked there, and a single value has one label, not an axis
// from itself to a place where nothing is.
func TestChartTop(t *testing.T) {
	draw := func(ch Chart) string { return ansi.Strip(NewLook(Options{NoColor: true}).Render(40, 8, ch.Draw)) }
	got := draw(Chart{Lines: []Line2D{{X: []float64{1, 2, 3, 4}, Y: []float64{10, 11, 900, 12}}}, Top: 20})
	if strings.Contains(got, "900") || !strings.Contains(got, "20 ") || strings.Count(got, "▲") != 1 {
		t.Errorf("the axis does not end at 20:\n%s", got)
	}
	got = draw(Chart{Lines: []Line2D{{X: []float64{7}, Y: []float64{10}}}, XLabel: func(x float64) string { return fmt.Sprintf("run %.0f", x) }})
	if strings.Count(got, "run") != 1 {
		t.Errorf("one value has an axis:\n%s", got)
	}
}

// TestRenderAgain: cells that were drawn on are empty when they are drawn on again, and what is drawn meanwhile, within another
// picture or of another size, has cells of its own.
func TestRenderAgain(t *testing.T) {
	l := NewLook(Options{NoColor: true})
	full := func(text string) func(*Canvas) {
		return func(c *Canvas) { c.Fill(c.Bounds(), rune(text[0]), Plain) }
	}
	for range 3 {
		if got := l.Render(4, 1, func(c *Canvas) {
			c.Text(0, 0, Plain, "a")
			c.Text(1, 0, Plain, l.Render(2, 1, full("b")))
			l.Render(4, 2, full("c"))
		}); got != "abb " {
			t.Fatalf("%q", got)
		}
		if got := l.Render(3, 2, full("d")); got != "ddd\nddd" {
			t.Fatalf("%q", got)
		}
		if got := l.Render(5, 1, func(*Canvas) {}); got != "     " {
			t.Fatalf("%q", got)
		}
	}
}

// TestWholeWords cuts a text between words: half a word says nothing.
func TestWholeWords(t *testing.T) {
	for w, want := range map[int]string{30: "collecting activations 3/8", 25: "collecting activations…", 22: "collecting…", 11: "collecting…", 10: "", 0: ""} {
		if got := wholeWords("collecting activations 3/8", w, '…'); got != want {
			t.Errorf("in %d cells %q, want %q", w, got, want)
		}
	}
}

// TestProportionsInASCII: parts and legend have a texture each, also where there are colours.
func TestProportionsInASCII(t *testing.T) {
	p := Proportions{Parts: []Part{{Name: "f32", Value: 1, Style: F32}, {Name: "i8", Value: 1, Style: I8}}}
	text := ansi.Strip(NewLook(Options{ASCII: true}).Render(30, 2, p.Draw))
	g := ASCIIGlyphs()
	if !strings.Contains(text, string(g.Fill(1))+" i8 50%") || !strings.Contains(text, string(g.Fill(0))+" f32 50%") || g.Fill(0) == g.Fill(1) {
		t.Errorf("%q", text)
	}
}

// TestLegendHasEachPart: where lines are few a legend is shorter, and of parts without an entry the largest is none.
func TestLegendHasEachPart(t *testing.T) {
	p := Proportions{Unit: " ", Parts: []Part{{Name: "kept", Value: 23}, {Name: "fused", Value: 84}, {Name: "folded", Value: 46}, {Name: "eliminated", Value: 108}}}
	for _, c := range []struct {
		w, h int
		want []string
	}{
		{58, 3, []string{"kept 23  9%", "fused 84  32%", "folded 46  18%", "eliminated 108  41%"}},
		{38, 3, []string{"kept 9%", "fused 32%", "folded 18%", "eliminated 41%"}},
		{27, 3, []string{"kep 9%", "fus 32%", "fol 18%", "eli 41%"}},
		{20, 2, []string{"eli 41%"}},
	} {
		text := ansi.Strip(NewLook(Options{}).Render(c.w, c.h, p.Draw))
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%dx%d: no %q in\n%s", c.w, c.h, want, text)
			}
		}
		if want := p.Lines(c.w); c.w == 58 && want != 3 {
			t.Errorf("%d lines in %d cells", want, c.w)
		}
	}
}

// namedView has the name of a layer in its title or its note.
type namedView struct {
	probe
	title, note, layer string
}

func (v *namedView) Title() string         { return v.title }
func (v *namedView) Note() (string, Style) { return v.note, Muted }
func (v *namedView) Named() string         { return v.layer }

// TestNamesInTitles: of a title and a note the words and figures stay, and the name in them is shortened.
func TestNamesInTitles(t *testing.T) {
	layer := "/backbone/feature_extractor/stage_0/residual_bottleneck_block_07/branch_main/depthwise_separable/conv/Conv +2"
	for _, c := range []struct{ title, note, words, figures string }{
		{"Own error of " + layer, "41.2 dB, of 8 items", "Own error of ", "41.2 dB, of 8 items"},
		{"Candidates for " + layer, "", "Candidates for ", ""},
		{"Arena by step", "step 7 " + layer + ": 16 KiB live, the peak", "Arena by step", ": 16 KiB live, the peak"},
	} {
		for _, w := range []int{80, 120, 200} {
			v := &namedView{title: c.title, note: c.note, layer: layer}
			s := &Screen{Views: []View{v}, panes: make([]pane, 1)}
			got := strings.TrimRight(ansi.Strip(NewLook(Options{}).Render(w, 1, func(c *Canvas) { s.drawTitle(c, 0, [2]int{}) })), " ─")
			if !strings.Contains(got, c.words) || !strings.Contains(got, c.figures) || !strings.Contains(got, "07/") {
				t.Errorf("%d cells: %q", w, got)
			}
		}
	}
}
