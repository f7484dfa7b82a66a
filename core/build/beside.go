package build

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// layout lays out a choice, with forks where steps run faster side by side: those that are predicted to, by what each step takes on
// one worker and on all, are measured, and those that do are kept. The plan says of the others why its steps run in turn.
func (t *tuner) layout(choice *run.Choice, inTurn []string) (*run.Plan, error) {
	p, err := choice.Layout()
	workers := t.workers()
	if err != nil || workers < 2 {
		return p, err
	}
	free := func(i int) bool {
		named := func(l string) bool { return slices.Contains(inTurn, l) }
		return !named("") && !named(p.Steps[i].Name) && !slices.ContainsFunc(p.Steps[i].From, named)
	}
	atBest := func(i int) run.Pace { return run.Pace{All: p.Steps[i].Time, One: p.Steps[i].Time} }
	why := "this place is switched off"
	if slices.Contains(inTurn, "") {
		why = "rule " + pass.SideBySide + " is switched off"
	}
	left := leftForks{}
	for _, f := range p.FindForks(workers, func(i int) (run.Pace, bool) { return atBest(i), true }) {
		if slices.ContainsFunc(slices.Concat(f.Lanes...), func(i int) bool { return !free(i) }) {
			left.add(f, pass.Disabled, why)
		}
	}
	promising := p.FindForks(workers, func(i int) (run.Pace, bool) { return atBest(i), free(i) })
	q, named := p, len(left)
	if most, all := atMost(p, promising); float64(most) < leastOfPlan*float64(all) {
		for _, f := range promising {
			left.add(f, pass.NoGain, fmt.Sprintf("at most %s of %s, too little to be measured", saves(f).Round(time.Microsecond), all.Round(time.Microsecond)))
		}
	} else if len(promising) > 0 {
		q, err = t.forked(choice, p, workers, promising, free, &left)
		if err := t.ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil { // such as that there is no room to try it
			q, left = p, left[:named]
			for _, f := range promising {
				left.add(f, pass.TooLarge, err.Error())
			}
		}
	}
	q.Dropped = left.list()
	return q, nil
}

// leastOfPlan is the share of a plan's time that its forks must be able to save for these to be measured, which takes some runs of the
// whole plan: less is within the noise of any latency.
const leastOfPlan = 0.005

// atMost returns what forks save where none of their steps takes longer on one worker than on all, and what all steps take.
func atMost(p *run.Plan, promising []run.Fork) (most, all time.Duration) {
	for _, f := range promising {
		most += saves(f)
	}
	for _, s := range p.Steps {
		all += s.Time
	}
	return most, all
}

// leftForks are forks whose steps run in turn, and why.
type leftForks []run.Dropped

func (l *leftForks) add(f run.Fork, reason pass.Reason, detail string) {
	*l = append(*l, run.Dropped{Fork: f, Reason: string(reason), Detail: detail})
}

// list returns them in the order of their steps.
func (l leftForks) list() []run.Dropped {
	slices.SortStableFunc(l, func(a, b run.Dropped) int { return a.First - b.First })
	return l
}

// workers is how many there are for lanes; 1 where the device runs one thing at a time.
func (t *tuner) workers() int {
	f, ok := t.stream.(kernels.Forker)
	if _, threaded := t.backend.(run.Threaded); !ok || !threaded || f.Lanes() < 2 {
		return 1
	}
	return t.backend.Info().Threads
}

// forked returns the plan with the forks that pay, which is p for none. Promising are those that would be worth it if no step took
// longer on one worker than on all.
func (t *tuner) forked(choice *run.Choice, p *run.Plan, workers int, promising []run.Fork, free func(step int) bool, left *leftForks) (*run.Plan, error) {
	paces, err := t.paces(p)
	if err != nil {
		return nil, err
	}
	forks := p.FindForks(workers, func(i int) (run.Pace, bool) { return paces[i], free(i) })
	for _, f := range promising {
		if !slices.ContainsFunc(forks, f.Overlaps) {
			left.add(f.At(paces, workers), pass.NoGain, "by what its steps take on one worker and on all")
		}
	}
	q, err := t.roomy(choice, p, forks, left)
	if err != nil || len(q.Forks) == 0 {
		return q, err
	}
	if err := t.prove(q); err != nil {
		return nil, err
	}
	forks = nil
	for _, f := range q.Forks {
		if f.Measured.Pays() {
			forks = append(forks, f)
		} else {
			left.add(f, pass.NoGain, "as measured")
		}
	}
	if len(forks) == len(q.Forks) {
		return q, nil
	}
	return t.roomy(choice, p, forks, left)
}

// The arena may grow for what lives at the same time by a share of it, or by so many bytes, whichever is more.
const (
	shareOfGrowth = 0.05
	leastGrowth   = 1 << 20
)

// roomy lays out a choice with forks, of which those go that save least until the arena is little larger than that of p, which it is
// where none is left.
func (t *tuner) roomy(choice *run.Choice, p *run.Plan, forks []run.Fork, left *leftForks) (*run.Plan, error) {
	most := p.Memory.Peak + max(leastGrowth, int(shareOfGrowth*float64(p.Memory.Peak)))
	for len(forks) > 0 {
		q, err := choice.LayoutWith(forks)
		if err != nil {
			return nil, err
		}
		if len(q.Steps) == len(p.Steps) && q.Memory.Peak <= most {
			return q, nil
		}
		least := 0
		for k, f := range forks {
			if saves(f) < saves(forks[least]) {
				least = k
			}
		}
		why := fmt.Sprintf("an arena of %d bytes in place of %d", q.Memory.Peak, p.Memory.Peak)
		if len(q.Steps) != len(p.Steps) {
			why = fmt.Sprintf("%d steps in place of %d", len(q.Steps), len(p.Steps))
		}
		left.add(forks[least], pass.TooLarge, why)
		forks = slices.Delete(slices.Clone(forks), least, least+1)
	}
	return p, nil
}

// saves is how much time a fork is known or thought to save.
func saves(f run.Fork) time.Duration {
	if f.Measured.Beside > 0 {
		return f.Measured.InTurn - f.Measured.Beside
	}
	return f.Predicted.InTurn - f.Predicted.Beside
}

// Steps in a plan, and forks, are timed so often, and for so long, whichever is less; but a few times in any case.
const (
	leastRounds = 3
	mostRounds  = 100
	roundsTime  = 500 * time.Millisecond
)

// measureInPlan calls f again and again.
func (t *tuner) measureInPlan(f func() error) error {
	for n, begin := 0, time.Now(); n < leastRounds || n < mostRounds && time.Since(begin) < roundsTime; n++ {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// The names under which the cache has what steps and forks of plans take.
const (
	inTurnOnAll = "in turn"
	onOne       = "on one worker"
)

// paces returns what the steps of a plan take within it on all workers and on one, from the cache or measured. Steps of one form have
// one pace.
func (t *tuner) paces(p *run.Plan) ([]run.Pace, error) {
	if paces, known := t.knownPaces(p); known {
		return paces, nil
	}
	t.begins(p.Steps[0].Name, onOne)
	loaded, err := run.Load(t.ctx, p, t.backend)
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	for _, of := range []struct {
		threads int
		how     string
	}{{0, inTurnOnAll}, {1, onOne}} {
		fastest, err := t.fastestSteps(loaded, of.threads)
		if err != nil {
			return nil, err
		}
		least := map[CacheEntry]time.Duration{}
		for i, d := range fastest {
			e := t.paceEntry(p, i, of.how)
			if known, ok := least[e]; !ok || d < known {
				least[e] = d
			}
		}
		for e, d := range least {
			t.note(e, d)
		}
	}
	paces, _ := t.knownPaces(p)
	return paces, nil
}

// paceEntry returns the cache's name for a step of a plan.
func (t *tuner) paceEntry(p *run.Plan, step int, how string) CacheEntry {
	return CacheEntry{Target: t.target, Tactic: p.Steps[step].Tactic + " " + how, Layer: signature(p.Binding(step))}
}

// knownPaces returns what the cache knows of steps, and whether that is all.
func (t *tuner) knownPaces(p *run.Plan) (paces []run.Pace, known bool) {
	known = true
	get := func(e CacheEntry) time.Duration {
		found, ok := t.cache.Get(e.Target, e.Tactic, e.Layer)
		known = known && ok
		return found.Time
	}
	for i := range p.Steps {
		paces = append(paces, run.Pace{All: get(t.paceEntry(p, i, inTurnOnAll)), One: get(t.paceEntry(p, i, onOne))})
	}
	return paces, known
}

// fastestSteps returns the least that each step of a plan takes on so many threads; 0: on all.
func (t *tuner) fastestSteps(l *run.Loaded, threads int) ([]time.Duration, error) {
	c, err := contextOf(l, threads)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	fastest := make([]time.Duration, len(l.Plan.Steps))
	times := make([]time.Duration, len(fastest))
	err = t.measureInPlan(func() error {
		if _, err := c.ExecuteTimed(times); err != nil {
			return err
		}
		for i, d := range times {
			if fastest[i] == 0 || d < fastest[i] {
				fastest[i] = max(d, 1)
			}
		}
		return nil
	})
	return fastest, err
}

// note puts a time into the cache.
func (t *tuner) note(e CacheEntry, d time.Duration) {
	e.Time, e.Measured = d, time.Now().Truncate(time.Second)
	t.cache.Put(e)
}

// contextOf returns a context of a plan with numbers in its inputs.
func contextOf(l *run.Loaded, threads int) (*run.ExecutionContext, error) {
	c, err := l.NewContextOf(threads)
	if err != nil {
		return nil, err
	}
	for _, x := range l.Plan.Network.Inputs {
		v := numeric.NewValue(x.Type, c.Dims(x.Name)...)
		fill(v.Data, x.Type)
		if err := c.SetInput(x.Name, v); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// prove measures the forks of a plan: side by side, and their lanes one after the other, in turn.
func (t *tuner) prove(p *run.Plan) error {
	known := true
	for k := range p.Forks {
		f := &p.Forks[k]
		inTurn, ok := t.cache.Get(t.target, inTurnOnAll, forkSignature(p, *f))
		beside, too := t.cache.Get(t.target, pass.SideBySide, forkSignature(p, *f))
		f.Measured, known = run.ForkTime{InTurn: inTurn.Time, Beside: beside.Time}, known && ok && too
	}
	if known {
		return nil
	}
	t.begins(p.Steps[p.Forks[0].First].Name, pass.SideBySide)
	loaded, err := run.Load(t.ctx, p, t.backend)
	if err != nil {
		return err
	}
	defer loaded.Close()
	c, err := contextOf(loaded, 0)
	if err != nil {
		return err
	}
	defer c.Close()
	times, err := t.forkTimes(c)
	for k, m := range times {
		f := &p.Forks[k]
		f.Measured = m
		t.note(CacheEntry{Target: t.target, Tactic: inTurnOnAll, Layer: forkSignature(p, *f)}, m.InTurn)
		t.note(CacheEntry{Target: t.target, Tactic: pass.SideBySide, Layer: forkSignature(p, *f)}, m.Beside)
	}
	return err
}

// forkTimes returns the least that each fork took, both ways in turns.
func (t *tuner) forkTimes(c *run.ExecutionContext) ([]run.ForkTime, error) {
	var least []run.ForkTime
	err := t.measureInPlan(func() error {
		for _, inTurn := range []bool{true, false} {
			c.InTurn(inTurn)
			times, err := c.ExecuteForks()
			if err != nil {
				return err
			}
			if least == nil {
				least = make([]run.ForkTime, len(times))
			}
			for k, d := range times {
				at := &least[k].Beside
				if inTurn {
					at = &least[k].InTurn
				}
				if *at == 0 || d < *at {
					*at = max(d, 1)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return least, nil
}

// forkSignature names all that the times of a fork depend on.
func forkSignature(p *run.Plan, f run.Fork) string {
	var s strings.Builder
	for _, lane := range f.Lanes {
		s.WriteString("lane\n")
		for _, i := range lane {
			fmt.Fprintf(&s, "%s %s\n", p.Steps[i].Tactic, signature(p.Binding(i)))
		}
	}
	return fmt.Sprintf("%d lanes from %s on, %x", len(f.Lanes), p.Steps[f.First].Name, sha256.Sum256([]byte(s.String())))
}
