package onnx

import "github.com/trtui/trtui/core/graph"

// composite imports a node as the layers that it is made of.
func (im *importer) composite(n *node, name string, c *graph.Composite, inputs []*graph.Tensor) []error {
	gn, err := im.graphNode(n, name, inputs)
	if err != nil {
		return []error{err}
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
