package report

// Kind declares a report of a snapshot, in one place for all who go through them: recordings, which have a column for each,
// and the names of those that are stale.
type Kind struct {
	Part Part
	Name string
	New  func() any           // an empty report, as a pointer
	Get  func(*Snapshot) any  // the report; nil where there is none
	Set  func(*Snapshot, any) // puts in one that New made
}

// kinds are in the order of the columns of recordings.
var kinds = [...]Kind{
	kind(PartModel, "model", func(s *Snapshot) **Model { return &s.Model }),
	kind(PartPasses, "passes", func(s *Snapshot) **Passes { return &s.Passes }),
	kind(PartOverview, "overview", func(s *Snapshot) **Overview { return &s.Overview }),
	kind(PartTimings, "timings", func(s *Snapshot) **Timings { return &s.Timings }),
	kind(PartMemory, "memory", func(s *Snapshot) **Memory { return &s.Memory }),
	kind(PartCalibration, "calibration", func(s *Snapshot) **Calibration { return &s.Calibration }),
	kind(PartAccuracy, "accuracy", func(s *Snapshot) **Accuracy { return &s.Accuracy }),
	kind(PartTactics, "tactics", func(s *Snapshot) **Tactics { return &s.Tactics }),
}

// NumKinds is how many reports a snapshot can have.
const NumKinds = len(kinds)

// Kinds returns the reports that a snapshot can have.
func Kinds() []Kind { return kinds[:] }

// Derived returns the reports that follow from a configuration: all but that of the model.
func Derived() (parts Parts) {
	for _, k := range kinds {
		parts |= k.Part
	}
	return parts &^ PartModel
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
