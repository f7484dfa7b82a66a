package trials

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// Delta compares a snapshot with what another configuration took: "int8/entropy: 1.92 ms, 2.10x faster than fp32 (4.03 ms), agreement with FP32 99.8%".
// Shorter ways to say it follow, the longest first: all of them have the ratio and what it is a ratio to. before and after
// are the two latencies as text, took is the former. Where rounds have another ratio than these, what stands for the former is what it
// comes to in the rounds of the latter, so that the two are of one measurement; where rounds are too far apart for that, it is marked as
// measured alone.
func Delta(was config.Config, before string, now *report.Snapshot, after string, speed report.Speed, took time.Duration) []string {
	long, short, brief := deltaNames(config.Labels([]config.Config{was, now.Config}, pane.OwnRanges(now)))
	own := now.Timings.EndToEnd.Median
	switch said := speed.Beside(took, own); {
	case said.Rounds != 0 && speed.Loose():
		before += " alone"
	case said.Rounds != 0:
		before = ui.Duration(time.Duration(float64(own)*said.Rounds)) + " in rounds"
	}
	faster := words.SpeedBeside(speed, took, own)
	apart, briefly := "", ""
	if !speed.SideBySide {
		apart, briefly = "; not measured side by side", "; not side by side"
	}
	line := func(names [2]string, apart, agreement string) string {
		return fmt.Sprintf("%s: %s, %s %s (%s%s)%s", names[1], after, faster, names[0], before, apart, agreement)
	}
	with, and := "", ""
	if acc := now.Accuracy; acc != nil && acc.Labels.Agreement >= 0 && acc.Items > 0 {
		share := words.Percent(acc.Labels.Agreement)
		with, and = ", agreement with "+acc.Against()+" "+share, ", agreement "+share
	}
	return []string{
		line(long, apart, with), line(long, briefly, and), line(short, briefly, with), line(short, briefly, and), line(short, briefly, ""), line(brief, briefly, and), line(brief, briefly, ""), line(brief, "", ""),
		fmt.Sprintf("%s, %s %s (%s)", after, faster, brief[0], before),
		faster + " " + brief[0],
	}
}

// deltaNames returns the names of two configurations that are compared, the former first: whole; with what both have alike behind their
// first words as a number, as in "int8/mse +1"; and the first words alone. Where those are one, the former is what was before.
func deltaNames(labels []string) (long, short, brief [2]string) {
	var clauses [2][]string
	for i, label := range labels {
		long[i], clauses[i] = label, strings.Split(label, ", ")
	}
	for i, list := range clauses {
		brief[i], short[i] = list[0], list[0]
		alike := 0
		for _, c := range list[1:] {
			if slices.Contains(clauses[1-i], c) {
				alike++
			} else {
				short[i] += ", " + c
			}
		}
		if alike > 0 {
			short[i] += fmt.Sprintf(" +%d", alike)
		}
	}
	for _, names := range []*[2]string{&long, &short, &brief} {
		if names[0] == names[1] {
			names[0] = "before"
		}
	}
	return long, short, brief
}

// finals has what came of the configurations of a recording in the end; nil for a session.
type finals interface {
	Tried() []report.RecordedConfig
}

// MedianText writes the median of a latency, and of how many runs it is where it is not what came of the configuration in the
// end, as in states of a replay that were recorded early in a measurement. own is as
// pane.OwnRanges says.
func MedianText(t finals, own bool, cfg config.Config, l report.Latency) string {
	text := ui.Duration(l.Median)
	if t == nil {
		return text
	}
	for _, c := range t.Tried() {
		if c.Config.SameEngine(cfg, own) && c.Median != nil && *c.Median != l.Median {
			return text + " after " + words.Plural(l.Count, "run")
		}
	}
	return text
}

// SameKernels reports whether two configurations differ in pins and bans alone, if at all, and came to the same kernels: what
// their times differ by is the machine's.
func SameKernels(was, now *report.Snapshot) bool {
	a, b := was.Config, now.Config
	a.Pin, a.Forbid, b.Pin, b.Forbid = nil, nil, nil, nil
	return a.SameEngine(b, pane.OwnRanges(now)) && sameTactics(was.Timings, now.Timings)
}

// sameTactics reports whether two measurements are of the same layers with the same tactics.
func sameTactics(a, b *report.Timings) bool {
	return slices.EqualFunc(a.Layers, b.Layers, func(a, b report.LayerTiming) bool { return a.Name == b.Name && a.Tactic == b.Tactic })
}
