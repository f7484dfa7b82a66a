package build

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// tuner prices candidates by running them.
type tuner struct {
	ctx        context.Context
	backend    run.Backend
	target     string // the backend's fingerprint: to ask for it may take a while
	stream     kernels.Stream
	cache      *TimingCache
	choices    TacticChoices
	progress   func(Timing)
	timing     Timing                   // the measurement that began last
	inputs     []buffer                 // of measurements, from one to the next
	sweep      *buffer                  // what is written to empty the device's cache; nil: not asked for yet
	outputs    []buffer                 // and the workspace, behind them
	pass       int                      // over all layers; in each, what is open is measured once
	trials     map[CacheEntry]*trial    // what was measured in this build
	failed     map[CacheEntry]error     // what could not be measured, which may be for want of memory: it is not tried again
	last       *occasion                // measured last
	lastBefore *occasion                // measured last before this pass
	tactics    map[string][]string      // by layer, all that match
	best       map[string]time.Duration // by layer, of all tactics measured before this pass
	open       map[string]bool          // layers whose tactics are to be measured in this pass, those measured before too
	remeasure  []string                 // layers for which the cache counts only as far as this tuner filled it
	wanted     []candidate              // twins that the present pass found worth a time: the next one has it
	admitted   map[CacheEntry]bool      // those, and of earlier passes
	early      bool                     // the present pass met twins that were not considered yet
	lost       error                    // after which the device does nothing
}

// Measurement: a tactic is launched until its warm-up time has passed, then in rounds of as many launches as take
// roundTime. The fastest round counts: what else the machine does only adds to the others.
const (
	warmUp    = 200 * time.Microsecond
	rounds    = 5
	roundTime = 100 * time.Microsecond
	maxRound  = 200
)

// guess prices a tactic without running it.
func (t *tuner) guess(b kernels.Binding, tac kernels.Tactic, rank int) (run.Price, error) {
	p, err := run.BestGuess(b, tac, rank)
	if r := t.choices.Reason(b.Layer.Name, tac.Name); r != "" && err == nil {
		err = errors.New(r)
	}
	return p, err
}

// failure is the reason not to use a tactic that could not be measured. A device that is lost ends the tuning: no tactic after
// it could be measured either.
func (t *tuner) failure(b kernels.Binding, tac kernels.Tactic, err error) error {
	if r, ok := t.backend.(run.Recoverer); ok && r.Lost(err) && t.lost == nil {
		t.lost = fmt.Errorf("layer %s: tactic %s, which can be forbidden: %w", b.Layer.Name, tac.Name, err)
	}
	return fmt.Errorf("%w: %w", run.ErrFailed, err)
}

// compile binds what is to be measured, several tactics at a time, and lets go of it: a backend that compiles remembers the
// code, so that what follows is not held up by its compiler. Errors are met again when the tactic is measured.
func (t *tuner) compile(list []candidate, progress func(done, total int)) error {
	var mu sync.Mutex
	done := 0
	return run.Parallel(t.ctx, len(list), runtime.GOMAXPROCS(0), func(i int) error {
		if k, err := run.BindTactic(list[i].tactic, list[i].binding); err == nil {
			_ = kernels.Close(k) // it was never launched
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(done, len(list))
		}
		return nil
	})
}

// signature names all that a kernel's time depends on, and nothing else: weights count by their form alone.
func signature(b kernels.Binding) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s", b.Layer.Op.Name, graph.FormatAttrs(b.Layer.Attrs))
	if b.Layer.Epilogue.Args > 0 {
		fmt.Fprintf(&s, " | %s", b.Layer.Epilogue)
	}
	for i, d := range b.In {
		t := b.Layer.Inputs[i]
		switch {
		case t == nil:
			s.WriteString(" -")
			continue
		case b.Consts[i] != nil:
			s.WriteString(" const")
		}
		fmt.Fprintf(&s, " %s%s", d, rangeForm(t.Range))
	}
	s.WriteString(" ->")
	for i, d := range b.Out {
		fmt.Fprintf(&s, " %s%s", d, rangeForm(b.Layer.Outputs[i].Range))
	}
	return s.String()
}

// rangeForm tells apart the kinds of quantisation that kernels treat differently.
func rangeForm(r numeric.Range) string {
	switch {
	case !r.IsSet():
		return ""
	case slices.ContainsFunc(r.Zero, func(z int32) bool { return z != 0 }):
		return "*zero"
	}
	return "*"
}

// measure runs the tactic on random data and returns the time of a launch, how far the rounds lay apart, and what the
// kernel says about itself.
func (t *tuner) measure(b kernels.Binding, tac kernels.Tactic) (d time.Duration, spread float64, note string, err error) {
	k, err := run.BindTactic(tac, b)
	if err != nil {
		return 0, 0, "", err
	}
	defer kernels.Close(k)
	constants, err := run.Place(t.backend, k)
	if err != nil {
		return 0, 0, "", err
	}
	defer t.backend.Free(constants)
	d, spread, err = t.launched(b, tac, k, constants)
	return d, spread, kernels.Note(k), err
}

// launched times a kernel whose constants are in their place, from which they are copied to others.
func (t *tuner) launched(b kernels.Binding, tac kernels.Tactic, k kernels.Kernel, constants kernels.Mem) (fastest time.Duration, spread float64, err error) {
	var in, out []kernels.Mem
	var scratch kernels.Mem
	for i, d := range b.In {
		var m kernels.Mem
		if b.Layer.Inputs[i] != nil && b.Consts[i] == nil {
			if m, err = t.input(len(in), d); err != nil {
				return 0, 0, err
			}
		}
		in = append(in, m)
	}
	for _, d := range b.Out {
		m, err := t.memory(&t.outputs, len(out), d.Span())
		if err != nil {
			return 0, 0, err
		}
		out = append(out, m)
	}
	if tac.Workspace != nil {
		if scratch, err = t.memory(&t.outputs, len(b.Out), tac.Workspace(b)); err != nil {
			return 0, 0, err
		}
	}
	return t.clock(func() error { return run.LaunchKernel(k, t.stream, in, out, scratch) }, t.cold(k, constants))
}

// clock returns the time of one call by the fastest round, and by what share of it the median round took longer. With cold it
// finds constants out of the device's cache. When ctx ends nothing more is launched.
func (t *tuner) clock(kernel func() error, cold *cold) (fastest time.Duration, spread float64, err error) {
	launch := func() error {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		return kernel()
	}
	timed := func(work func() error) (time.Duration, error) {
		a := t.stream.Record()
		if err := work(); err != nil {
			return 0, err
		}
		z := t.stream.Record()
		if err := t.stream.Wait(); err != nil {
			return 0, err
		}
		d := t.stream.Elapsed(a, z)
		return d, t.stream.Wait() // an error of the marks
	}
	first, err := timed(launch)
	if err != nil {
		return 0, 0, err
	}
	for spent := first; spent < warmUp; {
		if first, err = timed(launch); err != nil {
			return 0, 0, err
		}
		spent += max(first, time.Microsecond)
	}
	n := min(maxRound, max(1, int(roundTime/max(first, 1))))
	each, before := launch, func() error { return nil }
	if cold != nil {
		defer cold.close()
		if err := cold.copy(n); err != nil {
			return 0, 0, err
		}
		each = func() error { cold.next(); return launch() }
		before = func() error { return cold.empty(launch) }
	}
	round, err := t.round(each, n)
	if err != nil {
		return 0, 0, err
	}
	defer round.Close()
	var times []time.Duration
	for range rounds {
		if err := before(); err != nil {
			return 0, 0, err
		}
		d, err := timed(round.Launch)
		if err != nil {
			return 0, 0, err
		}
		times = append(times, d/time.Duration(n))
	}
	slices.Sort(times)
	fastest = max(times[0], 1)
	return fastest, float64(times[rounds/2]-times[0]) / float64(fastest), nil
}

// round returns n launches as one: a graph where the stream captures, so that a device is not waiting for the host between
// launches that take it less time than that.
func (t *tuner) round(launch func() error, n int) (kernels.Graph, error) {
	all := func() error {
		for range n {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	}
	if c, ok := t.stream.(kernels.Capturer); ok {
		return c.Capture(all)
	}
	return oneByOne(all), nil
}

// oneByOne is a graph of work that is launched when it is its turn.
type oneByOne func() error

func (f oneByOne) Launch() error { return f() }
func (f oneByOne) Close() error  { return nil }
