package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// scope is where the graph that an importer is at lies: the model's own, or one inside a node.
type scope struct {
	outer   *importer // of the graph around it; nil for the model's own
	prefix  string    // of the names of its layers and tensors
	inlined bool      // its layers are the outer graph's: it sees what that has, without capturing it
	work    *work

	captured []*graph.Tensor                 // of the outer graph: what inputs of the network behind its own stand for
	seen     map[*graph.Tensor]*graph.Tensor // by what they stand for
}

// work is what all graphs of a model share. Those inside nodes are imported several times where loops are unrolled.
type work struct {
	nodes int       // of graphs inside nodes, which may take no more than maxInnerNodes
	notes []Problem // see [File]; each once
}

const (
	maxInnerNodes = 1 << 16 // that are imported of graphs inside nodes
	maxUnrolled   = 1 << 10 // iterations of a loop that are imported one by one
)

// within returns an importer of a graph inside a node, under a path of names.
func (im *importer) within(g *graphProto, path string, inlined bool) *importer {
	sub := &importer{
		Importer: im.Importer, net: im.net, external: im.external, opsets: im.opsets,
		initializers: map[string]*tensor{}, sparse: map[string]bool{}, values: map[string]*graph.Tensor{},
		symbols: im.symbols, taken: im.taken, sequences: map[string][]*graph.Tensor{}, rows: map[string]*graph.Tensor{}, none: map[string]bool{}, decided: im.decided,
		scope: scope{outer: im, prefix: path + "/", inlined: inlined, work: im.scope.work, seen: map[*graph.Tensor]*graph.Tensor{}},
	}
	sub.Fixed = nil
	if !inlined {
		sub.net, sub.decided = graph.NewNetwork(path), map[graph.Element]*graph.Tensor{}
	} else {
		for i := 2; im.hasUnder(sub.scope.prefix); i++ {
			sub.scope.prefix = fmt.Sprintf("%s_%d/", path, i)
		}
	}
	sub.declare(g)
	for _, name := range slices.Sorted(maps.Keys(sub.initializers)) {
		if im.visible(name) {
			sub.report(&Problem{Reason: fmt.Sprintf("initializer %q has the name of a value of the graphs around it, which ONNX does not allow", name)})
			break
		}
	}
	return sub
}

// visible reports whether a graph, or one around it, has a value of the name.
func (im *importer) visible(name string) bool {
	for ; im != nil; im = im.scope.outer {
		if _, ok := im.values[name]; ok || im.initializers[name] != nil {
			return true
		}
	}
	return false
}

// hasUnder reports whether a name of the model begins so.
func (im *importer) hasUnder(prefix string) bool {
	im.isReserved("")
	for name := range im.reserved {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// body imports the nodes of a graph inside a node.
func (im *importer) body(g *graphProto) {
	if im.scope.work.nodes += len(g.nodes) + 1; im.scope.work.nodes > maxInnerNodes {
		im.report(&Problem{Reason: fmt.Sprintf("graphs inside nodes, and loops that are unrolled, have more than %d nodes", maxInnerNodes)})
		return
	}
	order, problem := sortNodes(g.nodes)
	if problem != nil {
		im.refuse(problem)
		return
	}
	im.layers(g.nodes, order)
}

// adopt takes over what is wrong with a graph inside a node.
func (im *importer) adopt(n *node, part string, sub *importer) {
	im.damaged = im.damaged || sub.damaged
	for _, p := range sub.problems {
		if p.Node == "" {
			p.Op = n.op()
			p.Node = n.label() + "/" + part
		} else {
			p.Node = n.label() + "/" + part + "/" + p.Node
		}
		im.report(&p)
	}
}

// outside returns a value of the graphs around this one: captured as an input of the network where that is one of its own.
func (im *importer) outside(name string) (t *graph.Tensor, ok bool) {
	if im.scope.outer == nil {
		return nil, false
	}
	if t, ok = im.scope.outer.value(name); t == nil || !t.IsKnown() {
		return nil, ok
	}
	t = im.capture(t)
	if !im.scope.inlined {
		im.values[name] = t
	}
	return t, true
}

// capture returns what stands in this graph for a tensor of the one around it: a constant's elements, or an input.
func (im *importer) capture(t *graph.Tensor) *graph.Tensor {
	if im.scope.inlined {
		return t
	}
	x := im.scope.seen[t]
	if x != nil {
		return x
	}
	if v, ok := t.Const(); ok {
		x = im.net.AddConst(im.scope.prefix+t.Name, v)
	} else {
		x = im.net.AddInput(im.scope.prefix+t.Name, t.Type, t.Dims...)
		x.Value = t.Value
		im.scope.captured = append(im.scope.captured, t)
	}
	im.scope.seen[t] = x
	return x
}

// tensorNames returns the names of the tensors that a layer's outputs are.
func (im *importer) tensorNames(layer string, outputs []string) []string {
	names := slices.Clone(outputs)
	for i, out := range names {
		if out == "" {
			names[i] = fmt.Sprintf("%s_output%d", layer, i)
		} else {
			names[i] = im.scope.prefix + out
		}
	}
	return names
}

// prefixed returns the names of tensors that values are; "" for one that is left out.
func (im *importer) prefixed(values []string) []string {
	if im.scope.prefix == "" {
		return values
	}
	names := slices.Clone(values)
	for i, out := range names {
		if out != "" {
			names[i] = im.scope.prefix + out
		}
	}
	return names
}
