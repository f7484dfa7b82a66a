package comparison

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// keys are those that all panes of the comparison have.
func (c *Pair) keys() []ui.Key {
	keys := []ui.Key{ui.K("s", "swap", "swap A and B")}
	if c.InTurns != nil {
		keys = append(keys, ui.K("t", "in turns", "measure A and B once more, in turns; again: more rounds, which tell more apart"))
	}
	if c.ReadFile != nil {
		keys = append(keys, ui.K("e", "file", "open a file as B"), ui.K("E", "file A", "open a file as A"))
	}
	return keys
}

// press does what one of them says; it reports whether a message is one.
func (c *Pair) press(msg tea.Msg, shown *report.Snapshot) (tea.Cmd, bool) {
	switch {
	case pane.IsKey(msg, "s") && c.diff != nil:
		c.marks[0], c.marks[1] = c.marks[1], c.marks[0]
		return compareSides([2]diff.Side{c.sides[1], c.sides[0]}), true
	case pane.IsKey(msg, "t") && c.diff != nil && c.InTurns != nil:
		return c.measure(shown), true
	case pane.IsKey(msg, "E") && c.ReadFile != nil:
		return c.ask(0), true
	case pane.IsKey(msg, "e") && c.ReadFile != nil:
		return c.ask(1), true
	}
	return nil, false
}
