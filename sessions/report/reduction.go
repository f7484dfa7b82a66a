package report

import "time"

// Reduction is what came of making a model small on which something is wrong (trtui debug reduce).
type Reduction struct {
	Source   string // the model's file
	File     string // the small one's
	Inputs   string // the folder of what it is run on
	Failure  string // what is wrong with both, in a line
	Command  string // shows it
	Before   ReducedTo
	After    ReducedTo
	Nodes    []ReducedNode
	Tries    int
	Elapsed  time.Duration
	Finished bool // nothing that was tried makes it smaller; false: the time was up, or it was stopped
}

// ReducedTo is how large a model is.
type ReducedTo struct {
	Nodes    int
	Elements int // of inputs and constants
}

// ReducedNode is a node of the small model. What it reads and is known has its type and shape behind it.
type ReducedNode struct {
	Node    string
	Op      string
	Inputs  []string
	Outputs []string
}
