package recording

import (
	"context"
	"encoding/json"
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
	file    *file
	steps   []step
	configs map[int64]config.Config
	tried   []report.RecordedConfig
	cut     bool
	lasted  time.Duration // from the start to the end, where it has one
	own     bool          // the model brings quantisation of its own
	events  chan *report.Snapshot
	wake    chan struct{}
	close   context.CancelFunc
	done    chan struct{}

	mu   sync.Mutex
	snap *report.Snapshot
	at   int                     // the state that is shown
	want func() *report.Snapshot // what to show next
	seq  int                     // of published snapshots

	readMu  sync.Mutex
	reports []readReport // the newest of each part, as most snapshots share them
}

// readReport is a decoded report with its row.
type readReport struct {
	id     int64
	report any
}

// step is one state with the row of its configuration.
type step struct {
	report.Step
	config int64
}

// Open opens a recording and shows its last state. It reads what is there, even if the recording was cut short.
func Open(path string) (*Replay, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	r := &Replay{file: f, reports: make([]readReport, len(report.Kinds())), events: make(chan *report.Snapshot, 1), wake: make(chan struct{}, 1), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	r.close = cancel
	err = r.index(ctx)
	if err == nil && len(r.steps) == 0 {
		err = errors.New("it was cut short before anything was recorded")
	}
	if err != nil {
		cancel()
		f.Close()
		return nil, fmt.Errorf("recording %s: %w", path, damaged(err))
	}
	r.at = len(r.steps) - 1
	r.publish(r.load(r.at))
	go r.loop(ctx)
	return r, nil
}

// index reads the configurations and what states there are.
func (r *Replay) index(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	r.configs = map[int64]config.Config{}
	rows, err := r.file.conn.QueryContext(ctx, "SELECT id, substr(config, 1, 65536) FROM configs ORDER BY id LIMIT ?", maxConfigs)
	if err != nil {
		return err
	}
	_, err = scanAll(rows, func(scan func(...any) error) (struct{}, error) {
		var id int64
		var text string
		if err := scan(&id, &text); err != nil {
			return struct{}{}, err
		}
		var c config.Config
		err := json.Unmarshal([]byte(text), &c)
		r.configs[id] = c
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	rows, err = r.file.conn.QueryContext(ctx, "SELECT seq, substr(time, 1, 64), config, settled FROM snapshots ORDER BY seq LIMIT ?", maxStates)
	if err != nil {
		return err
	}
	r.steps, err = scanAll(rows, func(scan func(...any) error) (s step, err error) {
		var at string
		if err = scan(&s.Seq, &at, &s.config, &s.Settled); err != nil {
			return s, err
		}
		s.Config = r.configs[s.config]
		s.Time, err = time.Parse(time.RFC3339Nano, at)
		return s, err
	})
	if err == nil {
		err = r.file.conn.QueryRowContext(ctx, "SELECT count(*) = 0 FROM session WHERE ended <> ''").Scan(&r.cut)
	}
	if err == nil {
		err = r.begun(ctx)
	}
	if err == nil {
		r.own, err = r.file.quantized(ctx)
	}
	if err == nil {
		r.tried, err = r.file.configs(ctx, r.own)
	}
	if err == nil {
		err = r.timings(ctx)
	}
	return err
}

// maxTimingsRead is of how many configurations the times are compared by more than their medians.
const maxTimingsRead = 32

// timings reads the newest report of times of each configuration. One that cannot be read is left out: its state says why.
func (r *Replay) timings(ctx context.Context) error {
	part := slices.IndexFunc(report.Kinds(), func(k report.Kind) bool { return k.Part == report.PartTimings })
	for i := range r.tried[:min(len(r.tried), maxTimingsRead)] {
		c := &r.tried[i]
		var id int64
		err := r.file.conn.QueryRowContext(ctx, "SELECT report FROM shown JOIN snapshots USING (seq) WHERE config = ? AND settled AND part = ? ORDER BY seq DESC LIMIT 1", c.ID, report.Kinds()[part].Name).Scan(&id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if one, err := r.report(ctx, part, id); err == nil {
			whole := one.(*report.Timings)
			c.Timings = &report.Timings{EndToEnd: whole.EndToEnd, MedianLow: whole.MedianLow, MedianHigh: whole.MedianHigh, Beside: whole.Beside, Estimated: whole.Estimated}
		}
	}
	return nil
}

// begun counts the states' times from when the recording began.
func (r *Replay) begun(ctx context.Context) error {
	var text, ended string
	if err := r.file.conn.QueryRowContext(ctx, "SELECT substr(started, 1, 64), coalesce(substr(ended, 1, 64), '') FROM session LIMIT 1").Scan(&text, &ended); err != nil {
		return err
	}
	start, err := time.Parse(time.RFC3339Nano, text)
	for i := range r.steps {
		r.steps[i].After = max(0, r.steps[i].Time.Sub(start))
	}
	if end, bad := time.Parse(time.RFC3339Nano, ended); bad == nil {
		r.lasted = end.Sub(start)
	}
	return err
}

// Tried returns the configurations of the recording with what came of each in the end, in the order of trial.
func (r *Replay) Tried() []report.RecordedConfig { return slices.Clone(r.tried) }

// CutShort reports whether the recording was not ended as it should: its writer was killed, or is still at it.
func (r *Replay) CutShort() bool { return r.cut }

// Path returns the recording's file.
func (r *Replay) Path() string { return r.file.path }

// Steps returns the states that were recorded, in order.
func (r *Replay) Steps() []report.Step {
	list := make([]report.Step, len(r.steps))
	for i, s := range r.steps {
		list[i] = s.Step
	}
	return list
}

// At reads state i, counted from 0. The snapshot is the one that was recorded, with Replay and At set.
func (r *Replay) At(i int) (*report.Snapshot, error) {
	if err := r.check(i); err != nil {
		return nil, err
	}
	r.readMu.Lock()
	defer r.readMu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	snap, err := r.read(ctx, r.steps[i].Seq)
	if err != nil {
		return nil, fmt.Errorf("recording %s: state %d: %w", r.file.path, i+1, damaged(err))
	}
	at := r.Moment(i)
	snap.At = &at
	return snap, nil
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

// find returns the state that shows a configuration best, or -1.
func (r *Replay) find(cfg config.Config) int {
	best, same := -1, map[int64]bool{}
	for id, c := range r.configs {
		same[id] = c.SameEngine(cfg, r.own)
	}
	for i, s := range r.steps {
		if same[s.config] && (best < 0 || s.Settled || !r.steps[best].Settled) {
			best = i
		}
	}
	return best
}

// missing returns what is shown, marked as that of another configuration.
func (r *Replay) missing(cfg config.Config) *report.Snapshot {
	c := *r.Snapshot()
	c.Config, c.Busy = cfg, nil
	c.Stale = report.Derived()
	c.Err = fmt.Sprintf("%s was not recorded; the recording has %s", cfg.Label(r.own), strings.Join(r.names(), "; "))
	return &c
}

// names lists the recorded configurations, the first few of them.
func (r *Replay) names() []string {
	const most = 8
	var list []string
	for _, c := range r.tried {
		if !slices.Contains(list, c.Name) {
			if len(list) == most {
				return append(list, "...")
			}
			list = append(list, c.Name)
		}
	}
	return list
}

// Cancel does nothing: a replay does no work.
func (r *Replay) Cancel() {}

// Retime says that a replay does not measure.
func (r *Replay) Retime(string) { r.Rerun() }

// Calibrate does nothing: a recording has the report or not.
func (r *Replay) Calibrate() {}

// Note does nothing: what was recorded stays as it is.
func (r *Replay) Note(string) {}

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
	i = min(max(i, 0), len(r.steps)-1)
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
		return r.unreadable(i, err)
	}
	return snap
}

func (r *Replay) unreadable(i int, err error) *report.Snapshot {
	at := r.Moment(i)
	return &report.Snapshot{Schema: report.Schema, Config: r.steps[i].Config, Replay: r.file.path, At: &at, Err: err.Error()}
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
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		r.mu.Lock()
		what := r.want
		r.mu.Unlock()
		r.publish(what())
	}
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
