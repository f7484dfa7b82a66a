package log

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/advice"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// findingsView shows what the rules of advice find in the newest snapshot: how grave it is, on what it rests, what helps, and the
// layer that it is about, to which one gets from there.
type findingsView struct {
	in     pane.Input
	hint   func(pane.Fact) string
	list   ui.List
	advice *report.Advice
	asked  [7]any // the reports that the advice is on
	lines  []findingLine
	width  int // that lines are wrapped to: the one drawn last
}

// findingLine is a line of a finding, or of the rules that were not asked.
type findingLine struct {
	finding int // -1: none
	kind    findingPart
	text    string
}

type findingPart int

const (
	findingHead findingPart = iota
	findingText
	findingHelp
)

func newFindingsView(look *ui.Look, hint func(pane.Fact) string) *findingsView {
	v := &findingsView{in: pane.NewInput(look, report.PartTimings|report.PartPasses), hint: hint, advice: &report.Advice{}}
	v.list = ui.List{Line: v.line, Empty: "nothing to look at yet"}
	return v
}

func (v *findingsView) Title() string { return "Findings" }

func (v *findingsView) Note() (string, ui.Style) {
	counts := map[report.Severity]int{}
	for _, f := range v.advice.Findings {
		counts[f.Severity]++
	}
	var parts []string
	for _, s := range report.Severities() {
		if n := counts[s]; n > 0 {
			parts = append(parts, words.Plural(n, string(s)))
		}
	}
	if len(parts) == 0 && len(v.advice.Rules) > 0 {
		parts = []string{"none"}
	}
	return v.in.Note(strings.Join(parts, ", "))
}

// at returns the finding under the cursor, nil where there is none.
func (v *findingsView) at() *report.Finding {
	if i := v.list.At(); i >= 0 && i < len(v.lines) && v.lines[i].finding >= 0 {
		return &v.advice.Findings[v.lines[i].finding]
	}
	return nil
}

// Layer implements pointing.
func (v *findingsView) Layer() (pane.LayerRef, bool) {
	if f := v.at(); f != nil && f.Layer != "" {
		return pane.GraphLayer(v.in.Snap, f.Layer), true
	}
	return pane.LayerRef{}, false
}

func (v *findingsView) Keys() []ui.Key {
	k := ui.K("enter", "layer", "show the layer that the finding is about, on the graph")
	if f := v.at(); f == nil || f.Layer == "" {
		k.Off = "this finding is about no layer"
	}
	return append(v.list.Keys(), k)
}

func (v *findingsView) Update(msg tea.Msg) tea.Cmd {
	if pane.IsKey(msg, "enter") {
		return jumpTo(v.in.Snap, v.at().Layer)
	}
	if !v.in.Take(msg) {
		v.list.Update(msg)
		return nil
	}
	s := v.in.Snap
	asked := [7]any{s.Passes, s.Overview, s.Timings, s.Memory, s.Calibration, s.Accuracy, s.Tactics}
	if asked == v.asked || s.Timings != nil && pane.Live(s) && v.advice.Rules != nil { // the rules look at what is over
		return nil
	}
	v.asked = asked
	if s.Passes != nil || s.Timings != nil {
		v.advice = advice.On(s)
	}
	v.build()
	return nil
}

// findingIndent are the cells before the text below a finding's first line.
const findingIndent = 2

// build makes the lines: of each finding the first names rule and layer, then what is so, then what helps.
func (v *findingsView) build() {
	v.lines = v.lines[:0]
	room := max(v.width-findingIndent-4, 30)
	add := func(i int, kind findingPart, text string) {
		for _, part := range ui.Wrap(text, room) {
			v.lines = append(v.lines, findingLine{i, kind, part})
		}
	}
	for i, f := range v.advice.Findings {
		v.lines = append(v.lines, findingLine{i, findingHead, ""})
		add(i, findingText, f.Text)
		if help := v.help(&f); help != "" && !v.advice.GoesOn(i) {
			add(i, findingHelp, help)
		}
	}
	if len(v.advice.Rules) > 0 && len(v.advice.Findings) == 0 {
		add(-1, findingText, fmt.Sprintf("nothing found by %s", words.Plural(v.advice.Asked(), "rule")))
	}
	for _, text := range v.advice.Unasked() {
		add(-1, findingHelp, text)
	}
	v.list.Lines = len(v.lines)
	v.list.Refresh()
}

// help says which key makes the change that helps, or else which flag. Nothing can be changed here where another program's files are shown.
func (v *findingsView) help(f *report.Finding) string {
	if v.in.Snap.Viewed() != "" && f.Remedy != "" && f.Remedy != report.RemedyModel {
		return "it is changed where the engine is built, which these files only describe"
	}
	if f.Remedy == report.RemedyPrecision && len(f.Raise) > 0 {
		return v.in.Look.Keys("screen 2: {Graph P} raises ") + words.ShortNames(f.Raise) + ", to have it read as a float"
	}
	keys := map[report.Remedy]string{
		report.RemedyCalibrator:   "{c} is the next calibrator; screen 5 compares them",
		report.RemedyEqualization: "screens 5 and 6: {Accuracy E} equalises channels; {u} undoes",
		report.RemedyPrecision:    "enter goes to the layer, where {Graph P} sets its precision",
		report.RemedyRequantize:   "{ctrl+t} drops the quantisation that the model brings, and it is quantised here",
		report.RemedyTactics:      "screen 7: {Tactics t} times a layer's tactics again, {Tactics p} pins one",
		report.RemedyRules:        "screen 2: {Graph x} switches rules on again; {u} undoes",
		report.RemedyModel:        "enter shows the layer; only another model changes that",
		report.RemedyMeasure:      "{r} measures again, on a machine at rest",
	}
	if text := keys[f.Remedy]; text != "" {
		return v.in.Look.Keys(text)
	}
	return v.hint(pane.Advised{Remedy: f.Remedy})
}

func (v *findingsView) line(i int) ui.ListLine {
	l := v.lines[i]
	g := v.in.Look.Glyphs
	if l.kind != findingHead {
		style := ui.Plain
		if l.kind == findingHelp {
			style = ui.Muted
		}
		return ui.ListLine{Mark: ' ', Spans: []ui.Span{{Text: strings.Repeat(" ", findingIndent) + l.text, Style: style}}}
	}
	f := v.advice.Findings[l.finding]
	out := ui.ListLine{Mark: g.Dot, Style: ui.Accent}
	switch f.Severity {
	case report.Problem:
		out.Mark, out.Style = g.Bad, ui.Bad
	case report.Warning:
		out.Mark, out.Style = g.Warn, ui.Warn
	}
	out.Spans = []ui.Span{{Text: f.Rule, Style: out.Style}}
	if f.Layer != "" {
		out.Spans = append(out.Spans, ui.Span{Text: "  "}, ui.Span{Text: words.ShortName(f.Layer), Style: ui.Accent, Name: true})
	}
	if f.Time > 0 {
		out.Spans = append(out.Spans, ui.Span{Text: "  " + ui.Duration(f.Time), Style: ui.Muted})
	}
	return out
}

func (v *findingsView) Render(w, h int) string {
	if v.width != w {
		v.width = w
		v.build()
	}
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.advice.Rules == nil {
			v.in.Wait(c, "findings")
			return
		}
		v.list.Draw(c)
	})
}
