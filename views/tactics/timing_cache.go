package tactics

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// cacheView shows the timing cache: how often it answered, and what is in it.
type cacheView struct {
	in    pane.Input
	desk  tacticsDesk
	now   func() time.Time
	table ui.Table
	rows  []int // entries, those of this device and build first
}

func newCacheView(look *ui.Look, d tacticsDesk, now func() time.Time) *cacheView {
	v := &cacheView{in: pane.NewInput(look, report.PartTactics), desk: d, now: now}
	at := func(r int) *report.CacheEntry { return &v.in.Snap.Tactics.Cache[v.rows[r]] }
	v.table.Columns = []ui.Column{
		{Title: "tactic", Name: true, Width: 19, Flex: 1, Cell: func(r int) ui.Cell {
			if at(r).Stale {
				return ui.Cell{Text: string(v.in.Look.Glyphs.Bad) + " " + at(r).Tactic, Style: ui.Muted}
			}
			return ui.Cell{Text: at(r).Tactic}
		}, Order: func(a, b int) int { return cmp.Compare(at(a).Tactic, at(b).Tactic) }},
		{Title: "time", Width: 9, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Time)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Time, at(b).Time) }},
		{Title: "age", Width: 5, Priority: 1, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return v.age(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(at(b).Measured.Unix(), at(a).Measured.Unix()) }},
		{Title: "spread", Width: 6, Priority: 3, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return v.spread(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(at(a).Spread, at(b).Spread) }},
		{Title: "device", Width: 7, Priority: 4, Cell: func(r int) ui.Cell {
			if at(r).Stale {
				return ui.Cell{Text: "other", Style: ui.Warn}
			}
			return ui.Cell{Text: "this", Style: ui.Good}
		}},
		{Title: "measured layer", Width: 16, Flex: 3, Priority: 2, Cell: func(r int) ui.Cell {
			return ui.Cell{Text: strings.ReplaceAll(at(r).Layer, "\n", " "), Style: ui.Muted}
		}},
	}
	v.table.Label = func(r int) string { return at(r).Tactic + " " + at(r).Layer }
	v.table.Empty = "the timing cache is empty"
	return v
}

// age writes how long ago an entry was measured.
func (v *cacheView) age(e *report.CacheEntry) ui.Cell {
	if e.Measured.IsZero() {
		return ui.Cell{Text: "·", Style: ui.Faint}
	}
	return ui.Cell{Text: ui.Age(v.now().Sub(e.Measured)), Style: ui.Muted}
}

// spread writes by how much the best time of a tactic was missed on the next best occasion; where that is much, the machine
// did something else.
func (v *cacheView) spread(e *report.CacheEntry) ui.Cell {
	switch {
	case e.Disturbed:
		return ui.Cell{Text: string(v.in.Look.Glyphs.Warn) + fmt.Sprintf("%.0f%%", 100*e.Spread), Style: ui.Warn}
	case e.Measured.IsZero():
		return ui.Cell{Text: "·", Style: ui.Faint}
	}
	return ui.Cell{Text: fmt.Sprintf("%.0f%%", 100*e.Spread), Style: ui.Muted}
}

func (v *cacheView) Title() string { return "Timing cache" }

func (v *cacheView) Note() (string, ui.Style) {
	t := v.in.Snap.Tactics
	if t == nil || v.in.Snap.Viewed() != "" {
		return "", ui.Muted
	}
	text := fmt.Sprintf("%d hits, %d misses", t.CacheHits, t.CacheMisses)
	if n := v.stale(); n > 0 {
		text += fmt.Sprintf(", %c %d of other devices or builds", v.in.Look.Glyphs.Bad, n)
	}
	disturbed := 0
	for _, e := range t.Cache {
		if e.Disturbed {
			disturbed++
		}
	}
	if disturbed > 0 {
		text += fmt.Sprintf(", %c %d timed while the machine did something else", v.in.Look.Glyphs.Warn, disturbed)
	}
	if t.CachePath != "" {
		text += ", " + filepath.Base(t.CachePath)
	}
	return v.in.Note(text)
}

// stale counts the entries of other devices and builds.
func (v *cacheView) stale() int {
	n := 0
	for _, e := range v.in.Snap.Tactics.Cache {
		if e.Stale {
			n++
		}
	}
	return n
}

func (v *cacheView) Keys() []ui.Key {
	return append(v.table.Keys(), pane.When(v.desk, pane.NeedsModel, ui.K("D", "drop", "drop entries: those of other devices and builds, or all")))
}

// drop asks which entries to drop.
func (v *cacheView) drop() tea.Cmd {
	t := v.in.Snap.Tactics
	if t == nil || len(t.Cache) == 0 {
		return pane.Say(ui.Plain, "the timing cache is empty")
	}
	items, all := []string{"keep all"}, []bool{false}
	if n := v.stale(); n > 0 {
		items, all = append(items, fmt.Sprintf("drop entries of other devices and builds: %d of %d", n, len(t.Cache))), append(all, false)
	}
	items, all = append(items, fmt.Sprintf("drop all %d: layers are measured again when they are next built", len(t.Cache))), append(all, true)
	return ui.Open(&ui.Choice{Name: "Timing cache", Items: items, Active: 0, Pick: func(i int) tea.Cmd {
		if i == 0 {
			return nil
		}
		return v.desk.DropTimings(all[i])
	}})
}

func (v *cacheView) Update(msg tea.Msg) tea.Cmd {
	if pane.IsKey(msg, "D") {
		return v.drop()
	}
	if !v.in.Take(msg) {
		v.table.Update(msg)
		return nil
	}
	v.rows = v.rows[:0]
	if t := v.in.Snap.Tactics; t != nil {
		for _, stale := range []bool{false, true} {
			for i := range t.Cache {
				if t.Cache[i].Stale == stale {
					v.rows = append(v.rows, i)
				}
			}
		}
	}
	v.table.Rows = len(v.rows)
	v.table.Refresh()
	return nil
}

func (v *cacheView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Tactics == nil || v.in.Snap.Viewed() != "" {
			v.in.Wait(c, "timing cache")
			return
		}
		v.table.Draw(c)
	})
}
