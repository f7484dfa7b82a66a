package graph

import "fmt"

// Sort brings the layers into a topological order that keeps their present order where it can; a cycle is an error
// that names a layer on it.
func (n *Network) Sort() error {
	const visiting, done = 1, 2
	state := make(map[*Layer]int, len(n.Layers))
	order := make([]*Layer, 0, len(n.Layers))
	type frame struct {
		l    *Layer
		next int
	}
	for _, root := range n.Layers {
		if state[root] != 0 {
			continue
		}
		stack := []frame{{l: root}}
		state[root] = visiting
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(f.l.Inputs) {
				state[f.l] = done
				order = append(order, f.l)
				stack = stack[:len(stack)-1]
				continue
			}
			t := f.l.Inputs[f.next]
			f.next++
			if t == nil || t.Producer == nil || state[t.Producer] == done {
				continue
			}
			if state[t.Producer] == visiting {
				return fmt.Errorf("layer %s is part of a cycle", t.Producer.Name)
			}
			state[t.Producer] = visiting
			stack = append(stack, frame{l: t.Producer})
		}
	}
	n.Layers = order
	return nil
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
