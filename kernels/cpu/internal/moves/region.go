package moves

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// region is a box of elements with steps of its own in source and destination: what transposing, slicing, padding and
// repeating copy.
type region struct {
	dims     []int
	from, to []int // steps, in elements
	src, dst int   // places of the first element
}

// rowSteps returns the steps of a dense tensor.
func rowSteps(dims []int) []int {
	steps := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		steps[i] = n
		n *= dims[i]
	}
	return steps
}

// simplify joins axes that are one in both, and drops those of extent 1.
func (r region) simplify() region {
	s := region{src: r.src, dst: r.dst}
	for i, n := range r.dims {
		last := len(s.dims) - 1
		switch {
		case n == 1:
		case last >= 0 && s.from[last] == r.from[i]*n && s.to[last] == r.to[i]*n:
			s.dims[last], s.from[last], s.to[last] = s.dims[last]*n, r.from[i], r.to[i]
		default:
			s.dims, s.from, s.to = append(s.dims, n), append(s.from, r.from[i]), append(s.to, r.to[i])
		}
	}
	if len(s.dims) == 0 {
		s.dims, s.from, s.to = []int{1}, []int{1}, []int{1}
	}
	return s
}

// turn puts the axis along which the source is dense before the last one, along which the destination is, so that tiles of both use
// cache lines whole; ok is false where these are one axis, or short, or there are none.
func (r region) turn() (turned region, ok bool) {
	last := len(r.dims) - 1
	at := slices.Index(r.from, 1)
	if at < 0 || at == last || r.to[last] != 1 || min(r.dims[at], r.dims[last]) < leastTurned {
		return r, false
	}
	turned = region{src: r.src, dst: r.dst}
	for i := range last + 1 {
		if i == last {
			turned.add(r, at)
		}
		if i != at {
			turned.add(r, i)
		}
	}
	return turned, true
}

// leastTurned is how long axes must be for tiles to gain anything.
const leastTurned = 8

// add appends an axis of another region.
func (r *region) add(o region, axis int) {
	r.dims, r.from, r.to = append(r.dims, o.dims[axis]), append(r.from, o.from[axis]), append(r.to, o.to[axis])
}

// A tile of a region that is turned is a few rows, along which the source is dense, by many columns.
const tileRows, tileColumns = 64, 4096

// tiles returns how many there are.
func (r region) tiles() int {
	last := len(r.dims) - 1
	return numeric.Count(r.dims[:last-1]) * ((r.dims[last-1] + tileRows - 1) / tileRows) * ((r.dims[last] + tileColumns - 1) / tileColumns)
}

// transposed, sliced and padded return what a layer copies; fill is what lies around it, nil for nothing.
func transposed(b kernels.Binding) (r region, fill []byte, err error) {
	perm, err := b.Layer.Attrs.(graph.TransposeAttrs).Resolve(len(b.In[0].Dims))
	if err != nil {
		return r, nil, err
	}
	steps := rowSteps(b.In[0].Dims)
	r = region{dims: b.Out[0].Dims, to: rowSteps(b.Out[0].Dims)}
	for _, p := range perm {
		r.from = append(r.from, steps[p])
	}
	return r, nil, nil
}

func sliced(b kernels.Binding) (r region, fill []byte, err error) {
	a, x := b.Layer.Attrs.(graph.SliceAttrs), b.In[0].Dims
	if len(b.Layer.OpInputs()) > 1 {
		if a, err = boundsOf(b); err != nil {
			return r, nil, err
		}
	}
	r = region{dims: b.Out[0].Dims, from: rowSteps(x), to: rowSteps(b.Out[0].Dims)}
	for i, axis := range a.Axes {
		if axis < 0 {
			axis += len(x)
		}
		n, step := x[axis], 1
		if a.Steps != nil {
			step = a.Steps[i]
		}
		start := a.Starts[i]
		if start < 0 {
			start += n
		}
		if start = max(0, start); step < 0 {
			start = min(start, n-1)
		}
		r.src += start * r.from[axis]
		r.from[axis] *= step
	}
	return r, nil, nil
}

// boundsOf returns the bounds of a slice that are inputs. How many elements there are the output says, so that the ends, which follow
// from shapes, are not read.
func boundsOf(b kernels.Binding) (a graph.SliceAttrs, err error) {
	list := func(i int) (out []int) {
		if i >= len(b.In) || b.Layer.Inputs[i] == nil {
			return nil
		}
		v, ok := b.Const(i)
		if !ok {
			err = fmt.Errorf("where it begins (input %d, %s) is not constant", i, b.Layer.Inputs[i].Name)
			return nil
		}
		for _, n := range v.Ints() {
			out = append(out, int(n))
		}
		return out
	}
	a.Starts, a.Axes, a.Steps = list(1), list(3), list(4)
	if a.Axes == nil {
		for i := range a.Starts {
			a.Axes = append(a.Axes, i)
		}
	}
	return a, err
}

func padded(b kernels.Binding) (r region, fill []byte, err error) {
	a, x, t := b.Layer.Attrs.(graph.PadAttrs), b.In[0].Dims, b.Layer.Inputs[0]
	if a.Mode != "constant" || b.Layer.Input(1) != nil {
		return r, nil, fmt.Errorf("mode %s, or a value that is an input", a.Mode)
	}
	if b.Layer.Input(2) != nil {
		pads, ok := b.Const(2)
		if !ok {
			return r, nil, fmt.Errorf("the pads %s are not constant", b.Layer.Inputs[2].Name)
		}
		if a, err = a.With(pads.Ints(), len(x)); err != nil {
			return r, nil, err
		}
	}
	v := numeric.NewValue(t.Type, 1)
	switch {
	case t.Quantized() && !t.Range.PerChannel(), t.Type == numeric.F32, t.Type == numeric.F16:
		numeric.FromReal(v, []float32{a.Value}, t.Range)
	case a.Value != 0:
		return r, nil, fmt.Errorf("padding of %s with %v", t.Type, a.Value)
	}
	r = region{from: rowSteps(x), to: rowSteps(b.Out[0].Dims)}
	for i, n := range x {
		first, last := max(0, a.Pads[i]), min(b.Out[0].Dims[i], a.Pads[i]+n)
		r.dims = append(r.dims, max(0, last-first))
		r.src += (first - a.Pads[i]) * r.from[i]
		r.dst += first * r.to[i]
	}
	return r, v.Data, nil
}

// expanded and tiled return what a layer repeats: steps of 0 in the source.
func expanded(b kernels.Binding) (r region, fill []byte, err error) {
	x, y := b.In[0].Dims, b.Out[0].Dims
	r = region{dims: y, from: make([]int, len(y)), to: rowSteps(y)}
	for i, step := range rowSteps(x) {
		if axis := i + len(y) - len(x); x[i] == y[axis] {
			r.from[axis] = step
		}
	}
	return r, nil, nil
}

func tiled(b kernels.Binding) (r region, fill []byte, err error) {
	from, to := rowSteps(b.In[0].Dims), rowSteps(b.Out[0].Dims)
	for i, n := range b.In[0].Dims {
		r.dims = append(r.dims, b.Out[0].Dims[i]/n, n)
		r.from, r.to = append(r.from, 0, from[i]), append(r.to, n*to[i], to[i])
	}
	return r, nil, nil
}

// blocked is the move of DepthToSpace and SpaceToDepth. On both sides an element is named by batch, channel, row and place
// in the block; that of the image with more pixels steps by the block's size.
func blocked(b kernels.Binding) (r region, fill []byte, err error) {
	a := b.Layer.Attrs.(graph.BlockAttrs)
	deep, wide := b.In[0].Dims, b.Out[0].Dims
	back := b.Layer.Op == graph.SpaceToDepth
	if back {
		deep, wide = wide, deep
	}
	if b.In[0].Format != kernels.Linear || !b.Layer.Inputs[0].Range.Equal(b.Layer.Outputs[0].Range) {
		return r, nil, fmt.Errorf("from %v to %v, the kernel keeps range and order", b.In[0], b.Out[0])
	}
	s, n, c := a.Size, deep[0], wide[1]
	plane := deep[2] * deep[3]
	row, column, channel := s*c*plane, c*plane, plane // of the deep side: a step within the block, or to the next channel
	if a.CRD {
		row, column, channel = s*plane, plane, s*s*plane
	}
	r = region{
		dims: []int{n, c, deep[2], s, s, deep[3]},
		from: []int{c * s * s * plane, channel, deep[3], row, column, 1},
		to:   []int{c * s * s * plane, s * s * plane, s * s * deep[3], s * deep[3], 1, s},
	}
	if back {
		r.from, r.to = r.to, r.from
	}
	return r, nil, nil
}

// Regions are the ops that copy a region, on any type, linear.
func Regions(isa asm.Features) []kernels.Tactic {
	return []kernels.Tactic{
		regionTactic("transpose", graph.Transpose, isa, transposed),
		regionTactic("slice", graph.Slice, isa, sliced),
		regionTactic("pad", graph.Pad, isa, padded),
		regionTactic("expand", graph.Expand, isa, expanded),
		regionTactic("tile", graph.Tile, isa, tiled),
		regionTactic("depth_to_space", graph.DepthToSpace, isa, blocked),
		regionTactic("space_to_depth", graph.SpaceToDepth, isa, blocked),
	}
}

func regionTactic(name string, op *graph.Op, isa asm.Features, plan func(kernels.Binding) (region, []byte, error)) kernels.Tactic {
	return kernels.Tactic{
		Name: name + "_copy_" + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			if len(b.Out) != 1 || b.In[0].Type != b.Out[0].Type || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("from %v to %v with epilogue %s, the kernel copies", b.In[0], b.Out[0], b.Layer.Epilogue)
			}
			if numeric.Count(b.Out[0].Dims) == 0 || numeric.Count(b.In[0].Dims) == 0 {
				return fmt.Errorf("a tensor is empty")
			}
			_, _, err := plan(b)
			return err
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			r, fill, err := plan(b)
			if err != nil {
				return nil, err
			}
			k := &regionKernel{region: r.simplify(), size: b.Out[0].Type.Size(), fill: fill, bytes: b.Out[0].Bytes(), constant: b.Consts[0]}
			if numeric.Count(r.dims) == 0 {
				k.dims = []int{0}
			}
			k.region, k.turned = k.region.turn()
			if with := work.LayoutKernel(isa); with.Needs != 0 && k.turned && k.size == 4 {
				k.interleave = with.Interleave
			}
			k.job = work.NewJob((*regionLaunch).do)
			return k, nil
		},
	}
}

// regionKernel copies a region.
type regionKernel struct {
	region
	size   int  // bytes of an element
	turned bool // it is copied by tiles: see region.turn
	// interleave is asm.LayoutKernel's, of what is turned and has four bytes an element; nil where a processor has none.
	interleave func(dst []float32, step int, src []float32, stride, rows, n int)
	fill       []byte
	bytes      int    // of the output
	constant   []byte // what is copied, where it is no activation
	job        *work.Job[regionLaunch]
}

// regionLaunch is the state of one launch.
type regionLaunch struct {
	kernel   *regionKernel
	dst, src []byte
}

// Launch fills and copies.
func (k *regionKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	l := regionLaunch{k, out[0].Host[:k.bytes], in[0].Host}
	if k.constant != nil {
		l.src = k.constant
	}
	if k.fill != nil {
		for n := copy(l.dst, k.fill); n < len(l.dst); n *= 2 {
			copy(l.dst[n:], l.dst[:n])
		}
	}
	n := k.dims[0]
	switch {
	case k.turned:
		n = k.tiles()
	case len(k.dims) == 1:
		n = 1
	}
	k.job.Each(work.LoopOver(st, k.bytes), n, l)
	return nil
}

func (l *regionLaunch) do(u, _ int) {
	k := l.kernel
	if k.interleave != nil {
		t := k.tile(u)
		if t.columns >= work.Lanes {
			k.interleaveTile(numeric.View[float32](l.dst), numeric.View[float32](l.src), t)
			return
		}
	}
	switch k.size {
	case 1:
		copyUnit(k, l.dst, l.src, u)
	case 2:
		copyUnit(k, numeric.View[uint16](l.dst), numeric.View[uint16](l.src), u)
	case 4:
		copyUnit(k, numeric.View[uint32](l.dst), numeric.View[uint32](l.src), u)
	default:
		copyUnit(k, numeric.View[uint64](l.dst), numeric.View[uint64](l.src), u)
	}
}

func copyUnit[T numeric.Element](k *regionKernel, dst, src []T, u int) {
	if k.turned {
		copyTile(&k.region, dst, src, u)
	} else {
		copyRegion(&k.region, dst, src, u)
	}
}

// tile is a part of a region that is turned, from the places of its first element.
type tile struct{ from, to, rows, columns int }

// tile returns tile u of a region that is turned.
func (r *region) tile(u int) tile {
	last := len(r.dims) - 1
	part := func(axis, size int) (begin, n int) {
		parts := (r.dims[axis] + size - 1) / size
		begin = u % parts * size
		u /= parts
		return begin, min(size, r.dims[axis]-begin)
	}
	column, columns := part(last, tileColumns)
	row, rows := part(last-1, tileRows)
	t := tile{r.src + row*r.from[last-1] + column*r.from[last], r.dst + row*r.to[last-1] + column*r.to[last], rows, columns}
	for i := last - 2; i >= 0; i-- {
		at, _ := part(i, 1)
		t.from, t.to = t.from+at*r.from[i], t.to+at*r.to[i]
	}
	return t
}

// copyTile copies tile u of a region that is turned.
func copyTile[T numeric.Element](r *region, dst, src []T, u int) {
	last, t := len(r.dims)-1, r.tile(u)
	copyTiles(dst, src, t.from, t.to, [2]int{t.rows, t.columns}, [2]int(r.from[last-1:]), [2]int(r.to[last-1:]))
}

// interleaveTile copies a tile of no fewer columns than a vector has lanes, so many of them at a time: the last ones again with
// those before, where they do not fill a vector.
func (k *regionKernel) interleaveTile(dst, src []float32, t tile) {
	last := len(k.dims) - 1
	stride, step := k.from[last], k.to[last-1]
	for at := 0; at < t.columns; at += work.Lanes {
		column := min(at, t.columns-work.Lanes)
		k.interleave(dst[t.to+column:], step, src[t.from+column*stride:], stride, work.Lanes, t.rows)
	}
}

// copyRegion copies index u of the first axis, or all if there is but one.
func copyRegion[T numeric.Element](r *region, dst, src []T, u int) {
	first := min(1, len(r.dims)-1)
	from, to := r.src, r.dst
	if first == 1 {
		from, to = from+u*r.from[0], to+u*r.to[0]
	}
	copyAxes(r, dst, src, from, to, first)
}

// copyAxes copies the axes from the given one on.
func copyAxes[T numeric.Element](r *region, dst, src []T, from, to, axis int) {
	n, a, b := r.dims[axis], r.from[axis], r.to[axis]
	left := len(r.dims) - axis
	switch {
	case left == 1 && a == 1 && b == 1:
		copy(dst[to:to+n], src[from:from+n])
	case left == 1:
		for range n {
			dst[to] = src[from]
			from, to = from+a, to+b
		}
	case left == 2 && r.from[axis+1] != 1:
		copyTiles(dst, src, from, to, [2]int{n, r.dims[axis+1]}, [2]int{a, r.from[axis+1]}, [2]int{b, r.to[axis+1]})
	default:
		for range n {
			copyAxes(r, dst, src, from, to, axis+1)
			from, to = from+a, to+b
		}
	}
}

// copyTiles copies a matrix in tiles, so that both sides' cache lines are used whole.
func copyTiles[T numeric.Element](dst, src []T, from, to int, dims, a, b [2]int) {
	const tile = 16
	for y := 0; y < dims[0]; y += tile {
		for x := 0; x < dims[1]; x += tile {
			for i := y; i < min(y+tile, dims[0]); i++ {
				f, t := from+i*a[0]+x*a[1], to+i*b[0]+x*b[1]
				for range min(tile, dims[1]-x) {
					dst[t] = src[f]
					f, t = f+a[1], t+b[1]
				}
			}
		}
	}
}
