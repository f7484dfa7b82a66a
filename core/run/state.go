package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// State says which inputs of a network are outputs of the inference before, as the states of a recurrent network are: the output
// by the input, both by name. Data gives them to the first inference alone.
type State map[string]string

// Check returns an error for a name that the network does not have, and for an output that its input cannot take.
func (s State) Check(n *graph.Network) error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		in := slices.IndexFunc(n.Inputs, func(t *graph.Tensor) bool { return t.Name == name })
		if in < 0 {
			return fmt.Errorf("state: the model has no input %q; it has %s", name, tensorNames(n.Inputs))
		}
		out := slices.IndexFunc(n.Outputs, func(t *graph.Tensor) bool { return t.Name == s[name] })
		if out < 0 {
			return fmt.Errorf("state: the model has no output %q; it has %s", s[name], tensorNames(n.Outputs))
		}
		if x, y := n.Inputs[in], n.Outputs[out]; x.Type != y.Type || !graph.SameShape(x.Dims, y.Dims) {
			return fmt.Errorf("state: input %s cannot be the output %s of the inference before", x, y)
		}
	}
	return nil
}

func tensorNames(list []*graph.Tensor) (names []string) {
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}

// Carry replaces inputs by the outputs of the inference before; nil where there was none.
func (s State) Carry(in, before map[string]numeric.Value) error {
	if before == nil {
		return nil
	}
	for name, from := range s {
		v, ok := before[from]
		if have, given := in[name]; !ok || given && !slices.Equal(have.Dims, v.Dims) {
			return fmt.Errorf("state: the input %s of shape %v cannot be the output %s of shape %v", name, have.Dims, from, v.Dims)
		}
		in[name] = v
	}
	return nil
}
