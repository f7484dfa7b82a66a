package comparison

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// markedMsg brings what was marked.
type markedMsg struct {
	which int // 0: A
	side  diff.Side
	err   error
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
		return pane.Say(ui.Plain, ""), true // panes name both: the line of keys is free again
	}
	return nil, false
}

// Marked is a [pane.Marked].
func (c *Pair) Marked(name string) string {
	text := ""
	for i, m := range c.marks {
		if m != nil && m.Name == name {
			text += " (" + string("AB"[i]) + ")"
		}
	}
	return text
}

// Mark marks what is under the cursor of a pane, or what is shown.
func (c *Pair) Mark(which int, focused ui.View, shown *report.Snapshot) tea.Cmd {
	m := markOf(shown)
	if at, ok := focused.(pane.Marker); ok {
		if under, ok := at.Mark(); ok {
			m = under
		}
	}
	return c.mark(which, m)
}

func (c *Pair) mark(which int, m pane.Mark) tea.Cmd {
	c.reading++
	return func() tea.Msg {
		snap, err := m.Read()
		return markedMsg{which, diff.Side{Name: m.Name, Snapshot: snap, Rival: m.Rival}, err}
	}
}

// Begin marks two, if there are two, and compares them, once; shown is what is shown.
func (c *Pair) Begin(marks []pane.Mark, shown *report.Snapshot) tea.Cmd {
	if len(marks) != 2 || c.begun {
		return nil
	}
	c.begun, c.then = true, shown
	return tea.Batch(ui.GotoPage(pane.CompareKey, pane.ComparePage), c.mark(0, marks[0]), c.mark(1, marks[1]))
}

// ask asks for a file to mark.
func (c *Pair) ask(which int) tea.Cmd {
	return ui.Open(&ui.Ask{
		Name:     "Open a file as " + string("AB"[which]),
		Hint:     "a recording, and behind @ which state of it; or what trtexec wrote of an engine, layers.json,profile.json,times.json; or a profile of ONNX Runtime",
		Complete: c.CompleteFile,
		Take: func(text string) tea.Cmd {
			return c.mark(which, pane.Mark{Name: filepath.Base(text), Read: func() (*report.Snapshot, error) { return c.ReadFile(text) }})
		},
	})
}

// markOf is a snapshot as something to compare.
func markOf(snap *report.Snapshot) pane.Mark {
	name := pane.Label(snap)
	switch {
	case snap.Viewed() != "":
		name = snap.Model.Name
	case snap.Replay != "":
		name = filepath.Base(snap.Replay) + "@" + name
	}
	return pane.Mark{Name: name, Read: func() (*report.Snapshot, error) { return snap, nil }}
}

// Compare compares A and B; one that is not marked is what is shown. It waits for those that are still read.
func (c *Pair) Compare(shown *report.Snapshot) tea.Cmd {
	if c.reading > 0 {
		c.then = shown
		return tea.Batch(ui.GotoPage(pane.CompareKey, pane.ComparePage), pane.Say(ui.Plain, "reading what is marked, then A and B are compared"))
	}
	var sides [2]diff.Side
	for i, m := range c.marks {
		switch {
		case m != nil:
			sides[i] = *m
		case c.marks[1-i] == nil:
			return tea.Batch(ui.GotoPage(pane.CompareKey, pane.ComparePage), pane.Say(ui.Warn, c.look.Keys("nothing is marked: {m} marks A, {M} marks B")))
		default:
			sides[i] = diff.Side{Name: markOf(shown).Name, Snapshot: shown}
		}
	}
	if a, b := sides[0], sides[1]; same(a, b) {
		return tea.Batch(ui.GotoPage(pane.CompareKey, pane.ComparePage), pane.Say(ui.Warn, "A and B are both "+a.Name+": mark another one"))
	}
	return tea.Batch(ui.GotoPage(pane.CompareKey, pane.ComparePage), compareSides(sides))
}

// Follow gives marks of what was not measured yet the times that are shown of it now, and compares again what could not be compared
// without them.
func (c *Pair) Follow(shown *report.Snapshot) tea.Cmd {
	if again := c.measured(shown); again != nil {
		return again
	}
	if shown.Timings == nil || !live(shown) {
		return nil
	}
	again, sides := false, c.sides
	for i, m := range c.marks {
		if m == nil || m.Snapshot.Timings != nil || !live(m.Snapshot) || m.Name != markOf(shown).Name {
			continue
		}
		if c.sides[i].Snapshot == m.Snapshot {
			sides[i].Snapshot, again = shown, c.err != nil
		}
		m.Snapshot = shown
		c.count++
	}
	if !again {
		return nil
	}
	return compareSides(sides)
}

// same reports whether both sides are one state, however it was marked. What a replay publishes counts on, so that it is told by
// its place in the recording.
func same(a, b diff.Side) bool {
	s, t := a.Snapshot, b.Snapshot
	switch {
	case s == t:
		return true
	case s.At != nil && t.At != nil:
		return samePath(s.Replay, t.Replay) && s.At.State == t.At.State
	}
	return a.Name == b.Name && s.Replay == t.Replay && s.Seq == t.Seq && s.Seq > 0 // 0: neither was published
}

// twice reports whether one thing is marked both as A and as B.
func (c *Pair) twice() bool {
	a, b := c.marks[0], c.marks[1]
	return a != nil && b != nil && same(*a, *b)
}

// samePath reports whether two paths are one, however they are written.
func samePath(a, b string) bool {
	if a == b {
		return true
	}
	x, err := filepath.Abs(a)
	if err != nil {
		return false
	}
	y, err := filepath.Abs(b)
	return err == nil && x == y
}
