package ui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// hostile are names that break a screen which trusts them.
var hostile = []string{
	"", "a", "a\tb\nc\x1b[31md\x07\x00", "層/畳み込み_3", "한국어 이름", "ｶﾞ半角", "👩‍💻🇩🇪👍🏽❤️☎", "e\u0301\u0300\u200d\u202e",
	"กำลัง हिन्दी العربية עברית", "\xff\xfe broken \xc3", "﷽𒐫", "ᄒ\u1161\u11ab", strings.Repeat("very_long_name/", 40), "\u00ad\u2028\u2060\ufeff",
}

// checkSize fails unless s is h lines of w cells.
func checkSize(t *testing.T, what, s string, w, h int) {
	t.Helper()
	lines := strings.Split(s, "\n")
	if len(lines) != h && h > 0 {
		t.Fatalf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for y, line := range lines {
		if got := ansi.StringWidth(line); got != w && h > 0 {
			t.Fatalf("%s at %dx%d: line %d has %d cells: %q", what, w, h, y, got, line)
		}
	}
}

// TestSizes draws every widget at many sizes with hostile names and values.
func TestSizes(t *testing.T) {
	values := []float64{0, 1, -1, 1e-12, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 7, 3.25}
	name := func(i int) string { return hostile[i%len(hostile)] }
	value := func(i int) float64 { return values[i%len(values)] }
	for _, o := range []Options{{}, {NoColor: true}, {ASCII: true}} {
		look := NewLook(o)
		look.focused = true
		for what, draw := range widgets(look, name, value) {
			for w := 0; w < 90; w += 1 + w/20 {
				for _, h := range []int{0, 1, 2, 3, 4, 7, 12, 25} {
					checkSize(t, fmt.Sprint(what, o), look.Render(w, h, draw), w, h)
				}
			}
		}
	}
}

func widgets(look *Look, name func(int) string, value func(int) float64) map[string]func(*Canvas) {
	bar := func(i int) Bar {
		return Bar{Value: value(i), Min: value(i + 3), Max: value(i + 1), Log: i%3 == 0, Style: Accent, Marks: []BarMark{{Value: value(i + 2)}}}
	}
	table := &Table{Rows: 30, Columns: []Column{
		{Title: "層", Width: 6, Flex: 1, Cell: func(r int) Cell { return Cell{Text: name(r)} }},
		{Title: "bar", Width: 5, Priority: 1, Cell: func(r int) Cell { b := bar(r); return Cell{Bar: &b} }},
		{Title: "spark", Width: 5, Priority: 2, Cell: func(r int) Cell { return Cell{Spark: []float64{value(r), value(r + 1), value(r + 2)}} }},
		{Title: "right", Align: AlignRight, Width: 9, Cell: func(r int) Cell { return Cell{Text: name(r + 1)} }},
	}}
	table.Update(FilterMsg{ParseFilter("-f a")})
	list := &List{Lines: 30, Line: func(i int) ListLine {
		return ListLine{Mark: look.Glyphs.Good, Prefix: look.Glyphs.Branch, Spans: []Span{{Text: name(i), Style: Bold, Name: true}, {Text: name(i + 1), Style: Muted}}, Ground: Selected}
	}}
	list.Update(FilterMsg{ParseFilter("名")})
	list.key("right")
	var bars Bars
	var facts Facts
	parts := Proportions{Unit: " ms"}
	histogram := Histogram{Lo: -1, Hi: 8}
	memory := Map{Steps: 9, Size: 1000, Cursor: 3, Selected: 2}
	var x, y []float64
	for i := range 20 {
		bars = append(bars, LabelledBar{name(i), bar(i), name(i + 1), nil})
		facts = append(facts, Fact{name(i), name(i + 1), Good, name(i + 2)})
		parts.Parts = append(parts.Parts, Part{name(i), value(i), Series(i)})
		histogram.Counts = append(histogram.Counts, value(i))
		histogram.Thresholds = append(histogram.Thresholds, Threshold{name(i), []float64{value(i)}, Series(i)})
		memory.Blocks = append(memory.Blocks, Block{name(i), i - 3, i * 2, int64(i*100 - 50), int64(i * 170), i, 'x'})
		x, y = append(x, value(i)), append(y, value(i*3))
	}
	return map[string]func(*Canvas){
		"table": table.Draw, "list": list.Draw, "bars": bars.Draw, "facts": facts.Draw,
		"proportions": parts.Draw, "histogram": histogram.Draw, "map": memory.Draw,
		"chart":    Chart{Lines: []Line2D{{Name: name(3), X: x, Y: y}, {X: y, Y: x, Points: true}}}.Draw,
		"spark":    Spark{Values: y}.Draw,
		"tabs":     Tabs{Names: hostile, Active: 3}.Draw,
		"progress": Progress{Job: Job{Phase: name(12), Done: value(5)}}.Draw,
		"busy":     Progress{Job: Job{Phase: name(3), Done: -1}, Elapsed: 1e12}.Draw,
		"columns":  Columns{Values: y, Foot: y, Cursor: 3, Line: 2}.Draw,
		"heat":     HeatMap{Rows: 7, Columns: 9, Value: func(r, c int) float64 { return value(r * c) }}.Draw,
		"heat table": HeatTable{HeatMap: HeatMap{Rows: 7, Columns: 4, Value: func(r, c int) float64 { return value(r * c) }}, Row: name, Column: name, Corner: name(3),
			Text: func(r, c int) HeatText { return HeatText{name(r + c), name(r), Warn} }, Click: func(r, c int) tea.Msg { return r }}.Draw,
		"confirm": func(c *Canvas) { drawDialog(c, &Confirm{Name: name(12), Question: name(12)}) },
		"line":    func(c *Canvas) { line := NewLine(name(4)); line.Draw(c, 2, 0, c.W-2) },
		"choice":  func(c *Canvas) { drawDialog(c, &Choice{Name: name(3), Items: hostile, Active: 5}) },
	}
}

// TestAppSizes draws all screens of the demonstration at odd sizes.
func TestAppSizes(t *testing.T) {
	for _, o := range []Options{{}, {ASCII: true, NoColor: true}} {
		app := demoApp(t, o)
		app.header.Model, app.header.Job.Phase = hostile[12], hostile[3]
		for w := 1; w < 260; w += 1 + w/7 {
			for h := 1; h < 90; h += 1 + h/5 {
				send(app, tea.WindowSizeMsg{Width: w, Height: h})
				for _, key := range []string{"1", "2", "3", "tab", "z", "+", "4", "5", "?", "esc", "space"} {
					press(app, key)
					checkSize(t, "app "+key, app.Content(), w, h)
				}
			}
		}
	}
}

// TestCanvasText writes random text at random places: lines keep their width.
func TestCanvasText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ranges := [][2]rune{{0, 0x180}, {0x300, 0x370}, {0x900, 0xe80}, {0x1100, 0x1200}, {0x2000, 0x2100}, {0x2300, 0x2c00},
		{0x3000, 0x3200}, {0xa960, 0xa980}, {0xac00, 0xd7ff}, {0xfe00, 0xffff}, {0x1f000, 0x1fb00}, {0xe0000, 0xe0100}, {0, 0x110000}}
	look := NewLook(Options{})
	for range 20000 {
		c := look.Canvas(12, 1)
		for range 3 {
			var text []rune
			for range random.IntN(12) {
				r := ranges[random.IntN(len(ranges))]
				text = append(text, r[0]+random.Int32N(r[1]-r[0]))
			}
			c.Text(random.IntN(16)-3, 0, Style(random.IntN(paletteSize)), string(text))
		}
		if s := c.String(); ansi.StringWidth(s) != 12 {
			t.Fatalf("%d cells: %q", ansi.StringWidth(s), ansi.Strip(s))
		}
	}
}
