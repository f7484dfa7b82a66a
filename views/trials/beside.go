package trials

import (
	"fmt"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// Measure has configurations measured side by side, and the accuracy of each; left are those that wait for another time. It is nil
// where nothing is measured.
type Measure func(configs []config.Config, left int) tea.Cmd

// withColumns adds what configurations came to that were measured side by side.
func withColumns(rounds []trial, s *report.Snapshot, own bool) []trial {
	c := s.Columns
	apart := slices.ContainsFunc(c.Columns, func(k report.Column) bool { return k.Speed != nil && !k.Speed.SideBySide })
	for i := range c.Columns {
		col := &c.Columns[i]
		if col.Err != "" || col.Latency.Median == 0 {
			continue
		}
		t := columnTrial(s, i)
		t.inRounds = t.snap != nil && len(c.Columns) > 1 && !apart
		rounds = keep(rounds, t, true, own)
	}
	return rounds
}

// withRounds adds to trials what was measured side by side: those that were not tried by themselves, what the others lack, and their
// times, which one is compared by.
func withRounds(trials, rounds []trial, own bool) []trial {
	for i := range rounds {
		new := &rounds[i]
		at := slices.IndexFunc(trials, func(old trial) bool { return old.config.SameEngine(new.config, own) })
		if at < 0 {
			trials = keep(trials, *new, false, own)
			continue
		}
		old := &trials[at]
		old.know(new)
		switch {
		case new.inRounds && old.snap != nil && (old.median == 0 || sameTactics(old.snap.Timings, new.snap.Timings)):
			old.timedIn(new)
		case old.measured.Beside == nil && new.measured.Beside != nil:
			old.measured.Beside, old.point.Beside = new.measured.Beside, new.measured.Beside
		}
	}
	return trials
}

// columnTrial returns what is known of a configuration that was measured beside the first of several.
func columnTrial(s *report.Snapshot, i int) trial {
	c, col := s.Columns, &s.Columns.Columns[i]
	var t trial
	if col.Timings != nil {
		t = snapshotTrial(&report.Snapshot{Schema: s.Schema, Config: col.Config, Model: s.Model, Device: s.Device, Timings: col.Timings, Memory: col.Memory, Accuracy: col.Accuracy})
	} else {
		t = trial{
			config: col.Config, samples: col.Latency.Count, median: col.Latency.Median, latency: col.Latency,
			measured: report.Measured{Config: col.Config, Median: col.Latency.Median, Estimated: c.Estimated}, load: load{config: col.Config},
			top1: math.NaN(), agreement: math.NaN(), sqnr: math.NaN(),
			point: report.Point{Config: col.Config, Latency: col.Latency.Median, Estimated: c.Estimated},
		}
	}
	if i > 0 && col.Speed != nil && c.Columns[0].Err == "" {
		t.measured.Beside = &report.Beside{Config: c.Columns[0].Config, Speed: *col.Speed}
		t.point.Beside = t.measured.Beside
	}
	if p := col.Point; p != nil {
		known := func(v *float64) float64 {
			if v == nil {
				return math.NaN()
			}
			return *v
		}
		t.top1, t.agreement, t.sqnr = known(p.Top1), known(p.Agreement), known(p.SQNR)
		t.arena, t.weights = p.Arena, p.Weights
		t.point.Top1, t.point.Agreement, t.point.SQNR, t.point.Perplexity, t.point.Items = p.Top1, p.Agreement, p.SQNR, p.Perplexity, p.Items
		t.point.Arena, t.point.Weights = p.Arena, p.Weights
	}
	return t
}

// lacking returns the trials that lack accuracy, and those that lack times in rounds with the others.
func lacking(trials []trial, own bool) (accuracy, rounds []int) {
	first := slices.IndexFunc(trials, func(t trial) bool { return t.median > 0 })
	for i := range trials {
		t := &trials[i]
		if !t.judged() {
			accuracy = append(accuracy, i)
		}
		if t.median == 0 || i != first && !t.measured.Over(trials[first].measured, own).SideBySide {
			rounds = append(rounds, i)
		}
	}
	return accuracy, rounds
}

// mostBeside is how many configurations are measured at a time: their engines are in memory together.
const mostBeside = 12

// measureKey is the key that measures what trials lack.
func measureKey(d pane.Desk) ui.Key {
	return pane.When(d, pane.NeedsRun, ui.K("A", "measure all", fmt.Sprintf("measure what configurations lack: accuracy, and times in rounds side by side, %d of them at a press", mostBeside)))
}

// measureLacking asks for what trials lack, beside the first that was timed.
func measureLacking(measure Measure, trials []trial, own bool) tea.Cmd {
	accuracy, rounds := lacking(trials, own)
	var configs []config.Config
	for i := range trials {
		if i == slices.IndexFunc(trials, func(t trial) bool { return t.median > 0 }) || slices.Contains(accuracy, i) || slices.Contains(rounds, i) {
			configs = append(configs, trials[i].config.Clone())
		}
	}
	if len(accuracy)+len(rounds) == 0 {
		return pane.Say(ui.Good, "nothing is missing: accuracy and times in rounds are known of all that were tried")
	}
	most := min(len(configs), mostBeside)
	return measure(configs[:most], len(configs)-most)
}

// lackText says what trials lack; "" where that is nothing.
func lackText(trials []trial, own bool) string {
	accuracy, rounds := lacking(trials, own)
	text := ""
	if n := len(accuracy); n > 0 && n < len(trials) {
		text = fmt.Sprintf("%d of %s without accuracy", n, words.Plural(len(trials), "configuration"))
	}
	if n := len(rounds); n > 0 {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d not side by side (*)", n)
	}
	return text
}
