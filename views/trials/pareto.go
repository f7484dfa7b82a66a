package trials

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// Screen sets the configurations that were tried side by side: as a table with the best of each column marked, and as a plot
// of latency against what one chooses by.
func Screen(look *ui.Look, d pane.Desk, tried *List, read Reader, marked pane.Marked, more Measure) *ui.Screen {
	p := ui.Pane
	return &ui.Screen{
		Key: pane.CompareKey, Name: "Tried", Words: []string{"pareto", "front", "fastest", "trade-off", "tradeoff", "best", "configurations"}, Views: []ui.View{newParetoView(look, d, tried, read, more), NewTable(look, d, tried, read, marked, more)},
		Layouts: []ui.Box{ui.Stack(p(0).Share(3), p(1).Share(2)), ui.Beside(p(0), p(1))},
	}
}

// steps has the states of a recording, in order; nil for a session.
type steps interface{ Steps() []report.Step }

// ReaderOf returns configurations that were tried as something to compare: what a session kept of them, or what a recording has.
func ReaderOf(past steps, read func(path, state string) (*report.Snapshot, error), shown func() *report.Snapshot) Reader {
	return func(t *trial) (pane.Mark, bool) {
		if t.snap != nil {
			return pane.Mark{Name: t.label, Read: func() (*report.Snapshot, error) { return t.snap, nil }}, true
		}
		if past == nil || read == nil {
			return pane.Mark{}, false
		}
		path, state := shown().Replay, -1
		for i, s := range past.Steps() {
			if s.Settled && s.Config.SameEngine(t.config, pane.OwnRanges(shown())) {
				state = i
			}
		}
		if state < 0 {
			return pane.Mark{}, false
		}
		beside := t.measured.Beside
		return pane.Mark{Name: filepath.Base(path) + "@" + t.label, Read: func() (*report.Snapshot, error) {
			snap, err := read(path, fmt.Sprint(state+1))
			if err != nil || snap.Timings == nil || snap.Timings.Beside != nil || beside == nil {
				return snap, err
			}
			whole, timings := *snap, *snap.Timings // rounds that were recorded behind that state
			timings.Beside = beside
			whole.Timings = &timings
			return &whole, nil
		}}, true
	}
}

// paretoView plots the configurations that were tried.
type paretoView struct {
	in      pane.Input
	desk    pane.Desk
	tried   *List
	read    Reader
	more    Measure
	trials  []trial
	pareto  *report.Pareto
	measure diff.Measure
	name    string         // of the measure that was chosen; "": none yet
	limits  map[string]int // by measure, the limit that was chosen
	cursor  int            // trial
}

func newParetoView(look *ui.Look, d pane.Desk, tried *List, read Reader, more Measure) *paretoView {
	v := &paretoView{in: pane.NewInput(look, 0), desk: d, tried: tried, read: read, more: more, limits: map[string]int{}}
	v.choose()
	return v
}

// choose takes the trials over and finds the front.
func (v *paretoView) choose() {
	v.trials = slices.Clone(v.tried.list)
	if s := v.in.Snap.Search; s != nil {
		v.trials = withSearched(v.trials, s.Points, pane.OwnRanges(v.in.Snap))
	}
	points := make([]report.ParetoPoint, len(v.trials))
	var list []config.Config
	for _, t := range v.trials {
		list = append(list, t.config)
	}
	for i, label := range config.Labels(list, pane.OwnRanges(v.in.Snap)) {
		v.trials[i].label = label
		points[i] = report.ParetoPoint{Name: label, Point: v.trials[i].point}
	}
	v.measure, _ = diff.MeasureOf(v.name, points)
	v.pareto = diff.Choose(points, v.measure, v.limit(), pane.OwnRanges(v.in.Snap))
	v.cursor = max(min(v.cursor, len(v.trials)-1), 0)
}

// limit is how good a configuration must be to be a candidate; 0 where the measure has none.
func (v *paretoView) limit() float64 {
	if len(v.measure.Limits) == 0 {
		return 0
	}
	at, ok := v.limits[v.measure.Name]
	if !ok {
		at = v.measure.First
	}
	return v.measure.Limits[at]
}

func (v *paretoView) Title() string { return "Latency and " + v.measure.Title }

func (v *paretoView) Note() (string, ui.Style) {
	if n := v.leftOut(); n > 0 {
		return v.leftOutText(n), ui.Warn
	}
	text := string(v.in.Look.Glyphs.Record) + " no other is faster and as " + v.measure.Good
	if slices.ContainsFunc(v.pareto.Points, func(p report.ParetoPoint) bool { return p.BesideOthers() }) {
		text += "; times as in rounds side by side"
	}
	if v.hasExact() {
		text += "; the top line is exact, off the scale"
	}
	return text, ui.Muted
}

func (v *paretoView) Keys() []ui.Key {
	keys := []ui.Key{
		ui.K("enter", "use", "use the configuration under the cursor"),
		ui.K("s", "next axis", "plot top-1, agreement, SQNR, memory"),
		{Keys: []string{"<", ">"}, Short: "limit", Long: "how good the fastest must be: stricter / less strict"},
		ui.K("p", "fastest", "go to the fastest within the limit"),
	}
	if v.more != nil {
		keys = append(keys, measureKey(v.desk))
	}
	return keys
}

// leftOut counts the configurations that the plot does not have, since they were not measured.
func (v *paretoView) leftOut() int {
	n := 0
	for i := range v.pareto.Points {
		if _, ok := v.measure.Of(&v.pareto.Points[i].Point); !ok || v.pareto.Points[i].Latency == 0 {
			n++
		}
	}
	return n
}

// leftOutText says how many are not in the plot, and which key measures them.
func (v *paretoView) leftOutText(n int) string {
	text := fmt.Sprintf("%d of %d left out: no %s measured", n, len(v.trials), v.measure.Title)
	if v.more != nil {
		text += v.in.Look.Keys("; {Tried A} measures")
	}
	return text
}

// Mark is the configuration under the cursor.
func (v *paretoView) Mark() (pane.Mark, bool) {
	if v.read == nil || v.cursor >= len(v.trials) {
		return pane.Mark{}, false
	}
	return v.read(&v.trials[v.cursor])
}

func (v *paretoView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.choose()
		return nil
	}
	if at, ok := msg.(pointAt); ok && int(at) < len(v.trials) {
		v.cursor = int(at)
		return nil
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	switch name := k.String(); name {
	case "left", "h", "up", "k":
		v.move(-1)
	case "right", "l", "down", "j":
		v.move(1)
	case "g", "home":
		v.move(-len(v.trials))
	case "G", "end":
		v.move(len(v.trials))
	case "s":
		all := diff.Measures()
		at := slices.IndexFunc(all, func(m diff.Measure) bool { return m.Name == v.measure.Name })
		v.name = all[(at+1)%len(all)].Name
		v.choose()
	case "<", ">":
		v.changeLimit(map[string]int{"<": -1, ">": 1}[name])
	case "A":
		if v.more != nil {
			return measureLacking(v.more, v.trials[:len(v.tried.list)], pane.OwnRanges(v.in.Snap))
		}
	case "p":
		if i := v.pareto.Fastest(); i >= 0 {
			v.cursor = i
		}
	case "enter":
		if v.cursor < len(v.trials) {
			cfg := v.trials[v.cursor].config.Clone()
			return v.desk.Change(func(c *config.Config) { *c = cfg })
		}
	}
	return nil
}

// pointAt is a click on a point.
type pointAt int

func (v *paretoView) changeLimit(step int) {
	if n := len(v.measure.Limits); n > 0 {
		at := slices.Index(v.measure.Limits, v.limit())
		v.limits[v.measure.Name] = max(min(at+step, n-1), 0)
		v.choose()
	}
}

// move moves the cursor by so many points in the order of latency.
func (v *paretoView) move(step int) {
	order := make([]int, len(v.trials))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.pareto.Points[a].Took, v.pareto.Points[b].Took) })
	if at := slices.Index(order, v.cursor); at >= 0 {
		v.cursor = order[max(min(at+step, len(order)-1), 0)]
	}
}

func (v *paretoView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if len(v.trials) == 0 {
			c.Fit(1, 1, w-2, ui.Muted, "no configuration was tried to the end yet")
			return
		}
		v.drawFastest(c)
		if h > 6 {
			v.scatter().Draw(c.Sub(ui.Rect{Y: 1, W: w, H: h - 2}))
		}
		c.FitClauses(1, h-1, w-2, ui.Plain, v.under())
	})
}

// drawFastest answers which configuration is the fastest that is good enough.
func (v *paretoView) drawFastest(c *ui.Canvas) {
	if v.pareto.Rule == "" {
		text := "arena and weights together; less is better, upwards"
		if lacks := lackText(v.trials, pane.OwnRanges(v.in.Snap)); v.name == "" && lacks != "" && v.more != nil {
			text = lacks + v.in.Look.Keys(": {Tried A} measures; until then memory is plotted")
		}
		c.Fit(1, 0, c.W-2, ui.Muted, text)
		return
	}
	x := c.Text(1, 0, ui.Muted, "fastest "+v.pareto.Rule+": ")
	i := v.pareto.Fastest()
	if i < 0 {
		c.Fit(x, 0, c.W-x-1, ui.Warn, "none")
		return
	}
	p := &v.pareto.Points[i]
	x = c.FitName(x, 0, c.W-x-1, ui.Good|ui.Bold, p.Name)
	latency, alike, speed := ", "+ui.Duration(report.Nearly(p.Took, p.Latency)), v.alike(), v.fastestSpeed(i)
	if n := len(v.pareto.Alike(pane.OwnRanges(v.in.Snap))); ui.Width(alike) > c.W-x-1 {
		alike = "; " + words.Plural(n, "other") + " as fast"
	}
	if alike != "" && speed != "" {
		speed = ";" + strings.TrimPrefix(speed, ",")
	}
	if ui.Width(latency+alike+speed) > c.W-x-1 && alike+speed != "" {
		latency = "" // the plot and the table have it
	}
	c.FitClauses(x, 0, c.W-x-1, ui.Plain, latency+alike+speed) // whether others are as fast matters more than how fast it is
}

// alike says which of those within the limit the fastest cannot be told from; "" where it is faster than all.
func (v *paretoView) alike() string {
	switch names := v.pareto.Alike(pane.OwnRanges(v.in.Snap)); len(names) {
	case 0:
		return ""
	case 1:
		return "; no significant difference from " + names[0]
	default:
		return fmt.Sprintf("; no significant difference from %d others", len(names))
	}
}

// fastestSpeed says how fast a trial is beside the first in FP32, as the table of trials does; "" where there is none.
func (v *paretoView) fastestSpeed(i int) string {
	reference := slices.IndexFunc(v.trials, func(t trial) bool { return t.config.Precision == config.FP32 && t.median > 0 })
	if reference < 0 || reference == i {
		return ""
	}
	s := v.trials[i].measured.Over(v.trials[reference].measured, pane.OwnRanges(v.in.Snap))
	items, ok := v.trials[i].load.over(v.trials[reference].load)
	switch {
	case !ok:
		return ""
	case items != 1:
		s = s.Per(items)
	}
	text := ", " + words.Speed(s) + " " + v.trials[reference].label
	if items != 1 {
		text += " per item"
	}
	if !s.SideBySide {
		text += "; not side by side"
	}
	return text
}

func (v *paretoView) scatter() ui.Scatter {
	s := ui.Scatter{Cursor: v.cursor, Click: func(i int) tea.Msg { return pointAt(i) }, XLabel: words.Duration, YLabel: v.measure.Write}
	switch v.measure.Name {
	case "top1", "agreement":
		s.Most = 1
	case "sqnr":
		if !v.hasExact() {
			break
		}
		top := v.topSQNR()
		s.Most = top
		s.YLabel = func(y float64) string {
			if y >= top {
				return "exact"
			}
			return v.measure.Write(y)
		}
	}
	for i := range v.pareto.Points {
		p := &v.pareto.Points[i]
		x, y := words.OrNaN(float64(p.Took)), math.NaN()
		if value, ok := v.measure.Of(&p.Point); ok {
			y = value
			if v.measure.Name == "sqnr" { // what is exact would leave no room for the others
				y = min(value, v.topSQNR())
			}
		}
		s.Points = append(s.Points, ui.ScatterPoint{X: x, Y: y, Front: p.Front, Style: pane.PrecisionStyle(string(p.Config.Precision))})
	}
	return s
}

// hasExact reports whether a configuration has the outputs of FP32, to which no SQNR is a distance.
func (v *paretoView) hasExact() bool {
	return v.measure.Name == "sqnr" && slices.ContainsFunc(v.pareto.Points, func(p report.ParetoPoint) bool {
		value, ok := v.measure.Of(&p.Point)
		return ok && value >= words.ExactSQNR
	})
}

// topSQNR is a little above the highest SQNR that is not exact: by a third of how far these lie apart.
func (v *paretoView) topSQNR() float64 {
	low, top := math.Inf(1), 0.0
	for i := range v.pareto.Points {
		if value, ok := v.measure.Of(&v.pareto.Points[i].Point); ok && value < words.ExactSQNR {
			low, top = min(low, value), max(top, value)
		}
	}
	return top + max(1, (top-low)/3)
}

// under says what is known of the configuration under the cursor.
func (v *paretoView) under() string {
	p := &v.pareto.Points[v.cursor]
	words := []string{p.Name}
	if p.Latency > 0 {
		words = append(words, ui.Duration(report.Nearly(p.Took, p.Latency)))
	}
	all := diff.Measures()
	for i := range all {
		if value, ok := all[i].Of(&p.Point); ok {
			words = append(words, all[i].Title+" "+all[i].Write(value))
		}
	}
	_, known := v.measure.Of(&p.Point)
	switch {
	case p.Front:
		words = append(words, "on the front")
	case !known:
		words = append(words, "left out: no "+v.measure.Title+" measured")
	case p.Latency > 0 && !p.Beaten:
		words = append(words, fmt.Sprintf("another is as %s, with no significant difference in time", v.measure.Good))
	case p.Latency > 0:
		words = append(words, fmt.Sprintf("another is as %s and faster", v.measure.Good))
	}
	if p.BesideOthers() {
		words = append(words, "beside the others "+ui.Duration(p.Took))
	}
	return strings.Join(words, ", ")
}
