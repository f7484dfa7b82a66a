package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Nodes with graphs inside. One whose condition is known is imported as the nodes of the graph that it takes. Others become
// layers with networks inside; a loop that cannot be one, since it carries sequences or values that change their shape, is
// imported iteration by iteration where these are few and known.

// bodies are what the graphs of a node have become.
type bodies struct {
	networks map[string]*graph.Network // by attribute
	captured []*graph.Tensor           // their last inputs
}

// describe gives a node its bodies.
func (b *bodies) describe(n *graph.Node) {
	if b == nil {
		return
	}
	n.Captured = b.captured
	for name, net := range b.networks {
		n.Attrs[name] = graph.Attr{Kind: graph.AttrGraph, Graph: net}
	}
}

// control imports a node that has graphs inside.
func (im *importer) control(n *node, name string, op *graph.Op, inputs []*graph.Tensor) []error {
	switch op {
	case graph.If:
		return im.branches(n, name, inputs)
	case graph.Loop:
		return im.loop(n, name, inputs)
	case graph.Scan:
		return im.scan(n, name, inputs)
	}
	if n.isSequenceMap() {
		return im.sequenceMap(n, name)
	}
	return []error{fmt.Errorf("a graph as an attribute is not supported")}
}

// graphs returns the graphs of the node's attributes of the given names; an error names one that is missing.
func (n *node) graphs(names ...string) (list []*graphProto, err error) {
	for _, name := range names {
		i := slices.IndexFunc(n.attrs, func(a *attribute) bool { return a.name == name })
		if i < 0 || n.attrs[i].graph == nil {
			return nil, fmt.Errorf("attribute %s is no graph", name)
		}
		list = append(list, n.attrs[i].graph)
	}
	return list, nil
}

// branches imports an If.
func (im *importer) branches(n *node, name string, inputs []*graph.Tensor) []error {
	graphs, err := n.graphs("then_branch", "else_branch")
	if err != nil {
		return []error{err}
	}
	if len(inputs) == 1 && inputs[0] != nil {
		if taken, known := inputs[0].Truth(); known {
			if taken {
				return im.inline(n, name, "then", graphs[0])
			}
			return im.inline(n, name, "else", graphs[1])
		}
	}
	subs := []*importer{im.network(graphs[0], name+"/then", nil), im.network(graphs[1], name+"/else", nil)}
	if len(inputs) == 1 && inputs[0] != nil && len(subs[0].problems)+len(subs[1].problems) == 0 {
		switch then, other := subs[0].net, subs[1].net; {
		case len(then.Outputs) != len(other.Outputs):
		case vacuous(inputs[0], then, other):
			return im.inline(n, name, "else", graphs[1])
		case needsBoth(then, other):
			return im.both(n, name, inputs[0], graphs)
		}
	}
	im.adopt(n, "then", subs[0])
	im.adopt(n, "else", subs[1])
	if len(subs[0].problems)+len(subs[1].problems) > 0 {
		return []error{errInside}
	}
	inside := &bodies{networks: map[string]*graph.Network{"then_branch": subs[0].net, "else_branch": subs[1].net}}
	inside.captured = graph.ShareInputs(subs[0].net, subs[1].net, subs[0].scope.captured, subs[1].scope.captured)
	return im.layer(n, name, graph.If, inputs, inside)
}

// network imports a graph as a network of its own, whose first inputs are as the given tensors; nil for one that has none.
func (im *importer) network(g *graphProto, path string, formal []*graph.Tensor) *importer {
	sub := im.within(g, path, false)
	if len(g.inputs) != len(formal) {
		sub.report(&Problem{Reason: fmt.Sprintf("the graph has %d inputs, its node gives it %d", len(g.inputs), len(formal))})
		return sub
	}
	for i, v := range g.inputs {
		t := formal[i]
		if v.kind != "tensor" && v.kind != noType {
			sub.report(&Problem{Reason: fmt.Sprintf("input %q: its type, %s, is not supported", v.name, v.kind)})
			return sub
		}
		if typ, err := v.dataType(); v.kind == "tensor" && v.elemType != 0 && (err != nil || typ != t.Type) {
			sub.report(&Problem{Reason: fmt.Sprintf("input %q is declared as %s, but it is given %s", v.name, typ, t.TypeString())})
			return sub
		}
		sub.values[v.name] = sub.net.AddInput(sub.scope.prefix+v.name, t.Type, t.Dims...)
	}
	sub.body(g)
	if len(sub.problems) == 0 {
		sub.results(g)
	}
	sub.net.Prune()
	return sub
}

// results makes the graph's outputs those of its network: each has a layer of its own.
func (im *importer) results(g *graphProto) {
	for i, v := range g.outputs {
		t, ok := im.value(v.name)
		switch {
		case im.isSequence(v.name):
			im.report(&Problem{Reason: fmt.Sprintf("output %q is a sequence, which is not supported", v.name)})
			return
		case t == nil || !t.IsKnown():
			if !ok {
				im.refuse(&Problem{Reason: fmt.Sprintf("output %q: nothing produces it", v.name)})
			}
			im.report(&Problem{Reason: fmt.Sprintf("output %q is not known", v.name)})
			return
		}
		if t.Producer == nil || im.net.IsOutput(t) {
			l, err := im.net.Add(fmt.Sprintf("%soutput%d", im.scope.prefix, i), graph.Identity, nil, []*graph.Tensor{t})
			if err != nil {
				im.report(&Problem{Reason: err.Error()})
				return
			}
			t = l.Outputs[0]
		}
		im.net.MarkOutput(t)
	}
}

// inline imports the nodes of a graph without inputs in the place of its node.
func (im *importer) inline(n *node, name, part string, g *graphProto) []error {
	before := len(im.net.Layers)
	sub := im.within(g, name+"/"+part, true)
	sub.body(g)
	var values []value
	if len(sub.problems) == 0 {
		values = sub.outputs(g.outputs)
	}
	return im.bring(n, name, before, part, sub, values)
}

// value is a tensor or a sequence of tensors, or an optional without either.
type value struct {
	tensor *graph.Tensor
	list   []*graph.Tensor
	rows   *graph.Tensor // of a sequence, where how many there are is not known
	none   bool
}

// outputs returns the values of a graph's outputs; one that is not known is a problem.
func (im *importer) outputs(outputs []*valueInfo) []value {
	var values []value
	for _, v := range outputs {
		if list := im.list(v.name); list != nil {
			values = append(values, value{list: list})
			continue
		}
		if t := im.rowsOf(v.name); t != nil {
			values = append(values, value{rows: t})
			continue
		}
		if im.isNone(v.name) {
			values = append(values, value{none: true})
			continue
		}
		t, ok := im.value(v.name)
		if t == nil || !t.IsKnown() {
			if !ok {
				im.refuse(&Problem{Reason: fmt.Sprintf("output %q: nothing produces it", v.name)})
			}
			im.report(&Problem{Reason: fmt.Sprintf("output %q is not known", v.name)})
			return nil
		}
		values = append(values, value{tensor: t})
	}
	return values
}

// bring makes values the outputs of a node whose graphs were imported in its place; where that has failed, it removes the
// layers that came since.
func (im *importer) bring(n *node, name string, before int, part string, sub *importer, values []value) []error {
	outputs := trimEmpty(n.outputs)
	if len(sub.problems) == 0 && len(values) < len(outputs) {
		sub.report(&Problem{Reason: fmt.Sprintf("the graph has %d outputs, the node %d", len(values), len(outputs))})
	}
	if len(sub.problems) > 0 {
		im.adopt(n, part, sub)
		for len(im.net.Layers) > before {
			im.net.Remove(im.net.Layers[len(im.net.Layers)-1])
		}
		return []error{errInside}
	}
	names := im.tensorNames(name, outputs)
	for i, out := range outputs {
		switch v := values[i]; {
		case out == "":
		case v.none:
			im.none[out] = true
		case v.list != nil:
			im.sequences[out] = v.list
		case v.rows != nil:
			im.rows[out] = v.rows
		default:
			layer := name
			if i > 0 {
				layer = fmt.Sprintf("%s_output%d", name, i)
			}
			l, err := im.net.Add(layer, graph.Identity, nil, []*graph.Tensor{v.tensor}, names[i])
			if err != nil {
				return []error{unwrapLayer(err)}
			}
			im.values[out] = l.Outputs[0]
		}
	}
	return nil
}

// loop imports a Loop: as a layer, or else iteration by iteration.
func (im *importer) loop(n *node, name string, inputs []*graph.Tensor) []error {
	graphs, err := n.graphs("body")
	if err != nil {
		return []error{err}
	}
	return im.loopOf(n, name, inputs, graphs[0])
}

// loopOf imports a Loop of a body.
func (im *importer) loopOf(n *node, name string, inputs []*graph.Tensor, g *graphProto) []error {
	var errs []error
	sub := &importer{}
	if carried, ok := im.carriedTensors(n, inputs); ok {
		formal := append([]*graph.Tensor{oneOf(numeric.I64, g, 0), oneOf(numeric.Bool, g, 1)}, carried...)
		if sub = im.network(g, name+"/body", formal); len(sub.problems) == 0 {
			errs = im.loopLayer(n, name, inputs, sub)
			if _, few := im.fewTrips(n, inputs); len(errs) > 0 && !few {
				errs = im.growingLoop(n, name, inputs, sub, errs)
			}
			if len(errs) == 0 {
				return nil
			}
		}
	} else if _, few := im.fewTrips(n, inputs); !few {
		if a, ok := im.appends(n, inputs, g); ok {
			return im.appendingLoop(a, name)
		}
		errs = []error{fmt.Errorf("it carries a sequence, does more than append to it, and how many iterations there are is not known beforehand")}
	}
	trips, ok := im.fewTrips(n, inputs)
	switch {
	case ok:
		return im.unroll(n, name, inputs, g, trips)
	case len(errs) == 0:
		im.adopt(n, "body", sub)
		return []error{errInside}
	}
	return errs
}

// loopLayer imports a Loop as a layer. Where data end one that gathers, the numbers of its iterations are gathered, too, by which they
// are counted. It fails for a loop inside which layers count, if it can be unrolled: its layers have kernels then.
func (im *importer) loopLayer(n *node, name string, inputs []*graph.Tensor, sub *importer) []error {
	inside := &bodies{map[string]*graph.Network{"body": sub.net}, sub.scope.captured}
	errs := im.layer(n, name, graph.Loop, inputs, inside)
	var uncounted *graph.UncountedError
	if len(errs) == 1 && errors.As(errs[0], &uncounted) && uncounted.Most {
		numbers := "numbers"
		for sub.net.Layer(sub.scope.prefix+numbers) != nil || sub.net.Tensor(sub.scope.prefix+numbers) != nil {
			numbers += "_"
		}
		l, err := sub.net.Add(sub.scope.prefix+numbers, graph.Identity, nil, sub.net.Inputs[:1])
		if err != nil {
			return []error{unwrapLayer(err)}
		}
		sub.net.MarkOutput(l.Outputs[0])
		counting := *n
		counting.outputs = slices.Clone(n.outputs)
		for len(counting.outputs) < len(sub.net.Outputs)-1 {
			counting.outputs = append(counting.outputs, "")
		}
		errs = im.layerOf(&counting, name, graph.Loop, inputs, inside, counting.outputs)
	}
	if len(errs) > 0 {
		return errs
	}
	l := im.net.Layer(name)
	if most, certain, known := l.Trips(); l.CountsInside() && certain && known {
		if trips, fixed := most.IsConst(); fixed && trips <= maxUnrolled {
			im.net.Remove(l)
			return []error{errors.New("layers inside it count")}
		}
	}
	return nil
}

// oneOf returns a tensor of one element, with the axes that the graph declares of its input i: none or one.
func oneOf(t numeric.DataType, g *graphProto, i int) *graph.Tensor {
	x := &graph.Tensor{Type: t, Dims: []symbolic.Dim{}}
	if i < len(g.inputs) && g.inputs[i].hasShape && len(g.inputs[i].dims) == 1 {
		x.Dims = symbolic.Shape(1)
	}
	return x
}

// carriedTensors returns the values that a loop carries; ok is false where one is a sequence or left out.
func (im *importer) carriedTensors(n *node, inputs []*graph.Tensor) (list []*graph.Tensor, ok bool) {
	for i, name := range n.inputs {
		if i < 2 {
			continue
		}
		if i >= len(inputs) || inputs[i] == nil || im.isSequence(name) || im.isNone(name) {
			return nil, false
		}
		list = append(list, inputs[i])
	}
	return list, true
}

// fewTrips returns how many iterations a loop has at most where these can be imported one by one.
func (im *importer) fewTrips(n *node, inputs []*graph.Tensor) (trips int, ok bool) {
	if len(inputs) > 1 && inputs[1] != nil {
		switch goes, known := inputs[1].Truth(); {
		case !known:
			return 0, false
		case !goes:
			return 0, true
		}
	}
	if len(inputs) == 0 || inputs[0] == nil {
		return maxUnrolled, true
	}
	list, ok := inputs[0].Ints()
	if !ok || len(list) != 1 {
		return 0, false
	}
	return max(0, min(list[0], math.MaxInt)), list[0] <= maxUnrolled || len(inputs) > 1 && inputs[1] != nil
}

// unroll imports the iterations of a loop one after the other.
func (im *importer) unroll(n *node, name string, inputs []*graph.Tensor, g *graphProto, trips int) []error {
	before := len(im.net.Layers)
	var carried []value
	for i := 2; i < len(n.inputs); i++ {
		v := value{list: im.list(n.inputs[i]), rows: im.rowsOf(n.inputs[i]), none: im.isNone(n.inputs[i])}
		if i < len(inputs) {
			v.tensor = inputs[i]
		}
		carried = append(carried, v)
	}
	if len(g.inputs) != 2+len(carried) || len(g.outputs) < 1+len(carried) {
		return []error{fmt.Errorf("the body has %d inputs and %d outputs with %d carried values", len(g.inputs), len(g.outputs), len(carried))}
	}
	gathered := make([][]*graph.Tensor, len(g.outputs)-1-len(carried))
	sub := im.within(g, name+"/body", true) // for what is wrong with all of it
	for i, goes := 0, true; i < trips && goes; i++ {
		if i == maxUnrolled {
			sub.report(&Problem{Reason: fmt.Sprintf("it is unrolled, but does not end within %d iterations", maxUnrolled)})
			break
		}
		sub = im.iteration(g, fmt.Sprintf("%s/body/%d", name, i), i, carried)
		values := sub.outputs(g.outputs)
		if len(sub.problems) > 0 {
			break
		}
		if goes = false; values[0].tensor != nil {
			var known bool
			if goes, known = values[0].tensor.Truth(); !known {
				sub.report(&Problem{Reason: "it is unrolled, but whether there is another iteration depends on data"})
				break
			}
		}
		carried = values[1 : 1+len(carried)]
		for k, v := range values[1+len(carried):] {
			if v.tensor == nil {
				sub.report(&Problem{Reason: fmt.Sprintf("output %q is a sequence of each iteration, which is not supported", g.outputs[1+len(carried)+k].name)})
				break
			}
			gathered[k] = append(gathered[k], v.tensor)
		}
	}
	values := slices.Clone(carried)
	for _, list := range gathered {
		if len(sub.problems) == 0 {
			values = append(values, value{tensor: im.stack(name, list, sub)})
		}
	}
	return im.bring(n, name, before, "body", sub, values)
}

// iteration imports one iteration of a loop.
func (im *importer) iteration(g *graphProto, path string, i int, carried []value) *importer {
	sub := im.within(g, path, true)
	number, goes := numeric.Values(numeric.I64, []int64{int64(i)}), numeric.Values(numeric.Bool, []uint8{1})
	number.Dims, goes.Dims = symbolic.Eval(oneOf(numeric.I64, g, 0).Dims, nil), symbolic.Eval(oneOf(numeric.Bool, g, 1).Dims, nil)
	sub.values[g.inputs[0].name] = sub.net.AddConst(sub.scope.prefix+g.inputs[0].name, number)
	sub.values[g.inputs[1].name] = sub.net.AddConst(sub.scope.prefix+g.inputs[1].name, goes)
	for k, v := range carried {
		in := g.inputs[2+k].name
		if sub.values[in] = v.tensor; v.list != nil {
			sub.sequences[in] = v.list
		}
		if v.rows != nil {
			sub.rows[in] = v.rows
		}
		sub.none[in] = v.none
	}
	sub.body(g)
	return sub
}

// scan imports a Scan.
func (im *importer) scan(n *node, name string, inputs []*graph.Tensor) []error {
	graphs, err := n.graphs("body")
	if err != nil {
		return []error{err}
	}
	gn, err := im.graphNode(n, name, inputs)
	if err != nil {
		return []error{err}
	}
	if gn.Version < 9 {
		return im.batchedScan(n, name, graphs[0], gn, inputs)
	}
	formal, err := graph.ScanInputs(gn)
	if err != nil {
		return []error{err}
	}
	sub := im.network(graphs[0], name+"/body", formal)
	if len(sub.problems) > 0 {
		im.adopt(n, "body", sub)
		return []error{errInside}
	}
	return im.layer(n, name, graph.Scan, inputs, &bodies{map[string]*graph.Network{"body": sub.net}, sub.scope.captured})
}
