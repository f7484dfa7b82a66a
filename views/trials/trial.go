package trials

import (
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// trial is what came of a configuration. A time or size that is not known is zero, a share or ratio NaN.
type trial struct {
	config     config.Config
	label      string
	short      string // the label without the shapes that all have
	samples    int
	median     time.Duration
	took       time.Duration  // on one scale with other trials, in a table of them
	latency    report.Latency // with that median; a recording has the median alone
	measured   report.Measured
	top1       float64
	agreement  float64
	sqnr       float64
	arena      int
	weights    int
	unfinished bool
	load       load
	point      report.Point
	snap       *report.Snapshot // its reports, in a session
	inRounds   bool             // its times are of rounds with others
}

// snapshotTrial returns what a snapshot with times says of its configuration.
func snapshotTrial(s *report.Snapshot) trial {
	t := trial{
		config: s.Config, samples: s.Timings.Samples, median: s.Timings.EndToEnd.Median, latency: s.Timings.EndToEnd,
		unfinished: pane.CutShort(s) > 0, measured: s.Timings.Measured(s.Config), load: loadOf(s.Config, s.Timings),
		top1: math.NaN(), agreement: math.NaN(), sqnr: math.NaN(),
		snap: &report.Snapshot{ // what is compared; the rest may be large
			Seq: s.Seq, Schema: s.Schema, Config: s.Config, Model: s.Model, Overview: s.Overview, Timings: s.Timings, Memory: s.Memory,
			Accuracy: s.Accuracy, Device: s.Device, Stale: s.Stale,
		},
	}
	t.point, _ = report.PointOf(s)
	if m := s.Memory; m != nil && !s.Stale.Has(report.PartMemory) {
		t.arena, t.weights = m.Peak, m.Weights
	}
	if a := s.Accuracy; a != nil && !s.Stale.Has(report.PartAccuracy) {
		t.top1, t.agreement = knownShare(a.Labels.Top1), knownShare(a.Labels.Agreement)
		if first := a.First(); first != nil {
			t.sqnr = first.SQNR
		}
	}
	return t
}

// knownShare returns a share, NaN for one below zero, which stands for none.
func knownShare(v float64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return v
}

// recordedTrial returns what a recording says of a configuration in the end.
func recordedTrial(c report.RecordedConfig) trial {
	known := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	t := trial{config: c.Config, samples: c.Runs, top1: known(c.Top1), agreement: known(c.Agreement), sqnr: known(c.SQNR), unfinished: !c.Settled}
	if c.Median != nil {
		t.median = *c.Median
	}
	t.measured, t.point, t.load = c.Measured(), c.Point(), loadOf(c.Config, c.Timings)
	if c.ArenaBytes != nil {
		t.arena = *c.ArenaBytes
	}
	if c.Weights != nil {
		t.weights = *c.Weights
	}
	return t
}

// know takes over of another trial of the same engine what a trial lacks of accuracy and memory.
func (t *trial) know(o *trial) {
	if !t.judged() && o.judged() {
		t.top1, t.agreement, t.sqnr = o.top1, o.agreement, o.sqnr
	}
	if t.weights == 0 {
		t.arena, t.weights = o.arena, o.weights
	}
	t.point.Know(&o.point)
	if t.snap == nil || o.snap == nil {
		return
	}
	has := func(s *report.Snapshot, part report.Parts, known bool) bool { return known && !s.Stale.Has(part) }
	whole := *t.snap
	if accuracy := report.PartAccuracy; !has(t.snap, accuracy, t.snap.Accuracy != nil) && has(o.snap, accuracy, o.snap.Accuracy != nil) {
		whole.Accuracy, whole.Stale = o.snap.Accuracy, whole.Stale&^accuracy
	}
	if memory := report.PartMemory; !has(t.snap, memory, t.snap.Memory != nil) && has(o.snap, memory, o.snap.Memory != nil) {
		whole.Memory, whole.Stale = o.snap.Memory, whole.Stale&^memory
	}
	if whole.Accuracy != t.snap.Accuracy || whole.Memory != t.snap.Memory || whole.Stale != t.snap.Stale {
		t.snap = &whole
	}
}

// timedIn takes the times over of rounds in which the same engine was measured beside others.
func (t *trial) timedIn(o *trial) {
	if t.inRounds && t.snap.Timings == o.snap.Timings {
		return
	}
	whole := *t.snap
	whole.Timings, whole.Stale = o.snap.Timings, whole.Stale&^report.PartTimings
	t.snap, t.inRounds, t.unfinished = &whole, true, false
	t.samples, t.median, t.latency, t.measured = o.samples, o.median, o.latency, o.measured
	p := o.point
	t.point.Latency, t.point.Low, t.point.High, t.point.Estimated, t.point.Beside = p.Latency, p.Low, p.High, p.Estimated, p.Beside
}

// judged reports whether any accuracy of a trial is known.
func (t *trial) judged() bool {
	return !math.IsNaN(t.top1) || !math.IsNaN(t.agreement) || !math.IsNaN(t.sqnr)
}

// timed returns a trial of a session with the times of a longer measurement.
func (t trial) timed(r *report.Timings) trial {
	whole := *t.snap
	whole.Timings, whole.Stale = r, whole.Stale&^report.PartTimings
	longer := snapshotTrial(&whole)
	longer.config, longer.label = t.config, t.label
	return longer
}

// keep adds a trial. It takes the place of an earlier one of the same engine, unless that was measured better and this
// measurement is not over.
func keep(trials []trial, t trial, final, own bool) []trial {
	i := slices.IndexFunc(trials, func(old trial) bool { return old.config.SameEngine(t.config, own) })
	switch {
	case i >= 0 && !final && trials[i].median > 0 && t.samples < trials[i].samples:
		return trials
	case i >= 0: // one that was left before its accuracy was known keeps what was known
		t.know(&trials[i])
		trials[i] = t
		return trials
	}
	const most = 100
	return append(trials[max(0, len(trials)-most+1):], t)
}

// took returns what each trial takes, on one scale.
func took(trials []trial, own bool) []time.Duration {
	list := make([]report.Measured, len(trials))
	for i := range trials {
		list[i] = trials[i].measured
	}
	return report.OnOneScale(list, own)
}
