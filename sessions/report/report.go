// Package report is what a screen shows, as plain data: a [Snapshot] and the reports that it is made of, the document of a
// command, and their JSON. Screens draw reports, commands print them as text or JSON, a recording stores them and a replay
// shows them again without the model: all four from these types. Nothing here computes or reads anything. Start with
// snapshot.go, which declares what a snapshot is made of.
package report

import (
	"strings"
	"time"
)

// Schema is the version of the reports' stored JSON form, in recordings. It grows when a field changes its meaning or
// goes away; a reader takes a field that is missing as one that was not known. The commands print another form:
// [MarshalOutput].
const Schema = 1

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
	Processors  int    `json:",omitempty"` // that the host has, of which Threads are used; 0: not known
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
