package stages

import (
	"maps"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
)

// itemShapes are the shapes that the items of data have.
type itemShapes struct {
	model *model.Model
	data  dataset.Data // nil: there is none

	read sync.Once
	list []itemShape // of each set of shapes
}

// itemShape is a set of shapes, and the number of the first item that has it.
type itemShape struct {
	item   int
	shapes map[string][]int // of inputs that the data has
}

// itemExtents are values of a network's symbols, and the number of the first item that has them.
type itemExtents struct {
	item int
	env  map[string]int
}

// at returns the extents that items have beside those of env, one item at a time; none where data are made up, as they are at any
// extents. What is wrong with data is said when they are used.
func (x *itemShapes) at(env map[string]int) (list []itemExtents) {
	if env == nil || x.data == nil || x.data.Random() || x.data.Len() == 0 {
		return nil
	}
	x.read.Do(func() {
		for _, i := range dataset.Unlike(x.data) {
			if in, err := x.data.Inputs(i); err == nil {
				x.list = append(x.list, itemShape{i, x.shapesOf(in)})
			}
		}
	})
	for _, one := range x.list {
		if own, err := x.model.Network.BindSome(env, one.shapes); err == nil && !maps.Equal(own, env) {
			list = append(list, itemExtents{one.item, own})
		}
	}
	return list
}

// shapesOf returns the shapes of an item's inputs.
func (x *itemShapes) shapesOf(in map[string]numeric.Value) map[string][]int {
	shapes := map[string][]int{}
	for _, t := range x.model.Network.Inputs {
		if v, ok := in[t.Name]; ok {
			if dims, err := t.ShapeOf(v); err == nil {
				shapes[t.Name] = slices.Clone(dims)
			}
		}
	}
	return shapes
}

// alike reports whether all items have the same shapes.
func (x *itemShapes) alike() bool { return len(x.list) < 2 }
