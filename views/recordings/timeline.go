package recordings

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
)

// Timeline is a controller that can go back and forth in time, as a replay can. States count from 0. Its methods
// return at once.
type Timeline interface {
	// Steps returns the states that there are, in order.
	Steps() []report.Step
	// Position returns which of them is shown.
	Position() int
	// CutShort reports whether the last state is not one at which somebody stopped.
	CutShort() bool
	// Writing reports whether there will be more states.
	Writing() bool
	// Seek shows state i, or the nearest there is.
	Seek(i int)
	// Moment describes state i.
	Moment(i int) report.Moment
	// Tried returns the configurations that there are with what came of each in the end.
	Tried() []report.RecordedConfig
}

// Folder is where recordings are kept.
type Folder interface {
	String() string
	// Names tells quickly which recordings there are: it changes where one appears or goes.
	Names() string
	// List sums the recordings up, newest first.
	List() ([]*report.Recording, error)
	// New returns the path of a new recording, named after its model and when it begins.
	New(model string, begins time.Time) (path string, err error)
}

// Live is a session that waits, at work, behind the replay of a recording.
type Live struct {
	Snapshot func() *report.Snapshot
	Return   tea.Cmd // shows it again
}
