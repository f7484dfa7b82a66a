package views

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// work is what was asked for last and what was said of it.
type work struct {
	before *report.Snapshot // what was settled when another configuration was asked for; nil: there is nothing to compare with
	asked  bool             // it is not over yet
	told   bool             // what came of it is in the status line
	failed string           // the error last reported
	start  time.Time        // of the work that was asked for or is being done; zero: none
}

// job returns what is being done, with the time when it was asked for. In a replay nothing is being done, whatever was
// when a state was recorded.
func (k *work) job(s *report.Snapshot, now func() time.Time) *ui.Job {
	b := s.Busy
	if b == nil || s.Replay != "" {
		if !k.asked {
			k.start = time.Time{}
		}
		return nil
	}
	if k.start.IsZero() {
		k.start = now()
	}
	return &ui.Job{Phase: b.Counted(), Item: b.Item, Done: b.Fraction(), Start: k.start, Left: b.Left}
}

// measuring says what is done to get times: on a backend without a device they are a cost model's.
func measuring(s *report.Snapshot) string {
	if s.Device.Estimated {
		return "estimating"
	}
	return "measuring"
}

// begin says what work has been asked for; the line goes away when the work is over. A replay does none.
func (w *workbench) begin(what string) tea.Cmd {
	k := &w.work
	k.asked, k.told, k.failed, k.start = true, false, "", w.o.Now()
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
			cmds = append(cmds, news(ui.Bad, snap.Err))
		}
	}
	settled := snap.Settled() && snap.Retiming == ""
	if settled {
		w.settled = snap
		cmds = append(cmds, w.tell())
	}
	if k.asked && snap.Busy == nil && (settled || snap.Refused() || snap.Err != "" && snap.Retiming == "") {
		k.asked, k.start = false, time.Time{}
		cmds = append(cmds, func() tea.Msg { return ui.IdleMsg{} })
	}
	return cmds
}

// tell states what the last change of the configuration made of latency and agreement, once and when the measurement is
// over: until then medians still move, and what is said would not be what the table of configurations comes to show. In a
// replay nothing moves.
func (w *workbench) tell() tea.Cmd {
	now, was := w.settled, w.work.before
	if !w.work.asked || w.work.told || now.Timings.EndToEnd.Median == 0 || now.Busy != nil && now.Replay == "" {
		return nil
	}
	w.work.told = true
	if p := now.Passes; p != nil && p.Unchanged != "" && (was == nil || was.Config.Precision != now.Config.Precision) {
		return news(ui.Warn, p.Unchanged)
	}
	if was == nil || was.Timings == nil || was.Timings.EndToEnd.Median == 0 {
		return news(ui.Good, snapshotLabel(now)+": "+ui.Duration(now.Timings.EndToEnd.Median))
	}
	latency, measured := w.tried.took(was, now)
	median := func(cfg config.Config, l report.Latency) string {
		return medianText(w.o.Timeline, ownRanges(now), cfg, l)
	}
	before, after := median(was.Config, latency), median(now.Config, now.Timings.EndToEnd)
	if sameKernels(was, now) {
		return news(ui.Good, snapshotLabel(now)+": the same kernels as before; "+after+", before "+before)
	}
	speed := now.Timings.Measured(now.Config).Over(measured, ownRanges(now))
	lines := delta(was.Config, before, now, after, speed)
	return news(ui.Good, lines[0], lines[1:]...)
}
