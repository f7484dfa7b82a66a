package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Fork is steps that follow each other in the plan and fall into lanes that do not depend on each other: they run side by side, each
// lane begun by one worker, and those that have none help the others.
type Fork struct {
	First     int      // the first step; those of all lanes follow each other from there on
	Lanes     [][]int  // the steps of each, in order; the lane that takes longest on one worker comes first
	Predicted ForkTime // by what each step takes on one worker and on all
	Measured  ForkTime // as it ran
}

// Dropped is a fork whose steps run in turn all the same.
type Dropped struct {
	Fork          // times that were not measured are 0
	Reason string // as passes give for what they left
	Detail string
}

// ForkTime is what the steps of a fork take one behind the other, each on all workers, and side by side; 0 where that is not known.
type ForkTime struct{ InTurn, Beside time.Duration }

// Gain is the share of the time in turn that running side by side saves.
func (t ForkTime) Gain() float64 { return 1 - float64(t.Beside)/float64(max(1, t.InTurn)) }

// Pays reports whether a fork saves enough to be worth it.
func (t ForkTime) Pays() bool { return t.Gain() >= leastGain }

// End returns the step behind the last one.
func (f Fork) End() int {
	end := f.First
	for _, lane := range f.Lanes {
		end += len(lane)
	}
	return end
}

// Overlaps reports whether forks have steps in common.
func (f Fork) Overlaps(g Fork) bool { return f.First < g.End() && g.First < f.End() }

// At returns a fork as it is predicted to be at other paces of the plan's steps.
func (f Fork) At(paces []Pace, workers int) Fork {
	return forkOf(f.First, slices.Clone(f.Lanes), paces, workers)
}

// lane returns the lane of a step; -1 for one that is not in the fork.
func (f Fork) lane(step int) int {
	return slices.IndexFunc(f.Lanes, func(l []int) bool { return slices.Contains(l, step) })
}

// Pace is what a step takes on all workers, and on one.
type Pace struct{ All, One time.Duration }

func (p Pace) plus(q Pace) Pace { return Pace{p.All + q.All, p.One + q.One} }

const (
	maxForked = 64                   // steps of a fork
	maxLanes  = 16                   // of a fork
	forkCost  = 2 * time.Microsecond // taken for handing lanes to workers and waiting for the last one
	leastGain = 0.03                 // the share of the time in turn that is worth a fork
)

// FindForks returns the forks that save most by what the plan's steps take on so many workers. Steps that are to run beside no other
// have no pace. A plan whose steps count extents has none.
func (p *Plan) FindForks(workers int, pace func(step int) (t Pace, ok bool)) []Fork {
	if p.counts() {
		return nil
	}
	n, waits := len(p.Steps), p.waits()
	paces, free := make([]Pace, n), make([]bool, n)
	for i, s := range p.Steps {
		if s.forkable() {
			paces[i], free[i] = pace(i)
		}
	}
	best := make([]time.Duration, n+1) // of the steps before
	last := make([]Fork, n+1)          // the fork that ends there; without lanes where none does
	for end := 1; end <= n; end++ {
		best[end] = best[end-1] + paces[end-1].All
		w := window{end: end, waits: waits}
		for begin := end - 1; begin >= 0 && end-begin <= maxForked && free[begin]; begin-- {
			if w.extend(begin); w.lanes < 2 || w.lanes > maxLanes {
				continue
			}
			f := forkOf(begin, w.steps(), paces, workers)
			if t := best[begin] + f.Predicted.Beside; f.Predicted.Pays() && t <= best[end] {
				best[end], last[end] = t, f
			}
		}
	}
	var forks []Fork
	for end := n; end > 0; {
		if len(last[end].Lanes) == 0 {
			end--
			continue
		}
		forks = append(forks, last[end])
		end = last[end].First
	}
	slices.Reverse(forks)
	return forks
}

// forkable reports whether a step may run beside others: bodies are run by the context itself.
func (s Step) forkable() bool { return len(s.Bodies) == 0 }

// waits returns for each step those that it waits for: they write what it reads, or what that lies in.
func (p *Plan) waits() [][]int {
	writer := make([]int, len(p.Slots))
	for i := range writer {
		writer[i] = -1
	}
	list := make([][]int, len(p.Steps))
	for i, s := range p.Steps {
		for _, at := range s.In {
			for ; at >= 0; at = p.Slots[at].Of {
				if w := writer[at]; w >= 0 {
					list[i] = append(list[i], w)
				}
			}
		}
		for _, out := range s.Out {
			writer[out] = i
		}
	}
	return list
}

// window is steps that follow each other, and which of them depend on each other. It grows towards the first step.
type window struct {
	begin, end int
	waits      [][]int
	lane       []int // by distance from the end: a step of the same lane; itself for the one that stands for it
	lanes      int   // how many there are
}

func (w *window) root(i int) int {
	for w.lane[i] != i {
		i = w.lane[i]
	}
	return i
}

// extend adds the step before the window.
func (w *window) extend(begin int) {
	own := len(w.lane)
	w.lane = append(w.lane, own)
	w.begin, w.lanes = begin, w.lanes+1
	for step := begin + 1; step < w.end; step++ {
		if r := w.root(w.end - 1 - step); r != own && slices.Contains(w.waits[step], begin) {
			w.lane[r] = own
			w.lanes--
		}
	}
}

// steps returns the steps by lane, in order.
func (w *window) steps() [][]int {
	lanes, roots := make([][]int, 0, w.lanes), make([]int, 0, w.lanes)
	for step := w.begin; step < w.end; step++ {
		r := w.root(w.end - 1 - step)
		k := slices.Index(roots, r)
		if k < 0 {
			k, roots, lanes = len(lanes), append(roots, r), append(lanes, nil)
		}
		lanes[k] = append(lanes[k], step)
	}
	return lanes
}

// forkOf returns a fork with what it is predicted to take: workers take lanes, the longest first, and go on helping.
func forkOf(first int, lanes [][]int, paces []Pace, workers int) Fork {
	f := Fork{First: first, Lanes: lanes}
	sum := func(lane []int) (t Pace) {
		for _, i := range lane {
			t = t.plus(paces[i])
		}
		return t
	}
	slices.SortStableFunc(f.Lanes, func(a, b []int) int { return cmp.Compare(sum(b).One, sum(a).One) })
	load := make([]Pace, workers)
	for _, lane := range f.Lanes {
		t, least := sum(lane), 0
		f.Predicted.InTurn += t.All
		for k := range load {
			if load[k].One < load[least].One {
				least = k
			}
		}
		load[least] = load[least].plus(t)
	}
	f.Predicted.Beside = forkCost + together(load)
	return f
}

// together returns how long workers take that begin at once, if those that are done share the work of the others evenly: one worker's
// share goes as fast as it does alone, all workers' as it does on all.
func together(load []Pace) time.Duration {
	n := len(load)
	slices.SortFunc(load, func(a, b Pace) int { return cmp.Compare(a.One, b.One) })
	left := make([]float64, n) // of the work of each, which is 1
	for k := range left {
		left[k] = 1
	}
	passed := 0.0
	for k := range n {
		more := float64(k) / float64(n-k) // workers for each that is not done, beside its own
		rate := func(t Pace) float64 {
			one, all := float64(max(1, t.One)), float64(max(1, min(t.All, t.One)))
			return (1 + (one/all-1)*more/float64(max(1, n-1))) / one
		}
		step := left[k] / rate(load[k])
		for j := k; j < n; j++ {
			left[j] = max(0, left[j]-step*rate(load[j]))
		}
		passed += step
	}
	return time.Duration(passed)
}

// beside reports whether a step in another lane of the fork that a step is in has to do with the memory of a slot.
func (p *Plan) beside(step, root int) bool {
	fork, own := p.LaneOf(step)
	if fork == 0 {
		return false
	}
	for k, lane := range p.Forks[fork-1].Lanes {
		for _, i := range lane {
			s := p.Steps[i]
			if k+1 != own && slices.ContainsFunc(slices.Concat(s.In, s.Out), func(x int) bool { return x >= 0 && p.root(x) == root }) {
				return true
			}
		}
	}
	return false
}

// LaneOf returns the number of the fork and of the lane in it in which a step runs beside others, from 1 on; 0 for one that does not.
func (p *Plan) LaneOf(step int) (fork, lane int) {
	for number, f := range p.Forks {
		if step >= f.First && step < f.End() {
			return number + 1, f.lane(step) + 1
		}
	}
	return 0, 0
}

// aroundStep returns what the memory of a step alone is to do with forks.
func (p *Plan) aroundStep(step int) *around {
	fork, lane := p.LaneOf(step)
	if fork == 0 {
		return nil
	}
	f, number := p.Forks[fork-1], (fork-1)*maxLanes+lane-1
	return &around{first: f.First, last: f.End() - 1, from: number, to: number}
}

// around returns for each root what it is to do with forks.
func (p *Plan) around() []*around {
	list := make([]*around, len(p.Slots))
	if len(p.Forks) == 0 {
		return list
	}
	lanes := p.lanesOf()
	for i, s := range p.Slots {
		if s.Of >= 0 {
			continue
		}
		from, to := p.aroundStep(s.First), p.aroundStep(s.Last)
		if from == nil && to == nil {
			continue
		}
		a := &around{first: s.First, last: s.Last, from: -1, to: -1}
		if from != nil {
			a.first = from.first
			if lanes[i][from.from/maxLanes] == from.from {
				a.from = from.from
			}
		}
		if to != nil {
			a.last = to.last
			if lanes[i][to.to/maxLanes] == to.to {
				a.to = to.to
			}
		}
		list[i] = a
	}
	return list
}

// lanesOf returns by root and fork the lane that uses it; -1 for several.
func (p *Plan) lanesOf() []map[int]int {
	list := make([]map[int]int, len(p.Slots))
	for number, f := range p.Forks {
		for k, lane := range f.Lanes {
			for _, i := range lane {
				s := p.Steps[i]
				for _, x := range append(slices.Concat(s.In, s.Out), s.Scratch) {
					if x < 0 {
						continue
					}
					r, own := p.root(x), number*maxLanes+k
					if list[r] == nil {
						list[r] = map[int]int{}
					}
					if used, ok := list[r][number]; ok && used != own {
						own = -1
					}
					list[r][number] = own
				}
			}
		}
	}
	return list
}

// checkForks returns an error where lanes are not what they are to be: complete, and apart from each other.
func (p *Plan) checkForks() error {
	for _, f := range p.Dropped {
		for _, step := range slices.Concat(f.Lanes...) {
			if step < 0 || step >= len(p.Steps) {
				return fmt.Errorf("step %d of %d is in a fork that was dropped", step, len(p.Steps))
			}
		}
	}
	waits, from := p.waits(), 0
	if len(p.Forks) > 0 && p.counts() {
		return fmt.Errorf("forks where extents are counted")
	}
	for _, f := range p.Forks {
		if f.First < from || len(f.Lanes) < 2 || len(f.Lanes) > maxLanes || f.End()-f.First > maxForked || f.End() > len(p.Steps) {
			return fmt.Errorf("fork of %d lanes from step %d to %d of %d", len(f.Lanes), f.First, f.End(), len(p.Steps))
		}
		from = f.End()
		for step := f.First; step < f.End(); step++ {
			own := f.lane(step)
			if own < 0 || !slices.IsSorted(f.Lanes[own]) || !p.Steps[step].forkable() {
				return fmt.Errorf("step %d is not to be in the fork from step %d on", step, f.First)
			}
			for _, w := range waits[step] {
				if w >= f.First && f.lane(w) != own {
					return fmt.Errorf("step %d waits for step %d in another lane", step, w)
				}
			}
		}
	}
	return nil
}
