package exchange

import (
	"sync"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Still shows a snapshot as a session shows a model, and it stays as it is: there is nothing behind it to run. Its methods may be
// called from several goroutines.
type Still struct {
	events chan *report.Snapshot

	mu   sync.Mutex
	snap *report.Snapshot
}

// NewStill returns what shows a snapshot.
func NewStill(s *report.Snapshot) *Still {
	still := &Still{events: make(chan *report.Snapshot, 1), snap: s}
	still.events <- s
	return still
}

// Snapshot returns what is shown.
func (s *Still) Snapshot() *report.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}

// Events delivers the snapshot, as a session does.
func (s *Still) Events() <-chan *report.Snapshot { return s.events }

// Set shows the same again, since there is no other configuration of it.
func (s *Still) Set(config.Config) { s.Rerun() }

// Rerun shows the same again.
func (s *Still) Rerun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := *s.snap
	c.Seq++
	s.snap = &c
	select {
	case <-s.events:
	default:
	}
	s.events <- &c
}

// Cancel does nothing: no work is done.
func (s *Still) Cancel() {}

// Ask does nothing: there is no model.
func (s *Still) Ask(report.Parts) {}

// Beside does nothing: there is no model.
func (s *Still) Beside([]config.Config) {}

// Study does nothing: there is no model.
func (s *Still) Study(*report.Goal) {}

// Split does nothing.
func (s *Still) Split(string) {}

// Retime does nothing: there is nothing to time.
func (s *Still) Retime(string) {}

// Note does nothing: no log is kept.
func (s *Still) Note(string) {}

// DropTimings does nothing: there is no timing cache.
func (s *Still) DropTimings(bool) {}
