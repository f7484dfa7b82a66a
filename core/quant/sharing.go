package quant

import "github.com/trtui/trtui/core/graph"

// Products returns the names of the layers of a network in which [Place] has worked that multiply 8-bit activations by 8-bit
// weights, in order: what a change of precision is asked for.
func Products(n *graph.Network) []string {
	var list []string
	for _, l := range n.Layers {
		if isProduct8(l) {
			list = append(list, l.Name)
		}
	}
	return list
}

func isProduct8(l *graph.Layer) bool {
	return kindOf(l) == weighted && len(l.Inputs) > 1 && isDequantized(l.Inputs[0]) && isDequantized(l.Inputs[1])
}

// Sharing returns the groups of those layers, two or more in each, whose inputs have one scale: they read one tensor, or tensors
// that are joined, as by a concatenation. What rounding an input takes comes back only where all that read it are raised.
func Sharing(n *graph.Network) [][]string {
	parent := map[*graph.Tensor]*graph.Tensor{}
	find := func(t *graph.Tensor) *graph.Tensor {
		for parent[t] != nil {
			t = parent[t]
		}
		return t
	}
	stored := func(t *graph.Tensor) *graph.Tensor { // the integers that a dequantised tensor stands for
		if t == nil || !isDequantized(t) {
			return nil
		}
		return t.Producer.Inputs[0]
	}
	for _, l := range n.Layers {
		if kindOf(l) != moving {
			continue
		}
		var out *graph.Tensor
		for _, u := range l.Outputs[0].Users {
			if u.Op == graph.Quantize {
				out = u.Outputs[0]
			}
		}
		for _, t := range l.OpInputs()[:l.DataInputs()] {
			if q := stored(t); q != nil && out != nil && find(q) != find(out) {
				parent[find(q)] = find(out)
			}
		}
	}
	var roots []*graph.Tensor
	members := map[*graph.Tensor][]string{}
	for _, l := range n.Layers {
		if !isProduct8(l) {
			continue
		}
		root := find(stored(l.Inputs[0]))
		if members[root] == nil {
			roots = append(roots, root)
		}
		members[root] = append(members[root], l.Name)
	}
	var groups [][]string
	for _, r := range roots {
		if len(members[r]) > 1 {
			groups = append(groups, members[r])
		}
	}
	return groups
}
