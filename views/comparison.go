package views

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// The pages of screen 9, in order.
const (
	compareKey     = "9"
	recordingsPage = 1
	triedPage      = 2
	comparePage    = 3
)

// mark is something that can be compared: what it is called, and how to get what is known of it, which may take a while.
type mark struct {
	name string
	read func() (*report.Snapshot, error)
}

// marker is a pane under whose cursor is something that can be compared.
type marker interface {
	// Mark returns it; ok is false where there is nothing under the cursor.
	Mark() (m mark, ok bool)
}

// comparison is what is marked, and what came of comparing it. The panes of one workbench share it.
type comparison struct {
	marks [2]*diff.Side // A and B; nil: not marked
	sides [2]diff.Side  // that were compared last
	diff  *report.Diff
	err   error
}

// markedMsg brings what was marked.
type markedMsg struct {
	which int // 0: A
	side  diff.Side
	err   error
}

// diffMsg brings what came of a comparison.
type diffMsg struct {
	sides [2]diff.Side
	diff  *report.Diff
	err   error
}

// mark marks what is under the cursor of the focused pane, or what is shown.
func (w *workbench) mark(which int) tea.Cmd {
	m := w.shownMark()
	if pane, ok := w.app.Focused().(marker); ok {
		if under, ok := pane.Mark(); ok {
			m = under
		}
	}
	return func() tea.Msg {
		snap, err := m.read()
		return markedMsg{which, diff.Side{Name: m.name, Snapshot: snap}, err}
	}
}

// shownMark is what the panes show now.
func (w *workbench) shownMark() mark {
	snap := w.snap
	name := snapshotLabel(snap)
	if snap.Replay != "" {
		name = filepath.Base(snap.Replay) + "@" + name
	}
	return mark{name, func() (*report.Snapshot, error) { return snap, nil }}
}

// compare compares A and B; one that is not marked is what is shown.
func (w *workbench) compare() tea.Cmd {
	var sides [2]diff.Side
	for i, m := range w.comparison.marks {
		switch {
		case m != nil:
			sides[i] = *m
		case w.comparison.marks[1-i] == nil:
			return tea.Batch(ui.GotoPage(compareKey, comparePage), say(ui.Warn, "nothing is marked: m marks A, M marks B"))
		default:
			shown := w.shownMark()
			snap, _ := shown.read()
			sides[i] = diff.Side{Name: shown.name, Snapshot: snap}
		}
	}
	return tea.Batch(ui.GotoPage(compareKey, comparePage), compareSides(sides))
}

func compareSides(sides [2]diff.Side) tea.Cmd {
	return func() tea.Msg {
		d, err := diff.Of(sides[0], sides[1])
		return diffMsg{sides, d, err}
	}
}

// take keeps what a message brings; it returns what is to be said of it, and whether it was one for a comparison.
func (c *comparison) take(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case markedMsg:
		if msg.err != nil {
			return say(ui.Bad, msg.err.Error()), true
		}
		c.marks[msg.which] = &msg.side
		text := string("AB"[msg.which]) + " is " + msg.side.Name
		switch other := c.marks[1-msg.which]; {
		case other == nil:
			text += ": d compares it with what is shown, or " + string("mM"[1-msg.which]) + " marks the other"
		default:
			text += ": d compares it with " + other.Name
		}
		return say(ui.Plain, text), true
	case diffMsg:
		c.sides, c.diff, c.err = msg.sides, msg.diff, msg.err
		return nil, true
	}
	return nil, false
}

// compareScreen shows what B changes of A.
func compareScreen(look *ui.Look, cmp *comparison) *ui.Screen {
	changes := newChangesView(look, cmp)
	p := ui.Pane
	return &ui.Screen{
		Key: compareKey, Name: "Compare",
		Views: []ui.View{changes, &changeView{in: newInput(look, 0), of: changes}, &sidesView{in: newInput(look, 0), cmp: cmp}, &mapsView{in: newInput(look, 0), cmp: cmp}},
		Layouts: []ui.Box{
			ui.Beside(ui.Stack(p(0).Share(3), p(1).Lines(12)).Share(3), ui.Stack(p(2).Lines(15), p(3)).Share(2)),
			ui.Stack(p(0).Share(2), p(3)),
		},
		Medium: box(ui.Stack(p(0).Share(3), ui.Beside(p(1), p(2)).Lines(11))),
		Narrow: box(ui.Stack(p(0).Share(3), p(1).Lines(7))),
	}
}
