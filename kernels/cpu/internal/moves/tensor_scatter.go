package moves

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// tensorScatterTactics write an update over a part of each item of a tensor: in its own memory, where nothing else needs that, so
// that the rest is not moved, or in a copy.
func tensorScatterTactics() []kernels.Tactic {
	tactic := func(name string, inPlace bool) kernels.Tactic {
		return kernels.Tactic{
			Name: name, Op: graph.TensorScatter, InPlace: inPlace,
			Match: func(b kernels.Binding) error {
				if inPlace && slices.Equal(b.In[0].Dims, b.In[1].Dims) {
					return fmt.Errorf("the update is as large as what it is written over, and might be where the output lies")
				}
				_, err := newTensorScatterKernel(b)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newTensorScatterKernel(b) },
		}
	}
	return []kernels.Tactic{tactic("tensor_scatter_in_place", true), tactic("tensor_scatter_copy", false)}
}

// tensorScatterKernel writes update [batch, outer, rows, ...] over x [batch, outer, most, ...].
type tensorScatterKernel struct {
	b                        kernels.Binding
	batch, outer, rows, most int
	row                      int // bytes
	circular                 bool
}

func newTensorScatterKernel(b kernels.Binding) (*tensorScatterKernel, error) {
	a, x, l := b.Layer.Attrs.(graph.TensorScatterAttrs), b.In[0], b.Layer
	if l.Epilogue.Args > 0 || x.Type != b.Out[0].Type || !l.Inputs[0].Range.Equal(l.Outputs[0].Range) {
		return nil, fmt.Errorf("from %v to %v with epilogue %s, the kernel copies", x, b.Out[0], l.Epilogue)
	}
	axis := a.Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	return &tensorScatterKernel{b: b, batch: x.Dims[0], outer: numeric.Count(x.Dims[1:axis]), rows: b.In[1].Dims[axis], most: x.Dims[axis],
		row: numeric.Count(x.Dims[axis+1:]) * x.Type.Size(), circular: a.Circular}, nil
}

// begin returns the place that an item's update begins at.
func (k *tensorScatterKernel) begin(in []kernels.Mem, item int) (int, error) {
	at := int64(0)
	switch {
	case k.b.Layer.Input(2) == nil:
	case k.b.In[2].Type == numeric.I32:
		at = int64(numeric.View[int32](source(k.b, in, 2))[item])
	default:
		at = numeric.View[int64](source(k.b, in, 2))[item]
	}
	if at < 0 || !k.circular && at > int64(k.most-k.rows) {
		return 0, fmt.Errorf("item %d begins at place %d, and %d places are written along an axis of %d", item, at, k.rows, k.most)
	}
	return int(at % int64(max(1, k.most))), nil
}

// Launch writes all updates, after it has checked all places.
func (k *tensorScatterKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	if numeric.Count(k.b.Out[0].Dims) == 0 {
		return nil // as by the definition, no place is looked at where there is nothing to write
	}
	for item := range k.batch {
		if _, err := k.begin(in, item); err != nil {
			return err
		}
	}
	dst, src, update := out[0].Host, source(k.b, in, 0)[:k.b.In[0].Bytes()], source(k.b, in, 1)
	if &dst[0] != &src[0] {
		copyAll(st, dst, src)
	}
	for item := range k.batch {
		at, _ := k.begin(in, item)
		before := min(k.rows, k.most-at) // rows that come before the end of the axis
		for o := range k.outer {
			from, to := update[(item*k.outer+o)*k.rows*k.row:], dst[(item*k.outer+o)*k.most*k.row:]
			copy(to[at*k.row:], from[:before*k.row])
			copy(to, from[before*k.row:k.rows*k.row])
		}
	}
	return nil
}
