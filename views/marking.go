package views

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// mark marks what is under the cursor of a pane, or what is shown.
func (c *comparison) mark(which int, focused ui.View, shown *report.Snapshot) tea.Cmd {
	m := markOf(shown)
	if pane, ok := focused.(marker); ok {
		if under, ok := pane.Mark(); ok {
			m = under
		}
	}
	return func() tea.Msg {
		snap, err := m.read()
		return markedMsg{which, diff.Side{Name: m.name, Snapshot: snap}, err}
	}
}

// markOf is a snapshot as something to compare.
func markOf(snap *report.Snapshot) mark {
	name := snapshotLabel(snap)
	if snap.Replay != "" {
		name = filepath.Base(snap.Replay) + "@" + name
	}
	return mark{name, func() (*report.Snapshot, error) { return snap, nil }}
}

// compare compares A and B; one that is not marked is what is shown.
func (c *comparison) compare(shown *report.Snapshot) tea.Cmd {
	var sides [2]diff.Side
	for i, m := range c.marks {
		switch {
		case m != nil:
			sides[i] = *m
		case c.marks[1-i] == nil:
			return tea.Batch(ui.GotoPage(compareKey, comparePage), say(ui.Warn, "nothing is marked: m marks A, M marks B"))
		default:
			sides[i] = diff.Side{Name: markOf(shown).name, Snapshot: shown}
		}
	}
	if a, b := sides[0], sides[1]; a.Snapshot == b.Snapshot || a.Name == b.Name && a.Snapshot.Replay == b.Snapshot.Replay && a.Snapshot.Seq == b.Snapshot.Seq {
		return tea.Batch(ui.GotoPage(compareKey, comparePage), say(ui.Warn, "A and B are both "+a.Name+": mark another one"))
	}
	return tea.Batch(ui.GotoPage(compareKey, comparePage), compareSides(sides))
}
