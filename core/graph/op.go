package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Op is a kind of layer. An op is data: to add one, write one file with such a value in it and name it in [Ops].
type Op struct {
	Name string

	// Attrs is the zero value of the op's attribute struct, nil if it has none. Attribute structs hold only
	// exported fields that encoding/json can write.
	Attrs any

	// Reals says how Eval wants quantised and 16-bit floating inputs; see the constants.
	Reals RealMode

	// Strings says in which form Eval wants tensors of strings; see the constants.
	Strings StringMode

	// What the op is like, for all who would otherwise list ops. A set of ops refuses one that leaves any of it open.

	Class  Class  // the kind of work
	Inputs []Role // what each input is for; the last one stands for all further inputs too
	Memory Memory // whether the output needs a launch

	// Moves says how much of output 0 is elements of the inputs; it must not look at the epilogue.
	Moves func(l *Layer) Movement

	// FLOPs returns the arithmetic of the op at the given values of the symbols, as its formula is written: one for each
	// addition, multiplication, division, comparison, root, exponential or logarithm, those of padding included. Of
	// convolutions and matrix products only the multiply-adds count, two each, and not the bias.
	FLOPs func(l *Layer, env map[string]int) int64

	// Products returns the part of FLOPs that is multiply-adds of products, of ops that are products of what they compute, or have
	// several, and so no Product; nil for others.
	Products func(l *Layer, env map[string]int) int64

	// Product describes the weights of a convolution or matrix product; nil for other ops.
	Product *Product

	// Chosen returns the extents that the input of the role Indices chooses among, one for each axis; those of several axes
	// in turn are the last axis of the indices. Nil for ops without indices.
	Chosen func(l *Layer) []symbolic.Dim

	// Counted says of which extents of the outputs the elements of the inputs decide, if of any. Nil for ops whose shapes follow
	// from shapes. See [Counting].
	Counted func(l *Layer) []Counting

	// Details tells of a layer what a person asks of this op and its attributes do not say; nil where they say all.
	Details func(l *Layer, env map[string]int) []Detail

	// Infer sets the types and dims of l's outputs, and Value where it is known, from its attributes and inputs.
	// It must not look at the epilogue. A quantised input counts by its RealType.
	Infer func(l *Layer) error

	// Eval computes the op: the reference that everything else is tested against, in plain Go and without regard to
	// speed, with sums in float64. in has the op's own inputs (a zero Value for one that is left out), out is
	// allocated and zero.
	Eval func(l *Layer, in, out []numeric.Value) error

	// Onnx lists the ONNX operators that Import turns into this op; those of the domain "" or "ai.onnx" by name alone,
	// others as "domain:Name".
	Onnx []string

	// Import makes the layer's attributes and chooses its inputs. Nil if the op has no attributes and takes the node's
	// inputs as they are.
	Import func(n *Node) (attrs any, inputs []*Tensor, err error)

	// Export makes the ONNX nodes of a layer: what Import reads. Nil if the op has no attributes and a node of the first of
	// Onnx takes the layer's inputs as they are.
	Export func(e *Exporter) error
}

// RealMode says in which form an op's Eval sees real numbers that are stored as quantised integers, F16 or BF16.
type RealMode uint8

const (
	// AsF32: such inputs are converted to F32 before Eval, and F32 results to the outputs' types after it.
	AsF32 RealMode = iota
	// AsStored: Eval only moves elements, so it sees and writes them as they are stored. Infer passes Range on.
	AsStored
	// AsIntegers: Eval sees quantised inputs as integers and returns F32, as convolution and Gemm do, whose sum over
	// integers is exact. F16 and BF16 are converted as by AsF32.
	AsIntegers
)

// StringMode says in which form an op's Eval sees strings, if it takes any.
type StringMode uint8

const (
	// StringsMoved: an op that moves elements as they are stored sees each string as a number, of I64, and 0 for the empty one.
	// Others refuse strings.
	StringsMoved StringMode = iota
	// StringsOrdered: it sees each as a number, of I64, and they are equal and in order as the strings are.
	StringsOrdered
	// StringsRead: it sees them as they are.
	StringsRead
)

// OpInputs returns the inputs that the op itself reads, without the epilogue's.
func (l *Layer) OpInputs() []*Tensor { return l.Inputs[:len(l.Inputs)-l.epilogueArgs()] }

// EpilogueInputs returns the inputs that are the epilogue's arguments 1, 2, ...
func (l *Layer) EpilogueInputs() []*Tensor { return l.Inputs[len(l.Inputs)-l.epilogueArgs():] }

func (l *Layer) epilogueArgs() int { return max(0, l.Epilogue.Args-1) }

// Fuse appends a program to l's epilogue: argument at of p is l's result so far, its other arguments are inputs.
func (l *Layer) Fuse(p elementwise.Program, at int, inputs ...*Tensor) {
	if len(inputs) != p.Args-1 {
		panic(fmt.Sprintf("graph: %d inputs for a program of %d arguments", len(inputs), p.Args))
	}
	e := l.Epilogue
	if e.Args == 0 {
		e = elementwise.Program{Args: 1}
	}
	l.Epilogue = e.Then(p, at)
	for _, t := range inputs {
		l.AddInput(t)
	}
}

// Input returns the op's input i, or nil if it is left out.
func (l *Layer) Input(i int) *Tensor {
	if in := l.OpInputs(); i < len(in) {
		return in[i]
	}
	return nil
}

// Infer sets the types and shapes of l's outputs; errors name the layer.
func (l *Layer) Infer() error {
	for i, t := range l.Inputs {
		if t != nil && t.Type.IsNarrow() && !l.takesNarrow(i) {
			return fmt.Errorf("layer %s (%s): input %s is %s, in which nothing is computed; cast or dequantise it first", l.Name, l.Op.Name, t.Name, t.Type)
		}
		if t != nil && t.Type == numeric.Str && !l.takesStrings(i) {
			return fmt.Errorf("layer %s (%s): input %s is strings, which the operator does not take", l.Name, l.Op.Name, t.Name)
		}
	}
	if err := l.Op.Infer(l); err != nil {
		return fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, err)
	}
	for _, t := range l.Outputs {
		for i, d := range t.Dims {
			if n, ok := d.IsConst(); ok && (n < 0 || n > maxExtent) {
				return fmt.Errorf("layer %s (%s): output %s has extent %d on axis %d", l.Name, l.Op.Name, t.Name, n, i)
			}
			if d.IsLarge() {
				return fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, &LongExtentError{t.Name, i})
			}
		}
		if n, ok := countDims(t.Dims); ok && n > maxElements {
			return fmt.Errorf("layer %s (%s): output %s has too many elements", l.Name, l.Op.Name, t)
		}
		if slices.ContainsFunc(t.Value, symbolic.Dim.IsLarge) {
			t.Value = nil
		}
	}
	return nil
}

// takesNarrow reports whether input i may be of a narrow type: where it is converted, not read, or moved by what ONNX moves such
// elements by.
func (l *Layer) takesNarrow(i int) bool {
	if i >= len(l.OpInputs()) {
		return false
	}
	return l.Op.Class == ClassConversion || l.Op.Memory == Viewed || l.Op == Transpose || l.Role(i) == Extents || l.Unsupported() != nil
}

// takesStrings reports whether input i may be strings: of an op that reads them, or tells them apart, or moves elements.
func (l *Layer) takesStrings(i int) bool {
	switch role := l.Role(i); {
	case i >= len(l.OpInputs()):
		return false
	case role == Extents, l.Unsupported() != nil, l.Op.Class == ClassControl:
		return true
	case role != Data && role != Fill:
		return false
	}
	return l.Op.Strings != StringsMoved || l.Op.movesStrings()
}

// movesStrings reports whether the op moves elements whatever they are.
func (op *Op) movesStrings() bool {
	return op.Reals == AsStored && (op.Class == ClassMove || op.Class == ClassLookup)
}

// maxExtent and maxElements bound one axis and one tensor, so that sizes do not overflow.
const maxExtent, maxElements = 1 << 40, 1 << 40

// Infer sets the types and shapes of all tensors of a network that is not lowered, in order.
func (n *Network) Infer() error {
	if n.Lowered {
		panic("graph: infer on a lowered network")
	}
	for _, l := range n.Layers {
		if err := l.Infer(); err != nil {
			return err
		}
	}
	return nil
}

// Node is an operator of a model being imported, as [Op.Import] sees it. Asking for an attribute marks it as known;
// what remains unasked is reported as unsupported by the importer, as are the errors that the getters record.
type Node struct {
	Name, OpType string
	Version      int // of the operator set that the node is from
	Inputs       []*Tensor
	Outputs      int
	Attrs        map[string]Attr
	Producer     string    // what wrote the model: ONNX's producer_name
	MaxExtent    int       // the most that an extent may be that data decide; 0 where it is not said
	Captured     []*Tensor // what the graphs among the attributes read of the network around them

	// Inline adds the layers of a graph that is an attribute in the place of a call of it, and returns the graph's outputs for the
	// given inputs; for the Import of a [Composite].
	Inline func(attribute string, inputs ...*Tensor) ([]*Tensor, error)

	asked map[string]bool
	errs  []error
}

// Attr is one attribute of a Node; the field that its kind says is set.
type Attr struct {
	Kind    AttrKind
	Int     int64
	Float   float32
	String  string
	Ints    []int64
	Floats  []float32
	Strings []string
	Tensor  numeric.Value
	Graph   *Network `json:"-"` // its last inputs are what it captures: Node.Captured; nil for a composite, which has Node.Inline
}

// AttrKind says which field of an Attr is set.
type AttrKind uint8

// The kinds of attribute; AttrOther is one that the importer read but cannot represent.
const (
	AttrOther AttrKind = iota
	AttrInt
	AttrFloat
	AttrString
	AttrInts
	AttrFloats
	AttrStrings
	AttrTensor
	AttrGraph
)

var attrKinds = [...]string{"another kind", "int", "float", "string", "ints", "floats", "strings", "tensor", "graph"}

func (n *Node) ask(name string, kind AttrKind) (Attr, bool) {
	if n.asked == nil {
		n.asked = map[string]bool{}
	}
	n.asked[name] = true
	a, ok := n.Attrs[name]
	if ok && a.Kind != kind {
		n.errs = append(n.errs, fmt.Errorf("attribute %s is of %s, want %s", name, attrKinds[a.Kind], attrKinds[kind]))
		return Attr{}, false
	}
	return a, ok
}

// Has reports whether the node has the attribute; it does not mark it as known.
func (n *Node) Has(name string) bool { _, ok := n.Attrs[name]; return ok }

// Int returns an int attribute, or def.
func (n *Node) Int(name string, def int) int {
	if a, ok := n.ask(name, AttrInt); ok {
		return int(a.Int)
	}
	return def
}

// Flag returns an int attribute that is 0 or 1, or def. Other numbers are refused: runtimes differ in what they take them for,
// and from attribute to attribute.
func (n *Node) Flag(name string, def bool) bool {
	a, ok := n.ask(name, AttrInt)
	if !ok {
		return def
	}
	if a.Int != 0 && a.Int != 1 {
		n.errs = append(n.errs, fmt.Errorf("attribute %s is %d, want 0 or 1", name, a.Int))
	}
	return a.Int == 1
}

// Float returns a float attribute, or def.
func (n *Node) Float(name string, def float32) float32 {
	if a, ok := n.ask(name, AttrFloat); ok {
		return a.Float
	}
	return def
}

// String returns a string attribute, or def.
func (n *Node) String(name, def string) string {
	if a, ok := n.ask(name, AttrString); ok {
		return a.String
	}
	return def
}

// Ints returns a list of ints, or nil.
func (n *Node) Ints(name string) []int {
	a, ok := n.ask(name, AttrInts)
	if !ok {
		return nil
	}
	list := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		list[i] = int(v)
	}
	return list
}

// Floats returns a list of floats, or nil.
func (n *Node) Floats(name string) []float32 {
	a, _ := n.ask(name, AttrFloats)
	return a.Floats
}

// Strings returns a list of strings, or nil.
func (n *Node) Strings(name string) []string {
	a, _ := n.ask(name, AttrStrings)
	return a.Strings
}

// Tensor returns a tensor attribute.
func (n *Node) Tensor(name string) (numeric.Value, bool) {
	a, ok := n.ask(name, AttrTensor)
	return a.Tensor, ok
}

// Graphs returns the graphs that attributes of the given names are, and what all of them capture.
func (n *Node) Graphs(names ...string) (list []*Network, captured []*Tensor, err error) {
	for _, name := range names {
		a, ok := n.ask(name, AttrGraph)
		if !ok {
			return nil, nil, fmt.Errorf("attribute %s is missing", name)
		}
		list = append(list, a.Graph)
	}
	return list, n.Captured, nil
}

// Input returns input i, or nil if it is left out.
func (n *Node) Input(i int) *Tensor {
	if i < len(n.Inputs) {
		return n.Inputs[i]
	}
	return nil
}

// Const returns the elements of input i where that is a constant.
func (n *Node) Const(i int) (numeric.Value, bool) { return n.Input(i).Const() }

// Errs returns what the getters found wrong.
func (n *Node) Errs() []error { return n.errs }

// Unasked returns an error for each attribute that was never asked for, sorted by name.
func (n *Node) Unasked() []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		if !n.asked[name] {
			errs = append(errs, fmt.Errorf("attribute %s is not supported", name))
		}
	}
	return errs
}

// LongExtentError is the error of an extent that takes too many terms to say by those of the inputs, which numbers never do.
type LongExtentError struct {
	Output string
	Axis   int
}

func (e *LongExtentError) Error() string {
	return fmt.Sprintf("output %s has an extent on axis %d that is too long an expression of the inputs' extents", e.Output, e.Axis)
}
