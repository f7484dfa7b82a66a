package graph

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Exporter makes ONNX nodes of one layer, as [Op.Export] asks it to. Names are those of ONNX values: a tensor keeps its own.
type Exporter struct {
	Layer     *Layer
	Nodes     []OnnxNode
	Constants []OnnxConstant

	unique  func(hint string) string
	outputs []string // where the op's results go: the first one's is another than the layer's if there is an epilogue
}

// OnnxNode is a node of an ONNX graph.
type OnnxNode struct {
	Domain, Op string
	Since      int      // the operator set that it needs at least
	Inputs     []string // "" is one that is left out
	Outputs    []string
	Attrs      Attributes
}

// OnnxConstant is an initializer of an ONNX graph.
type OnnxConstant struct {
	Name  string
	Value numeric.Value
}

// Attributes are the attributes of a node by name: an int, bool, float32, string, []int, []float32, []string, DataType, Value or
// *Network. Lists that are nil are left out.
type Attributes map[string]any

// OldestExport is the operator set of the default domain in which networks are exported, unless a node needs a newer one.
const OldestExport = 21

// ExportOnnx returns the nodes and constants that compute the layer and its epilogue. unique returns a name that no value has,
// made of a hint. The error says what has no form in ONNX.
func (l *Layer) ExportOnnx(unique func(hint string) string) (e *Exporter, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("layer %s (%s): internal error, please report it: %v", l.Name, l.Op.Name, v)
		}
	}()
	e = &Exporter{Layer: l, unique: unique}
	for _, t := range l.Outputs {
		e.outputs = append(e.outputs, t.Name)
	}
	if t := l.hidden(); t != nil {
		return nil, fmt.Errorf("layer %s (%s): %s is quantised, which ONNX writes as pairs of QuantizeLinear and DequantizeLinear; export the network that is not lowered", l.Name, l.Op.Name, t)
	}
	if l.Epilogue.Args > 0 {
		e.outputs[0] = unique(l.Name + "_before_epilogue")
	}
	if err = e.export(); err == nil && l.Epilogue.Args > 0 {
		args := []programArg{{e.outputs[0], l.Outputs[0].RealType()}}
		for _, t := range l.EpilogueInputs() {
			args = append(args, programArg{t.Name, t.RealType()})
		}
		err = e.program(l.Epilogue, args, l.Outputs[0].Name, l.Outputs[0].Type)
	}
	if err != nil {
		return nil, fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, err)
	}
	return e, nil
}

// hidden returns a quantised tensor that the layer reads or writes as the real numbers that it stands for, without a layer
// that says so; nil where there is none.
func (l *Layer) hidden() *Tensor {
	stored := l.Op.Reals == AsStored && l.Epilogue.Args == 0
	for _, t := range l.Inputs {
		if t != nil && t.Quantized() && !stored {
			return t
		}
	}
	for _, t := range l.Outputs {
		if t.Quantized() && !stored && l.Op != Quantize {
			return t
		}
	}
	return nil
}

// export makes the nodes of the op alone.
func (e *Exporter) export() error {
	op := e.Layer.Op
	switch {
	case op.Export != nil:
		return op.Export(e)
	case len(op.Onnx) > 0 && op.Attrs == nil:
		return e.Node(op.Onnx[0], nil)
	}
	return fmt.Errorf("the op has no form in ONNX")
}

// Node adds a node with the results of the layer's op and the given inputs, or those of the op where none are given. Its name
// is "domain:Op", or "Op" in the default domain.
func (e *Exporter) Node(op string, attrs Attributes, inputs ...string) error {
	return e.NodeSince(OldestExport, op, attrs, inputs...)
}

// NodeSince is [Exporter.Node] for an operator that is not in operator sets before a version.
func (e *Exporter) NodeSince(version int, op string, attrs Attributes, inputs ...string) error {
	if len(inputs) == 0 {
		inputs = e.Inputs()
	}
	inputs, result := e.suited(op, inputs)
	if result == numeric.Invalid || result == e.Layer.Outputs[0].Type {
		return e.add(version, op, attrs, inputs, e.outputs)
	}
	outputs := slices.Clone(e.outputs)
	outputs[0] = e.unique(e.Layer.Name + "_" + op)
	if err := e.add(version, op, attrs, inputs, outputs); err != nil {
		return err
	}
	return e.add(OldestExport, "Cast", Attributes{"to": e.Layer.Outputs[0].Type}, outputs[:1], e.outputs[:1])
}

// Step adds a node that computes a value in between, and returns its name.
func (e *Exporter) Step(op string, attrs Attributes, inputs ...string) (output string) {
	output = e.unique(e.Layer.Name + "_" + op)
	_ = e.add(OldestExport, op, attrs, inputs, []string{output})
	return output
}

func (e *Exporter) add(version int, op string, attrs Attributes, inputs, outputs []string) error {
	n := OnnxNode{Op: op, Since: max(version, e.Layer.typesSince()), Outputs: slices.Clone(outputs), Attrs: attrs}
	for i := range op {
		if op[i] == ':' {
			n.Domain, n.Op, n.Since = op[:i], op[i+1:], max(1, domainsSince[op[:i]])
			break
		}
	}
	for len(inputs) > 0 && inputs[len(inputs)-1] == "" {
		inputs = inputs[:len(inputs)-1]
	}
	n.Inputs = slices.Clone(inputs)
	e.Nodes = append(e.Nodes, n)
	return nil
}

// domainsSince are the operator sets in which the nodes of other domains are written; 1 for those that are not here.
var domainsSince = map[string]int{"ai.onnx.ml": 2}

// typesSince returns the operator set that has the types of the layer's tensors.
func (l *Layer) typesSince() int {
	since := map[numeric.DataType]int{numeric.F4E2M1: 23, numeric.F8E8M0: 24, numeric.U2: 25, numeric.I2: 25, numeric.F6E2M3: 28, numeric.F6E3M2: 28}
	version := 0
	for _, t := range slices.Concat(l.Inputs, l.Outputs) {
		if t != nil {
			version = max(version, since[t.Type])
		}
	}
	return version
}

// Inputs returns the names of the op's inputs.
func (e *Exporter) Inputs() []string {
	var names []string
	for i := range e.Layer.OpInputs() {
		names = append(names, e.Input(i))
	}
	return names
}

// Input returns the name of the op's input i; "" where it is left out.
func (e *Exporter) Input(i int) string {
	if t := e.Layer.Input(i); t != nil {
		return t.Name
	}
	return ""
}

// Constant adds a constant and returns its name.
func (e *Exporter) Constant(what string, v numeric.Value) string {
	name := e.unique(e.Layer.Name + "_" + what)
	e.Constants = append(e.Constants, OnnxConstant{name, v})
	return name
}

// list adds a constant I64 list.
func (e *Exporter) list(what string, elements []int) string {
	list := make([]int64, len(elements))
	for i, n := range elements {
		list[i] = int64(n)
	}
	return e.Constant(what, numeric.Values(numeric.I64, list, len(list)))
}

// scalar adds a constant I64 scalar.
func (e *Exporter) scalar(what string, n int) string {
	return e.Constant(what, numeric.Values(numeric.I64, []int64{int64(n)}))
}

// number adds a constant scalar of type t; the error says that t does not hold it.
func (e *Exporter) number(what string, t numeric.DataType, x float64) (string, error) {
	v := numeric.NewValue(t)
	v.SetFloats([]float64{x})
	if got := v.Float64s()[0]; got != x && (got == got || x == x) {
		return "", fmt.Errorf("%s %v is no %s", what, x, t)
	}
	return e.Constant(what, v), nil
}

// onnxNumber returns a type's number in ONNX's TensorProto.DataType.
func onnxNumber(t numeric.DataType) int { return slices.Index(onnxDataTypes[:], t) }

// Attr returns an attribute as a node has it; ok is false for one that is left out.
func (a Attributes) Attr(name string) (attr Attr, ok bool, err error) {
	switch v := a[name].(type) {
	case int:
		return Attr{Kind: AttrInt, Int: int64(v)}, true, nil
	case bool:
		if v {
			return Attr{Kind: AttrInt, Int: 1}, true, nil
		}
		return Attr{Kind: AttrInt}, true, nil
	case numeric.DataType:
		return Attr{Kind: AttrInt, Int: int64(onnxNumber(v))}, true, nil
	case float32:
		return Attr{Kind: AttrFloat, Float: v}, true, nil
	case string:
		return Attr{Kind: AttrString, String: v}, true, nil
	case []int:
		list := make([]int64, len(v))
		for i, n := range v {
			list[i] = int64(n)
		}
		return Attr{Kind: AttrInts, Ints: list}, v != nil, nil
	case []float32:
		return Attr{Kind: AttrFloats, Floats: v}, v != nil, nil
	case []string:
		return Attr{Kind: AttrStrings, Strings: v}, v != nil, nil
	case numeric.Value:
		return Attr{Kind: AttrTensor, Tensor: v}, true, nil
	case *Network:
		return Attr{Kind: AttrGraph, Graph: v}, true, nil
	}
	return Attr{}, false, fmt.Errorf("attribute %s is a %T, which nodes do not have", name, a[name])
}

// UniqueNames returns the function that makes names which no tensor of the network has, and none that it made before.
func (n *Network) UniqueNames() func(hint string) string {
	made := map[string]bool{}
	return func(hint string) string {
		name := hint
		for i := 2; made[name] || n.tensors[name] != nil; i++ {
			name = hint + "_" + strconv.Itoa(i)
		}
		made[name] = true
		return name
	}
}

// subgraph returns a body as ONNX has it: what it captures, its inputs from formal on, goes by the names of the layer's inputs
// from captured on, and everything else in it by names that nothing else has.
func (e *Exporter) subgraph(body *Network, formal, captured int) *Network {
	c := body.Clone()
	names := c.tensors
	c.tensors = make(map[string]*Tensor, len(names))
	outer := map[*Tensor]bool{}
	for i, t := range c.Inputs[formal:] {
		t.Name = e.Layer.Inputs[captured+i].Name
		outer[t] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if t := names[name]; !outer[t] {
			t.Name = e.unique(name)
			c.tensors[t.Name] = t
		}
	}
	c.Inputs = c.Inputs[:formal:formal]
	return c
}
