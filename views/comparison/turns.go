package comparison

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// measure has A and B measured in turns, where both are configurations of the model that is open.
func (c *Pair) measure(shown *report.Snapshot) tea.Cmd {
	for _, s := range c.sides {
		if c.InTurns == nil || !live(shown) || !live(s.Snapshot) || s.Snapshot.Model == nil || shown.Model == nil || s.Snapshot.Model.SHA256 != shown.Model.SHA256 {
			return pane.Say(ui.Warn, s.Name+" is no configuration of the model that is open: it cannot be measured here")
		}
	}
	c.turns = &turns{sides: c.sides, old: shown.Columns}
	return c.InTurns(c.sides[0].Snapshot, c.sides[1].Snapshot)
}

// measured compares A and B anew once both were measured in turns; nil until then.
func (c *Pair) measured(shown *report.Snapshot) tea.Cmd {
	t, columns := c.turns, shown.Columns
	if t == nil || columns == nil || columns == t.old || columns.Live {
		return nil
	}
	var snaps [2]*report.Snapshot
	for i, s := range t.sides {
		k := slices.IndexFunc(columns.Columns, func(k report.Column) bool {
			return k.Timings != nil && k.Config.SameEngine(s.Snapshot.Config, pane.OwnRanges(shown))
		})
		if k < 0 {
			return nil
		}
		snap := *s.Snapshot
		snap.Timings, snap.Stale = columns.Columns[k].Timings, snap.Stale&^report.PartTimings
		snaps[i] = &snap
	}
	c.turns = nil
	a, b := diff.Side{Name: t.sides[0].Name, Snapshot: snaps[0]}, diff.Side{Name: t.sides[1].Name, Snapshot: snaps[1], Rival: snaps[0]}
	return compareSides([2]diff.Side{a, b})
}
