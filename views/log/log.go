package log

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// logView follows the newest line until the cursor moves up. What a message says over several lines is shown as such, and
// from a line that names a layer one gets to it.
type logView struct {
	in    pane.Input
	list  ui.List
	lines []logLine
	width int // that lines are wrapped to: the one drawn last
}

type logLine struct {
	report.LogLine
	first bool // of the message
}

func newLogView(look *ui.Look) *logView {
	v := &logView{in: pane.NewInput(look, 0)}
	v.list = ui.List{Line: v.line, Follow: true, Empty: "nothing to report yet"}
	return v
}

func (v *logView) Title() string { return "Log" }

func (v *logView) Note() (string, ui.Style) {
	return words.Plural(len(v.in.Snap.Log), "message"), ui.Muted
}

func (v *logView) Keys() []ui.Key {
	k := ui.K("enter", "layer", "show the layer that the line is about, on the graph")
	if at := v.list.At(); at < 0 || at >= len(v.lines) || v.lines[at].Layer == "" {
		k.Off = "this line is about no layer"
	}
	return append(v.list.Keys(), k)
}

func (v *logView) Update(msg tea.Msg) tea.Cmd {
	if pane.IsKey(msg, "enter") {
		return jumpTo(v.in.Snap, v.lines[v.list.At()].Layer)
	}
	if !v.in.Take(msg) {
		v.list.Update(msg)
		return nil
	}
	v.build()
	return nil
}

// Layer implements pointing.
func (v *logView) Layer() (pane.LayerRef, bool) {
	if at := v.list.At(); at >= 0 && at < len(v.lines) && v.lines[at].Layer != "" {
		return pane.GraphLayer(v.in.Snap, v.lines[at].Layer), true
	}
	return pane.LayerRef{}, false
}

// jumpTo goes to a layer on the graph, if one of the networks that are shown has it.
func jumpTo(snap *report.Snapshot, layer string) tea.Cmd {
	named := func(l report.Layer) bool { return l.Name == layer }
	if p := snap.Passes; p == nil || !slices.ContainsFunc(p.Engine, named) && !slices.ContainsFunc(p.Source, named) {
		return pane.Say(ui.Warn, words.ShortName(layer)+" is not in the networks that are shown now")
	}
	return pane.ShowLayer(layer)
}

// The cells that stand before the text of a line: a margin, the mark and the time.
const (
	logMargin = 4
	logTime   = 13
)

// build makes the lines: a message's own, wrapped where they are too long.
func (v *logView) build() {
	v.lines = v.lines[:0]
	for _, l := range v.in.Snap.Log {
		room := max(v.width-logMargin-logTime, 40)
		before := 0
		if l.Layer != "" {
			before = ui.Width(words.ShortName(l.Layer)) + 2
		}
		text, first := l.Text, true
		for line := range strings.SplitSeq(text, "\n") {
			parts := []string{line}
			if ui.Width(line)+before > room {
				parts = ui.Wrap(strings.Repeat("x", min(before, room/2))+line, room) // the layer's name stands before the first
				parts[0] = parts[0][min(before, room/2):]
			}
			for _, part := range parts {
				l.Text = part
				v.lines = append(v.lines, logLine{l, first})
				first, before = false, 0
			}
		}
	}
	v.list.Lines = len(v.lines)
}

func (v *logView) line(i int) ui.ListLine {
	l := v.lines[i]
	g := v.in.Look.Glyphs
	out := ui.ListLine{Mark: g.Dot, Style: ui.Faint}
	style := ui.Plain
	switch l.Level {
	case "error":
		out.Mark, out.Style, style = g.Bad, ui.Bad, ui.Bad
	case "warning":
		out.Mark, out.Style, style = g.Warn, ui.Warn, ui.Warn
	}
	if !l.first {
		if style == ui.Plain {
			style = ui.Muted
		}
		out.Mark = ' '
		out.Spans = []ui.Span{{Text: "               " + l.Text, Style: style}}
		return out
	}
	out.Spans = []ui.Span{{Text: l.Time.Format("15:04:05.000 "), Style: ui.Muted}}
	if l.Layer != "" {
		out.Spans = append(out.Spans, ui.Span{Text: words.ShortName(l.Layer), Style: ui.Accent, Name: true}, ui.Span{Text: ": "})
	}
	out.Spans = append(out.Spans, ui.Span{Text: l.Text, Style: style})
	return out
}

func (v *logView) Render(w, h int) string {
	if v.width != w {
		v.width = w
		v.build()
	}
	return v.in.Look.Render(w, h, v.list.Draw)
}
