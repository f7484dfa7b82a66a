package views

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/recordings"
)

// Controller is what the workbench stands in front of: a session, or the replay of a recording. Its methods return at
// once.
type Controller interface {
	Snapshot() *report.Snapshot
	// Events delivers snapshots as they are published; the newest is never lost.
	Events() <-chan *report.Snapshot
	// Set asks for another configuration.
	Set(config.Config)
	// Rerun asks for the measurements to be made again; it ends a re-timing.
	Rerun()
	// Cancel stops what is being done; what it would have made stays stale.
	Cancel()
	// Ask asks for reports where they are not made by themselves: that of calibration of models that bring their own
	// quantisation, the errors of FP32's own layers, and once what each rule is worth.
	Ask(report.Parts)
	// Beside asks for configurations to be measured side by side, and for the accuracy of each, once.
	Beside([]config.Config)
	// Retime asks for the tactics of a layer to be timed again.
	Retime(layer string)
	// Study asks for the sensitivity of layers, or with a goal for a search for the precision of each.
	Study(goal *report.Goal)
	// Split asks for the range of an axis to be measured beside its parts; of the widest axis where none is named.
	Split(axis string)
	// Note adds a line to the log, where one is kept.
	Note(text string)
	// DropTimings asks for the timing cache to forget what it has of other devices and builds, or all that it has.
	DropTimings(all bool)
}

// Recorder writes what a controller does to a file.
type Recorder interface {
	Record(path string) error
	StopRecording() error
}

// Options are what the workbench needs besides a controller.
type Options struct {
	Look *ui.Look
	Keys *ui.Keymap // nil: the usual keys
	// Set changes a setting of a configuration by its text; nil: as [config.Set] does, which knows the built-in calibrators alone.
	Set func(c config.Config, name, value string) (config.Config, error)
	// ReadOnly says that nothing can be changed: the controller does nothing that it is asked for.
	ReadOnly bool
	// Recorder is nil where nothing can be recorded, as in a replay.
	Recorder Recorder
	// SaveConfig writes a configuration to a file and returns its path; nil where none can be written.
	SaveConfig func(config.Config) (string, error)
	// SavePicture writes a picture to a new file with that extension and returns its path; nil where none can be written.
	SavePicture func(extension string, data []byte) (string, error)
	// Reload opens the model anew with a configuration and shows it in place of this one; nil where that cannot be done.
	Reload func(config.Config) tea.Cmd
	// Threads does that with so many worker threads, 0 for as many as processors; nil where that cannot be done.
	Threads func(n int, cfg config.Config) tea.Cmd
	// Requantise does that with the quantisation dropped that the model brings, or left where it was dropped; nil where that cannot
	// be done.
	Requantise func(config.Config) tea.Cmd
	// Back undoes what the model was opened anew for, once no change is left to undo; nil where it was for nothing that is undone.
	Back func(config.Config) tea.Cmd
	// Recordings is where new recordings are written and screen 9 looks for them; nil: nowhere.
	Recordings recordings.Folder
	// Open opens a recording; nil where that cannot be done.
	Open func(path string) tea.Cmd
	// Read reads a state of a recording, as screens name it, or its last that is complete where that is ""; nil where that cannot
	// be done. It may take a while.
	Read func(path, state string) (*report.Snapshot, error)
	// ReadFile reads a file that a person names, to be compared: a recording, or what another program wrote of an engine; nil where
	// files are not read. It may take a while.
	ReadFile func(name string) (*report.Snapshot, error)
	// CompleteFile returns the names that what was typed for ReadFile may go on to; nil: none are looked for. It may take a while.
	CompleteFile func(text string) []string
	// Live is the session in front of which a recording is shown; nil: there is none.
	Live *recordings.Live
	// Timeline is the controller of a replay, which has states to choose from; nil for a session.
	Timeline recordings.Timeline
	// TourSeen notes that the tour for those who are here for the first time was seen; nil: it is not shown.
	TourSeen func() error
	// Compared is what is compared at the start: A and B, or more, which a page of their own sets side by side; none: nothing is.
	Compared []pane.Mark
	// Subcommands are what the palette finds besides what the workbench does.
	Subcommands []Subcommand
	// Hint says which flag or command helps with a fact, "" where none does; nil: none ever.
	Hint func(pane.Fact) string
	// Now is the clock, and After gives a message after a time; nil: the system's.
	Now   func() time.Time
	Pace  time.Duration // the shortest time between two pictures; 0: none
	After func(time.Duration, tea.Msg) tea.Cmd
}

// hint says what helps with a fact; "" where nothing is known.
func (o *Options) hint(f pane.Fact) string {
	if o.Hint == nil {
		return ""
	}
	return o.Hint(f)
}
