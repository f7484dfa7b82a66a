package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// logScreen shows the messages of builds and runs.
func logScreen(d *desk) *ui.Screen {
	return &ui.Screen{Key: "0", Name: "Log", Views: []ui.View{newLogView(d)}}
}

// logView follows the newest line until the cursor moves up. What a message says over several lines is shown as such, and
// from a line that names a layer one gets to it.
type logView struct {
	pane
	list  ui.List
	lines []logLine
}

type logLine struct {
	sessions.LogLine
	first bool // of the message
}

func newLogView(d *desk) *logView {
	v := &logView{pane: d.pane(0)}
	v.list = ui.List{Line: v.line, Follow: true, Empty: "nothing to report yet"}
	return v
}

func (v *logView) Title() string { return "Log" }

func (v *logView) Note() (string, ui.Style) { return plural(len(v.snap.Log), "message"), ui.Muted }

func (v *logView) Keys() []ui.Key {
	k := ui.K("enter", "layer", "show the layer that the line is about, on the graph")
	if at := v.list.At(); at < 0 || at >= len(v.lines) || v.lines[at].Layer == "" {
		k.Off = "this line is about no layer"
	}
	return append(v.list.Keys(), k)
}

func (v *logView) Update(msg tea.Msg) tea.Cmd {
	if isKey(msg, "enter") {
		return showLayer(v.lines[v.list.At()].Layer)
	}
	if !v.take(msg) {
		v.list.Update(msg)
		return nil
	}
	v.lines = v.lines[:0]
	for _, l := range v.snap.Log {
		first := true
		for text := range strings.SplitSeq(l.Text, "\n") {
			l.Text = text
			v.lines = append(v.lines, logLine{l, first})
			first = false
		}
	}
	v.list.Lines = len(v.lines)
	return nil
}

func (v *logView) line(i int) ui.ListLine {
	l := v.lines[i]
	g := v.Look.Glyphs
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
		out.Spans = append(out.Spans, ui.Span{Text: shortName(l.Layer), Style: ui.Accent, Name: true}, ui.Span{Text: ": "})
	}
	out.Spans = append(out.Spans, ui.Span{Text: l.Text, Style: style})
	return out
}

func (v *logView) Render(w, h int) string { return v.Look.Render(w, h, v.list.Draw) }
