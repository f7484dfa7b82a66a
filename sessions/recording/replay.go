package recording

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Replay shows a recording as a session shows a model: it publishes the snapshots that were recorded. Neither the
// model nor the device is needed. Its methods may be called from several goroutines, and none but At waits for the file.
type Replay struct {
	finished

	*film
	events chan *report.Snapshot
	wake   chan struct{}
	close  context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	snap *report.Snapshot
	at   int                     // the state that is shown
	want func() *report.Snapshot // what to show next
	seq  int                     // of published snapshots
}

// Open opens a recording and shows its last state. It reads what is there, even if the recording was cut short.
func Open(path string) (*Replay, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	r := &Replay{film: &film{file: f, reports: make([]readReport, len(report.Kinds()))}, events: make(chan *report.Snapshot, 1), wake: make(chan struct{}, 1), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	r.close = cancel
	err = r.index(ctx)
	if err == nil && len(r.has().steps) == 0 {
		err = errors.New("it was cut short before anything was recorded")
		if r.Writing() {
			err = errors.New("it is being written, and nothing was recorded yet: try again in a moment")
		}
	}
	if err != nil {
		cancel()
		f.Close()
		return nil, fmt.Errorf("recording %s: %w", path, damaged(err))
	}
	r.at = len(r.has().steps) - 1
	r.publish(r.load(r.at))
	go r.loop(ctx)
	return r, nil
}

// Events delivers the snapshots to show, as a session does.
func (r *Replay) Events() <-chan *report.Snapshot { return r.events }

// Snapshot returns what is shown.
func (r *Replay) Snapshot() *report.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snap
}

// Set shows the newest settled state of a configuration, or the newest at all. Where it was not recorded, what is shown
// stays and is marked as not belonging to it.
func (r *Replay) Set(cfg config.Config) {
	i := r.find(cfg)
	if i < 0 {
		r.show(func() *report.Snapshot { return r.missing(cfg) })
		return
	}
	r.move(i, func() *report.Snapshot {
		c := *r.load(i)
		c.Config = cfg
		return &c
	})
}

// missing returns what is shown, marked as that of another configuration.
func (r *Replay) missing(cfg config.Config) *report.Snapshot {
	c := *r.Snapshot()
	c.Config, c.Busy = cfg, nil
	c.Stale, c.Preview = report.Derived(), 0
	what := "was not recorded"
	if slices.ContainsFunc(r.has().tried, func(t report.RecordedConfig) bool { return t.Aside && t.Config.SameEngine(cfg, r.has().own) }) {
		what = "was measured beside others alone, and has no states"
	}
	c.Err = fmt.Sprintf("%s %s; the recording has %s", cfg.Label(r.has().own), what, strings.Join(r.names(), "; "))
	return &c
}

// Cancel does nothing: a replay does no work.
func (r *Replay) Cancel() {}

// Retime says that a replay does not measure.
func (r *Replay) Retime(string) { r.Rerun() }

// DropTimings says that a replay does not measure.
func (r *Replay) DropTimings(bool) { r.Rerun() }

// Rerun says that a replay does not measure.
func (r *Replay) Rerun() {
	r.show(func() *report.Snapshot {
		c := *r.Snapshot()
		c.Err = "a replay shows what was recorded; open the model to measure"
		return &c
	})
}

// Seek shows state i, counted from 0, or the nearest there is.
func (r *Replay) Seek(i int) {
	i = min(max(i, 0), len(r.has().steps)-1)
	r.move(i, func() *report.Snapshot { return r.load(i) })
}

// move shows state i as what returns it. The position changes at once, so that steps on from here count from it even
// while the state is read.
func (r *Replay) move(i int, what func() *report.Snapshot) {
	r.mu.Lock()
	r.at = i
	r.mu.Unlock()
	r.show(what)
}

// load reads state i, or says why it cannot be read.
func (r *Replay) load(i int) *report.Snapshot {
	snap, err := r.At(i)
	if err != nil {
		return unreadable(r.film, i, err)
	}
	return snap
}

// unreadable is shown in place of a state that cannot be read.
func unreadable(f *film, i int, err error) *report.Snapshot {
	at := f.Moment(i)
	return &report.Snapshot{Schema: report.Schema, Config: f.has().steps[i].Config, Replay: f.file.path, At: &at, Err: err.Error()}
}

// show has the loop publish a snapshot; a later wish takes the place of one that is still to be fulfilled.
func (r *Replay) show(what func() *report.Snapshot) {
	r.mu.Lock()
	r.want = what
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Replay) loop(ctx context.Context) {
	defer close(r.done)
	var look <-chan time.Time // for what is new
	if r.Writing() {
		tick := time.NewTicker(writeInterval)
		defer tick.Stop()
		look = tick.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-look:
			r.follow(ctx)
			if !r.Writing() {
				look = nil
			}
			continue
		case <-r.wake:
		}
		r.mu.Lock()
		what := r.want
		r.mu.Unlock()
		r.publish(what())
	}
}

// follow takes up what was recorded since: where the last state was shown, the new last one is. What cannot be read now is
// read the next time.
func (r *Replay) follow(ctx context.Context) {
	was := r.has()
	r.readMu.Lock()
	err := r.index(ctx)
	r.readMu.Unlock()
	now := r.has()
	grew := err == nil && now.steps[len(now.steps)-1].Seq != was.steps[len(was.steps)-1].Seq
	if err != nil || !grew && now.writing == was.writing {
		return
	}
	r.mu.Lock()
	at, snap := r.at, *r.snap
	r.mu.Unlock()
	moment := r.Moment(min(at, len(now.steps)-1))
	snap.At = &moment
	if at == len(was.steps)-1 && grew {
		last, err := r.At(len(now.steps) - 1)
		if err != nil { // it gave way to a newer one already
			return
		}
		snap = *last
		r.mu.Lock()
		r.at = len(now.steps) - 1
		r.mu.Unlock()
	}
	r.publish(&snap)
}

// publish shows a snapshot. Its number counts on, whatever it was in the recording, as readers expect of a session.
func (r *Replay) publish(s *report.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := *s
	r.seq++
	c.Seq = r.seq
	r.snap = &c
	select {
	case <-r.events:
	default:
	}
	r.events <- &c
}

// Close closes the file.
func (r *Replay) Close() error {
	r.close()
	<-r.done
	return r.file.Close()
}

// Position returns which state is shown, counted from 0.
func (r *Replay) Position() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// finished is asked for nothing more: a recording has a report or not, and what was recorded stays as it is.
type finished struct{}

// Ask does nothing.
func (finished) Ask(report.Parts) {}

// Beside does nothing.
func (finished) Beside([]config.Config) {}

// Study does nothing.
func (finished) Study(*report.Goal) {}

// Split does nothing.
func (finished) Split(string) {}

// Note does nothing.
func (finished) Note(string) {}
