package dataset

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// New returns a set of arrays whose first axis counts the items. Where they differ in it, or one has none, they are one whole item until
// [Set.Bind] finds in which of them items lie, and which are an input of each as they are. labels may be nil.
func New(name string, arrays []Array, labels []int) (*Set, error) {
	s := &Set{Name: name, Labels: labels, asStored: true, feed: feedOf(name, arrays, labels)}
	empty := func(a Array) bool { return len(a.Value.Data) == 0 }
	if len(arrays) > 0 && !slices.ContainsFunc(arrays, func(a Array) bool { return !empty(a) }) { // one of several may be, as a cache before its first use
		return nil, fmt.Errorf("array %s of shape %v is empty", arrays[0].Name, arrays[0].Value.Dims)
	}
	for _, a := range arrays {
		if len(a.Value.Dims) == 0 || a.Value.Dims[0] != arrays[0].Value.Dims[0] {
			return s.feed, nil
		}
		s.length = a.Value.Dims[0]
		s.Inputs = append(s.Inputs, Input{a.Name, a.Value.Type, slices.Clone(a.Value.Dims[1:])})
	}
	if len(arrays) == 0 || s.length == 0 {
		return nil, fmt.Errorf("no items")
	}
	if labels != nil && len(labels) != s.length {
		return nil, fmt.Errorf("%d labels for %d items", len(labels), s.length)
	}
	words := make([][]string, len(arrays))
	for k, a := range arrays {
		if a.Value.Type == numeric.Str {
			words[k] = a.Value.Strings()
		}
	}
	s.read = func(i, k int, dst *numeric.Value) error {
		if n := numeric.Count(dst.Dims); words[k] != nil {
			*dst = numeric.Strings(words[k][i*n:(i+1)*n], dst.Dims...)
			return nil
		}
		copy(dst.Data, arrays[k].Value.Data[i*len(dst.Data):])
		return nil
	}
	return s, nil
}

// Array is a named array.
type Array struct {
	Name  string
	Value numeric.Value
}

// feedOf returns arrays as one whole item, of which the inputs of a network tell the axes that count items.
func feedOf(name string, arrays []Array, labels []int) *Set {
	s := &Set{Name: name, Labels: labels, asStored: true, Whole: true, arrays: true, length: 1}
	item := make([]numeric.Value, len(arrays))
	for k, a := range arrays {
		s.Inputs, item[k] = append(s.Inputs, Input{a.Name, a.Value.Type, a.Value.Dims}), a.Value
	}
	s.keep([][]numeric.Value{item})
	return s
}

// itemised returns a whole set as one of the items that lie along the first axis of its values: in inputs that may have a batch, and
// in those whose shape the values do not have else. Every item has the values of the others as they are. A set of batches of one, of
// values that differ in other axes or, where they lie by items, in how many these are, stays as it is.
func (s *Set) itemised(inputs []*graph.Tensor) *Set {
	if !s.Whole || s.stored == nil {
		return s
	}
	lies, any := s.lies(inputs)
	if !any {
		return s
	}
	type place struct{ set, at int }
	var places []place
	cut := *s
	cut.Inputs = nil
	for i := range s.length {
		n := -1
		for k, in := range s.Inputs {
			dims := slices.Clone(s.stored[i][k].Dims)
			if lies[k] {
				if len(dims) == 0 || n >= 0 && dims[0] != n {
					return s
				}
				n, dims[0] = dims[0], 1
			}
			if i == 0 {
				cut.Inputs = append(cut.Inputs, Input{in.Name, in.Type, dims})
			} else if !slices.Equal(dims, cut.Inputs[k].Dims) {
				return s
			}
		}
		for at := range n {
			places = append(places, place{i, at})
		}
	}
	if len(places) == s.length || len(places) == 0 {
		return s
	}
	cut.stored, cut.length, cut.arrays = nil, len(places), false
	cut.Identity.Hash += " by items"
	if cut.Whole = slices.Contains(lies, false); !cut.Whole {
		for k := range cut.Inputs {
			cut.Inputs[k].Dims = cut.Inputs[k].Dims[1:]
		}
	}
	cut.read = func(i, k int, dst *numeric.Value) error {
		from := places[i]
		v := s.stored[from.set][k]
		if lies[k] {
			v = v.Rows(from.at, from.at+1)
		}
		store(dst, v.Data)
		return nil
	}
	return &cut
}

// lies returns, for each of the set's inputs, whether its values hold items along the first axis as the inputs of a network have
// them; any is false where none does.
func (s *Set) lies(inputs []*graph.Tensor) (lies []bool, any bool) {
	lies = make([]bool, len(s.Inputs))
	batched := graph.Batched(inputs)
	for _, t := range inputs {
		if k := s.inputOf(inputs, t); k >= 0 {
			lies[k] = slices.Contains(batched, t) || s.arrays && !hasShape(s.Inputs[k].Dims, t)
			any = any || lies[k]
		}
	}
	return lies, any
}

// hasShape reports whether a value of these extents is an input's without a change.
func hasShape(dims []int, t *graph.Tensor) bool {
	if len(dims) != len(t.Dims) {
		return false
	}
	for i, d := range t.Dims {
		if n, fixed := d.IsConst(); fixed && n != dims[i] {
			return false
		}
	}
	return true
}

// shared returns arrays with as many items each as the one feed that they are, where inputs of a network have some of them whole:
// their first axis is none of items, though the network has others, or it is open.
func (s *Set) shared(inputs []*graph.Tensor) *Set {
	if s.feed == nil {
		return s
	}
	batched := graph.Batched(inputs)
	for _, t := range inputs {
		k := s.inputOf(inputs, t)
		if k < 0 || slices.Contains(batched, t) || !hasShape(s.feed.Inputs[k].Dims, t) {
			continue
		}
		if n, fixed := t.Dims[0].IsConst(); !fixed || n != 1 && len(batched) > 0 {
			feed := *s.feed
			feed.Name, feed.Labels, feed.Identity, feed.notFinite = s.Name, s.Labels, s.Identity, s.notFinite
			return &feed
		}
	}
	return s
}

// checkItems returns an error where the items of arrays cannot be told: several of them would have to lie along first axes that differ,
// or that are one extent in the network.
func (s *Set) checkItems(inputs []*graph.Tensor) error {
	if s.Labels != nil && len(s.Labels) != s.length {
		return fmt.Errorf("%s: %d labels for %d items", s.Name, len(s.Labels), s.length)
	}
	if !s.arrays {
		return nil
	}
	lies, _ := s.lies(inputs)
	first := -1
	for k, in := range s.Inputs {
		switch {
		case !lies[k] || len(in.Dims) == 0:
		case first < 0:
			first = k
		case in.Dims[0] != s.Inputs[first].Dims[0] && slices.ContainsFunc(inputs, func(t *graph.Tensor) bool {
			return s.inputOf(inputs, t) == k && (!hasShape(in.Dims, t) || slices.ContainsFunc(inputs, func(o *graph.Tensor) bool { return s.inputOf(inputs, o) == first && sameItems(t, o) }))
		}):
			return fmt.Errorf("%s: array %s has %d items, but %s has %d", s.Name, in.Name, in.Dims[0], s.Inputs[first].Name, s.Inputs[first].Dims[0])
		}
	}
	return nil
}

// sameItems reports whether the first axes of two inputs are one symbol.
func sameItems(a, b *graph.Tensor) bool {
	if len(a.Dims) == 0 || len(b.Dims) == 0 {
		return false
	}
	x, ok := a.Dims[0].SymbolName()
	y, too := b.Dims[0].SymbolName()
	return ok && too && x == y
}
