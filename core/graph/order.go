package graph

import "fmt"

// Sort brings the layers into a topological order that keeps their present order where it can; a cycle is an error
// that names a layer on it.
func (n *Network) Sort() error {
	order, cycle := TopologicalOrder(n.Layers, func(l *Layer) int { return len(l.Inputs) }, func(l *Layer, i int) *Layer {
		if t := l.Inputs[i]; t != nil {
			return t.Producer
		}
		return nil
	})
	if cycle != nil {
		return fmt.Errorf("layer %s is part of a cycle", cycle.Name)
	}
	n.Layers = order
	return nil
}

// TopologicalOrder returns nodes such that each stands behind those that make its inputs, and otherwise in the order given.
// producer returns who makes an input of a node, nil if nobody among the nodes does. Where there is a cycle there is no order,
// and a node on it is returned. It takes time by the number of inputs, and no stack of calls.
func TopologicalOrder[N any](nodes []*N, inputs func(*N) int, producer func(node *N, input int) *N) (order []*N, cycle *N) {
	const visiting, done = 1, 2
	state := make(map[*N]int, len(nodes))
	order = make([]*N, 0, len(nodes))
	type frame struct {
		node *N
		next int
	}
	for _, root := range nodes {
		if state[root] != 0 {
			continue
		}
		stack := []frame{{node: root}}
		state[root] = visiting
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == inputs(f.node) {
				state[f.node] = done
				order = append(order, f.node)
				stack = stack[:len(stack)-1]
				continue
			}
			p := producer(f.node, f.next)
			f.next++
			if p == nil || state[p] == done {
				continue
			}
			if state[p] == visiting {
				return nil, p
			}
			state[p] = visiting
			stack = append(stack, frame{node: p})
		}
	}
	return order, nil
}

// place returns the index of l, -1 if the list does not have it. It looks at the end first, where Insert puts layers, and then
// around the place of the last removal from elsewhere, since who removes many goes through the list.
func (n *Network) place(l *Layer) int {
	const end = 8
	last := len(n.Layers) - 1
	for i := last; i >= max(0, last-end); i-- {
		if n.Layers[i] == l {
			return i
		}
	}
	for below, above := min(n.removed, last), min(n.removed, last)+1; below >= 0 || above <= last; below, above = below-1, above+1 {
		if below >= 0 && n.Layers[below] == l {
			return below
		}
		if above <= last && n.Layers[above] == l {
			return above
		}
	}
	return -1
}
