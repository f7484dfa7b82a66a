package run

import (
	"github.com/trtui/trtui/core/graph"
)

// launched returns why a layer whose op only arranges memory is to launch something as an option says; nil where it is not.
func (lc *layerCandidates) launched(o option) error {
	switch {
	case o.memory:
		return nil
	case len(lc.memory) == 0:
		return lc.copies
	}
	return unarranged(reformatsCost, "slower with the reformats that its format would need")
}

// arranged returns why a layer that was chosen to launch nothing has to after all: where its inputs and outputs came to lie.
func (y *layout) arranged(l *graph.Layer, in []int) error {
	switch {
	case y.apart[l]:
		return unarranged(otherShapes, "at other shapes that the engine serves its tensors would lie in another way")
	case l.Op.Memory == graph.Joined:
		return y.sliceable(l, in)
	case l.Op.Memory == graph.Parted:
		return y.readable(l, in[0])
	}
	return nil
}
