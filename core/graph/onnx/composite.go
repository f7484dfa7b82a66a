package onnx

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// composite imports a node as the layers that it is made of.
func (im *importer) composite(n *node, name string, c *graph.Composite, inputs []*graph.Tensor) []error {
	gn, err := im.graphNode(n, name, inputs)
	if err != nil {
		return []error{err}
	}
	for _, a := range n.attrs {
		if a.graph != nil {
			gn.Attrs[a.name] = graph.Attr{Kind: graph.AttrGraph}
		}
	}
	gn.Inline = func(attribute string, inputs ...*graph.Tensor) ([]*graph.Tensor, error) {
		return im.call(n, name, attribute, inputs)
	}
	outputs := trimEmpty(n.outputs)
	list, errs := c.Add(im.net, im.Ops, gn, im.prefixed(outputs), im.isReserved)
	for i, t := range list {
		if outputs[i] != "" {
			im.values[outputs[i]] = t
		}
	}
	return errs
}

// call imports the nodes of a graph among a node's attributes, and returns its outputs for the given inputs.
func (im *importer) call(n *node, name, attribute string, inputs []*graph.Tensor) ([]*graph.Tensor, error) {
	graphs, err := n.graphs(attribute)
	if err != nil {
		return nil, err
	}
	g := graphs[0]
	if len(g.inputs) != len(inputs) {
		return nil, fmt.Errorf("%s has %d inputs, want %d", attribute, len(g.inputs), len(inputs))
	}
	sub := im.within(g, name+"/"+attribute, true)
	for i, t := range inputs {
		sub.values[g.inputs[i].name] = t
	}
	sub.body(g)
	var list []*graph.Tensor
	if len(sub.problems) == 0 {
		for i, v := range sub.outputs(g.outputs) {
			if v.tensor == nil {
				sub.report(&Problem{Reason: fmt.Sprintf("output %q is no tensor", g.outputs[i].name)})
				break
			}
			list = append(list, v.tensor)
		}
	}
	if len(sub.problems) > 0 {
		im.adopt(n, attribute, sub)
		return nil, errInside
	}
	return list, nil
}

// isReserved reports whether a node or a value of the model has the name.
func (im *importer) isReserved(name string) bool {
	if im.reserved == nil {
		im.reserved = map[string]bool{}
		for n, layer := range im.names {
			im.reserved[layer] = true
			for _, out := range n.outputs {
				im.reserved[im.scope.prefix+out] = true
			}
		}
		for name := range im.initializers {
			im.reserved[im.scope.prefix+name] = true
		}
	}
	return im.reserved[name] || im.scope.inlined && im.scope.outer.isReserved(name)
}
