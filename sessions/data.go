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

// Subset returns n items of d from item first on; all that follow where n is 0.
func Subset(d Data, first, n int) (Data, error) {
	rest := d.Len() - first
	if n == 0 {
		n = rest
	}
	if first < 0 || n <= 0 || n > rest {
		return nil, fmt.Errorf("items %d to %d are wanted of %s, which has %d", first, first+max(n, 1)-1, d.Name(), d.Len())
	}
	if n == d.Len() {
		return d, nil
	}
	return subset{d, first, n}, nil
}

// subset is a run of items of other data.
type subset struct {
	Data
	first, n int
}

func (s subset) Len() int                                     { return s.n }
func (s subset) Inputs(i int) (map[string]graph.Value, error) { return s.Data.Inputs(s.first + i) }
func (s subset) Label(i int) (int, bool)                      { return s.Data.Label(s.first + i) }

func (s subset) Name() string {
	if s.first == 0 {
		return fmt.Sprintf("first %d of %s", s.n, s.Data.Name())
	}
	return fmt.Sprintf("items %d-%d of %s", s.first, s.first+s.n-1, s.Data.Name())
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
