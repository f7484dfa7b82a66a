package run

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// cut returns the axis along which the outputs of l, a Split or a Slice, are parts of its input, and where the first one
// begins; an error for a Slice that is no such part.
func cut(l *graph.Layer, env map[string]int) (axis, first int, err error) {
	dims := symbolic.Eval(l.Inputs[0].Dims, env)
	if a, ok := l.Attrs.(graph.SplitAttrs); ok {
		if axis = a.Axis; axis < 0 {
			axis += len(dims)
		}
		return axis, 0, nil
	}
	a, out := l.Attrs.(graph.SliceAttrs), symbolic.Eval(l.Outputs[0].Dims, env)
	if len(l.OpInputs()) > 1 {
		return 0, 0, unarranged(givenInput, "bounds are no constants")
	}
	axis = -1
	for i, start := range a.Starts {
		at := i
		if a.Axes != nil {
			at = a.Axes[i]
		}
		if at < 0 {
			at += len(dims)
		}
		switch {
		case a.Steps != nil && a.Steps[i] != 1 && dims[at] > 1:
			return 0, 0, unarranged(wrongAxis, "steps of %d on axis %d", a.Steps[i], at)
		case out[at] == dims[at]:
			continue
		case axis >= 0:
			return 0, 0, unarranged(wrongAxis, "axes %d and %d are cut", axis, at)
		}
		if start < 0 {
			start += dims[at]
		}
		axis, first = at, max(0, start)
	}
	return max(0, axis), first, nil
}

// partable returns why the outputs of a Split or Slice cannot be read where its input lies.
func partable(n *graph.Network, l *graph.Layer, f kernels.Format, env map[string]int) error {
	x := l.Inputs[0]
	axis, first, err := cut(l, env)
	if err != nil {
		return err
	}
	if given(x) || l.Epilogue.Args > 0 {
		return unarranged(givenInput, "input %s is a constant, or something is computed", x.Name)
	}
	if f == kernels.Linear {
		if err := strides(desc(x, f, env), axis); err != nil {
			return err
		}
	} else if axis != 1 || first%f.Block(x.Type) != 0 {
		return unarranged(unalignedBlocks, "axis %d is not that of channels, or a part begins within a block", axis)
	}
	from := first
	for i, y := range l.Outputs {
		r, extent := x.Range, y.Dims[axis].Eval(env)
		if r.PerChannel() && r.Axis == axis && from+extent <= len(r.Scale) {
			r = r.Part(from, from+extent)
		}
		from += extent
		switch {
		case n.IsOutput(y):
			return unarranged(networkTensor, "output %s is one of the network", y.Name)
		case x.Type != y.Type || !r.Equal(y.Range):
			return unarranged(otherType, "output %s has another type or range", y.Name)
		case numeric.Count(symbolic.Eval(y.Dims, env)) == 0:
			return unarranged(emptyPart, "output %s is empty", y.Name)
		case f != kernels.Linear && i < len(l.Outputs)-1 && y.Dims[1].Eval(env)%f.Block(x.Type) != 0:
			return unarranged(unalignedBlocks, "output %s does not fill whole blocks of channels", y.Name)
		}
	}
	return nil
}

// strides returns why one distance does not say how a part of a tensor in Linear lies: the distance between indices of axis
// 0, or between rows.
func strides(d kernels.Desc, axis int) error {
	if axis <= 1 || axis == len(d.Dims)-1 || numeric.Count(d.Dims[1:axis]) == 1 || numeric.Count(d.Dims[:axis]) == 1 {
		return nil
	}
	return unarranged(wrongAxis, "axis %d is neither the first, nor the second, nor the last", axis)
}

// part returns the form of an output of a Split or Slice that lies in its input, and the distance in elements from one index of the
// axes before the split one to the next: 0 where there is but one, so that the part is dense.
func part(whole, d kernels.Desc, axis int) (kernels.Desc, int) {
	switch {
	case numeric.Count(whole.Dims[:axis]) <= 1 && (whole.Format != kernels.NHWC || numeric.Count(whole.Dims[2:]) == 1):
		return d, 0
	case whole.Format == kernels.NHWC:
		d.Pitch = whole.PixelPitch()
		return d, d.Pitch
	case numeric.Count(whole.Dims[1:axis]) == 1:
		d.Batch = whole.BatchStride()
		return d, d.Batch
	}
	d.Pitch = whole.RowPitch()
	return d, d.Pitch
}

// readable returns why the outputs of a Split or Slice cannot be read where its input lies. A concatenation that would
// have them written to their places in its output goes before.
func (y *layout) readable(l *graph.Layer, in int) error {
	whole := y.plan.Slots[in].Desc
	axis, first, err := cut(l, y.env)
	switch {
	case err != nil:
		return err
	case !whole.Dense():
		return unarranged(placeTaken, "input %s is a part of a tensor itself", l.Inputs[0].Name)
	}
	align, offset := y.backend.Info().Align, before(whole, axis, first)
	for _, t := range l.Outputs {
		own := desc(t, whole.Format, y.env)
		d, distance := part(whole, own, axis)
		if align > 1 && (offset%align != 0 || distance*d.Type.Size()%align != 0) {
			return unarranged(unalignedPart, "output %s would begin where no kernel of the device can read", t.Name)
		}
		for _, u := range t.Users {
			if !y.idle[u] && !y.readsPart(u, t, d) {
				return unarranged(noStrided, "%s cannot read output %s where it is a part of a tensor", u.Name, t.Name)
			}
		}
		offset += partBytes(whole, own, axis)
	}
	return nil
}

// readsPart reports whether layer u can read its input t where that lies as d says.
func (y *layout) readsPart(u *graph.Layer, t *graph.Tensor, d kernels.Desc) bool {
	o := y.chosen(u)
	switch {
	case o.memory && u.Op.Memory == graph.Joined:
		return false
	case d.Dense():
		return true
	case o.memory:
		return false
	case d.Format == kernels.Linear && d.Pitch > 0:
		for i, x := range u.Inputs {
			if x == t && formatOf(u, i, o.in, o.out) != d.Format {
				return false
			}
		}
		return o.tactic.Reads(d)
	}
	return y.readsSlices(u, t, d.Format)
}

// partBytes returns how far behind the begin of one part of a tensor the next one begins.
func partBytes(whole, d kernels.Desc, axis int) int {
	n := numeric.Count(whole.Dims[:axis])
	if whole.Format == kernels.NHWC {
		n = d.Dims[0] * numeric.Count(d.Dims[2:])
	}
	return d.Bytes() / max(1, n)
}

// before returns how far behind the begin of a tensor, in bytes, a part of it along an axis begins whose first index is given.
func before(whole kernels.Desc, axis, first int) int {
	if first == 0 {
		return 0
	}
	d := whole
	d.Dims = slices.Clone(whole.Dims)
	d.Dims[axis] = first
	return partBytes(whole, d, axis)
}

// parts makes the outputs of a split parts of its input.
func (y *layout) parts(step *Step, index int) {
	in := step.In[0]
	y.whole[y.plan.root(in)] = true
	for _, t := range step.Layer.Outputs {
		step.Out = append(step.Out, y.share(t, desc(t, y.plan.Slots[in].Desc.Format, y.env), in, 0, index))
	}
	_ = y.plan.placeParts(step, y.env) // readable has looked
}

// placeParts says where in the input of a split its outputs lie.
func (p *Plan) placeParts(step *Step, env map[string]int) error {
	whole := p.Slots[step.In[0]].Desc
	axis, first, err := cut(step.Layer, env)
	if err != nil {
		return err
	}
	offset := before(whole, axis, first)
	for _, out := range step.Out {
		s := &p.Slots[out]
		own := s.Desc
		s.Desc, _ = part(whole, own, axis)
		s.Offset, s.Size = offset, s.Desc.Span()
		offset += partBytes(whole, own, axis)
	}
	return nil
}
