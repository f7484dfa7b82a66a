package ui

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

var demo = flag.Bool("demo", false, "show the demonstration screens in this terminal")

// TestDemo shows the widgets: go test -c ./ui && ./ui.test -test.run TestDemo -demo
func TestDemo(t *testing.T) {
	if !*demo {
		t.Skip("run with -demo to see the widgets")
	}
	o, err := Options{}.Detect(os.Getenv, true)
	if err != nil {
		t.Fatal(err)
	}
	app := demoApp(t, o)
	if _, err := tea.NewProgram(app).Run(); err != nil {
		t.Fatal(err)
	}
}

var overviewNarrow = Stack(Pane(0).Lines(8), Pane(1), Pane(2).Lines(4))

// demoApp is a workbench on made-up data.
func demoApp(t testing.TB, o Options) *App {
	t.Helper()
	look := NewLook(o)
	table := &demoTable{look: look}
	table.fill(40)
	app, err := New(Config{
		Look: look,
		Screens: []*Screen{
			{Key: "1", Name: "Overview", Views: []View{&demoFacts{look}, &demoBars{look}, &demoSplit{look}, &demoChart{look}},
				Layouts: []Box{Beside(Stack(Pane(0), Pane(2).Lines(4)), Stack(Pane(1), Pane(3)))}, Narrow: &overviewNarrow},
			{Key: "2", Name: "Graph", Views: []View{newDemoList(look, "Original", false), newDemoList(look, "Engine", true)}},
			{Key: "3", Name: "Timings", Views: []View{table, &demoChart{look}},
				Layouts: []Box{Stack(Pane(0).Share(3), Pane(1)), Beside(Pane(0).Share(2), Pane(1))}},
			{Key: "4", Name: "Memory", Views: []View{&demoMap{look: look}, newDemoText(look)}, Layouts: []Box{Stack(Pane(0).Share(2), Pane(1))}},
			{Key: "5", Name: "Calibration", Views: []View{&demoHistogram{look}, &demoDiff{look}, &demoHeat{look}},
				Layouts: []Box{Beside(Pane(0).Share(3), Stack(Pane(1), Pane(2)).Share(2))}},
		},
		Intents: Intents(),
		OnIntent: func(i Intent) tea.Cmd {
			return func() tea.Msg { return StatusMsg{Text: string(i), Style: Good} }
		},
		Header: Header{Model: "digits.onnx", Backend: "cpu avx512", Precisions: []string{"FP32", "FP16", "INT8"}, Precision: 2,
			Calibrator: "entropy", Profile: "batch 1", Iterations: 12345, CV: 1.2,
			Badges: []Badge{{"random calibration", Warn}}, Recording: true,
			Job: &Job{Phase: "tuning conv_12", Done: 0.42, Start: time.Unix(1e9-4, 7e8)}},
		Now: func() time.Time { return time.Unix(1e9, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

type demoFacts struct{ look *Look }

func (v *demoFacts) Title() string          { return "Summary" }
func (v *demoFacts) Keys() []Key            { return nil }
func (v *demoFacts) Update(tea.Msg) tea.Cmd { return nil }
func (v *demoFacts) Render(w, h int) string {
	return v.look.Render(w, h, Facts{
		{"latency", "1.42 ms", Bold, "median of 12,345"},
		{"p99", "1.61 ms", Plain, ""},
		{"throughput", "704 /s", Plain, "batch 1"},
		{"layers", "34", Plain, "of 91 before fusion"},
		{"sum of layers", "1.38 ms", Plain, "97.2% of end to end"},
		{"arena", "1.2 MiB", Plain, "lower bound 1.2 MiB, naive 9.8 MiB"},
		{"accuracy", "98.7%", Good, "FP32 98.9%"},
	}.Draw)
}

type demoBars struct{ look *Look }

func (v *demoBars) Title() string          { return "Slowest layers" }
func (v *demoBars) Keys() []Key            { return []Key{K("enter", "open", "open the timings")} }
func (v *demoBars) Update(tea.Msg) tea.Cmd { return Goto("3") }
func (v *demoBars) Render(w, h int) string {
	var bars Bars
	for i := range 12 {
		us := 300 / float64(i+1)
		bars = append(bars, LabelledBar{fmt.Sprintf("stage%d/conv_%d + relu", i/3, i), Bar{Value: us, Max: 300, Style: []Style{F32, I8, F16}[i%3]}, fmt.Sprintf("%.1f µs", us), nil})
	}
	return v.look.Render(w, h, bars.Draw)
}

type demoSplit struct{ look *Look }

func (v *demoSplit) Title() string          { return "Precision" }
func (v *demoSplit) Keys() []Key            { return nil }
func (v *demoSplit) Update(tea.Msg) tea.Cmd { return nil }
func (v *demoSplit) Render(w, h int) string {
	p := Proportions{Parts: []Part{{"FP32", 3, F32}, {"FP16", 1, F16}, {"INT8", 9, I8}}}
	return v.look.Render(w, h, p.Draw)
}

type demoChart struct{ look *Look }

func (v *demoChart) Title() string          { return "Latency" }
func (v *demoChart) Keys() []Key            { return nil }
func (v *demoChart) Update(tea.Msg) tea.Cmd { return nil }
func (v *demoChart) Note() (string, Style)  { return "stale", Warn }
func (v *demoChart) Render(w, h int) string {
	l := Line2D{Name: "ms", Style: Accent}
	for i := range 200 {
		l.X = append(l.X, float64(i))
		l.Y = append(l.Y, 1.4+0.1*math.Sin(float64(i)/9)+0.05*math.Sin(float64(i)*1.7))
	}
	return v.look.Render(w, h, Chart{Lines: []Line2D{l}}.Draw)
}

type demoRow struct {
	name, kind, precision string
	median, p99           float64
}

type demoTable struct {
	look  *Look
	rows  []demoRow
	table Table
}

func (v *demoTable) fill(n int) {
	for i := range n {
		us := 300 * math.Exp(-float64(i)/12) * (1 + 0.5*math.Sin(float64(i*i)))
		v.rows = append(v.rows, demoRow{fmt.Sprintf("stage%d/block%d/conv_%d + bn + relu", i/9, i/3, i),
			[]string{"Convolution", "Pointwise", "Pooling"}[i%3], []string{"INT8", "FP32"}[i%2], us, us * 1.1})
	}
	v.rows[3].name = "層/畳み込み_3 + 活性化"
	v.table = Table{Rows: n, Columns: []Column{
		{Title: "layer", Width: 22, Flex: 2, Cell: func(r int) Cell { return Cell{Text: v.rows[r].name} },
			Order: func(a, b int) int { return cmp.Compare(v.rows[a].name, v.rows[b].name) }},
		{Title: "type", Width: 11, Priority: 3, Cell: func(r int) Cell { return Cell{Text: v.rows[r].kind, Style: Muted} }},
		{Title: "prec", Width: 4, Cell: func(r int) Cell {
			return Cell{Text: v.rows[r].precision, Style: map[string]Style{"INT8": I8, "FP32": F32}[v.rows[r].precision]}
		}},
		{Title: "", Width: 12, Flex: 3, Cell: func(r int) Cell {
			return Cell{Bar: &Bar{Value: v.rows[r].median, Max: 400, Style: map[string]Style{"INT8": I8, "FP32": F32}[v.rows[r].precision],
				Marks: []BarMark{{Value: v.rows[r].p99, Glyph: v.look.Glyphs.Tail, Style: Muted}}}}
		}},
		{Title: "median", Align: AlignRight, Width: 9, Cell: func(r int) Cell { return Cell{Text: fmt.Sprintf("%.1f µs", v.rows[r].median)} },
			Order: func(a, b int) int { return cmp.Compare(v.rows[a].median, v.rows[b].median) }, Down: true},
		{Title: "p99", Align: AlignRight, Width: 9, Priority: 1, Cell: func(r int) Cell { return Cell{Text: fmt.Sprintf("%.1f µs", v.rows[r].p99), Style: Muted} }},
		{Title: "trend", Width: 10, Priority: 2, Cell: func(r int) Cell {
			s := make([]float64, 10)
			for i := range s {
				s[i] = 2 + math.Sin(float64(r+i))
			}
			return Cell{Spark: s, Style: Accent}
		}},
	}}
	v.table.SortBy(4, true)
}

func (v *demoTable) Title() string { return "Layers" }
func (v *demoTable) Keys() []Key {
	return append(v.table.Keys(), K("L", "log", "logarithmic bars"))
}
func (v *demoTable) Update(msg tea.Msg) tea.Cmd { v.table.Update(msg); return nil }
func (v *demoTable) Note() (string, Style) {
	return fmt.Sprintf("%d of %d", v.table.Shown(), v.table.Rows), Muted
}
func (v *demoTable) Render(w, h int) string { return v.look.Render(w, h, v.table.Draw) }

type demoList struct {
	look  *Look
	title string
	list  List
}

func newDemoList(look *Look, title string, fused bool) *demoList {
	v := &demoList{look: look, title: title}
	v.list = List{Lines: 60, Line: func(i int) ListLine {
		l := ListLine{Mark: look.Glyphs.Dot, Style: Muted, Spans: []Span{{Text: fmt.Sprintf("Conv_%d", i)}, {Text: "  1x16x28x28", Style: Muted}}}
		if i%4 != 0 {
			l.Prefix = look.Glyphs.Branch + " "
			l.Spans[0].Text = []string{"", "BatchNormalization", "Relu", "Add"}[i%4]
			if i%4 == 3 {
				l.Prefix = look.Glyphs.Last + " "
			}
		}
		if fused {
			l.Mark, l.Style = look.Glyphs.Good, Good
			l.Spans = append(l.Spans, Span{Text: "  int8", Style: I8})
		}
		if i >= 4 && i < 8 {
			l.Ground = Selected
		}
		return l
	}}
	return v
}

func (v *demoList) Title() string { return v.title }
func (v *demoList) Keys() []Key {
	return append(v.list.Keys(), K("x", "toggle", "switch the rule off or on"))
}
func (v *demoList) Update(msg tea.Msg) tea.Cmd { v.list.Update(msg); return nil }
func (v *demoList) Render(w, h int) string     { return v.look.Render(w, h, v.list.Draw) }

type demoMap struct {
	look    *Look
	step    int
	clicked MapStep
}

func (v *demoMap) Title() string { return "Arena" }
func (v *demoMap) Keys() []Key   { return []Key{K("p", "peak", "jump to the peak")} }
func (v *demoMap) Update(msg tea.Msg) tea.Cmd {
	if step, ok := msg.(MapStep); ok {
		v.clicked = step
	}
	switch keyOf(msg) {
	case "l", "right":
		v.step = min(v.step+1, 29)
	case "h", "left":
		v.step = max(v.step-1, 0)
	}
	return nil
}
func (v *demoMap) Render(w, h int) string {
	m := Map{Steps: 30, Size: 1 << 20, Cursor: v.step + 5, Selected: 3}
	for i := range 14 {
		from := int64(i%3) * (1 << 18)
		m.Blocks = append(m.Blocks, Block{fmt.Sprintf("conv_%d", i), i * 2, i*2 + 3 - i%2, from, from + int64(1+i%2)<<17, i, rune('a' + i)})
	}
	return v.look.Render(w, h, m.Draw)
}

type demoText struct {
	look *Look
	text List
}

func newDemoText(look *Look) *demoText {
	v := &demoText{look: look}
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("%%%d = Conv(%%%d) {kernel: [3 3], pads: [1 1 1 1]} : f32[1 16 28 28]", i+1, i))
	}
	v.text = List{Lines: len(lines), Label: func(i int) string { return lines[i] }, Line: func(i int) ListLine { return ListLine{Spans: []Span{{Text: lines[i]}}} }}
	return v
}

func (v *demoText) Title() string              { return "Dump" }
func (v *demoText) Keys() []Key                { return v.text.Keys() }
func (v *demoText) Update(msg tea.Msg) tea.Cmd { v.text.Update(msg); return nil }
func (v *demoText) Render(w, h int) string     { return v.look.Render(w, h, v.text.Draw) }

type demoHistogram struct{ look *Look }

func (v *demoHistogram) Title() string          { return "conv_12 output" }
func (v *demoHistogram) Keys() []Key            { return nil }
func (v *demoHistogram) Update(tea.Msg) tea.Cmd { return nil }
func (v *demoHistogram) Render(w, h int) string {
	hist := Histogram{Lo: 0, Hi: 8, Log: true, Style: Accent, Thresholds: []Threshold{
		{"mse", []float64{-2.9, 2.9}, Series3}, {"entropy", []float64{3.4}, Series2}, {"percentile", []float64{0.5, 4.6}, Series4}, {"minmax", []float64{7.9}, Series7}}}
	for i := range 512 {
		hist.Counts = append(hist.Counts, 1e5*math.Exp(-float64(i)/40))
	}
	return v.look.Render(w, h, hist.Draw)
}

type demoDiff struct{ look *Look }

func (v *demoDiff) Title() string          { return "Change" }
func (v *demoDiff) Keys() []Key            { return nil }
func (v *demoDiff) Update(tea.Msg) tea.Cmd { return nil }
func (v *demoDiff) Render(w, h int) string {
	var bars Bars
	for i := range 8 {
		d := 40 * math.Cos(float64(i))
		s := Good
		if d > 0 {
			s = Bad
		}
		bars = append(bars, LabelledBar{fmt.Sprintf("conv_%d", i), Bar{Value: d, Min: -40, Max: 40, Style: s}, fmt.Sprintf("%+.0f%%", d), nil})
	}
	return v.look.Render(w, h, bars.Draw)
}

type demoHeat struct{ look *Look }

func (v *demoHeat) Title() string          { return "Error by element" }
func (v *demoHeat) Keys() []Key            { return nil }
func (v *demoHeat) Update(tea.Msg) tea.Cmd { return nil }
func (v *demoHeat) Render(w, h int) string {
	m := HeatMap{Rows: 28, Columns: 28, Value: func(r, k int) float64 { return math.Exp(-math.Hypot(float64(r-14), float64(k-9)) / 8) }}
	return v.look.Render(w, h, m.Draw)
}
