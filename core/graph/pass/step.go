package pass

import (
	"time"

	"github.com/trtui/trtui/core/graph"
)

// Step is the record of one pass: what it did, what it did not and why, and what became of every source layer.
type Step struct {
	Pass   string
	Fired  []Fired
	Missed []Missed
	Ledger Ledger // after the pass
	// Before and After are the network around the pass; the same one if the pass changed nothing. Their text is what a
	// diff of the step shows. They are not to be changed.
	Before, After *graph.Network
	Elapsed       time.Duration
}

// Fired is one rewrite.
type Fired struct {
	Site    Site
	Members []string // all source layers involved, in the order of the source network
	// Into is the layer that stands for the members after the step; empty if they are gone.
	Into string
	// KernelsSaved is how many layers there are less.
	KernelsSaved int
	// BytesSaved is the activation traffic that is gone: bytes of activations that the layers read and wrote before,
	// less those after, at the shapes of Config.Shapes. It is negative for a rewrite that prepares another one.
	BytesSaved int
	// Note says what changed where neither layers nor bytes tell, as by how much biases moved; empty elsewhere.
	Note string
}

// Missed is a candidate that was left as it is.
type Missed struct {
	Site   Site
	Reason Reason
	Detail string // what stands in the way, as a person will read it
}

// Reason is a code for why a candidate was left as it is.
type Reason string

// The reason codes.
const (
	SecondConsumer Reason = "second consumer"      // something else needs the tensor in between
	NetworkOutput  Reason = "network output"       // the tensor in between is an output of the network
	WrongType      Reason = "dtype"                // a data type that the rule does not cover
	WrongShape     Reason = "shape"                // shapes do not fit, or are not known well enough
	NotConstant    Reason = "not constant"         // the rule needs a constant
	WrongAttribute Reason = "attribute"            // an attribute's value that the rule does not cover
	Disabled       Reason = "disabled"             // switched off by the configuration
	EpilogueTaken  Reason = "epilogues differ"     // something is fused in already that would have to come later
	TooLarge       Reason = "too large"            // the result would exceed a bound on size or number of arguments
	WouldCycle     Reason = "cycle"                // the fused layer would depend on itself
	RangesDiffer   Reason = "ranges differ"        // quantised tensors disagree on scale or zero point
	NotQuantized   Reason = "not quantised"        // an input is not quantised
	NoTactic       Reason = "no tactic on target"  // the target cannot compute the fused layer
	EvalFailed     Reason = "evaluation failed"    // a constant subexpression has no value
	NoGain         Reason = "no gain"              // it would take as long, or longer
	NoProducer     Reason = "nothing to fuse into" // no layer that computes an operand takes an epilogue
	MovesElements  Reason = "moves elements"       // the output is no view of the input
)
