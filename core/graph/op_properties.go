package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Class says what kind of work an op does. Passes, placement and reports ask for it instead of listing ops.
type Class uint8

// The classes. There is none that an op has without saying so.
const (
	_                Class = iota
	ClassConvolution       // sums of products of windows of the input with weights
	ClassMatrix            // matrix products
	ClassIntegers          // convolutions and matrix products of plain integers, whose scales are inputs
	ClassWeightOnly        // matrix products of real numbers by weights of few bits, whose scales are inputs
	ClassPooling           // mean, sum or extreme of windows or along axes: within the range of what it reads, or their sum
	ClassReduction         // other figures of the elements along axes: norms, products, running sums, places of extremes
	ClassNorm              // normalisations, softmax included
	ClassResampling        // the input on another grid
	ClassElementwise       // each element follows from those at its place in the inputs, which broadcast
	ClassConversion        // the same numbers in another type or form, which the op itself names
	ClassMove              // elements of the input at places that follow from shapes and attributes
	ClassLookup            // elements of the input at places that follow from indices or from the elements
	ClassSource            // results that follow from extents and parameters alone
	ClassControl           // what networks inside the layer compute: one of several, or one again and again
	ClassUnknown           // what cannot be run: see [Unsupported]
)

// Role says what an op does with one of its inputs.
type Role uint8

// The roles.
const (
	_            Role = iota
	Data              // the elements that it computes with, or moves
	Weights           // the factors of a product that [Product] describes: most often a constant
	Bias              // added to the channels of a product's output
	Coefficients      // real numbers, one for each channel or broadcast, by which a normalisation scales and shifts
	Indices           // integers that choose among elements; see Op.Chosen
	Fill              // the value of elements that are not Data's
	Parameter         // numbers that say what to do: shapes, axes, bounds, scales and zero points
	Extents           // not read: only its shape counts
)

// Memory says where an op's first output can lie, so that nothing need be launched for it.
type Memory uint8

// What planners know about an output's memory.
const (
	_         Memory = iota
	Written          // of its own: a kernel writes it
	Viewed           // the input's: its elements in the same order under other dims
	Joined           // around the inputs, one behind the other along an axis: they can be written where it lies
	Parted           // parts of the input along an axis, one behind the other or a single one: they can be read where it lies
	Converted        // of its own, in another form than the input's: what a builder inserts, and every backend has
)

// Movement says how much of a layer's first output is elements of its inputs of the role Data. Each value claims what those
// before it do, and more.
type Movement uint8

// The movements.
const (
	_        Movement = iota
	Computed          // nothing is claimed
	Filled            // elements of Data, and the value of the attributes or of the input whose role is Fill
	Moved             // elements of Data, and at most the number 0, which every range holds: the result's range is theirs
	Kept              // Data in its order: where there is but one such input, of the result's type and shape, the result equals it
)

// Product describes the weights of a product, the input of the role [Weights]. Its output channels are axis 1 of a
// convolution's output and the last one of a matrix product's.
type Product struct {
	// Axes returns the axes of the weights that belong to output channels and to input channels; -1 where there is no such
	// axis. In weights of groups the first axis counts the channels of all groups, the other those of one.
	Axes func(l *Layer) (out, in int)

	// Groups returns the number of groups that do not see each other's channels.
	Groups func(l *Layer) int
}

// IsProduct reports whether the op multiplies real numbers by weights: a convolution or matrix product, into which other
// layers are fused, and which gains by itself from fewer bits.
func (op *Op) IsProduct() bool { return op.Class == ClassConvolution || op.Class == ClassMatrix }

// Input returns the first input of a role, -1 if the op has none.
func (op *Op) Input(r Role) int { return slices.Index(op.Inputs, r) }

// Role returns the role of input i. The last of the op's roles is that of all further inputs; the epilogue's are data.
func (l *Layer) Role(i int) Role {
	if i >= len(l.OpInputs()) || len(l.Op.Inputs) == 0 {
		return Data
	}
	return l.Op.Inputs[min(i, len(l.Op.Inputs)-1)]
}

// DataInputs returns how many inputs have the role Data. Of ops that move elements they are the first ones.
func (l *Layer) DataInputs() (n int) {
	for i := range l.OpInputs() {
		if l.Role(i) == Data {
			n++
		}
	}
	return n
}

// Movement returns what the layer claims of its first output, its epilogue included.
func (l *Layer) Movement() Movement {
	if l.Epilogue.Args > 0 {
		return Computed
	}
	return l.Op.Moves(l)
}

// check returns what a description of an op leaves open.
func (op *Op) check() error {
	product := op.IsProduct() || op.Class == ClassIntegers || op.Class == ClassWeightOnly
	for _, open := range []struct {
		missing bool
		what    string
	}{
		{op.Class == 0, "its class"},
		{len(op.Inputs) == 0 || slices.Contains(op.Inputs, 0), "the role of an input"},
		{op.Memory == 0, "where its output lies"},
		{op.Moves == nil, "whether it moves elements"},
		{op.FLOPs == nil, "its arithmetic"},
		{product != (op.Product != nil) || product != (op.Input(Weights) >= 0), "which input its weights are"},
		{(op.Chosen != nil) != (op.Input(Indices) >= 0), "what its indices choose among"},
		{op.Infer == nil || op.Eval == nil, "its shapes or its meaning"},
	} {
		if open.missing {
			return fmt.Errorf("the op %s does not say %s", op.Name, open.what)
		}
	}
	return nil
}

// The movements of ops whose attributes do not matter.
func computed(*Layer) Movement { return Computed }
func moved(*Layer) Movement    { return Moved }
func kept(*Layer) Movement     { return Kept }

// keptIf returns Kept or a movement that claims less.
func keptIf(same bool, other Movement) Movement {
	if same {
		return Kept
	}
	return other
}

// NewOp returns an op of a program's own, with the properties that claim nothing, so that infer and eval are all it takes to
// run: the reference tactic calls eval. Set Attrs, Onnx ("domain:Name"), Import and Export where it has such, and other
// properties where passes and planners are to know more. infer sets types and dims of l's outputs; eval computes them.
func NewOp(name string, infer func(l *Layer) error, eval func(l *Layer, in, out []numeric.Value) error) *Op {
	return &Op{
		Name: name, Class: ClassReduction, Inputs: []Role{Data}, Memory: Written, Moves: computed, FLOPs: noFLOPs,
		Infer: infer, Eval: eval,
	}
}
