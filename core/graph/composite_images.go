package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// importDeformConv adds the columns of a deformable convolution, and the product with its weights.
func importDeformConv(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{4}}, axes{1, []int{4}}, axes{2, []int{4}}, axes{3, []int{1}}, axes{4, []int{4}}); err != nil {
		return nil, fmt.Errorf("%w: only two spatial axes are supported", err)
	}
	x, w, offset, bias := n.Input(0), n.Input(1), n.Input(2), n.Input(3)
	if err := checkKernelShape(n, w); err != nil {
		return nil, err
	}
	kernel, err := kernelExtents(w)
	if err != nil {
		return nil, err
	}
	a := DeformAttrs{Kernel: kernel, Strides: n.Ints("strides"), Dilations: n.Ints("dilations"), Pads: n.Ints("pads"), Offsets: n.Int("offset_group", 1), Group: n.Int("group", 1)}
	if m, ok := w.Dims[0].IsConst(); a.Group < 1 || !ok || m%a.Group != 0 || conflict(w.Dims[1].MulN(a.Group), x.Dims[1]) {
		return nil, fmt.Errorf("weights %s in %d groups do not fit %s", w.TypeString(), a.Group, x.TypeString())
	}
	if a.Offsets < 1 {
		return nil, fmt.Errorf("offset_group %d", a.Offsets)
	}
	columns := d.DeformColumns(x, offset, n.Input(4), a)
	factors := d.reshaped(w, axesOf{to: 1}, axesOf{from: 1, to: 4, join: true}) // [M, C/Group*k]
	perm, biases := []int{1, 0}, bias
	if a.Group > 1 {
		m, _ := w.Dims[0].IsConst()
		k, ok := factors.Dims[1].IsConst()
		if !ok {
			return nil, fmt.Errorf("weights %s, whose extents must be known", w.TypeString())
		}
		factors, perm = d.Reshape(factors, a.Group, m/a.Group, k), []int{0, 2, 1}
		if bias != nil {
			biases = d.Reshape(bias, a.Group, 1, m/a.Group)
		}
	}
	y := d.plus(d.MatMul(columns, d.Transpose(factors, perm...)), biases) // [N, Group, E1*E2, M/Group]
	y = d.Transpose(y, 0, 1, 3, 2)
	return result(d.reshaped(y, axesOf{to: 1}, axesOf{t: y, from: 1, to: 3, join: true}, axesOf{t: offset, from: 2, to: 4}))
}

// importAffineGrid adds the points of a grid that an affine map moves: theta [N,k,k+1], of k spatial axes, maps the places of the
// elements of a tensor of the given size, from -1 to 1 along each axis.
func importAffineGrid(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3}}, axes{1, []int{1}}); err != nil {
		return nil, err
	}
	theta, size, corners := n.Input(0), n.Input(1), n.Flag("align_corners", false)
	k, err := n.extent(0, 1)
	if err != nil {
		return nil, err
	}
	if k < 2 || k > 3 || conflict(theta.Dims[2], symbolic.Const(k+1)) || conflict(size.Dims[0], symbolic.Const(k+2)) || !isReal(theta) {
		return nil, fmt.Errorf("maps %s for a size %s: want [N,2,3] for two spatial axes, [N,3,4] for three", theta.TypeString(), size.TypeString())
	}
	if list, ok := size.Ints(); ok && conflict(theta.Dims[0], symbolic.Const(list[0])) {
		return nil, fmt.Errorf("maps %s for %d items", theta.TypeString(), list[0])
	}
	columns := d.Transpose(theta, 0, 2, 1)
	column := func(i int) *Tensor { // as [N,1,...,1,k]
		c := d.Slice(columns, SliceAttrs{Starts: []int{i}, Ends: []int{i + 1}, Axes: []int{1}})
		for range k - 1 {
			c = d.Unsqueeze(c, 1)
		}
		return c
	}
	y := column(k)
	for axis := range k {
		places := d.Cast(d.Sequence(d.number(0), d.Gather(size, d.number(int64(2+axis)), 0), d.number(1)), numeric.F32)
		extent := d.Cast(d.Gather(size, d.number(int64(2+axis)), 0), numeric.F32)
		places = d.as(d.Program(gridPlaces(corners), places, extent), theta.Type)
		for range k - axis {
			places = d.Unsqueeze(places, len(places.Dims))
		}
		y = d.Add(y, d.Mul(column(k-1-axis), places))
	}
	return result(y)
}

// gridPlaces is the place, from -1 to 1, of index $0 of $1 elements: of their centres, or with corners of what spans all of them,
// of which a single one is at its end, as ONNX Runtime has it.
func gridPlaces(corners bool) elementwise.Program {
	b := elementwise.NewBuilder(2)
	one := b.Constant(1)
	if corners {
		last := b.Do(elementwise.Sub, 1, one)
		behind := b.Do(elementwise.Sub, last, 0)
		b.Do(elementwise.Sub, one, b.Do(elementwise.Div, b.Do(elementwise.Add, behind, behind), b.Do(elementwise.Max, last, one)))
		return b.Program
	}
	b.Do(elementwise.Sub, b.Do(elementwise.Div, b.Do(elementwise.Add, b.Do(elementwise.Add, 0, 0), one), 1), one)
	return b.Program
}

// importCenterCropPad adds a Slice of the middle of axes that are too long, and a Pad around axes that are too short; where that
// is not known of all, a Pad alone, which takes away what is too much.
func importCenterCropPad(d *Definition, n *Node) ([]*Tensor, error) {
	rank, err := n.rank(0)
	if err != nil {
		return nil, err
	}
	if err := n.ranked(axes{1, []int{1}}); err != nil || n.Input(1) == nil {
		return nil, errors.Join(n.needs(1), err)
	}
	x, list := n.Input(0), n.Ints("axes")
	if list == nil {
		for i := range rank {
			list = append(list, i)
		}
	}
	if list, err = axesIn(list, rank); err != nil {
		return nil, err
	}
	sizes, known := n.Input(1).Ints()
	if known && (len(list) != len(sizes) || slices.ContainsFunc(sizes, func(s int) bool { return s < 0 || s > maxExtent })) {
		return nil, fmt.Errorf("the shape %v for %d axes", sizes, len(list))
	}
	var crop SliceAttrs
	pads := make([]int, 2*rank)
	for i, axis := range list {
		extent, ok := x.Dims[axis].IsConst()
		if !ok || !known {
			return d.centred(x, d.as(n.Input(1), numeric.I64), list)
		}
		switch more := extent - sizes[i]; {
		case more > 0:
			crop.Axes, crop.Starts, crop.Ends = append(crop.Axes, axis), append(crop.Starts, more/2), append(crop.Ends, more/2+sizes[i])
		case more < 0:
			pads[axis], pads[rank+axis] = -more/2, -more-(-more/2)
		}
	}
	if len(crop.Axes) > 0 {
		x = d.Slice(x, crop)
	}
	if slices.Max(append(pads, 0)) > 0 {
		x = d.Pad(x, 0, pads...)
	}
	return result(x)
}

// centred gives axes of x other sizes, its middle staying there: half of what is missing or too much, rounded toward 0, is at the begin.
func (d *Definition) centred(x, sizes *Tensor, list []int) ([]*Tensor, error) {
	places := make([]int64, len(list))
	for i, axis := range list {
		places[i] = int64(axis)
	}
	extents := d.Gather(d.ShapeOf(x), d.Constant(d.fresh("axes"), numeric.Values(numeric.I64, places, len(places))), 0)
	b := elementwise.NewBuilder(2)
	zero, two := b.Constant(0), b.Constant(2)
	half := func(x, y int) int {
		return b.Do(elementwise.Div, b.Do(elementwise.Max, b.Do(elementwise.Sub, x, y), zero), two)
	}
	b.Do(elementwise.Sub, half(0, 1), half(1, 0))
	begin := d.Program(b.Program, sizes, extents)
	pads := d.Concat(0, begin, d.Sub(d.Sub(sizes, extents), begin))
	return result(d.Layer(Pad, PadAttrs{Mode: "constant", Axes: list}, x, nil, pads))
}

// maxCounted bounds the places of which it is written down how many elements their windows have.
const maxCounted = 1 << 24

// importLpPool adds the p-th root of the sums of the p-th powers of magnitudes in a window: as means, times the number of places.
func importLpPool(d *Definition, n *Node) ([]*Tensor, error) {
	p := n.Int("p", 2)
	x, err := n.powers(d, p)
	if err != nil {
		return nil, err
	}
	a, _, err := importPool(n)
	if err != nil {
		return nil, err
	}
	pool := a.(PoolAttrs)
	pool.CountIncludePad = true
	places := 1.0
	for _, k := range pool.Kernel {
		places *= float64(k)
	}
	y := d.AveragePool(x, pool)
	if !pool.CeilMode || pool.AutoPad != AutoPadNone {
		return result(d.root(d.times(y, float32(places)), p))
	}
	dims := symbolic.Eval(x.Dims, nil)
	for _, dim := range x.Dims[2:] {
		if _, ok := dim.IsConst(); !ok {
			return nil, fmt.Errorf("ceil_mode 1 with an input %s, whose spatial extents must be known", x.TypeString())
		}
	}
	if n, ok := countDims(y.Dims[2:]); !ok || n > maxCounted {
		return nil, fmt.Errorf("ceil_mode 1 with an output of %s places", symbolic.Format(y.Dims[2:]))
	}
	counts := numeric.NewValue(numeric.F32, symbolic.Eval(y.Dims[2:], nil)...)
	for e := range counts.F32() { // the last window may be cut off
		counts.F32()[e] = float32(windowPadded(pool.Windows(dims[2:]), dims[2:], counts.Dims, e))
	}
	return result(d.root(d.Mul(y, d.as(d.Constant(d.fresh("places"), counts), x.RealType())), p))
}

// importGlobalLpPool adds the p-th root of the sum of the p-th powers of the magnitudes of each channel.
func importGlobalLpPool(d *Definition, n *Node) ([]*Tensor, error) {
	rank, err := n.rank(0)
	if err != nil {
		return nil, err
	}
	if rank < 3 {
		return nil, fmt.Errorf("input %s: want a batch, a channel and at least one spatial axis", n.Input(0).TypeString())
	}
	var spatial []int
	for axis := 2; axis < rank; axis++ {
		spatial = append(spatial, axis)
	}
	switch p := n.Int("p", 2); p {
	case 1:
		return result(d.Reduce(ReduceL1, n.Input(0), true, spatial...))
	case 2:
		return result(d.Reduce(ReduceL2, n.Input(0), true, spatial...))
	default:
		x, err := n.powers(d, p)
		if err != nil {
			return nil, err
		}
		return result(d.root(d.Reduce(ReduceSum, x, true, spatial...), p))
	}
}

// powers adds the p-th powers of the magnitudes of a node's first input.
func (n *Node) powers(d *Definition, p int) (*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	x := n.Input(0)
	switch {
	case !isReal(x):
		return nil, fmt.Errorf("input %s: only f32, f16, bf16 and quantised tensors are supported", x.TypeString())
	case p < 1 || p > 1<<10:
		return nil, fmt.Errorf("p is %d, want 1 to %d", p, 1<<10)
	case p == 1:
		return d.Abs(x), nil
	case p == 2:
		return d.Mul(x, x), nil
	}
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Pow, b.Do(elementwise.Abs, 0), b.Constant(float32(p)))
	return d.Program(b.Program, x), nil
}

// root adds the p-th root.
func (d *Definition) root(x *Tensor, p int) *Tensor {
	switch p {
	case 1:
		return x
	case 2:
		return d.Sqrt(x)
	}
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Pow, 0, b.Constant(float32(1/float64(p))))
	return d.Program(b.Program, x)
}
