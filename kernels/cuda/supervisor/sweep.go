package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"time"

	"github.com/trtui/trtui/internal/suite"
)

// Event is what happens in a sweep: one of these. A worker writes them, an object a line.
type Event struct {
	Head  json.RawMessage `json:"head,omitempty"` // what the command writes before all that follows, with Size
	Size  *Size           `json:"size,omitempty"` // what there is to do
	Begin *suite.Row      `json:"begin,omitempty"`
	Row   *suite.Row      `json:"row,omitempty"`
	Lost  bool            `json:"lost,omitempty"` // the device

	Launch bool `json:"launch,omitempty"` // the pair of the last Begin is compiled
}

// Size is how much a sweep has to do.
type Size struct {
	Pairs, Tactics int
	Estimated      bool // times are a simulator's
}

// Counts are what a sweep has done.
type Counts struct {
	Size
	Ran        int // pairs of a tactic and a layer
	TacticsRan int
	Failed     int
	Lost       int // how often the device was lost
}

// Sweep is a sweep over the pairs of a suite, with a new process, or in this one a new context, where the device was lost.
type Sweep struct {
	Counts

	// Worker returns a process that does the pairs from an index on, but for those of some tactics, and writes events; nil
	// if Check does it in this process.
	Worker func(from int, skip []string) Worker
	Check  func(ctx context.Context, from int, skip []string, event func(Event)) error

	Tell func(Event) // is told of the size, of each pair that begins and of what became of it, once Counts has them

	seen    map[string]bool // tactics
	pending *suite.Row      // the pair that is being checked
	last    suite.Row       // that was reported
	losses  map[string]int  // by tactic: how often it lost the device
}

// After so many failures in a row to get the device going again, with a pause before each, there is no device any more.
const (
	maxRestarts  = 3
	restartPause = time.Second
)

// maxLosses is how often a tactic may lose the device before it is left out: a new start takes seconds, and there are
// hundreds of layers.
const maxLosses = 2

// launchPatience is how long a kernel may take that is compiled.
const launchPatience = 15 * time.Second

// ErrNoDevice is what a worker ended with that did not get as far as its first event; it has said why.
var ErrNoDevice = errors.New("the device cannot be opened")

// Resume counts the rows of an earlier sweep, so that this one goes on behind them; other lines are left out.
func (s *Sweep) Resume(rows io.Reader) error {
	in := bufio.NewScanner(rows)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r suite.Row
		if json.Unmarshal(in.Bytes(), &r) == nil && r.Tactic != "" {
			s.count(r)
		}
	}
	return in.Err()
}

func (s *Sweep) count(r suite.Row) {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[r.Tactic] = true
	s.TacticsRan = len(s.seen)
	s.Ran++
	if !r.OK {
		s.Failed++
	}
}

// Run checks every pair.
func (s *Sweep) Run(ctx context.Context) error {
	s.losses = map[string]int{}
	restarts := 0
	for {
		from := s.Ran
		lost, err := s.some(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.pending != nil { // it did not come back from this one
			r := *s.pending
			r.Error = fmt.Sprintf("the process that ran it ended: %v", err)
			s.handle(Event{Row: &r})
			lost = true
		}
		if lost && s.Ran > from {
			s.losses[s.last.Tactic]++
		}
		switch {
		case !lost:
			return err
		case s.Ran > from:
			restarts = 0
		default:
			if restarts++; restarts > maxRestarts {
				return fmt.Errorf("the device does not start again: %w", errors.Join(err, suite.ErrLost))
			}
		}
		s.Lost++
		if s.Worker != nil {
			select {
			case <-time.After(restartPause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// some checks pairs until all are done or the device is lost.
func (s *Sweep) some(ctx context.Context) (lost bool, err error) {
	if s.Worker == nil {
		err = s.Check(ctx, s.Ran, s.skipped(), s.handle)
		return errors.Is(err, suite.ErrLost), err
	}
	w, opened := s.Worker(s.Ran, s.skipped()), false
	err = w.Run(ctx, func(line []byte) time.Duration {
		var e Event
		if json.Unmarshal(line, &e) != nil {
			return w.Patience // not the worker's, but some library's
		}
		opened = true
		lost = lost || e.Lost
		s.handle(e)
		if e.Launch {
			return min(w.Patience, launchPatience)
		}
		return w.Patience
	})
	switch {
	case err == nil:
	case opened || s.Lost > 0:
		lost = true
	case errors.As(err, new(*exec.ExitError)):
		err = ErrNoDevice
	}
	return lost, err
}

// skipped are the tactics to leave out, in order.
func (s *Sweep) skipped() []string {
	var list []string
	for _, tactic := range slices.Sorted(maps.Keys(s.losses)) {
		if s.losses[tactic] >= maxLosses {
			list = append(list, tactic)
		}
	}
	return list
}

func (s *Sweep) handle(e Event) {
	switch {
	case e.Size != nil:
		s.Size = *e.Size
	case e.Begin != nil:
		s.pending = e.Begin
	case e.Row != nil:
		s.pending, s.last = nil, *e.Row
		s.count(*e.Row)
	default:
		return
	}
	s.Tell(e)
}

// Check checks the pairs of a sweep from index from on, but for those of some tactics: a worker's side, or all of it in one
// process.
func Check(ctx context.Context, s *suite.Sweep, from, repetitions int, skip []string, event func(Event)) error {
	s.Skip = map[string]bool{}
	for _, tactic := range skip {
		s.Skip[tactic] = true
	}
	_, err := s.Run(ctx, min(from, s.Len()), repetitions, func(i int, launch bool) {
		if launch {
			event(Event{Launch: true})
			return
		}
		r := s.Pair(i)
		event(Event{Begin: &r})
	}, func(r suite.Row) { event(Event{Row: &r}) })
	return err
}

// Serve is a worker's side: it writes the events of check, which ends well where the device was lost, since that is one.
func Serve(w io.Writer, check func(event func(Event)) error) error {
	out := json.NewEncoder(w)
	var failure error
	write := func(e Event) { failure = errors.Join(failure, out.Encode(e)) }
	err := check(write)
	if errors.Is(err, suite.ErrLost) {
		write(Event{Lost: true})
		err = nil
	}
	return errors.Join(err, failure)
}
