package quant

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// spots say which channel of the link's maker lies where in a tensor.
type spots struct {
	tensor *graph.Tensor
	dims   []int // the tensor's extents along the axes of channels, 1 along others
	of     []int // the maker's channel at each index of dims, row-major
}

// spotsAt returns the spots of a tensor whose channels lie along an axis.
func spotsAt(t *graph.Tensor, axis int) (p spots, ok bool) {
	count, ok := t.Dims[axis].IsConst()
	if !ok || count < 2 || count > maxChannels {
		return p, false
	}
	p = spots{t, slices.Repeat([]int{1}, len(t.Dims)), make([]int, count)}
	p.dims[axis] = count
	for c := range p.of {
		p.of[c] = c
	}
	return p, true
}

// axis returns the axis along which all channels lie; -1 if there are several.
func (p spots) axis() int {
	axis := -1
	for i, d := range p.dims {
		if d > 1 && axis >= 0 {
			return -1
		} else if d > 1 {
			axis = i
		}
	}
	return axis
}

// wide returns the channels at each index of dims, to which those of the spots broadcast.
func (p spots) wide(dims []int) []int {
	of, strides := make([]int, numeric.Count(dims)), stridesOf(p.dims)
	at := make([]int, len(dims))
	for i := range of {
		from := 0
		for a, x := range at {
			from += min(x, p.dims[a]-1) * strides[a]
		}
		of[i] = p.of[from]
		for a := len(at) - 1; a >= 0; a-- {
			if at[a]++; at[a] < dims[a] {
				break
			}
			at[a] = 0
		}
	}
	return of
}

// moved returns where channels are in a result of a layer that moves elements; ok is false if that cannot be told.
func (p spots) moved(l *graph.Layer, to *graph.Tensor) (q spots, ok bool) {
	if !movesChannels(l) || l.Inputs[0] != p.tensor || to.Type != numeric.F32 {
		return q, false
	}
	q.tensor = to
	switch a := l.Attrs.(type) {
	case graph.TransposeAttrs:
		perm, err := a.Resolve(len(p.dims))
		if err != nil {
			return q, false
		}
		for _, from := range perm {
			q.dims = append(q.dims, p.dims[from])
		}
		back := make([]int, 0, len(p.of)) // the strides of p, in the order of q
		for _, from := range perm {
			back = append(back, stridesOf(p.dims)[from])
		}
		at := stridesOf(q.dims)
		for i := range p.of {
			from := 0
			for axis, stride := range at {
				from += i / stride % q.dims[axis] * back[axis]
			}
			q.of = append(q.of, p.of[from])
		}
		return q, true
	case graph.SplitAttrs:
		axis, first := a.Axis, 0
		if axis < 0 {
			axis += len(p.dims)
		}
		if p.dims[axis] == 1 {
			q.dims, q.of = p.dims, p.of
			return q, true
		}
		for _, out := range l.Outputs {
			count, known := out.Dims[axis].IsConst()
			switch {
			case !known:
				return q, false
			case out == to:
				return p.taken(to, axis, first, count, 1)
			}
			first += count
		}
	case graph.SliceAttrs:
		q = spots{to, p.dims, p.of}
		for i, axis := range a.Axes {
			if axis < 0 {
				axis += len(p.dims)
			}
			if p.dims[axis] == 1 {
				continue
			}
			first, step := a.Starts[i], 1
			if a.Steps != nil {
				step = a.Steps[i]
			}
			if first < 0 {
				first += p.dims[axis]
			}
			count, known := to.Dims[axis].IsConst()
			if !known || step < 1 || first < 0 {
				return q, false
			}
			if q, ok = q.taken(to, axis, first, count, step); !ok {
				return q, false
			}
		}
		return q, a.Axes != nil
	case graph.GatherAttrs:
		index, known := l.Inputs[1].Ints()
		axis := a.Axis
		if axis < 0 {
			axis += len(p.dims)
		}
		if !known || len(index) != 1 {
			return q, false
		}
		if q = (spots{to, p.dims, p.of}); p.dims[axis] > 1 {
			first := index[0]
			if first < 0 {
				first += p.dims[axis]
			}
			if q, ok = p.taken(to, axis, first, 1, 1); !ok {
				return q, false
			}
		}
		q.dims = slices.Concat(q.dims[:axis], slices.Repeat([]int{1}, len(l.Inputs[1].Dims)), q.dims[axis+1:])
		return q, true
	case graph.ReshapeAttrs, graph.FlattenAttrs, graph.SqueezeAttrs, graph.UnsqueezeAttrs:
		return p.reshaped(to)
	default: // Expand
		q.dims, q.of = slices.Concat(slices.Repeat([]int{1}, len(to.Dims)-len(p.dims)), p.dims), p.of
		return q, true
	}
	return q, false
}

// movesChannels reports whether moved follows channels through such layers.
func movesChannels(l *graph.Layer) bool {
	if !l.Epilogue.IsIdentity() {
		return false
	}
	switch l.Op {
	case graph.Transpose, graph.Split, graph.Slice, graph.Gather, graph.Reshape, graph.Flatten, graph.Squeeze, graph.Unsqueeze, graph.Expand:
		return true
	}
	return false
}

// taken returns the spots of every step-th index of an axis, count of them.
func (p spots) taken(to *graph.Tensor, axis, first, count, step int) (spots, bool) {
	if first < 0 || count < 1 || first+(count-1)*step >= p.dims[axis] {
		return spots{}, false
	}
	q := spots{tensor: to, dims: slices.Clone(p.dims)}
	q.dims[axis] = count
	inner := numeric.Count(p.dims[axis+1:])
	for outer := range numeric.Count(p.dims[:axis]) {
		for i := range count {
			from := (outer*p.dims[axis] + first + i*step) * inner
			q.of = append(q.of, p.of[from:from+inner]...)
		}
	}
	return q, true
}

// reshaped returns the spots of the same elements under other dims. Axes of both sides are matched from the last on, as many as have the
// same number of elements; channels are followed from axes to those that these are cut into or joined to.
func (p spots) reshaped(to *graph.Tensor) (spots, bool) {
	from := p.tensor.Dims
	q := spots{tensor: to, dims: slices.Repeat([]int{1}, len(to.Dims))}
	full := slices.Clone(p.dims)
	i, j := len(from)-1, len(to.Dims)-1
	for i >= 0 || j >= 0 {
		switch {
		case i >= 0 && from[i].Is(1):
			i--
			continue
		case j >= 0 && to.Dims[j].Is(1):
			j--
			continue
		case i < 0 || j < 0:
			return q, false
		}
		if from[i].Equal(to.Dims[j]) {
			q.dims[j] = p.dims[i]
			i, j = i-1, j-1
			continue
		}
		a, known := from[i].IsConst()
		b, alsoKnown := to.Dims[j].IsConst()
		firstI, firstJ := i, j
		for known && alsoKnown && a != b {
			if a < b {
				if firstI--; firstI < 0 {
					return q, false
				}
				var d int
				d, known = from[firstI].IsConst()
				a *= d
				continue
			}
			if firstJ--; firstJ < 0 {
				return q, false
			}
			var d int
			d, alsoKnown = to.Dims[firstJ].IsConst()
			b *= d
		}
		if !known || !alsoKnown { // all that is left belongs together
			if numeric.Count(p.dims[:i+1]) > 1 {
				return q, false
			}
			break
		}
		if numeric.Count(p.dims[firstI:i+1]) > 1 {
			for axis := firstI; axis <= i; axis++ {
				full[axis], _ = from[axis].IsConst()
			}
			for axis := firstJ; axis <= j; axis++ {
				q.dims[axis], _ = to.Dims[axis].IsConst()
			}
		}
		i, j = firstI-1, firstJ-1
	}
	if numeric.Count(full) > maxChannels {
		return q, false
	}
	q.of = p.wide(full)
	return q, true
}

// attended returns where the channels of values are in what an attention, or a product of the weights of values with these, gives.
func (p spots) attended(l *graph.Layer, input int) (q spots, ok bool) {
	q.tensor = l.Outputs[0]
	rank := len(p.dims)
	if !l.Epilogue.IsIdentity() || q.tensor.Type != numeric.F32 {
		return q, false
	}
	if l.Op != graph.Attention {
		alongSum := rank - 2 // the axis that the product sums over
		if input == 0 {
			alongSum = rank - 1
		}
		if rank < 2 || p.dims[alongSum] > 1 || len(q.tensor.Dims) < rank {
			return q, false
		}
		q.dims, q.of = slices.Concat(slices.Repeat([]int{1}, len(q.tensor.Dims)-rank), p.dims), p.of
		return q, true
	}
	a := l.Attrs.(graph.AttentionAttrs)
	heads, shared := a.Heads, a.KVHeads
	if len(q.tensor.Dims) == 4 {
		heads, _ = q.tensor.Dims[1].IsConst()
	}
	length, size := 1, 0
	if rank == 4 {
		length = 2
		shared, _ = p.tensor.Dims[1].IsConst()
		size, _ = p.tensor.Dims[3].IsConst()
	} else if all, known := p.tensor.Dims[rank-1].IsConst(); known && shared > 0 {
		size = all / shared
	}
	if p.dims[0] > 1 || p.dims[length] > 1 || heads < 1 || shared < 1 || heads%shared != 0 || size < 1 {
		return q, false
	}
	full := slices.Clone(p.dims)
	if full[rank-1] = size; rank == 4 {
		full[1] = shared
	} else {
		full[2] = shared * size
	}
	of := p.wide(full)
	for h := range heads {
		from := h / (heads / shared) * size
		q.of = append(q.of, of[from:from+size]...)
	}
	if q.dims = []int{1, 1, heads * size}; len(q.tensor.Dims) == 4 {
		q.dims = []int{1, heads, 1, size}
	}
	return q, true
}
