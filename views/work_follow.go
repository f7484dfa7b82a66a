package views

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/trials"
)

// begin says what work has been asked for; the line goes away when the work is over. A replay does none.
func (w *workbench) begin(what string) tea.Cmd {
	k := &w.work
	k.asked, k.told, k.beside, k.failed, k.start, k.label, k.phase = true, false, false, "", w.o.Now(), "", ""
	h := w.header()
	header := func() tea.Msg { return h }
	if w.snap.Replay != "" {
		return header
	}
	return tea.Batch(header, func() tea.Msg { return ui.StatusMsg{Text: what, Job: true} })
}

// follow says what has come of the work that was asked for by now.
func (w *workbench) follow(snap *report.Snapshot) (cmds []tea.Cmd) {
	if !reflect.DeepEqual(snap.Config, w.config.want) {
		return nil
	}
	k := &w.work
	if snap.Err != k.failed {
		if k.failed = snap.Err; snap.Err != "" {
			cmds = append(cmds, pane.News(ui.Bad, snap.Err))
		}
	}
	if cmd := k.proceed(snap); cmd != nil {
		cmds = append(cmds, cmd)
	}
	if snap.Timings != nil && !snap.Stale.Has(report.PartTimings) && snap.Retiming == "" {
		w.timed = snap
	}
	settled := snap.Settled() && snap.Retiming == ""
	if settled {
		cmds = append(cmds, w.tell(snap))
	}
	if k.asked && snap.Busy == nil && (settled || snap.Refused() || snap.Err != "" && snap.Retiming == "") {
		k.asked, k.start = false, time.Time{}
		cmds = append(cmds, func() tea.Msg { return ui.IdleMsg{} })
	}
	return cmds
}

// proceed says which phase a build is in by now, where the status line still speaks of it.
func (k *work) proceed(snap *report.Snapshot) tea.Cmd {
	if !k.asked || k.label == "" || snap.Busy == nil || snap.Replay != "" || snap.Busy.Phase == k.phase {
		return nil
	}
	k.phase = snap.Busy.Phase
	text := k.label + ": " + k.phase + "; esc stops"
	return func() tea.Msg { return ui.StatusMsg{Text: text, Job: true, Follows: true} }
}

// tell states what the last change of the configuration made of latency and agreement, once and when the measurement is
// over: until then medians still move, and what is said would not be what the table of configurations comes to show. In a
// replay nothing moves.
func (w *workbench) tell(now *report.Snapshot) tea.Cmd {
	was := w.work.before
	if !w.work.asked || w.work.told || now.Timings.EndToEnd.Median == 0 || now.Busy != nil && now.Replay == "" {
		return nil
	}
	w.work.told = true
	if w.work.beside {
		return tellColumns(now)
	}
	if p := now.Passes; p != nil && p.Unchanged != "" && (was == nil || was.Config.Precision != now.Config.Precision) {
		return pane.News(ui.Warn, p.Unchanged)
	}
	if was == nil || was.Timings == nil || was.Timings.EndToEnd.Median == 0 {
		return pane.News(ui.Good, pane.Label(now)+": "+ui.Duration(now.Timings.EndToEnd.Median))
	}
	latency, measured := w.tried.Took(was, now)
	median := func(cfg config.Config, l report.Latency) string {
		return trials.MedianText(w.o.Timeline, pane.OwnRanges(now), cfg, l)
	}
	before, after := median(was.Config, latency), median(now.Config, now.Timings.EndToEnd)
	if trials.SameKernels(was, now) {
		return pane.News(ui.Good, pane.Label(now)+": the same kernels as before; "+after+", before "+before)
	}
	speed := now.Timings.Measured(now.Config).Over(measured, pane.OwnRanges(now))
	then, times := *was, *was.Timings
	then.Timings, times.EndToEnd = &times, latency
	if lines := trials.Reshaped(&then, before, now, after, speed); lines != nil {
		return pane.News(ui.Good, lines[0], lines[1:]...)
	}
	lines := trials.Delta(was.Config, before, now, after, speed, latency.Median)
	return pane.News(ui.Good, lines[0], lines[1:]...)
}
