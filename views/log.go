package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// logScreen shows the messages of builds and runs.
func logScreen(d *desk) *ui.Screen {
	return &ui.Screen{Key: "0", Name: "Log", Views: []ui.View{newLogView(d)}}
}

// logView follows the newest line until the cursor moves up. What a message says over several lines is shown as such.
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

func (v *logView) Keys() []ui.Key { return v.list.Keys() }

func (v *logView) Update(msg tea.Msg) tea.Cmd {
	if !v.take(msg) {
		v.list.Update(msg)
		return nil
	}
	v.lines = v.lines[:0]
	for _, l := range v.snap.Log {
		for i, text := range ui.Wrap(l.Text, 4096) {
			l.Text = text
			v.lines = append(v.lines, logLine{l, i == 0})
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
		out.Mark = ' '
		out.Spans = []ui.Span{{Text: "             " + l.Text, Style: style}}
		return out
	}
	out.Spans = []ui.Span{{Text: l.Time.Format("15:04:05.000 "), Style: ui.Muted}}
	if l.Layer != "" {
		out.Spans = append(out.Spans, ui.Span{Text: l.Layer + ": ", Style: ui.Accent})
	}
	out.Spans = append(out.Spans, ui.Span{Text: l.Text, Style: style})
	return out
}

func (v *logView) Render(w, h int) string { return v.Look.Render(w, h, v.list.Draw) }
