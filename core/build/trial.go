package build

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// trial is what this build measured of one tactic for one form of layer. A machine that is busy with something else is slow
// for longer than a measurement takes, so that the rounds of one agree and are all wrong: only another occasion shows it.
type trial struct {
	occasions []*occasion // by time
	price     run.Price   // by all of them
	pass      int         // of the last
	layers    []string    // that asked for it
}

// occasion is one measurement of a trial.
type occasion struct {
	time          time.Duration // of the fastest round
	trial         *trial
	before, after *occasion // measured just then, of other trials; nil at the ends
}

// A trial ends when its best time was met twice, once of it in a quiet moment, or is as good as it gets.
const (
	reproduced   = 0.05 // two times that differ by no more than this share are the same
	busy         = 0.2  // what takes longer than its best time by this share was disturbed
	minOccasions = 3
	maxOccasions = 6
	beaten       = 2 // a tactic that takes so many times as long as the layer's best, on minOccasions, is out
)

func (t *trial) best() time.Duration { return t.occasions[0].time }

// over returns by what share an occasion took longer than the best of its trial.
func (o *occasion) over() float64 { return float64(o.time)/float64(o.trial.best()) - 1 }

// quiet reports whether nothing disturbed the measurements just before and after.
func (o *occasion) quiet() bool {
	return (o.before == nil || o.before.over() <= busy) && (o.after == nil || o.after.over() <= busy)
}

// full reports whether there are as many occasions as a trial may have.
func (t *trial) full() bool { return len(t.occasions) >= maxOccasions }

// settled reports whether more occasions are of no use.
func (t *trial) settled() bool {
	if len(t.occasions) < minOccasions || t.full() {
		return t.full()
	}
	return t.occasions[1].over() <= reproduced && slices.ContainsFunc(t.occasions, func(o *occasion) bool {
		return o.over() <= reproduced && o.quiet()
	})
}

// add notes a measurement that follows another, which may be nil.
func (t *trial) add(d time.Duration, before *occasion) *occasion {
	o := &occasion{time: d, trial: t, before: before}
	if before != nil {
		before.after = o
	}
	t.occasions = append(t.occasions, o)
	slices.SortStableFunc(t.occasions, func(a, b *occasion) int { return cmp.Compare(a.time, b.time) })
	return o
}

// next begins another pass, in which all tactics of a layer that are not beaten are measured again if one of them is not
// settled, so that each has the same chance of a quiet moment. It returns false where nothing is open, and nothing new is wanted.
// What is open to the end may be measured no more: a conversion to an arrangement that no tactic asks for, after one failed.
func (t *tuner) next() bool {
	early, idle := t.early, t.last == t.lastBefore
	t.early, t.open, t.best, t.lastBefore = false, map[string]bool{}, map[string]time.Duration{}, t.last
	for _, trial := range t.trials {
		for _, l := range trial.layers {
			if b, ok := t.best[l]; !ok || trial.best() < b {
				t.best[l] = trial.best()
			}
		}
	}
	for _, trial := range t.trials {
		for _, l := range trial.layers {
			if !trial.settled() && !t.beaten(trial, l) && t.contested(l) {
				t.open[l] = true
			}
		}
	}
	t.pass++
	t.expectAgain()
	return early || len(t.wanted) > 0 || len(t.open) > 0 && !idle
}

// beaten reports whether a layer has a tactic that is faster by so much that no disturbance explains it.
func (t *tuner) beaten(tr *trial, layer string) bool {
	return len(tr.occasions) >= minOccasions && tr.best() > beaten*t.best[layer]
}

// without stands for the tactics of launches that a plan may do without.
const without = ""

// meet notes a tactic of a layer, forbidden ones too.
func (t *tuner) meet(l *graph.Layer, tactic string) {
	known := t.tactics[l.Name]
	if len(known) == 0 && (l.Op.Memory == graph.Converted || l.Op.Memory == graph.Joined) {
		known = append(known, without)
	}
	if !slices.Contains(known, tactic) {
		t.tactics[l.Name] = append(known, tactic)
	}
}

// contested reports whether a layer's times decide anything, or were asked for. Where it has but one tactic its time is in
// all plans alike, and one occasion will do.
func (t *tuner) contested(layer string) bool {
	return len(t.tactics[layer]) > 1 || slices.Contains(t.remeasure, layer)
}

// price returns the time of one launch, from the cache or measured.
func (t *tuner) price(b kernels.Binding, tac kernels.Tactic) (run.Price, error) {
	t.meet(b.Layer, tac.Name)
	if r := t.choices.Reason(b.Layer.Name, tac.Name); r != "" {
		return t.remembered(b, tac), errors.New(r)
	}
	entry := t.entry(b, tac)
	if err := t.failed[entry]; err != nil {
		return run.Price{}, err
	}
	tr := t.trials[entry]
	if tr == nil {
		if known, ok := t.cache.Get(entry.Target, entry.Tactic, entry.Layer); ok && !slices.Contains(t.remeasure, b.Layer.Name) {
			return known.price(), nil
		}
		tr = &trial{}
	}
	if !slices.Contains(tr.layers, b.Layer.Name) {
		tr.layers = append(tr.layers, b.Layer.Name)
	}
	if len(tr.occasions) > 0 && (tr.pass == t.pass || !t.open[b.Layer.Name] || tr.full() || t.beaten(tr, b.Layer.Name)) {
		return tr.price, nil
	}
	t.begins(b.Layer.Name, tac.Name)
	d, spread, note, err := t.measure(b, tac)
	if err != nil {
		delete(t.trials, entry)
		t.failed[entry] = t.failure(b, tac, err)
		return run.Price{}, t.failed[entry]
	}
	tr.pass, t.last = t.pass, tr.add(d, t.last)
	if t.trials[entry] = tr; len(tr.occasions) > 1 {
		spread = tr.occasions[1].over()
	}
	entry.Time, entry.Measured, entry.Spread, entry.Note = tr.best(), time.Now().Truncate(time.Second), spread, note
	t.cache.Put(entry)
	tr.price = entry.price()
	return tr.price, nil
}

// remembered returns what the cache knows of a tactic that is not to be measured.
func (t *tuner) remembered(b kernels.Binding, tac kernels.Tactic) run.Price {
	entry := t.entry(b, tac)
	if !t.cache.Has(entry) {
		return run.Price{}
	}
	known, _ := t.cache.Get(entry.Target, entry.Tactic, entry.Layer)
	return known.price()
}

// The noise of a time is its spread, within bounds: two builds differ by leastNoise, or by what a clock resolves, even where
// the occasions of one agree; and what was measured badly must still not count as equal to what takes half as long again.
const (
	leastNoise = 0.03
	mostNoise  = 0.2
	resolution = 100 * time.Nanosecond
)

// price returns the entry as what a launch costs.
func (e CacheEntry) price() run.Price {
	share := min(max(e.Spread, leastNoise), mostNoise)
	return run.Price{Time: e.Time, Timed: true, Note: e.Note, Noise: max(resolution, time.Duration(share*float64(e.Time)))}
}
