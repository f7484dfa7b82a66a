package timings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// generationView shows how fast a language model writes: the text, the time to its first token and of those behind it, and the
// layers' times for prompts and for single tokens side by side.
type generationView struct {
	in    pane.Input
	table ui.Table
	rows  []phaseRow
	most  []time.Duration // by phase, the longest time of a layer
}

// phaseRow is a layer, which the plans of phases have in common by its name.
type phaseRow struct {
	name  string
	times []*report.LayerTiming // by phase; nil where its plan has no such layer
}

// maxPhases is how many phases are shown, the last ones: a model without state has one for each length of text.
const maxPhases = 2

func newGenerationView(look *ui.Look) *generationView {
	v := &generationView{in: pane.NewInput(look, report.PartGeneration)}
	v.table.Empty = "layers were not timed yet"
	v.table.Label = func(r int) string { return v.rows[r].name }
	return v
}

func (v *generationView) Title() string { return "Text" }

func (v *generationView) Note() (string, ui.Style) {
	g := v.in.Snap.Generation
	if g == nil || g.Refused != "" {
		return v.in.Note("")
	}
	if g.Ended == "" {
		return string(v.in.Look.Glyphs.Record) + " LIVE " + words.Plural(len(g.Tokens), "token"), ui.Good
	}
	return v.in.Note(words.Plural(len(g.Tokens), "token"))
}

func (v *generationView) Keys() []ui.Key { return v.table.Keys() }

func (v *generationView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.build()
		return nil
	}
	v.table.Update(msg)
	return nil
}

// phases returns those that are shown.
func (v *generationView) phases() []report.Phase {
	g := v.in.Snap.Generation
	if g == nil {
		return nil
	}
	return g.Phases[max(0, len(g.Phases)-maxPhases):]
}

// build makes the rows: the layers of the last phase, the slowest first, and behind them what only others have.
func (v *generationView) build() {
	phases := v.phases()
	at := map[string]int{}
	v.rows, v.most = nil, make([]time.Duration, len(phases))
	for k := len(phases) - 1; k >= 0; k-- {
		layers := slices.Clone(phases[k].Layers)
		slices.SortStableFunc(layers, func(a, b report.LayerTiming) int { return cmp.Compare(b.Median, a.Median) })
		for i := range layers {
			l := &layers[i]
			r, ok := at[l.Name]
			if !ok {
				r, at[l.Name] = len(v.rows), len(v.rows)
				v.rows = append(v.rows, phaseRow{l.Name, make([]*report.LayerTiming, len(phases))})
			}
			v.rows[r].times[k] = l
			v.most[k] = max(v.most[k], l.Median)
		}
	}
	v.table.Columns = v.columns(phases)
	v.table.Rows = len(v.rows)
	v.table.Refresh()
}

// columns has the bars of each phase on a scale of its own, since a prompt takes many times as long as a token.
func (v *generationView) columns(phases []report.Phase) []ui.Column {
	list := []ui.Column{{Title: "layer", Width: 14, Flex: 2, Name: true,
		Cell: func(r int) ui.Cell { return ui.Cell{Text: words.ShortName(v.rows[r].name)} }, Order: func(a, b int) int { return cmp.Compare(v.rows[a].name, v.rows[b].name) }}}
	for k, p := range phases {
		median := func(r int) time.Duration {
			if l := v.rows[r].times[k]; l != nil {
				return l.Median
			}
			return 0
		}
		list = append(list,
			ui.Column{Title: p.Name, Width: 10, Flex: 3, Cell: func(r int) ui.Cell {
				l := v.rows[r].times[k]
				if l == nil {
					return ui.Cell{}
				}
				return ui.Cell{Bar: &ui.Bar{Value: float64(l.Median), Max: 1.1 * float64(v.most[k]), Style: pane.PrecisionStyle(l.Precision)}}
			}},
			ui.Column{Width: 9, Align: ui.AlignRight, Down: true, Order: func(a, b int) int { return cmp.Compare(median(a), median(b)) },
				Cell: func(r int) ui.Cell {
					if v.rows[r].times[k] == nil {
						return ui.Cell{Text: "·", Style: ui.Muted}
					}
					return ui.Cell{Text: ui.Duration(median(r)), Style: ui.Bold}
				}},
			ui.Column{Width: 6, Priority: 4, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
				if l := v.rows[r].times[k]; l != nil {
					return ui.Cell{Text: words.Percent(l.Share), Style: ui.Muted}
				}
				return ui.Cell{}
			}})
	}
	return list
}

func (v *generationView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		g := v.in.Snap.Generation
		switch {
		case g == nil:
			v.in.Wait(c, "text of a language model")
			return
		case g.Refused != "":
			c.Fit(1, min(1, h-1), w-2, ui.Muted, "no text in this configuration")
			for i, line := range ui.Wrap(g.Refused, max(w-4, 1)) {
				c.Text(3, 2+i, ui.Plain, line)
			}
			return
		}
		y := v.figures(c, g)
		y = v.text(c, y, g)
		if g.Ended == "" {
			return
		}
		for _, p := range v.phases() {
			per := p.Latency.Median / time.Duration(max(1, p.Tokens))
			c.FitClauses(1, y, w-2, ui.Muted, fmt.Sprintf("%s: %s at once in %s, %s a token", p.Name, words.Plural(p.Tokens, "token"), ui.Duration(p.Latency.Median), ui.Duration(per)))
			y++
		}
		if y < h {
			v.table.Draw(c.Sub(ui.Rect{Y: y, W: w, H: h - y}))
		}
	})
}

// figures draws how fast the text was written, and returns the line behind that.
func (v *generationView) figures(c *ui.Canvas, g *report.Generation) int {
	x := c.Text(1, 0, ui.Bold, ui.Number(g.Rate)+" tokens/s")
	rest := fmt.Sprintf(" by p50, first token after %s, then p50 %s, p99 %s a token", ui.Duration(g.First), ui.Duration(g.PerToken.Median), ui.Duration(g.PerToken.P99))
	if g.PerToken.Count == 0 {
		rest = fmt.Sprintf(", first token after %s", ui.Duration(g.First))
	}
	how := "; each token computes the whole text again"
	if g.Cached {
		how = "; earlier tokens are kept"
	}
	c.FitClauses(x, 0, c.W-x-1, ui.Muted, rest+how)
	if g.Memory == nil {
		return 1
	}
	v.memory(c, g.Memory)
	return 2
}

// memory draws how much of what memory gives at most the tokens read; recordings of earlier versions do not know that.
func (v *generationView) memory(c *ui.Canvas, m *report.TokenMemory) {
	const bar = 20
	x, of := c.Text(1, 1, ui.Plain, "memory "), ""
	if m.Peak > 0 {
		ui.Bar{Value: m.OfPeak(), Max: 1, Style: ui.Accent}.Draw(c.Sub(ui.Rect{X: x, Y: 1, W: bar, H: 1}))
		x, of = x+bar+1, fmt.Sprintf(", %.0f%% of the peak of %s, %s", 100*m.OfPeak(), m.Level, ui.Quantity(m.Peak, "B/s"))
	}
	c.FitClauses(x, 1, c.W-x-1, ui.Muted, fmt.Sprintf("%s%s; a token reads %s of weights; %s of state",
		ui.Quantity(m.Rate, "B/s"), of, ui.Bytes(m.Weights), ui.Bytes(m.State)))
}

// text draws the last lines of what was written, as many as are left beside the layers, and returns the line behind them.
func (v *generationView) text(c *ui.Canvas, y int, g *report.Generation) int {
	room := max(1, min(4, c.H/4))
	if g.Ended == "" {
		room = max(1, c.H-y)
	}
	lines := ui.Wrap(strings.Join(strings.Fields(g.Text), " "), max(c.W-2, 1))
	for _, line := range lines[max(0, len(lines)-room):] {
		c.Fit(1, y, c.W-2, ui.Plain, line)
		y++
	}
	return y
}
