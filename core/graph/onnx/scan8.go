package onnx

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// batchedScan imports a Scan of operator set 8, whose inputs and outputs have a batch before what is scanned: it is a Scan of
// the batch, without states, around a Scan of each item. Items of lengths of their own are not supported.
func (im *importer) batchedScan(n *node, name string, g *graphProto, gn *graph.Node, inputs []*graph.Tensor) []error {
	if len(inputs) < 2 || inputs[0] != nil {
		return []error{fmt.Errorf("sequence_lens (input 0) is not supported")}
	}
	inputs = inputs[1:]
	a := graph.ScanAttrs{Scanned: gn.Int("num_scan_inputs", 0)}
	if a.States = len(inputs) - a.Scanned; a.Scanned < 1 || a.States < 0 {
		return []error{fmt.Errorf("num_scan_inputs is %d of %d inputs", a.Scanned, len(inputs))}
	}
	for _, d := range gn.Ints("directions") {
		a.InBackwards = append(a.InBackwards, d != 0)
	}
	var item, formal []*graph.Tensor
	for i, t := range inputs {
		axes := 1
		if i >= a.States {
			axes = 2
		}
		if t == nil || len(t.Dims) < axes {
			return []error{fmt.Errorf("input %d has less than %d axes", i+1, axes)}
		}
		item = append(item, &graph.Tensor{Type: t.Type, Dims: t.Dims[1:]})
		formal = append(formal, &graph.Tensor{Type: t.Type, Dims: t.Dims[axes:]})
	}
	sub := im.network(g, name+"/body/body", formal)
	if len(sub.problems) > 0 {
		im.adopt(n, "body", sub)
		return []error{errInside}
	}
	a.Body = sub.net
	items := graph.NewNetwork(name + "/body")
	var inner []*graph.Tensor
	for i, t := range item {
		inner = append(inner, items.AddInput(fmt.Sprintf("%s/body/%s", name, g.inputs[i].name), t.Type, t.Dims...))
	}
	for _, t := range sub.scope.captured {
		x := items.AddInput(fmt.Sprintf("%s/body/%s", name, t.Name), t.Type, t.Dims...)
		x.Value = t.Value
		inner = append(inner, x)
	}
	outputs := trimEmpty(n.outputs)
	var names []string
	for i := range outputs {
		names = append(names, fmt.Sprintf("%s/body/output%d", name, i))
	}
	l, err := items.Add(name+"/body/scan", graph.Scan, a, inner, names...)
	if err != nil {
		return []error{unwrapLayer(err)}
	}
	for _, t := range l.Outputs {
		items.MarkOutput(t)
	}
	all := graph.ScanAttrs{Body: items, Scanned: len(inputs)}
	l, err = im.net.Add(name, graph.Scan, all, append(inputs[:len(inputs):len(inputs)], sub.scope.captured...), im.tensorNames(name, outputs)...)
	if err != nil {
		return []error{unwrapLayer(err)}
	}
	for i, out := range outputs {
		if out != "" {
			im.values[out] = l.Outputs[i]
		}
	}
	return nil
}
