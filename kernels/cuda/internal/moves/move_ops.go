package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// moveTactics are the ops that move elements, whatever these are, from one place to another.
func moveTactics() []emit.Tactic {
	list := []emit.Tactic{
		moveTactic("transpose_linear", graph.Transpose, transposeMover),
		moveTactic("slice_linear", graph.Slice, sliceMover),
		moveTactic("pad_linear", graph.Pad, padMover),
		moveTactic("expand_linear", graph.Expand, expandMover),
		moveTactic("tile_linear", graph.Tile, tileMover),
		moveTactic("depth_to_space_linear", graph.DepthToSpace, depthToSpaceMover),
		moveTactic("space_to_depth_linear", graph.SpaceToDepth, spaceToDepthMover),
		moveTactic("gather_linear", graph.Gather, gatherMover),
		moveTactic("bit_cast_linear", graph.BitCast, copyMover),
		triluTactic(),
	}
	// Views share their input's memory, but where a network's input and output would be one.
	for _, op := range []*graph.Op{graph.Reshape, graph.Flatten, graph.Squeeze, graph.Unsqueeze, graph.Identity} {
		list = append(list, moveTactic("copy_linear", op, copyMover))
	}
	return append(list, maskTactic())
}

// maskTactic is a dropout that does nothing, but tells so: its second output is true everywhere.
func maskTactic() emit.Tactic {
	return emit.Tactic{
		Name: "copy_mask_linear", Op: graph.Identity, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			if len(b.Out) != 2 || b.Layer.Epilogue.Args > 0 || b.In[0].Type != b.Out[0].Type {
				return fmt.Errorf("the kernel has two outputs, keeps the type, and has no epilogue")
			}
			return nil
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			w := emit.NewWork()
			total, size := numeric.Count(b.Out[0].Dims), b.Out[0].Type.Size()
			k, l := w.Threads("mask", total)
			x, y, mask := l.Operand(k, w, b, 0), l.Output(k, 0), l.Output(k, 1)
			index := emit.ThreadIndex(k, total)
			emit.CopyElement(k, k.Offset(y, index, size), k.Offset(x, index, size), size, nil, nil)
			k.StoreByte(k.Offset(mask, index, 1), k.Var(ptx.U(1)).Word())
			w.End(k, l)
			return w, nil
		},
	}
}

func copyMover(b kernels.Binding) (*mover, error) {
	return &mover{axes: []moveAxis{straight(numeric.Count(b.Out[0].Dims), 1)}}, nil
}

// permuted is the mover that makes axis i of the output of axis perm[i] of an input of the given shape.
func permuted(dims, perm []int) *mover {
	m, s := &mover{}, emit.StridesOf(dims)
	for _, p := range perm {
		m.axes = append(m.axes, straight(dims[p], s[p]))
	}
	return m
}

func transposeMover(b kernels.Binding) (*mover, error) {
	perm := b.Layer.Attrs.(graph.TransposeAttrs).Perm
	if perm == nil {
		for i := range b.In[0].Dims {
			perm = append([]int{i}, perm...)
		}
	}
	return permuted(b.In[0].Dims, perm), nil
}

func depthToSpaceMover(b kernels.Binding) (*mover, error) {
	a, x := b.Layer.Attrs.(graph.BlockAttrs), b.In[0].Dims
	c := x[1] / (a.Size * a.Size)
	if a.CRD {
		return permuted([]int{x[0], c, a.Size, a.Size, x[2], x[3]}, []int{0, 1, 4, 2, 5, 3}), nil
	}
	return permuted([]int{x[0], a.Size, a.Size, c, x[2], x[3]}, []int{0, 3, 4, 1, 5, 2}), nil
}

func spaceToDepthMover(b kernels.Binding) (*mover, error) {
	a, x := b.Layer.Attrs.(graph.BlockAttrs), b.In[0].Dims
	perm := []int{0, 3, 5, 1, 2, 4}
	if a.CRD {
		perm = []int{0, 1, 3, 5, 2, 4}
	}
	return permuted([]int{x[0], x[1], x[2] / a.Size, a.Size, x[3] / a.Size, a.Size}, perm), nil
}

// sliceMover takes bounds from the attributes, or from inputs that are constants.
func sliceMover(b kernels.Binding) (*mover, error) {
	a, x := b.Layer.Attrs.(graph.SliceAttrs), b.In[0].Dims
	for i, list := range []*[]int{&a.Starts, &a.Ends, &a.Axes, &a.Steps} {
		if i+1 >= len(b.In) || b.Layer.Inputs[i+1] == nil {
			continue
		}
		v, ok := b.Const(i + 1)
		if !ok {
			return nil, fmt.Errorf("bounds are not constants")
		}
		*list = (*list)[:0:0]
		for _, n := range v.Ints() {
			*list = append(*list, int(max(-1<<40, min(1<<40, n))))
		}
	}
	start, step := make([]int, len(x)), make([]int, len(x))
	for i := range step {
		step[i] = 1
	}
	for i, begin := range a.Starts {
		axis := i
		if a.Axes != nil {
			axis = (a.Axes[i] + len(x)) % len(x)
		}
		if a.Steps != nil {
			step[axis] = a.Steps[i]
		}
		if begin < 0 {
			begin += x[axis]
		}
		if start[axis] = max(0, min(begin, x[axis])); step[axis] < 0 {
			start[axis] = max(0, min(begin, x[axis]-1))
		}
	}
	m, s := &mover{}, emit.StridesOf(x)
	for i, n := range b.Out[0].Dims {
		m.axes = append(m.axes, moveAxis{extent: n, count: n, start: start[i] * s[i], stride: step[i] * s[i]})
	}
	return m, nil
}

func padMover(b kernels.Binding) (*mover, error) {
	a, x := b.Layer.Attrs.(graph.PadAttrs), b.In[0].Dims
	if b.Layer.Input(2) != nil {
		pads, ok := b.Const(2)
		if !ok {
			return nil, fmt.Errorf("the pads are not constants")
		}
		var err error
		if a, err = a.With(pads.Ints(), len(x)); err != nil {
			return nil, err
		}
	}
	m, s := &mover{}, emit.StridesOf(x)
	for i, n := range b.Out[0].Dims {
		m.axes = append(m.axes, axisOf(n, s[i], func(j int) int { return padSource(a.Mode, j-a.Pads[i], x[i]) }))
	}
	if a.Mode == "constant" {
		var err error
		if m.fill, err = padValue(b, a); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// padSource returns which place of an axis of extent n is repeated at place i, or -1.
func padSource(mode string, i, n int) int {
	switch {
	case i >= 0 && i < n:
		return i
	case mode == "reflect" && i < 0:
		return -i
	case mode == "reflect":
		return 2*(n-1) - i
	case mode == "edge":
		return max(0, min(n-1, i))
	case mode == "wrap":
		return (i + n) % n
	}
	return -1
}

// padValue returns the element that is added: input 1 as it is stored, or the attribute's number.
func padValue(b kernels.Binding, a graph.PadAttrs) ([]byte, error) {
	in := b.Layer.Inputs[0]
	if len(b.In) > 1 && b.Layer.Inputs[1] != nil {
		v, ok := b.Const(1)
		if !ok || v.Len() != 1 {
			return nil, fmt.Errorf("the value is not a constant")
		}
		return v.Data, nil
	}
	v := numeric.NewValue(in.Type)
	switch {
	case in.Type.IsInteger() && in.Range.IsSet() && !in.Range.PerChannel():
		in.Range.Quantize(v, []float32{a.Value})
	case in.Type == numeric.F32 || in.Type == numeric.F16:
		numeric.FromReal(v, []float32{a.Value}, numeric.Range{})
	case a.Value == 0:
	default:
		return nil, fmt.Errorf("%s is padded with %v", in.Type, a.Value)
	}
	return v.Data, nil
}

// repeated axes: an output axis of an input's of extent 1 stays at its place.
func expandMover(b kernels.Binding) (*mover, error) {
	x, y := b.In[0].Dims, b.Out[0].Dims
	m, s := &mover{}, emit.StridesOf(x)
	skip := len(y) - len(x)
	for i, n := range y {
		if i < skip || x[i-skip] == 1 {
			m.axes = append(m.axes, straight(n, 0))
		} else {
			m.axes = append(m.axes, straight(n, s[i-skip]))
		}
	}
	return m, nil
}

func tileMover(b kernels.Binding) (*mover, error) {
	x := b.In[0].Dims
	m, s := &mover{}, emit.StridesOf(x)
	for i, n := range b.Out[0].Dims { // the repetitions, and the axis
		m.axes = append(m.axes, straight(n/x[i], 0), straight(x[i], s[i]))
	}
	return m, nil
}

// gatherMover takes constant indices.
func gatherMover(b kernels.Binding) (*mover, error) {
	index, ok := b.Const(1)
	if !ok {
		return nil, fmt.Errorf("the indices are not constants")
	}
	x, axis := b.In[0].Dims, b.Layer.Attrs.(graph.GatherAttrs).Axis
	if axis < 0 {
		axis += len(x)
	}
	inner := numeric.Count(x[axis+1:])
	list := index.Ints()
	for i, n := range list {
		if n < 0 {
			n += int64(x[axis])
		}
		if n < 0 || n >= int64(x[axis]) {
			return nil, fmt.Errorf("index %d of an axis of %d", list[i], x[axis])
		}
	}
	at := func(i int) int { return (int(list[i]) + x[axis]) % x[axis] }
	return &mover{axes: []moveAxis{
		straight(numeric.Count(x[:axis]), x[axis]*inner), axisOf(len(list), inner, at), straight(inner, 1),
	}}, nil
}
