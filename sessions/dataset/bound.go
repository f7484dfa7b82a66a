package dataset

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Bound is a set as the inputs of one network, item by item: a session's data.
type Bound struct {
	Set    *Set
	inputs []*graph.Tensor
}

// Bind returns the set as data for the given inputs. The error says what does not fit, or which element is NaN or infinite
// though such are not taken. Real numbers that a file holds are all looked at, so that the same data is refused whichever of
// its items are used then; of other data, whose elements are finite by their making, the first item stands for all. Batches of
// ONNX test data, and arrays, become items where the inputs have a batch, and items are put together where the inputs take several at
// once.
func (s *Set) Bind(inputs []*graph.Tensor) (*Bound, error) {
	boxes := s.boxes != nil
	s = s.shared(inputs).itemised(inputs).grouped(inputs)
	if err := s.checkItems(inputs); err != nil {
		return nil, err
	}
	if boxes && s.boxes == nil {
		return nil, fmt.Errorf("%s: images have boxes, and the model takes %d at once: give it a batch of one, or one that is open", s.Name, s.group)
	}
	items := 1
	if s.asStored && !s.notFinite && slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Type.IsFloat() }) {
		items = s.length
	}
	for i := range items {
		if _, err := s.Feed(inputs, i, 1); err != nil {
			return nil, err
		}
	}
	return &Bound{s, inputs}, nil
}

// Len returns the number of items.
func (b *Bound) Len() int { return b.Set.Len() }

// Inputs returns the inputs of item i by name, with a batch of one unless the set's items are whole.
func (b *Bound) Inputs(i int) (map[string]numeric.Value, error) { return b.Set.Feed(b.inputs, i, 1) }

// Labels returns the class of item i, or of a text those of its tokens; nil where there is none.
func (b *Bound) Labels(i int) []int {
	switch {
	case b.Set.Next != nil:
		return b.Set.Next[i]
	case b.Set.Labels == nil || b.Set.Labels[i] < 0:
		return nil
	}
	return b.Set.Labels[i : i+1]
}

// Name says where the items come from.
func (b *Bound) Name() string { return b.Set.Name }

// Random reports whether the items are made up.
func (b *Bound) Random() bool { return b.Set.Random }
