package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/recordings"
)

// Intents that only a replay serves, on every screen.
const (
	stateBefore   ui.Intent = "state before"
	stateAfter    ui.Intent = "state after"
	statesBefore  ui.Intent = "ten states before"
	statesAfter   ui.Intent = "ten states after"
	statesAtATime           = 10
)

// scrubKeys step through the states of a recording.
func scrubKeys() []ui.IntentKey {
	return []ui.IntentKey{
		{Intent: stateBefore, Key: ui.K(",", "before", "replay: the recorded state before")},
		{Intent: stateAfter, Key: ui.K(".", "after", "replay: the recorded state after")},
		{Intent: statesBefore, Key: ui.K("{", "", "replay: ten states before")},
		{Intent: statesAfter, Key: ui.K("}", "", "replay: ten states after")},
	}
}

// scrub shows another state of the recording, counted from the one that is shown or on its way.
func (w *workbench) scrub(by int) tea.Cmd {
	now := w.o.Timeline.Moment(w.o.Timeline.Position())
	to := min(max(now.State+by, 1), now.States)
	if to == now.State {
		edge := "first"
		if by > 0 {
			edge = "last"
		}
		return pane.Say(ui.Plain, now.String()+": the "+edge+" that was recorded")
	}
	w.scrubTo, w.work.asked = to, false
	w.o.Timeline.Seek(to - 1)
	return nil
}

// scrubbed says which state is shown, once it is the one that was asked for last.
func (w *workbench) scrubbed() tea.Cmd {
	at := w.snap.At
	if at == nil || at.State != w.scrubTo {
		return nil
	}
	w.scrubTo, w.work.failed = 0, w.snap.Err
	text, style := recordings.RecordedState(w.snap)
	what := ": " + pane.Label(w.snap)
	if text != "" {
		what += ", " + text
	}
	line, _, _ := strings.Cut(at.String()+what, "\n")
	short, _, _ := strings.Cut(at.Short()+what, "\n")
	return func() tea.Msg { return ui.StatusMsg{Text: line, Shorter: []string{short}, Style: style} }
}
