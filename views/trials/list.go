package trials

import (
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// List are the configurations that were tried, the oldest first.
type List struct {
	list     []trial
	recorded bool            // a recording's: there will be no others
	beside   *report.Columns // the newest that are in rounds
	rounds   []trial         // what was measured side by side, of each configuration the newest
}

// Recorded are those that a recording has; own is as pane.OwnRanges says.
func Recorded(list []report.RecordedConfig, own bool) *List {
	t := &List{recorded: true}
	for _, c := range list {
		t.list = keep(t.list, recordedTrial(c), false, own)
	}
	return t
}

// Add remembers what a snapshot says of a configuration that was timed: what the table shows, and what later ones are compared
// with.
func (t *List) Add(s *report.Snapshot) {
	defer func() {
		own := pane.OwnRanges(s)
		if c := s.Columns; c != nil && !c.Live && c != t.beside {
			t.rounds, t.beside = withColumns(t.rounds, s, own), c
		}
		t.list = withRounds(t.list, t.rounds, own)
	}()
	if s.Timings == nil || s.Stale.Has(report.PartTimings) || s.Timings.EndToEnd.Median == 0 {
		return
	}
	own := pane.OwnRanges(s)
	t.list = keep(t.list, snapshotTrial(s), s.Settled() && s.Busy == nil && pane.CutShort(s) == 0, own)
	b, reference := s.Timings.Beside, s.Timings.Reference
	if b == nil || reference == nil {
		return
	}
	switch i := slices.IndexFunc(t.list, func(t trial) bool { return t.config.SameEngine(b.Config, own) }); {
	case i < 0: // another was asked for before any times of it were shown
		only := report.Snapshot{Seq: s.Seq, Schema: s.Schema, Config: b.Config, Model: s.Model, Device: s.Device, Timings: reference, Stale: report.Derived() &^ report.PartTimings}
		t.list = slices.Insert(t.list, 0, snapshotTrial(&only))
	case t.list[i].samples < reference.Samples:
		t.list[i] = t.list[i].timed(reference)
	}
}

// Reports returns what is known of the configuration of a snapshot: what was measured of it side by side with others, or the
// snapshot.
func (t *List) Reports(s *report.Snapshot) *report.Snapshot {
	own := pane.OwnRanges(s)
	for i := range t.list {
		if one := &t.list[i]; one.inRounds && one.config.SameEngine(s.Config, own) && s.Viewed() == "" {
			return one.snap
		}
	}
	return s
}

// BesideOthers returns what the configuration of a snapshot takes as the table of those tried has it, in rounds side by side with
// others; 0 where that is not known, or no other than the median of the snapshot in what shows.
func (t *List) BesideOthers(s *report.Snapshot) time.Duration {
	if s.Timings == nil || s.Stale.Has(report.PartTimings) || s.Timings.Estimated || s.Viewed() != "" {
		return 0
	}
	own := pane.OwnRanges(s)
	i := slices.IndexFunc(t.list, func(t trial) bool { return t.config.SameEngine(s.Config, own) })
	if i < 0 || !t.list[i].inRounds && t.list[i].measured.Beside == nil {
		return 0
	}
	d, shown := took(t.list, own)[i], s.Timings.EndToEnd.Median
	if report.Nearly(d, shown) == shown {
		return 0
	}
	return d
}

// Took returns the latency of a configuration, and what it is compared by, as the table has it, or that of the snapshot
// where the table has none or has by now what is compared with it.
func (t *List) Took(was, now *report.Snapshot) (report.Latency, report.Measured) {
	own := pane.OwnRanges(now)
	i := slices.IndexFunc(t.list, func(t trial) bool { return t.config.SameEngine(was.Config, own) })
	if i < 0 || was.Config.SameEngine(now.Config, own) {
		return was.Timings.EndToEnd, was.Timings.Measured(was.Config)
	}
	latency := t.list[i].latency
	if latency.Median == 0 { // a recording has the medians alone of what was measured side by side
		latency = was.Timings.EndToEnd
	}
	return latency, t.list[i].measured
}

// withSearched adds what a search for precisions built and measured, but for what was tried by itself; own is as pane.OwnRanges says.
func withSearched(trials []trial, points []report.SearchPoint, own bool) []trial {
	tried := len(trials)
	for _, p := range points {
		same := func(t trial) bool { return t.config.SameEngine(p.Config, own) }
		if p.Latency == 0 || slices.ContainsFunc(trials[:tried], same) {
			continue
		}
		trials = append(trials, trial{config: p.Config, median: p.Latency, point: p.Point, load: load{config: p.Config}, latency: report.Latency{Median: p.Latency},
			measured: report.Measured{Config: p.Config, Median: p.Latency, Low: p.Low, High: p.High, Beside: p.Beside, Estimated: p.Estimated}})
	}
	return trials
}
