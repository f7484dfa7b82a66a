package run

import (
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Plan is a network lowered and laid out for one target and one set of shapes.
type Plan struct {
	Target  string         // the backend's fingerprint
	Profile int            // index into the engine's profiles
	Symbols []Symbol       // what the network's symbolic dims are in this plan, sorted by name
	Network *graph.Network // the lowered network
	Steps   []Step         // in order of execution
	Slots   []Slot         // where tensors lie
	Memory  MemoryStats    // of the arena
}

// Symbol is a dimension symbol with its value.
type Symbol struct {
	Name  string
	Value int
}

// Env returns the symbols as the map that graph.Dim.Eval takes.
func (p *Plan) Env() map[string]int {
	env := make(map[string]int, len(p.Symbols))
	for _, s := range p.Symbols {
		env[s.Name] = s.Value
	}
	return env
}

// Step is one launch: a layer of the network, or a Reformat that the builder put between two layers.
type Step struct {
	Name      string
	From      []string // source layers
	Layer     *graph.Layer
	Tactic    string
	Reformat  bool          // it is not in the network, but only changes memory format, type or place
	Origin    string        // of a reformat: why it is there, as in "format c16 to linear for Gemm_9"
	In, Out   []int         // slots that go with Layer.Inputs and Outputs; -1 for constants and left-out inputs
	Time      time.Duration // the tuner's measurement, or the backend's estimate
	Timed     bool          // Time was measured on the device
	Workspace int           // bytes of scratch, at the workspace part of the arena
}

// Slot is the place of one tensor in one format.
type Slot struct {
	Tensor *graph.Tensor
	Desc   kernels.Desc
	Offset int // in the arena; 256-byte aligned but for a slice of another slot
	Size   int // bytes
	First  int // the step that writes it; -1 for an input of the network
	Last   int // the last step that reads it; len(Steps) for an output of the network
	// Of is the slot of which this is a part (a concatenation written in place) or with which it shares memory
	// (computed in place), -1 for none. A slot with Of >= 0 takes no memory of its own.
	Of int
}

// MemoryStats are the planner's figures, all over the same aligned, formatted sizes in bytes.
type MemoryStats struct {
	Arena      int // bytes of the arena without the workspace: the peak of the plan
	Workspace  int // bytes of scratch that one step at a time uses
	Naive      int // sum of all slots: what a runtime without reuse takes
	LowerBound int // largest sum of live slots over the steps: no plan can do with less
	PeakStep   int // a step at which LowerBound is reached
}
