package report

import "time"

// Kernel is the code that computes a layer of an engine, and what is known of it.
type Kernel struct {
	Layer, Op, Tactic string
	Timed             bool          // Time was measured; otherwise it is the cost model's
	Time              time.Duration // of the layer's launches together; 0 where neither knows
	FLOPs             int64         `output:"flops"`
	Bytes             int64         // of the tensors that it reads and writes
	Language          string
	Compiler          string // that was asked about the launches of a simulated device; empty: none, or the driver's own
	Launches          []Launch
	Text              string
}

// Launch is one launch of a function of the code.
type Launch struct {
	Function       string
	Grid, Block    []int
	Registers      int  // of a thread; those live at a time in the order of the text where Spill is nil
	Shared         int  `unit:"bytes"` // of a block
	Spill          *int `unit:"bytes"` // of a thread; nil: not known, no compiler was asked
	ResidentBlocks int  // of a multiprocessor, at a time
}
