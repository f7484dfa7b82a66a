package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// networkView shows one of the networks.
type networkView struct {
	g     *graphs
	net   *networkList
	links links // to what is under the cursor of the other side
}

// laneRoom is how many of w cells the columns of edges may take; 0: all that there is.
func laneRoom(w int) int {
	if w == 0 {
		return 2 * mostLanes
	}
	return max(4, w/9)
}

// line draws one line of the list for w cells; 0: with all that there is.
func (v *networkView) line(i, w int) ui.ListLine {
	line := v.net.lines[i]
	l := &v.net.layers[line.layer]
	out := ui.ListLine{}
	if len(v.net.lanes.rows) > 0 {
		out.Before, out.After = v.net.lanes.parts(i, laneRoom(w), v.g.look().Glyphs, v.light(i))
		if w > 0 {
			w = max(w-v.net.lanes.cells(laneRoom(w))+1, 1)
		}
	}
	if v.g.state.side != v.net.side && v.links.has(&line) {
		out.Ground = ui.Selected
	}
	g := v.g.look().Glyphs
	if line.layers > 0 {
		return v.blocksLine(out, &line, w)
	}
	if line.text != "" {
		out.Prefix = "  " + g.Branch + " "
		if line.last {
			out.Prefix = "  " + g.Last + " "
		}
		out.Spans = []ui.Span{{Text: line.text, Style: ui.Muted}}
		return out
	}
	if l.Unsupported != "" {
		out.Mark, out.Style = g.Warn, ui.Bad
		if l.Behind != "" {
			out.Style = ui.Warn
		}
		out.Spans = v.spans(l, w)
		return out
	}
	if off := v.g.state.off[l.Name]; v.net.side == sourceSide && len(off) > 0 {
		out.Mark, out.Style = g.Pause, ui.Warn
		out.Spans = append(v.spans(l, 0)[:1], ui.Span{Text: "  off: " + strings.Join(off, ", "), Style: ui.Warn})
		return out
	} else if v.net.side == sourceSide {
		out.Mark, out.Style = fateMark(g, v.g.state.fates[l.Name].Fate)
	} else {
		out.Mark, out.Style = g.Dot, ui.Faint
		switch {
		case line.changed != 0:
			out.Mark, out.Style = line.changed, ui.Good
		case len(l.From) > 1:
			out.Mark, out.Style = g.Point, ui.Accent
		}
	}
	if v.net.hasInside(line.layer) {
		if out.Mark, out.Style = g.Right, ui.Accent; v.net.isUnfolded(line.layer, unfoldInside) || !v.net.folds() {
			out.Mark = g.Down
		}
	}
	out.Spans = v.spans(l, w)
	return out
}

// light says of the cells of a line's lanes how they are seen: brighter what the layer under the cursor reads, and what reads it.
func (v *networkView) light(i int) func(lane) ui.Style {
	at := v.net.list.At()
	if at < 0 || v.g.state.side != v.net.side {
		return func(lane) ui.Style { return ui.Faint }
	}
	return func(c lane) ui.Style {
		switch of := int(c.of); {
		case of >= 0 && of == at || of < 0 && i == at || of >= 0 && i <= at && slices.Contains(v.net.lanes.reads[at], of):
			return ui.Accent
		}
		return ui.Faint
	}
}

// blocksLine draws a line of blocks: how many of how many layers, and the time of all.
func (v *networkView) blocksLine(out ui.ListLine, line *graphLine, w int) ui.ListLine {
	name, _, time, _ := v.net.columns.fit(w, v.net.times != nil)
	g := v.g.look().Glyphs
	out.Mark, out.Style = g.Right, ui.Accent
	if v.net.isUnfolded(line.layer, line.below()) {
		out.Mark = g.Down
	}
	if v.net.side == engineSide {
		out.Spans = append(out.Spans, ui.Span{Text: words.Pad("", v.net.columns.types)})
	}
	out.Spans = append(out.Spans, ui.Span{Text: words.Fit(g, fitBlock(v.net.layers, line, name), name), Style: ui.Bold})
	if time {
		out.Spans = append(out.Spans, ui.Span{Text: fmt.Sprintf(" %9s", ui.Duration(v.net.times.sum(v.net.of(line))))})
	}
	return out
}

// spans are the columns of a layer's line that have room in w cells; 0: all.
func (v *networkView) spans(l *report.Layer, w int) []ui.Span {
	name, shape, time, op := v.net.columns.fit(w, v.net.times != nil)
	g := v.g.look().Glyphs
	var spans []ui.Span
	rules := pane.RulesOf(v.g.desk, v.g.snap())
	set, _ := rules.Want.LayerPrecision(l.Name, l.From)
	if v.net.side == engineSide {
		mark, refused := rules.Mark(l.Name, l.From, l.Precision)
		style := pane.PrecisionStyle(l.Precision)
		if refused {
			style = ui.Warn
		}
		spans = append(spans, ui.Span{Text: words.Pad(l.Precision+mark, v.net.columns.types), Style: style})
	}
	mark := ""
	if v.net.side == sourceSide && set != "" {
		mark = " " + string(set) + pane.PrecisionMark
	}
	indent := strings.Repeat("  ", l.Depth)
	name = max(name-ui.Width(mark), 1)
	spans = append(spans, ui.Span{Text: words.Pad(indent+v.net.columns.short.Short(words.ShortName(l.Name), max(name-len(indent), 1), g.Ellipsis), name), Name: true})
	if mark != "" {
		spans = append(spans, ui.Span{Text: mark, Style: pane.PrecisionStyle(string(set))})
	}
	if time {
		text := ""
		if t, ok := v.net.times[l.Name]; ok {
			text = ui.Duration(t.Median)
		}
		spans = append(spans, ui.Span{Text: fmt.Sprintf(" %9s", text)})
	}
	if shape > 0 {
		spans = append(spans, ui.Span{Text: "  " + words.Fit(g, dimsOf(l), shape), Style: ui.Muted})
	}
	if op {
		spans = append(spans, ui.Span{Text: "  " + l.Op, Style: ui.Muted})
	}
	return spans
}
