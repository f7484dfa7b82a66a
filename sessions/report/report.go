// Package report is what a screen shows, as plain data: a [Snapshot] and the reports that it is made of, the document of a
// command, and their JSON. Screens draw reports, commands print them as text or JSON, a recording stores them and a replay
// shows them again without the model: all four from these types. Nothing here computes or reads anything. Start with
// report.go; parts.go declares what a snapshot is made of.
package report

import (
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Schema is the version of the reports' stored JSON form, in recordings. It grows when a field changes its meaning or
// goes away; a reader takes a field that is missing as one that was not known. The commands print another form:
// [MarshalOutput].
const Schema = 1

// Snapshot is all that is known at one moment. It never changes; a newer one takes its place. A report that has not
// been made yet is nil, and one that no longer fits Config is named in Stale.
type Snapshot struct {
	Seq         int           // counts up
	Schema      int           `output:"-"` // of the stored form
	Config      config.Config `output:"-"` // the head has it
	Model       *Model        `output:"network"`
	Passes      *Passes
	Overview    *Overview
	Timings     *Timings
	Memory      *Memory
	Calibration *Calibration
	Accuracy    *Accuracy
	Tactics     *Tactics
	Device      Device    `output:"-"` // the head has it
	Stale       Parts     // reports that are of an older configuration
	Busy        *Progress `json:",omitempty"`                // what is being done now
	Err         string    `json:",omitempty" output:"error"` // why the last run of the stages ended early
	Stopped     bool      `json:",omitempty"`                // by a person: Stale reports are not on their way
	Retiming    string    `json:",omitempty"`                // the layer whose tactics are being timed again
	Log         []LogLine `json:",omitempty"`                // the newest lines
	Changed     string    `json:"-" output:"-"`              // the model's file that is not any more what was read
	Recording   string    `json:",omitempty"`                // the file being written
	Replay      string    `json:",omitempty"`                // the file being shown
	At          *Moment   `json:",omitempty"`                // which of its states

	// Telemetry is the device's state, also while nothing else changes; nil where it does not tell.
	Telemetry *Telemetry `json:",omitempty"`
}

// Supersedes says that a later snapshot makes this one obsolete: it names what is superseded, for queues of events.
func (*Snapshot) Supersedes() string { return "snapshot" }

// Settled reports whether every report fits the configuration.
func (s *Snapshot) Settled() bool { return s.Seq > 0 && s.Stale == 0 && s.Timings != nil }

// Refused reports whether the model can only be looked at.
func (s *Snapshot) Refused() bool { return s.Model != nil && s.Model.NotRunnable != "" }

// Part is one report of a snapshot.
type Part uint16

// Parts is a set of reports.
type Parts = Part

// The reports.
const (
	PartModel Part = 1 << iota
	PartPasses
	PartOverview
	PartTimings
	PartMemory
	PartCalibration
	PartAccuracy
	PartTactics
	PartScore // accuracy without that of layers
)

// Has reports whether p is in the set.
func (s Part) Has(p Part) bool { return s&p != 0 }

// output returns the names of the parts in the set.
func (s Part) output() any {
	names := []string{}
	for _, p := range kinds {
		if s.Has(p.Part) {
			names = append(names, p.Name)
		}
	}
	return names
}

// LogLine is a message of a build or a run.
type LogLine struct {
	Time  time.Time
	Level string // "info", "warning", "error"
	Text  string
	Layer string `json:",omitempty"` // what it is about
}

// String is the line as commands print it.
func (l LogLine) String() string {
	text := l.Time.Format("15:04:05.000 ") + l.Level + ": "
	if l.Layer != "" {
		text += l.Layer + ": "
	}
	return text + strings.ReplaceAll(l.Text, "\n", "\n"+strings.Repeat(" ", len("15:04:05.000 ")))
}

// Device describes the backend.
type Device struct {
	Backend     string // "cpu"
	Device      string // the processor's name
	Threads     int    `json:",omitempty"`
	Fingerprint string
	Estimated   bool `json:",omitempty"` // times are a model's, not measured
}

// Telemetry is the state of the device, on backends that tell. Zero stands for what the device
// does not tell.
type Telemetry struct {
	Time        time.Time
	Clock       int      `json:",omitempty" unit:"mhz"`
	MemoryClock int      `json:",omitempty" unit:"mhz"`
	Power       float64  `json:",omitempty" unit:"w"`
	Temperature int      `json:",omitempty" unit:"c"`
	MemoryUsed  int64    `json:",omitempty" unit:"bytes"`
	MemoryTotal int64    `json:",omitempty" unit:"bytes"`
	Utilization int      `json:",omitempty" unit:"percent"`
	Throttle    []string `json:",omitempty"` // why the clocks are held down: "power", "thermal"
}
