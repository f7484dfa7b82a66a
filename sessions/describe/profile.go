package describe

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Profiles describes the profiles of an engine, each by its first plan.
func Profiles(e *run.Engine) []report.Profile {
	var list []report.Profile
	for i, of := range e.Profiles {
		for _, p := range e.Plans {
			if p.Profile == i {
				list = append(list, report.Profile{Name: of.Name, Shapes: of.Shapes, MinShapes: of.Min, MaxShapes: of.Max,
					Steps: len(p.Steps), ArenaBytes: p.Memory.Peak, IOBytes: p.Memory.IO})
				break
			}
		}
	}
	return list
}
