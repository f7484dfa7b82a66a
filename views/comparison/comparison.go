package comparison

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Pair is what is marked, and what came of comparing it. The panes of one workbench share it.
type Pair struct {
	// ReadFile reads what a person names; nil where no files are read.
	ReadFile func(name string) (*report.Snapshot, error)
	// CompleteFile returns what a name that is being typed may go on to; nil: it is not completed.
	CompleteFile func(text string) []string

	look  *ui.Look
	count uint64        // of changes of it
	marks [2]*diff.Side // A and B; nil: not marked
	sides [2]diff.Side  // that were compared last
	diff  *report.Diff
	err   error

	reading int              // marks that are still read
	then    *report.Snapshot // what was shown when a comparison was asked for that waits for them; nil: none
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

func compareSides(sides [2]diff.Side) tea.Cmd {
	return func() tea.Msg {
		d, err := diff.Of(sides[0], sides[1])
		return diffMsg{sides, d, err}
	}
}

// take keeps what a message brings; it returns what is to be said of it, and whether it was one for a comparison.
func (c *Pair) take(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case markedMsg:
		c.count++
		c.reading--
		if msg.err != nil {
			c.then = nil
			return pane.Say(ui.Bad, msg.err.Error()), true
		}
		c.marks[msg.which] = &msg.side
		if shown := c.then; shown != nil && c.reading == 0 {
			c.then = nil
			return c.Compare(shown), true
		}
		text := string("AB"[msg.which]) + " is " + msg.side.Name
		switch other := c.marks[1-msg.which]; {
		case other == nil:
			text += c.look.Keys(": {d} compares it with what is shown, or {" + string("mM"[1-msg.which]) + "} marks the other")
		default:
			text += c.look.Keys(": {d} compares it with ") + other.Name
		}
		return pane.Say(ui.Plain, text), true
	case diffMsg:
		c.count++
		c.sides, c.diff, c.err = msg.sides, msg.diff, msg.err
		if msg.err != nil { // the pane says it
			return nil, true
		}
		return pane.Say(ui.Plain, "A is "+msg.sides[0].Name+", B is "+msg.sides[1].Name), true
	}
	return nil, false
}
