package comparison

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// measure has the configurations of A and B measured in turns, where both are of the model that is open; of recordings, too.
func (c *Pair) measure(shown *report.Snapshot) tea.Cmd {
	for _, s := range c.sides {
		if reason := elsewhere(s.Snapshot, shown); reason != "" {
			return pane.Say(ui.Warn, s.Name+" cannot be measured here: "+reason)
		}
	}
	a, b := c.sides[0].Snapshot, c.sides[1].Snapshot
	if a.Config.SameEngine(b.Config, pane.OwnRanges(shown)) {
		return pane.Say(ui.Warn, "A and B are of one configuration, "+pane.Label(b)+": in turns there would be one engine to measure")
	}
	c.turns = &turns{sides: c.sides, old: shown.Columns}
	return c.InTurns(a, b)
}

// elsewhere says why the configuration of a snapshot cannot be built from the model that is shown; "" where it can.
func elsewhere(s, shown *report.Snapshot) string {
	switch {
	case !live(shown):
		return "no model is open"
	case s.Viewed() != "":
		return "another program wrote it, and it has no configuration to build"
	case s.Model == nil || shown.Model == nil || s.Model.SHA256 != shown.Model.SHA256:
		return "it is of another model than the one that is open"
	}
	return ""
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
			return k.Config.SameEngine(s.Snapshot.Config, pane.OwnRanges(shown))
		})
		switch {
		case k < 0:
			return nil
		case columns.Columns[k].Timings == nil:
			c.turns = nil
			return pane.Say(ui.Bad, s.Name+" cannot be measured here: "+columns.Columns[k].Err)
		}
		snap := *s.Snapshot
		snap.Timings, snap.Stale = columns.Columns[k].Timings, snap.Stale&^report.PartTimings
		snap.Device = shown.Device // a recording may be of another one
		snaps[i] = &snap
	}
	c.turns = nil
	a, b := diff.Side{Name: t.sides[0].Name, Snapshot: snaps[0]}, diff.Side{Name: t.sides[1].Name, Snapshot: snaps[1], Rival: snaps[0]}
	return compareSides([2]diff.Side{a, b})
}
