package report

import (
	"fmt"

	"github.com/trtui/trtui/sessions/config"
)

// Counts says how much there is to run, from the source network to the device. Each number is counted here and nowhere
// else, under the one name that screens and commands have for it:
//
//   - A source layer is a layer of the model as it was imported.
//   - An engine layer is a layer of the network after all passes. Passes and ledger are about these two; what passes
//     save is Source - Engine - Known.
//   - A step is an entry of the plan, in order of execution: an engine layer, or a reformat that the plan put between
//     two layers whose tactics want different formats. Timings and memory are about steps. Steps = Engine + Reformats.
//     Layers that only extents decide, as of shapes, have no step: Known counts them, and Engine does not.
//   - A launch is a step that has the device do something; the others only arrange memory, as a view of other bytes or a
//     concatenation of parts that lie in their place already do. Steps = Launches + Once + InMemory. What a tactic makes of one
//     launch, as two kernels for a product whose depth is split, is the tactic's business.
//
// Layers inside an If, a Loop or a Scan count once each, however often they run; the layer around them launches nothing itself.
type Counts struct {
	Launches  int `json:"Layers"`
	Source    int `output:"source_layers"` // 0 of an engine that does not hold its source network
	Engine    int `output:"engine_layers"` // with the following, 0 in recordings of older programs
	Known     int `json:",omitempty" output:"layers_of_extents"`
	Reformats int
	Steps     int
	InMemory  int `output:"steps_in_memory"`
	Once      int `json:",omitempty" output:"steps_once_a_shape"` // launched in the first execution at a shape alone
}

// Text tells how the launches come about: "28 launches = 26 engine layers + 4 reformats - 2 in memory".
func (c Counts) Text() string {
	text := config.CountOf(c.Launches, "launch", "launches")
	if sum := c.Sum(); sum != "" {
		text += " = " + sum
	}
	return text
}

// Of tells of how many layers the launches are what passes and plan made: "of 65 source layers".
func (c Counts) Of() string {
	if c.Source == 0 && c.Engine > 0 {
		return "of source layers that are not in the engine"
	}
	return "of " + config.CountOf(c.Source, "source layer", "source layers")
}

// Sum is what the launches are made of: "30 engine layers - 4 that extents decide + 4 reformats - 2 in memory"; empty where that is not known.
func (c Counts) Sum() string {
	if c.Steps == 0 {
		return ""
	}
	text := config.CountOf(c.Engine+c.Known, "engine layer", "engine layers")
	if c.Known > 0 {
		text += fmt.Sprintf(" - %d that extents decide", c.Known)
	}
	if c.Reformats > 0 {
		text += " + " + config.CountOf(c.Reformats, "reformat", "reformats")
	}
	if c.Once > 0 {
		text += fmt.Sprintf(" - %d once a shape", c.Once)
	}
	if c.InMemory > 0 {
		text += fmt.Sprintf(" - %d in memory", c.InMemory)
	}
	return text
}
