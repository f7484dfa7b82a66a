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
	Forks   []Fork         // of steps that run side by side, in order
	Dropped []Dropped      // forks of steps that run in turn, in order: what was tried, and why it is not so
	Memory  MemoryStats    // of the arena
	Code    []kernels.Code // of the kernels, where the target compiles them
}

// Symbol is a dimension symbol with the value that the plan is at, and those that it serves.
type Symbol struct {
	Name     string
	Value    int
	Min, Max int `json:",omitempty"` // equal: Value alone
}

// Range returns the least and the largest value that is served.
func (s Symbol) Range() (least, most int) {
	if s.Min == s.Max {
		return s.Value, s.Value
	}
	return s.Min, s.Max
}

// Env returns the symbols as the map that symbolic.Dim.Eval takes.
func (p *Plan) Env() map[string]int {
	env := make(map[string]int, len(p.Symbols))
	for _, s := range p.Symbols {
		env[s.Name] = s.Value
	}
	return env
}

// Extents returns what the symbols are and may be.
func (p *Plan) Extents() Extents {
	x := Extents{Opt: p.Env()}
	if p.Ranged() {
		x.Min, x.Max = map[string]int{}, map[string]int{}
		for _, s := range p.Symbols {
			x.Min[s.Name], x.Max[s.Name] = s.Range()
		}
	}
	return x
}

// Step is one launch: a layer of the network, or a reformat that the builder put between two layers.
type Step struct {
	Name       string
	From       []string // source layers; of a reformat those of the layer it serves
	Layer      *graph.Layer
	Tactic     string        // InMemory where nothing is launched
	Reformat   bool          // it is not in the network, but only changes a tensor's memory format
	Origin     string        // of a reformat: why it is there, as in "linear for Gemm_9"
	In, Out    []int         // slots that go with Layer.Inputs and Outputs; -1 for constants and left-out inputs
	Scratch    int           // the slot of the workspace; -1 for none
	Time       time.Duration // the tuner's measurement, or the backend's estimate
	Timed      bool          // Time was measured on the device
	Candidates []Candidate   // what else there was
	Bodies     []*Plan       `json:"-"`          // of the networks inside the layer, where the tactic is SubPlans
	Once       bool          `json:",omitempty"` // it runs once at a shape: nothing else decides what it computes
}

// InMemory is the tactic of a step that launches nothing: a view of the same bytes, a concatenation whose inputs were
// written to their places, or a split whose outputs are read where its input lies.
const InMemory = "in_memory"

// Candidate is one tactic that was considered for a step.
type Candidate struct {
	Tactic  string
	Family  string `json:",omitempty"` // kernels.Variant's
	In, Out kernels.Format
	Time    time.Duration
	Timed   bool
	Reason  string // why it cannot be used here; empty if it can
	Code    string `json:",omitempty"` // of InMemory: what kind of reason that is, as passes have codes for theirs
	Failed  bool   `json:",omitempty"` // it takes the layer, but could not be measured: Reason says what happened
	Unfit   bool   `json:",omitempty"` // it does not take the layer: Reason says why
	Left    bool   `json:",omitempty"` // predictions left it out: it was not priced, though nothing speaks against it
	Twin    string `json:",omitempty"` // of what was left out: the tactic of its tile that was priced, if one was
	Note    string // what its kernel says about itself, such as "spills 44 bytes"
}

// Slot is the place of one tensor in one format.
type Slot struct {
	Tensor *graph.Tensor // nil for workspace
	Desc   kernels.Desc
	Region Region
	Offset int // in its region; 256-byte aligned but for a slice of another slot
	Size   int // bytes
	First  int // the step that writes it; -1 for an input of the network, and for what is computed once and kept
	Last   int // the last step that reads it; len(Steps) for an output of the network, and for what is kept
	// Of is the slot whose memory this one shares or is a part of: a view, a slice of a concatenation or a split, a result computed
	// in place. -1 where it has memory of its own.
	Of int
}

// Region says which allocation a slot is in.
type Region uint8

// The regions: the arena is reused by tensors whose lives do not overlap; inputs and outputs of the network keep
// theirs, so that a caller may write an input once and run many times.
const (
	Arena Region = iota
	IO
)

// MemoryStats are the planner's figures, all over the same aligned, formatted sizes in bytes.
type MemoryStats struct {
	Peak       int // bytes of the arena, workspace included
	Naive      int // sum of all slots: what a runtime without reuse takes
	LowerBound int // largest sum of live slots over the steps: no plan can do with less
	PeakStep   int // a step at which LowerBound is reached
	IO         int // bytes of the network's inputs and outputs, outside the arena
	Workspace  int // largest scratch memory of a step
	Weights    int // bytes of the constants of the lowered network
}
