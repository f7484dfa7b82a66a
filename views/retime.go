package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// Retime has the tactics of a layer timed again, or ends that.
func (w *workbench) Retime(layer string) tea.Cmd {
	if w.snap.Retiming != "" {
		return w.endRetiming()
	}
	w.work.before = w.timed
	w.ctl.Retime(layer)
	return w.begin("timing the tactics of " + words.ShortName(layer) + " again; esc or " + w.o.Look.Keys("{Tactics t}") + " stops")
}

// endRetiming ends the timing of a layer's tactics.
func (w *workbench) endRetiming() tea.Cmd {
	layer := w.snap.Retiming
	w.ctl.Rerun()
	return w.begin("re-timing of " + words.ShortName(layer) + " is cancelled")
}

// DropTimings has the timing cache forget what it has of other devices and builds, or all that it has.
func (w *workbench) DropTimings(all bool) tea.Cmd {
	w.work.before = nil
	w.ctl.DropTimings(all)
	return w.begin("dropping entries of the timing cache")
}

// cancel stops what is being done, or leaves a replay for the live session behind it. Tactics that were being timed again
// are left for the engine as it was.
func (w *workbench) cancel() tea.Cmd {
	if w.o.Live != nil {
		return w.o.Live.Return
	}
	if w.snap.Retiming != "" {
		return w.endRetiming()
	}
	if w.unrecorded != "" && !working(w.snap) {
		w.unrecorded = ""
		h := w.header()
		return func() tea.Msg { return h }
	}
	w.ctl.Cancel()
	w.work.asked = false
	what := "press {r} to start it again"
	if len(w.config.past) > 0 && !w.snap.Settled() {
		what += ", {u} to undo the last change"
	}
	return pane.Say(ui.Warn, "stopped: "+w.o.Look.Keys(what))
}
