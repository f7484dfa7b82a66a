package graph

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Definition builds a network layer by layer: TensorRT's INetworkDefinition. Each method adds a layer and returns its
// output. What is wrong is gathered, with the layer and the line of the program, and comes out of [Definition.Network]
// all at once, so that a definition reads without error checks. A method that fails returns a tensor that the others
// take without a further error.
//
//	d := graph.Define("classifier")
//	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(1), symbolic.Const(28), symbolic.Const(28))
//	x = d.Named("conv1").Conv(x, w, bias, graph.ConvAttrs{Strides: []int{2, 2}})
//	x = d.Relu(x)
//	d.Output("probabilities", d.Softmax(x, 1))
//	net, err := d.Network()
//
// There is a method for every op; define_x.go has those for what op_x.go is about.
type Definition struct {
	*definition
	name string // of the layers that are added; "" for one made from the op
}

// definition is what a Definition and those that Named returns share.
type definition struct {
	net    *Network
	ops    OpSet
	errs   []error
	broken map[*Tensor]bool // what failed methods returned

	importing *importing // nil for a definition by a program
	inside    *inside    // of a body; nil for a network of its own
}

// Define starts a network of the given name, with the built-in ops.
func Define(name string) *Definition {
	return &Definition{definition: &definition{net: NewNetwork(name), ops: Ops(), broken: map[*Tensor]bool{}}}
}

// Named returns the same definition, but a layer that is added through it, and the layer's output, have the given name.
func (d *Definition) Named(name string) *Definition { return &Definition{d.definition, name} }

// DefinitionError is everything that is wrong with a definition, in its order; each error names the layer and the line of
// the program.
type DefinitionError struct {
	Network string
	Errors  []error
}

func (e *DefinitionError) Error() string {
	if len(e.Errors) == 1 {
		return fmt.Sprintf("network %s: %v", e.Network, e.Errors[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "network %s: %d errors", e.Network, len(e.Errors))
	for _, err := range e.Errors {
		fmt.Fprintf(&b, "\n\t%v", err)
	}
	return b.String()
}

// Unwrap returns the errors.
func (e *DefinitionError) Unwrap() []error { return e.Errors }

// Err returns what is wrong so far, a *DefinitionError; nil if nothing is.
func (d *Definition) Err() error {
	if len(d.errs) == 0 {
		return nil
	}
	return &DefinitionError{d.net.Name, d.errs}
}

// maxErrors bounds what a person may want to read.
const maxErrors = 100

// fail records an error, with the line of the program that is outside of this file's methods.
func (d *Definition) fail(err error) {
	switch {
	case len(d.errs) >= maxErrors:
	case d.importing != nil:
		d.errs = append(d.errs, err)
	default:
		d.errs = append(d.errs, fmt.Errorf("%w%s", err, callerLine()))
	}
}

// callerLine returns the place from which a method of a Definition was called, in parentheses.
func callerLine() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "graph.(*Definition).") && f.File != "" {
			return fmt.Sprintf(" (%s:%d)", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// none returns the tensor of a method that failed, or that reads what another one failed to make.
func (d *Definition) none() *Tensor {
	t := &Tensor{Name: d.name}
	d.broken[t] = true
	return t
}

// Network returns the network, or all that is wrong with it.
func (d *Definition) Network() (*Network, error) {
	if d.inside != nil {
		d.fail(errors.New("a body is no network of its own"))
	}
	if len(d.errs) == 0 && len(d.net.Outputs) == 0 {
		d.errs = append(d.errs, errors.New("it has no outputs; name one with Output"))
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := d.net.Verify(); err != nil {
		return nil, fmt.Errorf("network %s: %w", d.net.Name, err)
	}
	return d.net, nil
}

// Input adds a network input.
func (d *Definition) Input(name string, t numeric.DataType, dims ...symbolic.Dim) *Tensor {
	negative := func(x symbolic.Dim) bool { n, ok := x.IsConst(); return ok && (n < 0 || n > maxExtent) }
	switch {
	case d.inside != nil:
		d.fail(fmt.Errorf("input %s: a body has no inputs but those that it is given", name))
	case name == "":
		d.fail(errors.New("an input has no name"))
	case d.net.Tensor(name) != nil:
		d.fail(fmt.Errorf("input %s: there is a tensor of this name", name))
	case t.Size() == 0:
		d.fail(fmt.Errorf("input %s: type %s", name, t))
	case slices.ContainsFunc(dims, negative):
		d.fail(fmt.Errorf("input %s: shape %s", name, symbolic.Format(dims)))
	default:
		return d.net.AddInput(name, t, dims...)
	}
	return d.none()
}

// Constant adds a constant over v's bytes, which are not copied and must not change.
func (d *Definition) Constant(name string, v numeric.Value) *Tensor {
	n, ok := countDims(symbolic.Shape(v.Dims...))
	negative := slices.ContainsFunc(v.Dims, func(n int) bool { return n < 0 })
	if v.Type.Size() == 0 || negative || !ok || n > maxElements || v.Check() != nil {
		d.fail(fmt.Errorf("constant %s: %d bytes do not fill %s%v", name, len(v.Data), v.Type, v.Dims))
		return d.none()
	}
	return d.net.AddConst(d.path()+name, v)
}

// Weights adds an F32 constant with a copy of data.
func (d *Definition) Weights(name string, data []float32, dims ...int) *Tensor {
	if numeric.Count(dims) != len(data) {
		d.fail(fmt.Errorf("weights %s: %d elements do not fill the shape %v", name, len(data), dims))
		return d.none()
	}
	return d.Constant(name, numeric.Values(numeric.F32, data, dims...))
}

// Output makes t an output of the network, under the given name: the layer that produces t gives it that name.
func (d *Definition) Output(name string, t *Tensor) {
	switch {
	case d.broken[t]:
	case d.inside != nil:
		d.fail(fmt.Errorf("output %s: the outputs of a body are what its function returns", name))
	case t == nil:
		d.fail(fmt.Errorf("output %s: no tensor", name))
	case d.net.Tensor(t.Name) != t:
		d.fail(fmt.Errorf("output %s: the tensor %s is not one of this network", name, t.Name))
	case name == "":
		d.fail(fmt.Errorf("the output %s has no name", t.Name))
	case d.net.IsOutput(t) || t.Name != name && d.net.Tensor(name) != nil:
		d.fail(fmt.Errorf("output %s: the tensor is an output already, or there is another of this name", name))
	case t.Name != name && t.Producer == nil:
		d.fail(fmt.Errorf("output %s: the input or constant %s keeps its name", name, t.Name))
	default:
		d.net.rename(t, name)
		d.net.MarkOutput(t)
	}
}

// maxOutputs bounds the outputs of one layer.
const maxOutputs = 1 << 12

// Layers adds a layer of any op with any number of outputs, which have the layer's name, those behind the first with
// their number. It is what the other methods use, and serves for ops of a program's own.
func (d *Definition) Layers(op *Op, attrs any, outputs int, inputs ...*Tensor) []*Tensor {
	list := make([]*Tensor, max(1, min(outputs, maxOutputs)))
	for i := range list {
		list[i] = d.none()
	}
	if slices.ContainsFunc(inputs, func(t *Tensor) bool { return d.broken[t] }) {
		return list
	}
	inputs = d.captureAll(inputs)
	for len(inputs) > 0 && inputs[len(inputs)-1] == nil { // optional inputs that are left out
		inputs = inputs[:len(inputs)-1]
	}
	name := d.layerName(op)
	err := d.fits(name, op, attrs, outputs, inputs)
	if err == nil {
		var l *Layer
		if l, err = d.add(name, op, attrs, outputs, inputs); err == nil {
			return l.Outputs
		}
	}
	d.fail(err)
	return list
}

// layerName returns the name of the layer that is added.
func (d *Definition) layerName(op *Op) string {
	switch {
	case d.name != "":
		return d.path() + d.name
	case op != nil:
		return d.fresh(d.path() + op.Name)
	}
	return ""
}

// fits returns an error for what is no layer of the network, whatever its op infers.
func (d *Definition) fits(name string, op *Op, attrs any, outputs int, inputs []*Tensor) error {
	if op == nil {
		return fmt.Errorf("layer %q: no op", name)
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("layer %s (%s): "+format, append([]any{name, op.Name}, args...)...)
	}
	if d.net.Layer(name) != nil {
		return fmt.Errorf("layer %s: there is a layer of this name", name)
	}
	if op.Infer == nil || op.Eval == nil {
		return fail("the op has no Infer or no Eval")
	}
	if outputs < 1 || outputs > maxOutputs {
		return fail("%d outputs", outputs)
	}
	if want, got := reflect.TypeOf(op.Attrs), reflect.TypeOf(attrs); want != got {
		switch {
		case want == nil:
			return fail("it takes no attributes, not %s", got)
		case got == reflect.PointerTo(want):
			return fail("its attributes are a *%s; give them by value", want)
		}
		return fail("its attributes are %v, not %v", want, got)
	}
	for i, t := range inputs {
		if t != nil && d.net.Tensor(t.Name) != t {
			return fail("input %d, %s, is not a tensor of this network", i, t.Name)
		}
	}
	return nil
}

// add adds a layer that fits. What its op cannot take, and panics on, is an error.
func (d *Definition) add(name string, op *Op, attrs any, outputs int, inputs []*Tensor) (l *Layer, err error) {
	defer func() {
		if v := recover(); v != nil {
			if l := d.net.Layer(name); l != nil {
				d.net.Remove(l)
			}
			err = fmt.Errorf("layer %s (%s): it cannot be made of attributes %+v and such inputs: %v", name, op.Name, attrs, v)
		}
	}()
	names := []string{name}
	for i := 1; i < outputs; i++ {
		names = append(names, fmt.Sprintf("%s_%d", name, i))
	}
	return d.net.Add(name, op, attrs, inputs, names...)
}

// Layer adds a layer of any op with one output.
func (d *Definition) Layer(op *Op, attrs any, inputs ...*Tensor) *Tensor {
	return d.Layers(op, attrs, 1, inputs...)[0]
}

// imported adds the layer that an ONNX node with the given attributes imports as.
func (d *Definition) imported(op string, attrs map[string]Attr, inputs ...*Tensor) *Tensor {
	o := d.ops.Named(op)
	node := &Node{Name: d.name, OpType: op, Version: exportOpset, Inputs: inputs, Outputs: 1, Attrs: attrs}
	if slices.ContainsFunc(inputs, func(t *Tensor) bool { return d.broken[t] }) {
		return d.none()
	}
	a, inputs, err := d.importNode(o, node)
	if err != nil {
		d.fail(fmt.Errorf("layer %s (%s): %w", d.name, op, err))
		return d.none()
	}
	return d.Layer(o, a, inputs...)
}

// importNode is the op's Import; what it panics on is an error.
func (d *Definition) importNode(op *Op, node *Node) (attrs any, inputs []*Tensor, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("such inputs: %v", v)
		}
	}()
	attrs, inputs, err = op.Import(node)
	return attrs, inputs, errors.Join(append(node.Errs(), err)...)
}

// suffixed returns the definition for a layer that precedes the one of d's name.
func (d *Definition) suffixed(suffix string) *Definition {
	if d.name == "" {
		return d
	}
	return d.Named(d.name + suffix)
}

// list adds a constant list of integers, such as a shape, for a layer of the given op.
func (d *Definition) list(op, what string, elements []int) *Tensor {
	list := make([]int64, len(elements))
	for i, n := range elements {
		list[i] = int64(n)
	}
	name := d.name + "_" + what
	switch {
	case d.importing != nil:
		name = d.fresh(what)
	case d.name == "":
		name = op + "_" + what
	}
	return d.Constant(name, numeric.Values(numeric.I64, list, len(list)))
}

// exportOpset is the ONNX operator set in which nodes are made.
const exportOpset = 21
