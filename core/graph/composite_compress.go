package graph

import "fmt"

// importCompress adds a Gather of the slices along an axis, or of the elements, for which a condition holds. It must follow from
// constants; what it is too short for is left out.
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
	v, err := condition.determined()
	if err != nil {
		return nil, err
	}
	places := nonZeros(v)
	if e, ok := x.Dims[axis].IsConst(); condition.Type != Bool || len(v.Dims) != 1 || ok && len(places) > 0 && places[len(places)-1] >= e {
		return nil, fmt.Errorf("the condition %s is no list of booleans for axis %d of %s", condition.TypeString(), axis, x.TypeString())
	}
	return result(d.Gather(x, d.list("Compress", "places", places), axis))
}
