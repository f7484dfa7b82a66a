package recording

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// film is what is in a recording: the states that a replay shows, and what they are made of. Its methods may be called from
// several goroutines.
type film struct {
	file *file
	held atomic.Pointer[contents] // as it was read last; of a file that is being written there will be more

	readMu  sync.Mutex
	reports []readReport // the newest of each part, as most snapshots share them
}

// contents is an index of a recording. It does not change.
type contents struct {
	steps   []step
	configs map[int64]config.Config
	tried   []report.RecordedConfig
	cut     bool
	writing bool
	lasted  time.Duration // from the start to the end, where it has one
	own     bool          // the model brings quantisation of its own
}

// has returns what is known to be in the recording.
func (f *film) has() *contents { return f.held.Load() }

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

// Tried returns the configurations of the recording with what came of each in the end, in the order of trial.
func (f *film) Tried() []report.RecordedConfig { return slices.Clone(f.has().tried) }

// CutShort reports whether the recording was not ended as it should: its writer was killed.
func (f *film) CutShort() bool { return f.has().cut && !f.has().writing }

// Writing reports whether the recording is still being written. Where the system does not tell, it is not.
func (f *film) Writing() bool { return f.has().writing }

// Path returns the recording's file.
func (f *film) Path() string { return f.file.path }

// Steps returns the states that were recorded, in order.
func (f *film) Steps() []report.Step {
	list := make([]report.Step, len(f.has().steps))
	for i, s := range f.has().steps {
		list[i] = s.Step
	}
	return list
}

// names lists the configurations of which there are states, the first few of them.
func (f *film) names() []string {
	const most = 8
	var list []string
	for _, c := range f.has().tried {
		if !c.Aside && !slices.Contains(list, c.Name) {
			if len(list) == most {
				return append(list, "...")
			}
			list = append(list, c.Name)
		}
	}
	return list
}
