package overview

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// The styles of text output. Lip Gloss leaves their colours out where the output has none.
var (
	headingStyle = lipgloss.NewStyle().Bold(true)
	mutedStyle   = lipgloss.NewStyle().Faint(true)
	boxStyle     = lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1)
	cellStyle    = lipgloss.NewStyle().PaddingRight(2)
)

// Text returns the overview of a settled snapshot as text, for where the workbench cannot be shown: for a
// terminal of so many cells, or with width 0 for a file or pipe, where nothing is left out.
func Text(s *report.Snapshot, width int) string {
	title := headingStyle.Render(ui.VisibleName(words.Model(s.Model))) + "  " + ui.VisibleName(pane.Label(s)) + mutedStyle.Render("  "+threadsText(s.Device.Backend, s.Device.Threads))
	blocks := []string{title, boxText(summaryFacts(s, 0), width), slowestText(s, width)}
	if s.Memory != nil || s.Viewed() == "" {
		blocks = append(blocks, footprintText(s))
	}
	if s.Overview.Unchanged != "" {
		blocks = append(blocks, noteText("! "+s.Overview.Unchanged, width))
	}
	for _, b := range s.Overview.Badges {
		blocks = append(blocks, noteText("! "+b.Text+": "+b.Why, width))
	}
	lines := strings.Split(strings.Join(blocks, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// noteText breaks a sentence between words for a terminal of so many cells; 0 is any number.
func noteText(text string, width int) string {
	text = ui.VisibleName(text)
	if width <= 0 {
		return text
	}
	return strings.Join(ui.Wrap(text, width), "\n")
}

// boxText puts names, values and remarks into a box for a terminal of so many cells; 0 is any number.
func boxText(facts ui.Facts, width int) string {
	if width <= 0 {
		return boxStyle.Render(factsText(facts, 0))
	}
	width = max(40, min(width, 120))
	return boxStyle.Width(width).Render(factsText(facts, width-boxStyle.GetHorizontalFrameSize()))
}

// factsText aligns names, values and remarks, and breaks remarks in their column where they need more than so many cells; 0 is any number.
func factsText(facts ui.Facts, width int) string {
	const gap, least = 2, 12
	wide := [2]int{}
	for _, f := range facts {
		wide[0], wide[1] = max(wide[0], ui.Width(f.Name)), max(wide[1], ui.Width(ui.VisibleName(f.Value)))
	}
	room := 1 << 20
	if width > 0 {
		room = max(width-wide[0]-wide[1]-2*gap, least)
	}
	var names, values, notes []string
	for _, f := range facts {
		lines := ui.Wrap(ui.VisibleName(f.Note), room)
		for i := range max(len(lines), 1) {
			name, value, note := "", "", ""
			if i == 0 {
				name, value = f.Name, ui.VisibleName(f.Value)
			}
			if i < len(lines) {
				note = lines[i]
			}
			names, values, notes = append(names, mutedStyle.Render(name)), append(values, value), append(notes, mutedStyle.Render(note))
		}
	}
	column := func(lines []string) string { return cellStyle.Render(strings.Join(lines, "\n")) }
	return lipgloss.JoinHorizontal(lipgloss.Top, column(names), column(values), strings.Join(notes, "\n"))
}

func textTable(headers ...string) *table.Table {
	return table.New().Headers(headers...).Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).StyleFunc(numberStyle)
}

// numberStyle aligns the first column to the left and the others, which are numbers, to the right.
func numberStyle(row, column int) lipgloss.Style {
	style := cellStyle.Faint(row == table.HeaderRow)
	if column > 0 {
		style = style.Align(lipgloss.Right)
	}
	return style
}

// slowestText lists the layers that take the most time. Where that is too wide the last columns are left out.
func slowestText(s *report.Snapshot, width int) string {
	headers := []string{"slowest layers", "median", "share", "p99", "CV", "type", "tactic"}
	switch {
	case s.Timings.Estimated: // an estimate does not vary
		headers = []string{"slowest layers", "estimate", "share", "type", "tactic"}
	case s.Timings.Summed:
		headers = slices.Delete(headers, 3, 5)
	}
	for n := len(headers); ; n-- {
		if text := slowestTable(s, headers[:n]); n == 3 || width == 0 || lipgloss.Width(text) <= width+2 { // the last column's space
			return text
		}
	}
}

func slowestTable(s *report.Snapshot, headers []string) string {
	t := textTable(headers...).StyleFunc(func(row, column int) lipgloss.Style {
		if headers[column] == "tactic" {
			return cellStyle.Align(lipgloss.Left).Faint(row == table.HeaderRow)
		}
		return numberStyle(row, column)
	})
	for _, top := range s.Overview.Top {
		for _, l := range s.Timings.Layers {
			if l.Name == top.Name {
				row := []string{ui.VisibleName(words.ShortName(l.Name)), ui.Duration(l.Median), words.Percent(l.Share), ui.Duration(l.P99), words.Percent(l.CV), l.Precision, l.Tactic}
				if s.Timings.Estimated || s.Timings.Summed {
					row = slices.Delete(row, 3, 5)
				}
				t.Row(row[:len(headers)]...)
				break
			}
		}
	}
	return t.String()
}

// footprintText states the planner's numbers.
func footprintText(s *report.Snapshot) string {
	m := s.Overview.Memory
	t := textTable("memory", "peak", "lower bound", "no reuse", "in, out", "weights")
	size := func(n int) string { return ui.Bytes(int64(n)) }
	t.Row("arena", size(m.Peak), size(m.LowerBound), size(m.Naive), size(m.IO), size(m.Weights))
	return t.String()
}
