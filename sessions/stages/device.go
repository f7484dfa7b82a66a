package stages

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// device is what engines are timed and run on.
type device struct {
	Backend run.Backend
	told    *Audience
	Busy    turn  // one measurement at a time
	wanted  int   // rounds of a measurement; 0: compare.Rounds
	more    More  // nil: no more than these
	unfiled error // why compiled code cannot be kept in files, once that was said

	ceilings ceilings
}

// ceilings are what the device reaches at most, as far as that was asked for and can be measured.
type ceilings struct {
	file  *build.PeaksFile // nil: nobody asks
	peaks []run.Peaks      // of one thread, and last of all; nil until they are known
	again bool             // they were measured once more
}

// Machine is what several sessions measure on, one at a time.
type Machine struct{ busy sync.Mutex }

// turn is held while something is measured: by one part of a session at a time, and by one session of those on a machine.
type turn struct {
	own     sync.Mutex
	machine *Machine // nil: nobody else measures on it
	told    *Audience
}

// Lock waits for the turn, and says so where another session has it.
func (t *turn) Lock() {
	t.own.Lock()
	if t.machine != nil && !t.machine.busy.TryLock() {
		t.told.Progress(report.Progress{Phase: "waiting: another session measures"})
		t.machine.busy.Lock()
	}
}

// Unlock gives the turn back.
func (t *turn) Unlock() {
	if t.machine != nil {
		t.machine.busy.Unlock()
	}
	t.own.Unlock()
}

// Estimated reports whether times are a model's: they do not vary, and nothing is measured.
func (d *device) Estimated() bool { return d.Backend.Info().Estimated }

// Profiling returns how long to measure: what was asked for, but once where times are estimates, which do not vary.
func (d *device) Profiling(p run.Profiling) run.Profiling {
	if d.Estimated() {
		return run.Profiling{Iterations: 1, PerStep: p.PerStep}
	}
	return p
}

// Rounds returns how many rounds a measurement has: one where times are estimates, which do not vary.
func (d *device) Rounds() int {
	if d.Estimated() {
		return 1
	}
	return cmp.Or(d.wanted, compare.Rounds)
}

// More says from the rounds of each engine that is measured beside others, and from how long all of them took, in how many rounds
// more they are to be measured; 0: in none.
type More func(rounds [][]report.Round, took time.Duration) int

// Alternate measures engines side by side: in the device's number of rounds, and in more of them where somebody wants more.
func (d *device) Alternate(ctx context.Context, lanes []*compare.Lane) error {
	begin, done := time.Now(), 0
	for n := d.Rounds(); n > 0; {
		err := compare.Alternate(ctx, lanes, n, func(round int) {
			d.told.Progress(report.Progress{Phase: d.Measuring(), Item: "rounds", Done: done + round, Total: done + n})
		})
		if err != nil {
			return err
		}
		done, n = done+n, 0
		if d.more != nil && !d.Estimated() {
			all := make([][]report.Round, len(lanes))
			for i, l := range lanes {
				all[i] = RoundsOf(l)
			}
			n = d.more(all, time.Since(begin))
		}
	}
	return nil
}

// Turn returns a round's part of a measurement.
func (d *device) Turn(p run.Profiling) run.Profiling { return d.Profiling(compare.Turn(p, d.Rounds())) }

// Measuring names what is done to get times: where there is no device, they are a cost model's.
func (d *device) Measuring() string {
	if d.Estimated() {
		return "estimating"
	}
	return "measuring"
}

// What a simulated device does in a second, about, and how much of it is worth a word before it begins.
const (
	simulatedFLOPs = 3e8
	longSimulation = 30 * time.Second
)

// WarnOfSimulation says beforehand how long a simulated device will be at work.
func (d *device) WarnOfSimulation(p *run.Plan) {
	if !d.Estimated() || d.told.Warned == nil {
		return
	}
	var flops int64
	for _, st := range p.Steps {
		flops += graph.FLOPs(st.Layer, p.Env())
	}
	if took := time.Duration(float64(flops) / simulatedFLOPs * 1e9); took > longSimulation {
		d.told.Warn(fmt.Sprintf("an inference is %.1f GFLOP, for which %s takes about %s; a smaller batch takes less",
			float64(flops)/1e9, d.Backend.Info().Name, took.Round(time.Second)))
	}
}
