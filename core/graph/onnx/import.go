package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// The operator set versions of the default domain that are understood.
const (
	oldestOpset = 1
	newestOpset = 28
)

// maxProblems bounds an ImportError.
const maxProblems = 1000

// importer turns one model into a network.
type importer struct {
	Importer
	net      *graph.Network
	external func(t *tensor, size int) ([]byte, error)
	opsets   map[string]int
	producer string
	problems []Problem

	initializers map[string]*tensor
	sparse       map[string]bool          // sparse initializers
	values       map[string]*graph.Tensor // by ONNX name; nil for one that could not be made
	names        map[*node]string         // of layers
	reserved     map[string]bool          // names of nodes and values, once they are asked for
	look         *look                    // nil to import a model that is to be run
	damaged      bool                     // there is nothing that could be looked at
	symbols      map[string]string        // symbol by dim_param
	taken        map[string]bool          // symbols
	sequences    map[string][]*graph.Tensor
	rows         map[string]*graph.Tensor        // sequences of which how long they are is not known
	none         map[string]bool                 // optionals without an element
	decided      map[graph.Element]*graph.Tensor // what data decide, as extents
	scope        scope
}

// NotModelError says that a file cannot be read as an ONNX model at all.
type NotModelError struct {
	File string
	Err  error // what was found in it
}

func (e *NotModelError) Error() string {
	return fmt.Sprintf("%s is not an ONNX model, or is truncated: %v", e.File, e.Err)
}

func (e *NotModelError) Unwrap() error { return e.Err }

var errNoGraph = errors.New("it has no graph")

// imported is what became of a model's bytes.
type imported struct {
	network *graph.Network
	refused *ImportError // to look at it: what keeps it from being run, if anything does
	notes   []string     // see [File]
}

// parse imports a model, and where it cannot be for all shapes for the only ones, if these are given.
func (o Importer) parse(name string, data []byte, external func(*tensor, int) ([]byte, error), looked bool) (imported, error) {
	open := o
	open.Shapes = nil
	got, err := open.read(name, data, external, looked)
	if len(o.Shapes) == 0 || got.refused == nil && !errors.As(err, new(*ImportError)) {
		return got, err
	}
	if got, err := o.read(name, data, external, looked); got.refused == nil && err == nil {
		return got, nil
	}
	return got, err
}

// read is parse for the shapes that the importer has.
func (o Importer) read(name string, data []byte, external func(*tensor, int) ([]byte, error), looked bool) (imported, error) {
	d := decoder{values: looked}
	m := d.model(data)
	if d.err != nil {
		return imported{}, &NotModelError{name, d.err}
	}
	if !m.hasGraph {
		return imported{}, &NotModelError{name, errNoGraph}
	}
	im := &importer{
		Importer: o, net: graph.NewNetwork(m.graph.name), external: external, opsets: m.opsets, producer: m.producer,
		initializers: map[string]*tensor{}, sparse: map[string]bool{}, values: map[string]*graph.Tensor{},
		symbols: map[string]string{}, taken: map[string]bool{}, sequences: map[string][]*graph.Tensor{}, rows: map[string]*graph.Tensor{}, none: map[string]bool{},
		decided: map[graph.Element]*graph.Tensor{}, scope: scope{work: &work{}},
	}
	if looked {
		im.look = newLook(&m.graph)
	}
	if im.net.Name == "" {
		im.net.Name = name
	}
	im.model(m)
	var refused *ImportError
	if len(im.problems) > 0 {
		refused = &ImportError{File: name, Problems: im.problems, Damaged: im.damaged}
	}
	if refused != nil && (!looked || im.damaged) {
		return imported{}, refused
	}
	if err := im.net.Verify(); err != nil {
		return imported{}, fmt.Errorf("%s: imported network is inconsistent: %w", name, err)
	}
	return imported{im.net, refused, reasons(im.scope.work.notes)}, nil
}

// refuse reports what is wrong with a model, which then cannot be looked at either.
func (im *importer) refuse(p *Problem) {
	im.damaged = true
	im.report(p)
}

// report adds a problem, up to a number that a person may want to read.
func (im *importer) report(p *Problem) {
	switch len(im.problems) {
	case maxProblems:
	case maxProblems - 1:
		im.problems = append(im.problems, Problem{Reason: fmt.Sprintf("there are more than %d problems", maxProblems-1)})
	default:
		im.problems = append(im.problems, *p)
	}
}

// note adds what a person should know of a model that can be run, once for each node, up to the number of [importer.report].
func (im *importer) note(p Problem) {
	if w := im.scope.work; len(w.notes) < maxProblems && !slices.Contains(w.notes, p) {
		w.notes = append(w.notes, p)
	}
}

func (im *importer) model(m *model) {
	if len(im.opsets) == 0 && m.irVersion < 3 {
		im.opsets[""] = 1 // files from before opset_import
	}
	if v, ok := im.opsets[""]; ok && (v < oldestOpset || v > newestOpset) {
		im.report(&Problem{Reason: fmt.Sprintf("operator set %d is outside %d to %d, which are supported; convert the model with onnx.version_converter or export it again", v, oldestOpset, newestOpset)})
		if im.look == nil {
			return
		}
	}
	g := &m.graph
	im.declare(g)
	im.checkConstants(g)
	im.checkLengths(g)
	im.checkWithout(g)
	nodes, problem := inline(g.nodes, m.functions)
	if problem != nil {
		im.refuse(problem)
		return
	}
	order, problem := sortNodes(nodes)
	if problem != nil {
		im.refuse(problem)
		return
	}
	says := saysShape(order)
	for _, in := range g.inputs {
		if im.initializers[in.name] != nil {
			continue
		}
		if im.isWithout(in) {
			im.none[in.name] = true
		} else {
			im.input(in)
		}
		if says[in.name] && im.values[in.name] != nil && !im.values[in.name].IsConst() {
			im.shape(im.values[in.name])
		}
	}
	im.layers(nodes, order)
	for _, out := range g.outputs {
		im.output(out)
	}
	if len(g.outputs) == 0 {
		im.refuse(&Problem{Reason: "the graph has no outputs"})
	}
	im.net.Prune()
}

// declare takes note of a graph's initializers.
func (im *importer) declare(g *graphProto) {
	for _, t := range g.initializers {
		im.initializers[t.name] = t
	}
	for _, name := range g.sparse {
		im.sparse[name] = true
	}
}

// layers imports the nodes of a graph, in a topological order of them.
func (im *importer) layers(nodes, order []*node) {
	im.names = layerNames(nodes)
	for n, name := range im.names {
		im.names[n] = im.scope.prefix + name
	}
	for _, n := range order {
		im.node(n, im.names[n])
	}
}

// node adds a node's layer, or reports why that cannot be done. Where an input could not be made, only the operator
// is looked up, and the outputs cannot be made either.
func (im *importer) node(n *node, name string) {
	for _, out := range n.outputs {
		if out == "" {
			continue
		}
		if _, ok := im.values[out]; ok || im.initializers[out] != nil {
			im.refuse(n.problem(fmt.Sprintf("its output %q is also an input or an initializer of the graph", out)))
			return
		}
		im.values[out] = nil
	}
	if n.opType == "Constant" && n.domain == "" {
		im.constant(n, name)
		return
	}
	if im.sequence(n, name) {
		return
	}
	op, composite := im.Ops.Onnx(n.domain, n.opType), im.Ops.Composite(n.domain, n.opType)
	if form := im.form(n, name); form != nil {
		op, composite = nil, form
	}
	if op == nil && composite == nil && !n.isSequenceMap() {
		im.fail(n, name, errNoOp)
		return
	}
	if err := im.noSequences(n); err != nil {
		im.fail(n, name, err)
		return
	}
	inputs, ok := im.inputs(n)
	if !ok {
		im.follow(n, name)
		return
	}
	var errs []error
	switch {
	case n.hasGraphs() && composite == nil:
		errs = im.control(n, name, op, inputs)
	case op != nil:
		errs = im.layer(n, name, op, inputs, nil)
		if len(errs) > 0 && len(undecided(n, inputs)) > 0 {
			errs = im.decide(n, name, op, inputs, errs)
		}
	default:
		errs = im.composite(n, name, composite, inputs)
	}
	if len(errs) > 0 {
		im.fail(n, name, errs...)
	} else if im.look != nil {
		im.look.pass(n)
	}
}

// inputs returns the tensors that a node reads, without trailing ones that are left out; ok is false if one could not be
// made.
func (im *importer) inputs(n *node) (list []*graph.Tensor, ok bool) {
	ok = true
	for i, in := range n.reads() {
		if in == "" {
			list = append(list, nil)
			continue
		}
		if n.hasGraphs() && (im.isSequence(in) || im.isNone(in)) { // its graphs may read it
			if i < len(n.inputs) {
				list = append(list, nil)
			}
			continue
		}
		t, known := im.value(in)
		if !known {
			im.values[in] = nil // report it once
			im.refuse(n.problem(fmt.Sprintf("its input %q is produced by no node, and is no input and no initializer of the graph", in)))
		}
		ok = ok && t != nil && t.IsKnown()
		if i < len(n.inputs) {
			list = append(list, t)
		}
	}
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	return list, ok
}

// layer imports a node through its op, with what its graphs have become.
func (im *importer) layer(n *node, name string, op *graph.Op, inputs []*graph.Tensor, inside *bodies) []error {
	return im.layerOf(n, name, op, inputs, inside, trimEmpty(n.outputs))
}

// layerOf is layer of so many outputs, of which "" are values that the graph does not have.
func (im *importer) layerOf(n *node, name string, op *graph.Op, inputs []*graph.Tensor, inside *bodies, outputs []string) (errs []error) {
	defer func() {
		if r := recover(); r != nil {
			if l := im.net.Layer(name); l != nil {
				im.net.Remove(l)
			}
			errs = append(errs, fmt.Errorf("internal error, please report it: %v", r))
		}
	}()
	gn, err := im.graphNode(n, name, inputs)
	if err != nil {
		return []error{err}
	}
	inside.describe(gn)
	var attrs any
	inputs = gn.Inputs
	if op.Import != nil {
		attrs, inputs, err = op.Import(gn)
	}
	switch {
	case len(gn.Errs()) > 0:
		return gn.Errs()
	case err != nil:
		return []error{err}
	case len(gn.Unasked()) > 0:
		return gn.Unasked()
	}
	if op == graph.NonZero && len(inputs) == 1 {
		if t := im.net.NonZeros(inputs[0]); t != nil {
			im.values[outputs[0]] = t
			return nil
		}
	}
	l, err := im.net.Add(name, op, attrs, inputs, im.tensorNames(name, outputs)...)
	if err != nil {
		return []error{unwrapLayer(err)}
	}
	if err := l.CheckBodyCounts(); err != nil {
		im.net.Remove(l)
		return []error{unwrapLayer(err)}
	}
	for i, t := range l.Outputs {
		if !t.IsKnown() {
			im.net.Remove(l)
			return []error{fmt.Errorf("output %d (%q) is not supported", i, outputs[i])}
		}
	}
	for i, out := range outputs {
		if out != "" {
			im.values[out] = l.Outputs[i]
		}
	}
	return nil
}

// unwrapLayer drops the layer's name from an error of Infer, which a Problem has already.
func unwrapLayer(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok && u.Unwrap() != nil {
		return u.Unwrap()
	}
	return err
}

func trimEmpty(names []string) []string {
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	return names
}

// graphNode returns the node as ops see it: one of an operator set that they know.
func (im *importer) graphNode(n *node, name string, inputs []*graph.Tensor) (*graph.Node, error) {
	version := im.version(n)
	if version == 0 {
		return nil, fmt.Errorf("the model imports no operator set for domain %q", n.domain)
	}
	if n.domain == "" && (version < oldestOpset || version > newestOpset) {
		if n.opsets == nil {
			return nil, errOpset
		}
		return nil, fmt.Errorf("operator set %d of the function that it is from is outside %d to %d, which are supported", version, oldestOpset, newestOpset)
	}
	gn := &graph.Node{
		Name: name, OpType: n.opType, Version: version, Inputs: inputs, Outputs: len(trimEmpty(n.outputs)), Producer: im.producer, MaxExtent: im.MaxExtent,
		Attrs: make(map[string]graph.Attr, len(n.attrs)),
	}
	for _, a := range n.attrs {
		if _, ok := gn.Attrs[a.name]; ok {
			return nil, fmt.Errorf("attribute %s is given twice", a.name)
		}
		attr, err := im.attribute(a)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", a.name, err)
		}
		gn.Attrs[a.name] = attr
	}
	if n.domain == "" && version < modernSet {
		if err := im.modernise(gn); err != nil {
			return nil, err
		}
	}
	if n.domain == "" {
		return gn, im.openScales(gn)
	}
	return gn, nil
}

// version returns that of the operator set that a node is from; 0 if there is none.
func (im *importer) version(n *node) int {
	if n.opsets != nil {
		return n.opsets[n.domain]
	}
	return im.opsets[n.domain]
}

func (im *importer) attribute(a *attribute) (graph.Attr, error) {
	switch a.kind {
	case kindFloat:
		return graph.Attr{Kind: graph.AttrFloat, Float: a.float}, nil
	case kindInt:
		return graph.Attr{Kind: graph.AttrInt, Int: a.int}, nil
	case kindString:
		return graph.Attr{Kind: graph.AttrString, String: a.str}, nil
	case kindTensor:
		if a.tensor == nil {
			return graph.Attr{}, fmt.Errorf("its tensor is missing")
		}
		v, err := a.tensor.value(im.external)
		return graph.Attr{Kind: graph.AttrTensor, Tensor: v}, err
	case kindFloats:
		return graph.Attr{Kind: graph.AttrFloats, Floats: numeric.View[float32](a.floats)}, nil
	case kindInts:
		return graph.Attr{Kind: graph.AttrInts, Ints: a.ints}, nil
	case kindStrings:
		return graph.Attr{Kind: graph.AttrStrings, Strings: a.strings}, nil
	}
	return graph.Attr{Kind: graph.AttrOther}, nil
}

// constant makes the value of a Constant node a constant of the network.
func (im *importer) constant(n *node, name string) {
	gn, err := im.graphNode(n, "", nil)
	if err == nil && (len(gn.Attrs) != 1 || len(n.outputs) != 1 || n.outputs[0] == "") {
		err = fmt.Errorf("%d attributes and %d outputs, want one of each", len(gn.Attrs), len(n.outputs))
	}
	if err != nil {
		im.fail(n, name, err)
		return
	}
	key := slices.Collect(maps.Keys(gn.Attrs))[0]
	a := gn.Attrs[key]
	var v numeric.Value
	switch {
	case key == "value" && a.Kind == graph.AttrTensor:
		v = a.Tensor
	case key == "value_float" && a.Kind == graph.AttrFloat:
		v = numeric.Values(numeric.F32, []float32{a.Float})
	case key == "value_floats" && a.Kind == graph.AttrFloats:
		v = numeric.Values(numeric.F32, a.Floats, len(a.Floats))
	case key == "value_int" && a.Kind == graph.AttrInt:
		v = numeric.Values(numeric.I64, []int64{a.Int})
	case key == "value_ints" && a.Kind == graph.AttrInts:
		v = numeric.Values(numeric.I64, a.Ints, len(a.Ints))
	default:
		im.fail(n, name, fmt.Errorf("attribute %s is not supported", key))
		return
	}
	im.values[n.outputs[0]] = im.net.AddConst(im.scope.prefix+n.outputs[0], v)
}
