package trials

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// load is how much an inference computes.
type load struct {
	config config.Config
	items  int   // 0: not known
	flops  int64 // 0: not known
}

// loadOf returns the load of a configuration that was timed; t is nil where that is not known any more.
func loadOf(cfg config.Config, t *report.Timings) load {
	l := load{config: cfg}
	if t == nil {
		return l
	}
	l.items = t.BatchItems
	for i := range t.Layers {
		l.flops += t.Layers[i].FLOPs
	}
	return l
}

// over returns how many times as many items as another load one has; ok is false where shapes differ in more than that, so that an
// item is other work.
func (l load) over(o load) (items float64, ok bool) {
	a, b := l.config, o.config
	if max(1, a.Batch) == max(1, b.Batch) && maps.EqualFunc(a.Shapes, b.Shapes, slices.Equal[[]int]) {
		return 1, true
	}
	if l.items == 0 || o.items == 0 {
		return float64(max(1, a.Batch)) / float64(max(1, b.Batch)), len(a.Shapes) == 0 || len(b.Shapes) == 0
	}
	items = float64(l.items) / float64(o.items)
	if l.flops == 0 || o.flops == 0 {
		return items, len(a.Shapes) == 0 || len(b.Shapes) == 0
	}
	const alike = 0.05 // precisions and fusions add and save some arithmetic
	return items, math.Abs(float64(l.flops)/float64(o.flops)/items-1) <= alike
}

// Reshaped says how a snapshot compares with another of other shapes, per item where they differ in the batch alone; nil where they are
// the same. Shorter ways to say it follow, the longest first. before and after are the latencies as text.
func Reshaped(was *report.Snapshot, before string, now *report.Snapshot, after string, speed report.Speed) []string {
	a, b := loadOf(was.Config, was.Timings), loadOf(now.Config, now.Timings)
	items, ok := b.over(a)
	label := pane.Label(now)
	switch {
	case !ok:
		return []string{
			fmt.Sprintf("%s: %s; before %s at other shapes, which is other work", label, after, before),
			fmt.Sprintf("%s; before %s at other shapes", after, before),
		}
	case items == 1:
		return nil
	}
	per := "no significant difference per item"
	if s := speed.Per(items); !s.Noise() && s.Significant {
		per = words.Faster(s) + " per item"
	}
	apart := ""
	if !speed.SideBySide {
		apart = "; not measured side by side"
	}
	lines := []string{
		fmt.Sprintf("%s: %s, before %s: %s%s", label, after, before, per, apart),
		fmt.Sprintf("%s, before %s: %s", after, before, per),
		per,
	}
	if x, y := was.Timings, now.Timings; x.BatchItems > 0 && y.BatchItems > 0 {
		rate := func(t *report.Timings) string {
			return ui.Number(t.EndToEnd.Rate(t.BatchItems)) + " items/s"
		}
		lines = slices.Insert(lines, 0, fmt.Sprintf("%s: %s for %s, %s, before %s for %d, %s: %s%s",
			label, after, words.Plural(y.BatchItems, "item"), rate(y), before, x.BatchItems, rate(x), per, apart))
	}
	return lines
}
