package networks

import (
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/reduce"
)

// A model is data that can be changed piece by piece, and is made smaller where something is wrong with it.
type (
	Model = reduce.Model
	Input = reduce.Input
	Const = reduce.Const
	Node  = reduce.Node
)

// closed returns the model with other extents where it leaves them open: one for each symbol, whatever the layers take for
// granted of them. Elements are repeated.
func closed(m *Model, seed uint64) *Model {
	rnd := rand.New(rand.NewPCG(seed, 16))
	was := m
	m = m.Clone()
	extents := map[string]int{}
	for i, in := range m.Inputs {
		dims := slices.Clone(in.Feed.Dims)
		for axis, symbol := range in.Open {
			if symbol == "" {
				continue
			}
			if _, ok := extents[symbol]; !ok {
				extents[symbol] = []int{0, 1, 2, 3, 4, 7, 8, 9, dims[axis]}[rnd.IntN(9)]
			}
			dims[axis] = extents[symbol]
		}
		if numeric.Count(dims) > 2*maxElements {
			return was
		}
		v := numeric.NewValue(in.Feed.Type, dims...)
		for at := 0; at < len(v.Data) && len(in.Feed.Data) > 0; {
			at += copy(v.Data[at:], in.Feed.Data)
		}
		m.Inputs[i].Feed = v
	}
	return m
}
