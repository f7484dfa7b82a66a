package sessions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Data are items to run a network on, one inference's inputs each.
type Data interface {
	Len() int
	// Inputs returns the inputs of item i by name, with a batch of one.
	Inputs(i int) (map[string]graph.Value, error)
	// Label returns the class of item i; ok is false where there are no labels.
	Label(i int) (class int, ok bool)
	// Name says where the items come from, in a few words.
	Name() string
	// Random reports whether the items are made up, so that they say nothing about accuracy.
	Random() bool
}

// batch returns the inputs of n items from item first on, stacked along the first axis. Behind the last item it goes on
// with the first. Inputs whose first axis is not the batch are those of the first item.
func batch(d Data, n *graph.Network, first, size int) (map[string]graph.Value, error) {
	in, err := d.Inputs(first % d.Len())
	if err != nil || size == 1 {
		return in, err
	}
	out := map[string]graph.Value{}
	for k := range size {
		item := in
		if k > 0 {
			if item, err = d.Inputs((first + k) % d.Len()); err != nil {
				return nil, err
			}
		}
		for _, t := range n.Inputs {
			v, ok := item[t.Name]
			if !ok {
				return nil, fmt.Errorf("input %s: the data has none", t.Name)
			}
			if !isBatched(t) {
				out[t.Name] = v
				continue
			}
			if k == 0 {
				dims := slices.Clone(v.Dims)
				dims[0] *= size
				out[t.Name] = graph.NewValue(v.Type, dims...)
			}
			if len(v.Data)*size != len(out[t.Name].Data) {
				return nil, fmt.Errorf("input %s: items differ in shape: %v", t.Name, v.Dims)
			}
			copy(out[t.Name].Data[k*len(v.Data):], v.Data)
		}
	}
	return out, nil
}

// isBatched reports whether the tensor's first axis is a symbol of its own: a batch that can be chosen.
func isBatched(t *graph.Tensor) bool {
	if len(t.Dims) == 0 {
		return false
	}
	_, ok := t.Dims[0].SymbolName()
	return ok
}
