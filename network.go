package trtui

import (
	"errors"
	"fmt"
	"io"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// The types that networks and their data are made of.
type (
	// Network is a graph of layers. Its String is the text that a person reads; Eval computes it slowly, in plain Go.
	Network = graph.Network
	// Definition builds a network layer by layer; see [Define].
	Definition = graph.Definition
	// Op is a kind of layer. A program's own are values of this type: with Infer and Eval they run at once.
	Op = graph.Op
	// Layer and Tensor are what a network has, as ops, passes and kernels see them.
	Layer  = graph.Layer
	Tensor = graph.Tensor
	// Dim is an extent of a network's tensor: a number or an expression of symbols.
	Dim = symbolic.Dim
	// DataType is the type of a tensor's elements.
	DataType = numeric.DataType
)

// The types of elements.
const (
	F32  = numeric.F32
	F16  = numeric.F16
	BF16 = numeric.BF16
	F64  = numeric.F64
	I8   = numeric.I8
	U8   = numeric.U8
	I16  = numeric.I16
	U16  = numeric.U16
	I32  = numeric.I32
	U32  = numeric.U32
	I64  = numeric.I64
	U64  = numeric.U64
	Bool = numeric.Bool
	Str  = numeric.Str // text; see [StringsOf]
)

// Const returns an extent that is a number.
func Const(n int) Dim { return symbolic.Const(n) }

// Symbol returns an extent that is open until the network is built, such as a batch: [Options.Shapes] says what it is.
func Symbol(name string) Dim { return symbolic.Symbol(name) }

// Open reads the ONNX model at path with the external data beside it. The model may use the given ops beside the
// built-in ones. All that is not supported or wrong in it is one error, an *onnx.ImportError that names every node. What some
// models need said of them is in an [Importer].
func Open(path string, ops ...*Op) (*Network, error) { return Importer{Ops: ops}.Open(path) }

// Parse is [Open] for a model in memory. Its weights stay part of data, which must not change. name is used in errors.
func Parse(name string, data []byte, ops ...*Op) (*Network, error) {
	return Importer{Ops: ops}.Parse(name, data)
}

// Importer opens models of which something must be said that their files do not. The zero value opens as [Open] does.
type Importer struct {
	// Ops are those that a model may use beside the built-in ones.
	Ops []*Op
	// MaxExtent is the most that an extent may be that data decide, such as how long a speech is or how large an image that the
	// network decodes; memory is planned for it, and a run that needs more is an error. 0 refuses models with such extents, those
	// aside that have a limit of their own, such as an image's 2048 rows and columns.
	MaxExtent int
	// Lengths says how many tensors each input has that is a sequence. Those of a sequence x are the inputs x.0, x.1 and so on.
	Lengths map[string]int
	// Without are the inputs that are optionals and have no element. The others are given as their elements.
	Without []string
	// Axes says how many axes each input has of which the model does not.
	Axes map[string]int
}

// Open is the function of that name.
func (i Importer) Open(path string) (*Network, error) {
	im, err := i.importer()
	if err != nil {
		return nil, err
	}
	f, err := im.Open(path)
	if err != nil {
		return nil, err
	}
	return f.Network, nil
}

// Parse is the function of that name.
func (i Importer) Parse(name string, data []byte) (*Network, error) {
	im, err := i.importer()
	if err != nil {
		return nil, err
	}
	return im.Parse(name, data)
}

func (i Importer) importer() (onnx.Importer, error) {
	if i.MaxExtent < 0 || i.MaxExtent > onnx.LargestExtent {
		return onnx.Importer{}, fmt.Errorf("MaxExtent is %d, want 0 to %d", i.MaxExtent, onnx.LargestExtent)
	}
	set, err := opSet(i.Ops)
	return onnx.Importer{Ops: set, MaxExtent: i.MaxExtent, Lengths: i.Lengths, Without: i.Without, Axes: i.Axes}, err
}

// Define starts a network of the given name, to which layers are added one by one. What is wrong comes out of
// Definition.Network, all at once and by layer, so that a definition reads without error checks:
//
//	d := trtui.Define("classifier")
//	x := d.Input("image", trtui.F32, trtui.Symbol("batch"), trtui.Const(784))
//	x = d.Relu(d.FullyConnected(x, d.Weights("w", w, 10, 784), nil))
//	d.Output("scores", x)
//	net, err := d.Network()
func Define(name string) *Definition { return graph.Define(name) }

// NewOp returns an op of a program's own, which infer and eval are enough for: infer sets the types and dims of a layer's
// outputs from its inputs, and eval computes their elements, in Go, on any device of the host. A faster kernel comes with
// [Options.Kernels]. Set Onnx ("domain:Name") to import it from models, and Attrs, Import and Export where it has attributes.
func NewOp(name string, infer func(l *Layer) error, eval func(l *Layer, in, out []Value) error) *Op {
	return graph.NewOp(name, infer, eval)
}

// opSet returns the built-in ops and those of a program.
func opSet(ops []*Op) (graph.OpSet, error) { return graph.Ops().Plus(ops...) }

// Export writes a network as an ONNX model, of operator set 21 or the newest that a layer needs, with the weights inside. Every
// layer that has no form in ONNX is named in the error, an *onnx.ExportError; an op of a program's own has one if it has an
// Export.
func Export(w io.Writer, n *Network) error {
	if n == nil {
		return errors.New("there is no network to export; look at the error of what was to make it")
	}
	return onnx.Export(w, n)
}
