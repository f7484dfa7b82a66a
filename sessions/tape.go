package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// tape records what a board shows, and the samples beside it.
type tape struct {
	board     *board
	program   string
	quantized bool                  // the model brings quantisation of its own
	unwritten atomic.Pointer[error] // why the last recording ended by itself, until it is told
	timed     timed                 // what was measured last, for a recording that begins later; the board's mutex is for it
	beside    []*report.Snapshot    // what was measured beside what is shown, for the same; the newest of each configuration
}

// timed is a measurement: its samples and their configuration.
type timed struct {
	cfg     config.Config
	samples *describe.Times
}

// begin begins to write what the session does to a new file, from the present state on.
func (t *tape) begin(path string) error {
	if r := t.board.recorder.Load(); r != nil {
		return fmt.Errorf("already recording to %s", r.Path())
	}
	r, err := recording.Create(path, t.program, t.quantized)
	if err != nil {
		return err
	}
	t.unwritten.Store(nil)
	if !t.start(r) {
		return errors.Join(errors.New("already recording"), r.Discard())
	}
	t.board.log("info", "", "recording to %s", path)
	t.board.update(func(snap *report.Snapshot) { snap.Recording, snap.Unrecorded = path, "" })
	r.OnFailure(func(err error) { t.failed(r, err) }) // at once, where it has failed
	return nil
}

// end closes the file; it waits for that.
func (t *tape) end(closeFile func(*recording.Recorder) error) error {
	r := t.board.recorder.Swap(nil)
	if r == nil {
		return cmp.Or(t.err(), errors.New("nothing is being recorded"))
	}
	err := closeFile(r)
	t.board.update(func(snap *report.Snapshot) { snap.Recording = "" })
	return err
}

// err returns why the last recording ended by itself, nil where it did not.
func (t *tape) err() error {
	if err := t.unwritten.Load(); err != nil {
		return *err
	}
	return nil
}

// failed ends a recording that cannot be written.
func (t *tape) failed(r *recording.Recorder, err error) {
	t.unwritten.Store(&err)
	if t.board.recorder.CompareAndSwap(r, nil) {
		reason := err.Error()
		if w := new(recording.WriteError); errors.As(err, &w) {
			reason = w.Reason()
		}
		t.board.update(func(snap *report.Snapshot) { snap.Recording, snap.Unrecorded = "", reason })
	}
	t.board.log("error", "", "%v", err)
}

// start hands everything over to a recorder from now on, and the samples that the session has. It reports
// whether there was no other one.
func (t *tape) start(r *recording.Recorder) bool {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	if !t.board.recorder.CompareAndSwap(nil, r) {
		return false
	}
	if t.timed.samples != nil {
		k := t.timed.cfg.Key(t.quantized)
		for sample := range t.timed.samples.All() {
			r.Sample(k, t.timed.cfg, sample)
		}
	}
	for _, snap := range t.beside {
		r.Snapshot(snap)
	}
	return true
}

// maxBeside is of how many configurations what was measured beside what is shown is kept.
const maxBeside = 16

// keep takes what was found of a configuration that is measured beside the one that is shown, for the recording that there is, or that
// begins later.
func (t *tape) keep(snap *report.Snapshot) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	whole := *snap
	whole.Seq, whole.Log = max(1, t.board.snap.Seq), t.board.snap.Log
	t.beside = slices.DeleteFunc(t.beside, func(o *report.Snapshot) bool { return o.Config.SameEngine(snap.Config, t.quantized) })
	t.beside = append(t.beside[max(0, len(t.beside)-maxBeside+1):], &whole)
	t.board.record(&whole)
}

// sampler returns what adds a configuration's samples to its timings and, while there is one, to the recording.
func (t *tape) sampler(cfg config.Config, all *describe.Times) func(run.Sample) {
	t.board.mu.Lock()
	t.timed = timed{cfg, all}
	t.board.mu.Unlock()
	return t.adder(cfg, all)
}

// adder is sampler for a configuration that is measured besides.
func (t *tape) adder(cfg config.Config, all *describe.Times) func(run.Sample) {
	k := cfg.Key(t.quantized)
	return func(sample run.Sample) {
		t.board.mu.Lock()
		defer t.board.mu.Unlock()
		all.Add(sample)
		if r := t.board.recorder.Load(); r != nil {
			r.Sample(k, cfg, sample)
		}
	}
}
