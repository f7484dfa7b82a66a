package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// importCompress adds a Gather of the slices along an axis, or of the elements, for which a condition holds; what it is too short for
// is left out. Where they follow from constants their places are a constant, and a NonZero counts them otherwise.
func importCompress(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	x, condition, axis := n.Input(0), n.Input(1), 0
	if n.Has("axis") {
		var err error
		if axis, err = axisIn(n.Int("axis", 0), len(x.Dims)); err != nil {
			return nil, err
		}
	} else {
		x = d.Reshape(x, -1)
	}
	wrong := fmt.Errorf("the condition %s is no list of booleans for axis %d of %s", condition.TypeString(), axis, x.TypeString())
	if condition.Type != numeric.Bool || len(condition.Dims) != 1 || axis >= len(x.Dims) {
		return nil, wrong
	}
	v, err := condition.determined()
	if err != nil {
		long, known := condition.Dims[0].IsConst()
		if e, ok := x.Dims[axis].IsConst(); ok && known && long > e {
			return nil, wrong
		}
		return result(d.Gather(x, d.Reshape(d.NonZero(condition), -1), axis))
	}
	places := nonZeros(v)
	if e, ok := x.Dims[axis].IsConst(); ok && len(places) > 0 && places[len(places)-1] >= e {
		return nil, wrong
	}
	return result(d.Gather(x, d.list("Compress", "places", places), axis))
}
