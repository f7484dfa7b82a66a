package graph

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

func (s *site) common() siteCause { return siteCause{s.pass, s.rule, s.reason, s.cause} }

// detailLine is a line of the detail; on a site's line x is about that site alone, and enter unfolds a line of many, or goes to the
// layer of one of an edge.
type detailLine struct {
	ui.ListLine
	site   *site
	folded siteCause
	to     string // the layer to which enter leads
}

// fewSites are as many of one cause as have a line each.
const fewSites = 3

// siteLines are the rewrites that were done, then those that were not, with the reason. Many of one rule and cause are one line
// until it is unfolded.
func siteLines(state *graphState, sites []site) []detailLine {
	groups, at := [][]site(nil), map[siteCause]int{}
	for _, s := range sites {
		i, ok := at[s.common()]
		if !ok {
			i = len(groups)
			at[s.common()] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	var lines []detailLine
	for _, group := range groups {
		if len(group) > fewSites {
			lines = append(lines, groupLine(state.in.Look.Glyphs, group))
			if !state.causes[group[0].common()] {
				continue
			}
		}
		for i := range group {
			lines = append(lines, siteLine(state, &group[i]))
		}
	}
	return lines
}

// whole gives parts of a line lines of their own, where there is no room for them in so many cells: what its last span explains
// or counts, then the layer that came of it, and then the layers that it is about.
func whole(lines []detailLine, w int) (list []detailLine) {
	const margins, indent = 4, "    "
	room := func(spans []ui.Span) bool {
		took := margins
		for _, s := range spans {
			took += ui.Width(s.Text)
		}
		return took <= w
	}
	for _, line := range lines {
		var below []detailLine
		add := func(spans ...ui.Span) {
			below = append(below, detailLine{site: line.site, ListLine: ui.ListLine{Spans: spans}})
		}
		if last := len(line.Spans) - 1; last > 0 && !room(line.Spans) {
			style := line.Spans[last].Style
			if text, ok := strings.CutPrefix(line.Spans[last].Text, ", "); ok && (style == ui.Muted || style == ui.Good) {
				for _, part := range ui.Wrap(text, max(w-margins-len(indent), 24)) {
					add(ui.Span{Text: indent + part, Style: style})
				}
				line.Spans = line.Spans[:last]
			}
		}
		if last := len(line.Spans) - 1; last > 1 && line.Spans[last-1].Text == into && !room(line.Spans) {
			spans := append([]ui.Span{{Text: indent[1:]}}, line.Spans[last-1:]...)
			line.Spans = line.Spans[:last-1]
			below = append([]detailLine{{site: line.site, ListLine: ui.ListLine{Spans: spans}}}, below...)
		}
		if last := len(line.Spans) - 1; last > 0 && line.Spans[last].Name && !room(line.Spans) {
			names := strings.TrimPrefix(line.Spans[last].Text, " ")
			line.Spans = line.Spans[:last]
			below = append([]detailLine{{site: line.site, ListLine: ui.ListLine{Spans: []ui.Span{{Text: indent}, {Text: names, Name: true}}}}}, below...)
		}
		list = append(append(list, line), below...)
	}
	return list
}

// into stands before the layer that came of a rewrite.
const into = " into "

// groupLine stands for many sites of one cause; on it x is about the rule.
func groupLine(g *ui.Glyphs, group []site) detailLine {
	s := group[0]
	places := " at " + words.Plural(len(group), "place")
	line := detailLine{site: &site{rule: s.rule, reason: s.reason}, folded: s.common()}
	switch s.reason {
	case "":
		kernels, bytes := 0, int64(0)
		for _, s := range group {
			kernels, bytes = kernels+s.kernels, bytes+s.bytes
		}
		line.Mark, line.Style = g.Good, ui.Good
		line.Spans = []ui.Span{{Text: s.rule, Style: ui.Accent}, {Text: places}}
		if text := savings(kernels, bytes); text != "" {
			line.Spans = append(line.Spans, ui.Span{Text: ", " + strings.TrimSuffix(text, " of traffic"), Style: ui.Good})
		} else if s.note != "" {
			line.Spans = append(line.Spans, ui.Span{Text: ", " + s.note, Style: ui.Muted})
		}
	case disabled:
		line.Mark, line.Style = g.Pause, ui.Warn
		line.Spans = []ui.Span{{Text: s.rule, Style: ui.Accent}, {Text: " off", Style: ui.Warn}, {Text: places}, {Text: ", " + s.cause, Style: ui.Muted}}
	default:
		line.Mark, line.Style = g.Bad, ui.Warn
		line.Spans = []ui.Span{{Text: s.rule, Style: ui.Accent}, {Text: " rejected", Style: ui.Muted}, {Text: places + ": "}, {Text: s.reason, Style: ui.Warn}}
		if s.cause != "" {
			line.Spans = append(line.Spans, ui.Span{Text: ", " + s.cause, Style: ui.Muted})
		}
	}
	return line
}

// siteLine tells of a rewrite that was done, or of one that was not, with the reason.
func siteLine(state *graphState, s *site) detailLine {
	line, marks := detailLine{site: s}, state.in.Look.Glyphs
	layers, pass := words.JoinLayers(s.layers), ""
	if !state.ofPass && s.pass < len(state.in.Snap.Passes.Steps) { // else the title names it, or it is the plan's
		pass = fmt.Sprintf(" pass %d", s.pass+1)
	}
	switch s.reason {
	case "":
		line.Mark, line.Style = marks.Good, ui.Good
		line.Spans = []ui.Span{{Text: s.rule, Style: ui.Accent}, {Text: pass + " ", Style: ui.Muted}, {Text: layers, Name: true}}
		if s.into != "" && s.into != strings.Join(s.layers, report.MemberSeparator) {
			line.Spans = append(line.Spans, ui.Span{Text: into, Style: ui.Muted}, ui.Span{Text: words.ShortName(s.into), Style: ui.Muted, Name: true})
		}
		if text := savings(s.kernels, s.bytes); text != "" {
			line.Spans = append(line.Spans, ui.Span{Text: ", " + strings.TrimSuffix(text, " of traffic"), Style: ui.Good})
		}
		if s.note != "" {
			line.Spans = append(line.Spans, ui.Span{Text: ", " + s.note, Style: ui.Muted})
		}
	case disabled:
		line.Mark, line.Style = marks.Pause, ui.Warn
		line.Spans = []ui.Span{{Text: s.rule, Style: ui.Accent}, {Text: " off ", Style: ui.Warn}, {Text: layers, Name: true}, {Text: ", " + s.detail, Style: ui.Muted}}
	default:
		line.Mark, line.Style = marks.Bad, ui.Warn
		line.Spans = []ui.Span{{Text: s.rule, Style: ui.Accent}, {Text: pass + " rejected: ", Style: ui.Muted}, {Text: s.reason, Style: ui.Warn}, {Text: " " + layers, Name: true}}
		if s.detail != "" {
			line.Spans = append(line.Spans, ui.Span{Text: ", " + s.detail, Style: ui.Muted})
		}
	}
	return line
}

// savings says what a rewrite saved.
func savings(kernels int, bytes int64) string {
	var parts []string
	if kernels != 0 {
		parts = append(parts, words.Plural(kernels, "layer"))
	}
	if bytes != 0 {
		parts = append(parts, ui.Bytes(bytes)+" of traffic")
	}
	if len(parts) == 0 {
		return ""
	}
	return "saves " + strings.Join(parts, ", ")
}
