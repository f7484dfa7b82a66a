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
// are the two latencies as text, took is the former.
func Delta(was config.Config, before string, now *report.Snapshot, after string, speed report.Speed, took time.Duration) []string {
	names := config.Labels([]config.Config{was, now.Config}, pane.OwnRanges(now))
	long, short := [2]string{names[0], names[1]}, [2]string{}
	for i, name := range names {
		short[i], _, _ = strings.Cut(name, ", ")
	}
	if long[0] == long[1] {
		long[0] = "before"
	}
	if short[0] == short[1] {
		short[0] = "before"
	}
	faster := words.SpeedBeside(speed, took, now.Timings.EndToEnd.Median)
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
		line(long, apart, with), line(long, briefly, and), line(short, briefly, with), line(short, briefly, and), line(short, briefly, ""), line(short, "", ""),
		fmt.Sprintf("%s, %s %s (%s)", after, faster, short[0], before),
		faster + " " + short[0],
	}
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
