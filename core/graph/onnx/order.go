package onnx

import (
	"fmt"
	"strconv"

	"github.com/trtui/trtui/core/graph"
)

// sortNodes returns the nodes so that each comes after those that it reads from, otherwise in the file's order. An
// error names a node that is part of a cycle, or that makes a value which another makes too.
func sortNodes(nodes []*node) ([]*node, *Problem) {
	producer := map[string]*node{}
	for _, n := range nodes {
		for _, out := range n.outputs {
			if out == "" {
				continue
			}
			if first, ok := producer[out]; ok {
				return nil, n.problem(fmt.Sprintf("its output %q is also an output of node %s", out, first.label()))
			}
			producer[out] = n
		}
	}
	order, cycle := graph.TopologicalOrder(nodes, func(n *node) int { return len(n.inputs) + len(n.captured) }, func(n *node, i int) *node {
		if i < len(n.inputs) {
			return producer[n.inputs[i]]
		}
		return producer[n.captured[i-len(n.inputs)]]
	})
	if cycle != nil {
		return nil, cycle.problem("it is part of a cycle: its input depends on its output")
	}
	return order, nil
}

// label is how a node is named to a person: its name, or "#12" by its position.
func (n *node) label() string {
	if n.name != "" {
		return n.name
	}
	return "#" + strconv.Itoa(n.index)
}

// op is how a node's operator is named to a person.
func (n *node) op() string {
	if n.domain != "" {
		return n.domain + ":" + n.opType
	}
	return n.opType
}

func (n *node) problem(reason string) *Problem {
	return &Problem{Node: n.label(), Op: n.op(), Reason: reason}
}

// layerNames gives each node a name that is unique, and the same whenever the same file is read: its own, or for one
// without a name the operator's with its position, as in "Conv_12". Where nodes share a name, all but the first get a
// suffix, as in "conv_2". A name that nodes have is never given to another one.
func layerNames(nodes []*node) map[*node]string {
	names := make(map[*node]string, len(nodes))
	taken := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		if n.name != "" && !taken[n.name] {
			taken[n.name], names[n] = true, n.name
		}
	}
	next := map[string]int{} // the suffix to try, so that many nodes of one name cost no more than few
	for _, n := range nodes {
		if names[n] != "" {
			continue
		}
		base := n.name
		if base == "" {
			base = n.opType + "_" + strconv.Itoa(n.index)
		}
		name := base
		for i := max(2, next[base]); taken[name]; i++ {
			name = base + "_" + strconv.Itoa(i)
			next[base] = i + 1
		}
		taken[name], names[n] = true, name
	}
	return names
}
