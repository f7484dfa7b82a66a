package reduce

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/trtui/trtui/core/graph"
)

// plainNode is a Node without the form that its graphs are kept in.
type plainNode Node

// storedNode is a Node whose attributes that are graphs are kept apart.
type storedNode struct {
	plainNode
	Graphs map[string]storedGraph `json:",omitempty"`
}

// storedGraph is a network in its stored form.
type storedGraph struct {
	Network json.RawMessage
	Weights [][]byte
}

// MarshalJSON writes the node.
func (n Node) MarshalJSON() ([]byte, error) {
	s := storedNode{plainNode: plainNode(n)}
	for name, a := range n.Attrs {
		if a.Kind != graph.AttrGraph {
			continue
		}
		var g storedGraph
		var err error
		if g.Network, err = a.Graph.Encode(func(b []byte) int { g.Weights = append(g.Weights, b); return len(g.Weights) - 1 }); err != nil {
			return nil, err
		}
		if s.Graphs == nil {
			s.Graphs = map[string]storedGraph{}
		}
		s.Graphs[name] = g
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Node) UnmarshalJSON(b []byte) error {
	var s storedNode
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*n = Node(s.plainNode)
	n.Attrs = maps.Clone(n.Attrs)
	for name, g := range s.Graphs {
		net, err := graph.DecodeNetwork(graph.Ops(), g.Network, func(i int) ([]byte, error) {
			if i < 0 || i >= len(g.Weights) {
				return nil, fmt.Errorf("constant %d of %d", i, len(g.Weights))
			}
			return g.Weights[i], nil
		})
		if err != nil {
			return fmt.Errorf("node %s: attribute %s: %w", n.Name, name, err)
		}
		n.Attrs[name] = graph.Attr{Kind: graph.AttrGraph, Graph: net}
	}
	return nil
}
