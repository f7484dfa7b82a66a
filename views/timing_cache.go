package views

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// cacheView shows the timing cache: how often it answered, and what is in it.
type cacheView struct {
	pane
	table ui.Table
}

func newCacheView(d *desk) *cacheView {
	v := &cacheView{pane: d.pane(sessions.PartTactics)}
	at := func(r int) *sessions.CacheInfo { return &v.snap.Tactics.Cache[r] }
	v.table.Columns = []ui.Column{
		{Title: "tactic", Width: 18, Flex: 1, Cell: func(r int) ui.Cell {
			if at(r).Stale {
				return ui.Cell{Text: at(r).Tactic, Style: ui.Muted}
			}
			return ui.Cell{Text: at(r).Tactic}
		}, Order: func(a, b int) int { return cmp.Compare(at(a).Tactic, at(b).Tactic) }},
		{Title: "time", Width: 9, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Time)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Time, at(b).Time) }},
		{Title: "device", Width: 7, Priority: 2, Cell: func(r int) ui.Cell {
			if at(r).Stale {
				return ui.Cell{Text: "other", Style: ui.Warn}
			}
			return ui.Cell{Text: "this", Style: ui.Good}
		}},
		{Title: "layer as measured", Width: 20, Flex: 3, Priority: 1, Cell: func(r int) ui.Cell {
			return ui.Cell{Text: strings.ReplaceAll(at(r).Layer, "\n", " "), Style: ui.Muted}
		}},
	}
	v.table.Label = func(r int) string { return at(r).Tactic + " " + at(r).Layer }
	v.table.Empty = "the timing cache is empty"
	return v
}

func (v *cacheView) Title() string { return "Timing cache" }

func (v *cacheView) Note() (string, ui.Style) {
	t := v.snap.Tactics
	if t == nil {
		return "", ui.Muted
	}
	stale := 0
	for _, e := range t.Cache {
		if e.Stale {
			stale++
		}
	}
	text := fmt.Sprintf("%d hits, %d misses, %d of other devices", t.CacheHits, t.CacheMisses, stale)
	if t.CachePath != "" {
		text += ", " + filepath.Base(t.CachePath)
	}
	return v.note(text)
}

func (v *cacheView) Keys() []ui.Key { return v.table.Keys() }

func (v *cacheView) Update(msg tea.Msg) tea.Cmd {
	if !v.take(msg) {
		v.table.Update(msg)
		return nil
	}
	if t := v.snap.Tactics; t != nil && v.table.Rows != len(t.Cache) {
		v.table.Rows = len(t.Cache)
		v.table.Refresh()
	}
	return nil
}

func (v *cacheView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		if v.snap.Tactics == nil {
			v.wait(c, "timing cache")
			return
		}
		v.table.Draw(c)
	})
}
