package sessions

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// device is what engines are timed and run on.
type device struct {
	backend run.Backend
	told    *audience
	busy    turn  // one measurement at a time
	wanted  int   // rounds of a measurement; 0: compare.Rounds
	unfiled error // why compiled code cannot be kept in files, once that was said
}

// Machine is what several sessions measure on, one at a time.
type Machine struct{ busy sync.Mutex }

// turn is held while something is measured: by one part of a session at a time, and by one session of those on a machine.
type turn struct {
	own     sync.Mutex
	machine *Machine // nil: nobody else measures on it
	told    *audience
}

// Lock waits for the turn, and says so where another session has it.
func (t *turn) Lock() {
	t.own.Lock()
	if t.machine != nil && !t.machine.busy.TryLock() {
		t.told.progress(report.Progress{Phase: "waiting: another session measures"})
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

// estimated reports whether times are a model's: they do not vary, and nothing is measured.
func (d *device) estimated() bool { return d.backend.Info().Estimated }

// profiling returns how long to measure: what was asked for, but once where times are estimates, which do not vary.
func (d *device) profiling(p run.Profiling) run.Profiling {
	if d.estimated() {
		return run.Profiling{Iterations: 1, PerStep: p.PerStep}
	}
	return p
}

// rounds returns how many rounds a measurement has: one where times are estimates, which do not vary.
func (d *device) rounds() int {
	if d.estimated() {
		return 1
	}
	return cmp.Or(d.wanted, compare.Rounds)
}

// turn returns a round's part of a measurement.
func (d *device) turn(p run.Profiling) run.Profiling { return d.profiling(compare.Turn(p, d.rounds())) }

// measuring names what is done to get times: where there is no device, they are a cost model's.
func (d *device) measuring() string {
	if d.estimated() {
		return "estimating"
	}
	return "measuring"
}

// What a simulated device does in a second, about, and how much of it is worth a word before it begins.
const (
	simulatedFLOPs = 3e8
	longSimulation = 30 * time.Second
)

// warnOfSimulation says beforehand how long a simulated device will be at work.
func (d *device) warnOfSimulation(p *run.Plan) {
	if !d.estimated() || d.told.warned == nil {
		return
	}
	var flops int64
	for _, st := range p.Steps {
		flops += graph.FLOPs(st.Layer, p.Env())
	}
	if took := time.Duration(float64(flops) / simulatedFLOPs * 1e9); took > longSimulation {
		d.told.warn(fmt.Sprintf("an inference is %.1f GFLOP, for which %s takes about %s; a smaller batch takes less",
			float64(flops)/1e9, d.backend.Info().Name, took.Round(time.Second)))
	}
}
