package report

// MemoryNumbers are the planner's figures in bytes.
type MemoryNumbers struct {
	Peak, Naive, LowerBound, IO, Workspace, Weights int `unit:"bytes"`
}

// Memory is the plan of the arena (trtui inspect memory).
type Memory struct {
	MemoryNumbers
	PeakStep int
	Steps    []string // names, in order
	Live     []int    `unit:"bytes"` // live at each step
	Slots    []Slot
}

// Slot is one tensor's place.
type Slot struct {
	Tensor string // "workspace" for scratch memory
	Desc   string // type, shape, format
	Offset int    `unit:"bytes"`
	Bytes  int
	First  int    `unit:"step"`       // step; -1: before the first
	Last   int    `unit:"step"`       // step; len(Steps): after the last
	IO     bool   `json:",omitempty"` // outside the arena
	Of     string `json:",omitempty"` // the tensor whose memory it shares or is a part of
	Kind   string // "own", "view", "slice", "in place", "workspace"
}
