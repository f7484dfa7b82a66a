package report

import "github.com/trtui/trtui/sessions/config"

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
	Runtime     *Runtime
	Generation  *Generation
	Sensitivity *Sensitivity `json:",omitempty"` // of the configuration that it names
	Search      *Search      `json:",omitempty"` // from the configuration that it names
	Ablation    *Ablation    `json:",omitempty"` // of the configuration that it names
	Split       *Split       `json:",omitempty"` // of the configuration that it names
	Columns     *Columns     `json:",omitempty"` // precisions side by side, of the configuration at hand when they were asked for
	Device      Device       `output:"-"`        // the head has it
	Stale       Parts        // reports that are of an older configuration, or not yet of this one as it will be
	Preview     Parts        `json:",omitempty"`                // those of Stale that are of this one quantised by what collecting found: what is found by trial is not yet
	Busy        *Progress    `json:",omitempty"`                // what is being done now
	Err         string       `json:",omitempty" output:"error"` // why the last run of the stages ended early
	Stopped     bool         `json:",omitempty"`                // by a person: Stale reports are not on their way
	Retiming    string       `json:",omitempty"`                // the layer whose tactics are being timed again
	Log         []LogLine    `json:",omitempty"`                // the newest lines
	Changed     string       `json:"-" output:"-"`              // the model's file that is not any more what was read
	ChangedHow  string       `json:"-" output:"-"`              // what has become of it: "changed on disk", "is gone"
	Recording   string       `json:",omitempty"`                // the file being written
	Unrecorded  string       `json:"-" output:"-"`              // why the last recording ended by itself; a new one makes it ""
	Replay      string       `json:",omitempty"`                // the file being shown

	// Tried is what came of all configurations of a recording, where one is exported.
	Tried []RecordedConfig `json:"-" output:"-"`

	At *Moment `json:",omitempty"` // which of its states

	// Final is what a recording has of the configuration in the end, of which this state may not know all; nil: nothing.
	Final *Point `json:"-" output:"-"`

	// Telemetry is the device's state, also while nothing else changes; nil where it does not tell.
	Telemetry *Telemetry `json:",omitempty"`
}

// Supersedes says that a later snapshot makes this one obsolete: it names what is superseded, for queues of events.
func (*Snapshot) Supersedes() string { return "snapshot" }

// Settled reports whether every report fits the configuration.
func (s *Snapshot) Settled() bool { return s.Seq > 0 && s.Stale == 0 && s.Timings != nil }

// Refused reports whether the model can only be looked at.
func (s *Snapshot) Refused() bool { return s.Model != nil && s.Model.NotRunnable != "" }

// Viewed says of which kind of another program's files the snapshot was read, "" where it is none: a description, with nothing to run.
func (s *Snapshot) Viewed() string {
	if s.Model == nil {
		return ""
	}
	return s.Model.Viewed
}

// Part is one report of a snapshot.
type Part uint64

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
	PartRuntime
	PartGeneration
	PartSensitivity
	PartSearch
	PartScore // accuracy without that of layers
	PartAblation
	PartColumns
	PartSplit
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

// Kind declares a report of a snapshot, for all who go through them: recordings and the names of those that are stale.
type Kind struct {
	Part Part
	Name string               // in files
	New  func() any           // an empty report, as a pointer
	Get  func(*Snapshot) any  // the report; nil where there is none
	Set  func(*Snapshot, any) // puts in one that New made

	// Tables are the statements of SQL that make the tables in which queries find the report of each configuration, beside its
	// JSON, and Rows makes their rows. The first column of each is the configuration, which rows leave out.
	Tables string
	Rows   func(*Snapshot, AddRow) error
}

// kinds are all there is to say of a report beside its type, its constant and its field.
var kinds = []Kind{
	kind(PartModel, "model", func(s *Snapshot) **Model { return &s.Model }),
	tabled(kind(PartPasses, "passes", func(s *Snapshot) **Passes { return &s.Passes }), passesTables, (*Passes).rows),
	kind(PartOverview, "overview", func(s *Snapshot) **Overview { return &s.Overview }),
	tabled(kind(PartTimings, "timings", func(s *Snapshot) **Timings { return &s.Timings }), timingsTables, (*Timings).rows),
	tabled(kind(PartMemory, "memory", func(s *Snapshot) **Memory { return &s.Memory }), memoryTables, (*Memory).rows),
	tabled(kind(PartCalibration, "calibration", func(s *Snapshot) **Calibration { return &s.Calibration }), calibrationTables, (*Calibration).rows),
	tabled(kind(PartAccuracy, "accuracy", func(s *Snapshot) **Accuracy { return &s.Accuracy }), accuracyTables, (*Accuracy).rows),
	tabled(kind(PartTactics, "tactics", func(s *Snapshot) **Tactics { return &s.Tactics }), tacticsTables, (*Tactics).rows),
	kind(PartRuntime, "runtime", func(s *Snapshot) **Runtime { return &s.Runtime }),
	kind(PartGeneration, "generation", func(s *Snapshot) **Generation { return &s.Generation }),
	kind(PartSensitivity, "sensitivity", func(s *Snapshot) **Sensitivity { return &s.Sensitivity }),
	kind(PartSearch, "search", func(s *Snapshot) **Search { return &s.Search }),
	kind(PartAblation, "ablation", func(s *Snapshot) **Ablation { return &s.Ablation }),
	kind(PartColumns, "columns", func(s *Snapshot) **Columns { return &s.Columns }),
	kind(PartSplit, "split", func(s *Snapshot) **Split { return &s.Split }),
}

// Kinds returns the reports that a snapshot can have.
func Kinds() []Kind { return kinds }

// Derived returns the reports that follow from a configuration: all but that of the model, and those that are made when they are
// asked for and name the configuration that they are of.
func Derived() (parts Parts) {
	for _, k := range kinds {
		parts |= k.Part
	}
	return parts &^ (PartModel | PartSensitivity | PartSearch | PartAblation | PartColumns | PartSplit)
}

// Made returns the reports that a snapshot has, fitting its configuration or not.
func (s *Snapshot) Made() (parts Parts) {
	for _, k := range kinds {
		if k.Get(s) != nil {
			parts |= k.Part
		}
	}
	return parts
}

// kind declares the report that stands in a field of snapshots.
func kind[T any](p Part, name string, field func(*Snapshot) **T) Kind {
	return Kind{
		Part: p, Name: name,
		New: func() any { return new(T) },
		Get: func(s *Snapshot) any {
			if r := *field(s); r != nil {
				return r
			}
			return nil
		},
		Set: func(s *Snapshot, r any) { *field(s) = r.(*T) },
	}
}

// tabled adds tables to a kind.
func tabled[T any](k Kind, tables string, rows func(*T, AddRow) error) Kind {
	k.Tables = tables
	k.Rows = func(s *Snapshot, add AddRow) error { return rows(k.Get(s).(*T), add) }
	return k
}
