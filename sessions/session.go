package sessions

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// Session is an opened model under a configuration that can be changed at any time. Its methods may be called from
// several goroutines; none of them waits for a stage.
type Session struct {
	stages    *stages
	events    chan *report.Snapshot
	recorder  atomic.Pointer[recording.Recorder] // nil while nothing is recorded
	unwritten atomic.Pointer[error]              // why the last recording ended by itself, until it is told

	mu     sync.Mutex
	snap   report.Snapshot    // the newest state; copied when it is published
	want   config.Config      // the configuration to work on
	todo   todo               // what to do besides, once
	asked  bool               // calibration was asked for
	timed  timed              // what was measured last, for a recording that begins later
	cancel context.CancelFunc // of the present work
	halted bool               // the present work was stopped, and nothing takes its place
	wake   chan struct{}      // there is something new to do
	close  context.CancelFunc
	done   chan struct{}

	reference *config.Config // the first that was measured to the end, beside which others are; only the loop uses it
	measured  bool           // the newest times are of a measurement that came to its end; only the loop uses it

	building string // the configuration that the log speaks of; only the loop reads it

	saidOfCache string // what the log has of the timing cache; only the loop uses it

	watching sync.WaitGroup // for the end of telemetry
}

// progressInterval is how often progress and live timings are published at most: ten times a second.
const progressInterval = 100 * time.Millisecond

// Live measurement after a change ends when the sample is large enough.
const (
	quickIterations = 20
	liveDuration    = 3 * time.Second
	liveIterations  = 200
)

// Open starts a session; it begins to work on the configuration at once. Close ends it.
func Open(m *Model, w Workplace, cfg config.Config) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{
		stages: newStages(m, w, nil),
		events: make(chan *report.Snapshot, 1), wake: make(chan struct{}, 1), done: make(chan struct{}),
		want: cfg, todo: todo{build: true}, close: cancel,
	}
	s.stages.progress, s.stages.log.write = s.progressed(), s.keepLine
	begun := key(cfg)
	s.stages.unknown = func(cfg config.Config, err error) error {
		if key(cfg) == begun { // as a file or flags have it; later ones are what toggles leave of it
			return err
		}
		s.log("warning", "", "%v", err)
		return nil
	}
	s.snap = report.Snapshot{Schema: report.Schema, Config: cfg, Device: deviceReport(w.Backend)}
	s.wake <- struct{}{}
	go s.loop(ctx)
	if m, ok := w.Backend.(run.Monitor); ok {
		s.watching.Add(1)
		go s.watch(ctx, m)
	}
	if m.changed != nil {
		s.watching.Add(1)
		go s.watchFiles(ctx)
	}
	return s
}

// Events delivers snapshots as they are published. Each is whole, so a reader who is slow gets the newest and misses
// those in between; the newest is never lost.
func (s *Session) Events() <-chan *report.Snapshot { return s.events }

// Snapshot returns the newest state.
func (s *Session) Snapshot() *report.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.snap
	return &c
}

// Rerun measures again with the configuration as it is. It ends a re-timing.
func (s *Session) Rerun() {
	s.mu.Lock()
	s.todo.retime = ""
	s.interrupt()
	s.mu.Unlock()
}

// Cancel stops what is being done. What has been made stays, and what has not stays stale until the configuration is set
// or Rerun begins again.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snap.Busy == nil || s.cancel == nil {
		return
	}
	s.halted, s.todo.retime = true, ""
	s.cancel()
}

// stopped says that work was stopped, unless something else is to be done instead. Times of a measurement that is not over
// stay live, as they are from one impression to the next.
func (s *Session) stopped() {
	s.mu.Lock()
	halted := s.halted
	s.mu.Unlock()
	if !halted {
		return
	}
	s.update(func(snap *report.Snapshot) {
		snap.Busy, snap.Retiming, snap.Stopped = nil, "", true
		if snap.Timings != nil && !snap.Stale.Has(report.PartTimings) && !s.measured {
			t := *snap.Timings
			t.Live = true
			snap.Timings = &t
		}
	})
	s.log("info", "", "stopped; what is stale belongs to an older configuration")
}

// interrupt makes the loop look at what is wanted; s.mu is held.
func (s *Session) interrupt() {
	s.halted, s.todo.build = false, true
	if s.cancel != nil {
		s.cancel()
	}
	s.awake()
}

// awake makes the loop look for what is to be done.
func (s *Session) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close stops the work and waits for it and for a recording to end.
func (s *Session) Close() {
	s.close()
	<-s.done
	s.watching.Wait()
	s.stages.release()
	if s.recorder.Load() != nil {
		_ = s.StopRecording() // an error has been logged
	}
}

// update changes the state and publishes it.
func (s *Session) update(change func(*report.Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.snap)
	s.record(s.deliver())
}

// record hands a snapshot to the recording, if there is one.
func (s *Session) record(c *report.Snapshot) {
	if r := s.recorder.Load(); r != nil {
		r.Snapshot(c)
	}
}

// deliver publishes a copy of the state, which it returns; s.mu is held.
func (s *Session) deliver() *report.Snapshot {
	s.snap.Seq++
	c := s.snap
	select {
	case <-s.events: // what nobody took is older
	default:
	}
	s.events <- &c
	return &c
}

// progressed returns the stages' progress function: at most one event in progressInterval, but each new phase at once.
func (s *Session) progressed() func(report.Progress) {
	var last time.Time
	var phase string
	left := forecast{}
	return func(p report.Progress) {
		p.Left = left.left(p, time.Now())
		if p.Phase == phase && time.Since(last) < progressInterval {
			return
		}
		last, phase = time.Now(), p.Phase
		s.update(func(snap *report.Snapshot) { snap.Busy = &p })
	}
}

// loop works on what is wanted until the session is closed.
func (s *Session) loop(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.mu.Lock()
		select {
		case <-s.wake: // what woke the loop once more is seen to here
		default:
		}
		cfg, once := s.want, s.todo
		s.todo = todo{}
		if !once.build && (s.snap.Err != "" || s.halted) { // there is nothing that calibrators could be compared beside
			s.mu.Unlock()
			continue
		}
		work, cancel := context.WithCancel(ctx)
		s.cancel = cancel
		s.mu.Unlock()
		err := s.guarded(work, cfg, once)
		cancel()
		if errors.Is(err, context.Canceled) {
			s.stopped()
			continue
		}
		if err != nil {
			s.logError(err)
		}
		s.update(func(snap *report.Snapshot) {
			snap.Config, snap.Busy, snap.Err = s.named(cfg), nil, ""
			switch {
			case err != nil:
				snap.Err = err.Error()
			case s.todo.calibrators:
				snap.Stale = report.PartCalibration
			default:
				snap.Stale = 0 // what the model has no data for is not awaited
			}
		})
	}
}

// guarded turns a panic, which is an error in the program, into an error that the log shows.
func (s *Session) guarded(ctx context.Context, cfg config.Config, once todo) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("internal error: %v\n%s", e, debug.Stack())
		}
	}()
	warn := func(text string) { s.log("warning", "", "%s", text) }
	return s.stages.surviving(ctx, cfg, warn, func() error {
		if !once.build {
			return s.compareCalibrators(ctx, cfg)
		}
		return s.work(ctx, cfg, once)
	})
}

// publish replaces reports that are up to date again.
func (s *Session) publish(parts report.Part, change func(*report.Snapshot)) {
	s.update(func(snap *report.Snapshot) {
		change(snap)
		snap.Stale &^= parts
	})
}
