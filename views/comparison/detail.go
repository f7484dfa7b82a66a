package comparison

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/memory"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// changeView tells of the group of layers under the cursor what each side has for it.
type changeView struct {
	in  pane.Input
	of  *changesView
	top int // line that is shown first
}

func (v *changeView) group() *report.LayerChange {
	if r := v.of.table.Row(); v.of.cmp.diff != nil && r >= 0 {
		return v.of.group(r)
	}
	return nil
}

// Layer implements pointing.
func (v *changeView) Layer() (pane.LayerRef, bool) { return v.of.Layer() }

// Named implements ui.Named.
func (v *changeView) Named() string {
	if g := v.group(); g != nil {
		return words.ShortName(g.Name)
	}
	return ""
}

func (v *changeView) Title() string {
	if g := v.group(); g != nil {
		return words.ShortName(g.Name)
	}
	return "Layer"
}

func (v *changeView) Note() (string, ui.Style) {
	if g := v.group(); g != nil {
		return g.Kind, ui.Muted
	}
	return "", ui.Muted
}

func (v *changeView) Keys() []ui.Key { return v.of.cmp.keys() }

func (v *changeView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		return nil
	}
	if cmd, ok := v.of.cmp.press(msg, v.in.Snap); ok {
		return cmd
	}
	scroll(&v.top, msg)
	return nil
}

// scroll moves the line that is shown first.
func scroll(top *int, msg tea.Msg) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "up", "k":
			*top = max(*top-1, 0)
		case "down", "j":
			*top++
		case "g", "home":
			*top = 0
		}
	}
}

func (v *changeView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		g := v.group()
		if g == nil {
			c.Fit(1, 0, w-2, ui.Muted, "no layer under the cursor")
			return
		}
		lines := v.lines(g, w)
		v.top = max(min(v.top, len(lines)-h), 0)
		for y, line := range lines[v.top:min(v.top+h, len(lines))] {
			c.FitClauses(1, y, w-2, line.style, line.text)
		}
	})
}

type styledLine struct {
	text  string
	style ui.Style
}

// lines tells what is known of a group, in lines of w cells.
func (v *changeView) lines(g *report.LayerChange, w int) (lines []styledLine) {
	text := g.Verdict()
	if g.Slight {
		text += ", " + g.Under()
	}
	if g.Ratio > 0 {
		text += fmt.Sprintf(": %s, %.3f times as long", withSign(g.Delta), g.Ratio)
	}
	if g.P != nil && g.Q != nil {
		text += fmt.Sprintf("; q %s among %s, p %s alone", chance(*g.Q), words.Plural(v.of.cmp.diff.Peers(g), "group"), chance(*g.P))
	}
	if g.Told > 0 {
		text += fmt.Sprintf("; told from %s on", report.ToldText(g.Told))
	}
	lines = append(lines, styledLine{text, verdictStyle(g) | ui.Bold})
	for i, side := range [][]report.LayerSide{g.A, g.B} {
		if len(side) == 0 {
			lines = append(lines, styledLine{string("AB"[i]) + "  nothing computes this", ui.Muted})
		}
		for k, l := range side {
			name := "   "
			if k == 0 {
				name = string("AB"[i]) + "  "
			}
			facts := []string{ui.Duration(l.Time), l.Precision, l.Tactic, ui.Bytes(l.Bytes)}
			if l.SQNR != nil {
				facts = append(facts, words.WithDecibels(*l.SQNR))
			}
			tail := strings.Join(facts, "  ")
			room := w - 2 - ui.Width(name)
			layer := l.Layer
			if ui.Width(layer)+2+ui.Width(tail) > room { // its members are below
				layer = words.ShortName(layer)
			}
			if ui.Width(layer)+2+ui.Width(tail) > room { // a name is worth a line
				lines = append(lines, styledLine{name + ui.Name(layer, room, v.in.Look.Glyphs.Ellipsis), ui.Plain})
				name, layer = "", "   "
			}
			lines = append(lines, styledLine{name + words.Pad(layer, room-2-ui.Width(tail)) + "  " + tail, ui.Plain})
		}
	}
	if g.Alike {
		lines = append(lines, styledLine{"their names differ: aligned by op, window and shape", ui.Muted})
	}
	for i, line := range ui.Wrap("computes "+words.JoinLayers(g.From), w-2) {
		if i == 0 || line != "" {
			lines = append(lines, styledLine{line, ui.Muted})
		}
	}
	return lines
}

// sidesView sets the figures of both sides beside each other, and counts how the graphs differ.
type sidesView struct {
	in  pane.Input
	cmp *Pair
	top int // line that is shown first
}

func (v *sidesView) Title() string { return "A and B" }

func (v *sidesView) Note() (string, ui.Style) {
	if v.cmp.diff != nil && len(v.cmp.diff.Notes) > 0 {
		return string(v.in.Look.Glyphs.Warn) + " read the notes", ui.Warn
	}
	return "", ui.Muted
}

func (v *sidesView) Keys() []ui.Key { return v.cmp.keys() }

func (v *sidesView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		return nil
	}
	if cmd, ok := v.cmp.press(msg, v.in.Snap); ok {
		return cmd
	}
	scroll(&v.top, msg)
	return nil
}

func (v *sidesView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		d := v.cmp.diff
		if d == nil {
			text, style := "A beside B, once both are marked", ui.Muted
			if v.cmp.twice() {
				text, style = "A and B are the same: mark another one as one of them", ui.Warn
			}
			c.Fit(1, 1, c.W-2, style, text)
			return
		}
		var lines []func(y int)
		half := (w - 12) / 2
		row := func(name, a, b string, style ui.Style) {
			lines = append(lines, func(y int) {
				c.Fit(1, y, 10, ui.Muted, name)
				c.FitName(11, y, half-1, style, a)
				c.FitName(11+half, y, w-12-half, style, b)
			})
		}
		if a, b := "A  "+d.A.Name, "B  "+d.B.Name; max(ui.Width(a), ui.Width(b)) < half {
			row("", a, b, ui.Bold)
		} else { // in lines of their own
			for _, name := range []string{a, b} {
				lines = append(lines, func(y int) { c.FitName(1, y, w-2, ui.Bold, name) })
			}
		}
		for _, f := range sideFacts(d) {
			if f[1] != "" || f[2] != "" {
				row(f[0], f[1], f[2], ui.Plain)
			}
		}
		for _, line := range v.graph(d) {
			for _, part := range ui.Wrap(line.text, w-2) {
				lines = append(lines, func(y int) { c.Fit(1, y, w-2, line.style, part) })
			}
		}
		v.top = max(min(v.top, len(lines)-h), 0)
		for y, draw := range lines[v.top:min(v.top+h, len(lines))] {
			if below := len(lines) - v.top - h + 1; y == h-1 && below > 1 && h > 2 {
				c.Fit(1, y, w-2, ui.Muted, fmt.Sprintf("%d more lines, with down", below))
				break
			}
			draw(y)
		}
	})
}

// sideFacts are figures of both sides: name, A's, B's; "" where one is not known.
func sideFacts(d *report.Diff) [][3]string {
	of := func(name string, write func(*report.DiffSide) string) [3]string {
		return [3]string{name, write(&d.A), write(&d.B)}
	}
	share := func(v *float64) string {
		if v == nil {
			return ""
		}
		return words.Percent(*v)
	}
	bytes := func(n int) string {
		if n == 0 {
			return ""
		}
		return ui.Bytes(int64(n))
	}
	facts := [][3]string{
		of("built as", func(s *report.DiffSide) string { return s.Label }),
		of("latency", func(s *report.DiffSide) string { return ui.Duration(s.Latency) }),
		of("SQNR", func(s *report.DiffSide) string {
			if s.SQNR == nil {
				return ""
			}
			return words.WithDecibels(*s.SQNR)
		}),
		of("top-1", func(s *report.DiffSide) string { return share(s.Top1) }),
		of("agreement", func(s *report.DiffSide) string { return share(s.Agreement) }),
		of("arena", func(s *report.DiffSide) string { return bytes(s.Arena) }),
		of("weights", func(s *report.DiffSide) string { return bytes(s.Weights) }),
		of("engine", func(s *report.DiffSide) string { return bytes(s.File) }),
		of("steps", func(s *report.DiffSide) string { return fmt.Sprint(s.Steps) }),
	}
	if d.A.Device.Device != d.B.Device.Device {
		facts = append(facts, of("device", func(s *report.DiffSide) string { return s.Device.Device }))
	}
	return facts
}

// graph says how the graphs differ, and what to know before one compares.
func (v *sidesView) graph(d *report.Diff) (lines []styledLine) {
	counts := map[string]int{}
	for i := range d.Groups {
		counts[d.Groups[i].Kind]++
	}
	var words []string
	for _, k := range []string{report.KindAdded, report.KindRemoved, report.KindFused, report.KindSplit, report.KindMerged, report.KindTyped} {
		if counts[k] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	if n := counts[report.KindTactic]; n > 0 {
		words = append(words, fmt.Sprintf("%d of another tactic", n))
	}
	text := "the same graph, with the same kernels"
	switch {
	case len(d.AddedSources)+len(d.RemovedSources) > 0:
		text = "the same layers of the engine, with the same kernels"
	case d.Alike() > 0:
		text = "the same graph by other names, with the same kernels"
	case len(d.ChangedSources) > 0:
		text = "the same layers by name, with the same kernels"
	}
	if len(words) > 0 {
		text = "graph: " + strings.Join(words, ", ") + fmt.Sprintf(", %d the same", counts[report.KindSame])
	}
	lines = append(lines, styledLine{text, ui.Accent})
	for i, names := range [][]string{d.RemovedSources, d.AddedSources} {
		if n := len(names); n > 0 {
			lines = append(lines, styledLine{fmt.Sprintf("only in %c's model: %s", "AB"[i], strings.Join(names[:min(n, 4)], ", ")) + more(n-4), ui.Plain})
		}
	}
	const few = 4
	for i := range d.ChangedSources[:min(few, len(d.ChangedSources))] {
		s := &d.ChangedSources[i]
		lines = append(lines, styledLine{"not the same in both: " + ui.Name(s.Name, 40, v.in.Look.Glyphs.Ellipsis) + ": " + s.Text(ui.Bytes), ui.Warn})
	}
	if n := len(d.ChangedSources) - few; n > 0 {
		lines = append(lines, styledLine{fmt.Sprintf("not the same in both: %d more", n), ui.Warn})
	}
	if text := d.Resolution(); text != "" {
		if d.Coarse() {
			text += "; in turns less can be told"
		}
		lines = append(lines, styledLine{text, ui.Plain})
	}
	if text := d.Common.Text(); text != "" {
		lines = append(lines, styledLine{text, ui.Plain})
	}
	for _, n := range d.Notes {
		lines = append(lines, styledLine{string(v.in.Look.Glyphs.Warn) + " " + n, ui.Warn})
	}
	return lines
}

// more says how many others there are.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// mapsView draws the arenas of both sides, one over the other, on one scale.
type mapsView struct {
	in     pane.Input
	cmp    *Pair
	of     [2]*report.Memory // whose arenas those are
	arenas [2]ui.Map
}

// Version implements [ui.Versioned]: the maps of large engines take long to draw, and change with the pair alone.
func (v *mapsView) Version() uint64 { return v.cmp.count }

func (v *mapsView) Title() string { return "Arenas" }

func (v *mapsView) Note() (string, ui.Style) {
	a, b := v.cmp.sides[0], v.cmp.sides[1]
	if v.cmp.diff == nil || a.Snapshot.Memory == nil || b.Snapshot.Memory == nil {
		return "", ui.Muted
	}
	pa, pb := a.Snapshot.Memory.Peak, b.Snapshot.Memory.Peak
	text := fmt.Sprintf("one scale, peak %s to %s", ui.Bytes(int64(pa)), ui.Bytes(int64(pb)))
	if pa > 0 {
		text += fmt.Sprintf(", %.2fx", float64(pb)/float64(pa))
	}
	return text, ui.Muted
}

func (v *mapsView) Keys() []ui.Key { return v.cmp.keys() }

func (v *mapsView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		return nil
	}
	cmd, _ := v.cmp.press(msg, v.in.Snap)
	return cmd
}

func (v *mapsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.cmp.diff == nil {
			c.Fit(1, 1, c.W-2, ui.Muted, "both arenas, once A and B are marked")
			return
		}
		size := int64(1)
		for _, s := range v.cmp.sides {
			if m := s.Snapshot.Memory; m != nil {
				size = max(size, int64(m.Peak))
			}
		}
		half := h / 2
		for i, s := range v.cmp.sides {
			part := c.Sub(ui.Rect{Y: i * half, W: w, H: half + i*(h-2*half)})
			v.drawArena(part, i, s.Snapshot.Memory, size)
		}
	})
}

// drawArena draws the arena of side i up to so many bytes.
func (v *mapsView) drawArena(c *ui.Canvas, i int, m *report.Memory, size int64) {
	name := string("AB"[i])
	if m == nil || len(m.Steps) == 0 {
		c.Fit(1, 0, c.W-2, ui.Muted, name+"  its memory is not known")
		return
	}
	if v.of[i] != m { // blocks and colours of a large engine take long to find
		v.of[i], v.arenas[i] = m, memory.Arena(m)
	}
	arena := v.arenas[i]
	arena.Size, arena.Cursor = max(size, 1), -1
	arena.Draw(c)
	c.Fit(0, min(1, max(c.H-1, 0)), 2, ui.Bold|ui.Accent, name)
}
