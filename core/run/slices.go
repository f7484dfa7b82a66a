package run

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// sliceable returns why the slots of a concatenation's inputs cannot become parts of its output: each must have memory of
// its own, and everyone who touches it must be able to work on slices. With one batch index, or in NHWC one pixel, a slice is dense,
// and any tactic can.
func (y *layout) sliceable(l *graph.Layer, in []int) error {
	if !y.aligned(l, in) {
		return unarranged(unalignedPart, "a part would begin where no kernel of the device can read or write")
	}
	dense := pieces(desc(l.Outputs[0], y.chosen(l).out, y.env), concatAxis(l)) == 1
	for i, slot := range in {
		s, name := y.plan.Slots[slot], l.Inputs[i].Name
		if s.Of >= 0 || s.Region != Arena || y.whole[slot] {
			return unarranged(placeTaken, "input %s has a place already", name)
		}
		if dense {
			continue
		}
		if !y.strided[slot] {
			return unarranged(noStrided, "what computes input %s cannot write to a part of a tensor", name)
		}
		for _, u := range l.Inputs[i].Users {
			if u != l && !y.idle[u] && !y.readsSlices(u, l.Inputs[i], s.Desc.Format) {
				return unarranged(noStrided, "%s reads input %s, too, and cannot where that is a part of a tensor", u.Name, name)
			}
		}
	}
	return nil
}

// readsSlices reports whether layer u can read its input x where that is a slice in the given format: with its own tactic
// and, where that wants another format, with the reformat's.
func (y *layout) readsSlices(u *graph.Layer, x *graph.Tensor, have kernels.Format) bool {
	o := y.chosen(u)
	if !o.tactic.Strided {
		return false
	}
	for i, t := range u.Inputs {
		want := formatOf(u, i, o.in, o.out)
		if t != x || want == have {
			continue
		}
		if r, err := y.reformatOption(x, have, want); err != nil || !r.tactic.Strided {
			return false
		}
	}
	return true
}

// pieces returns how many pieces of memory a part of a tensor along an axis consists of: one for each index of the axes
// that lie before it, in NHWC for each pixel.
func pieces(d kernels.Desc, axis int) int {
	switch {
	case axis == 0:
		return 1
	case d.Format == kernels.NHWC:
		return d.Dims[0] * numeric.Count(d.Dims[2:])
	}
	return d.Dims[0]
}

// aligned reports whether the parts of a concatenation's output begin where the backend's kernels can read and write them.
func (y *layout) aligned(l *graph.Layer, in []int) bool {
	align := y.backend.Info().Align
	if align <= 1 {
		return true
	}
	n, offset := max(1, pieces(desc(l.Outputs[0], y.chosen(l).out, y.env), concatAxis(l))), 0
	for _, slot := range in {
		if offset%align != 0 {
			return false
		}
		offset += y.plan.Slots[slot].Desc.Bytes() / n
	}
	return n == 1 || offset%align == 0
}

// slices makes the inputs of a concatenation parts of its output.
func (y *layout) slices(step *Step) {
	out := step.Out[0]
	y.whole[out] = true
	for _, in := range step.In {
		y.plan.Slots[in].Of = out
	}
	y.plan.placeSlices(step)
}

// placeSlices says where in the output of a concatenation its inputs lie, which are dense until then.
func (p *Plan) placeSlices(step *Step) {
	whole := p.Slots[step.Out[0]].Desc
	n, offset := pieces(whole, concatAxis(step.Layer)), 0
	for _, in := range step.In {
		s := &p.Slots[in]
		s.Offset = offset
		offset += s.Desc.Bytes() / max(1, n)
		switch {
		case n <= 1:
		case whole.Format == kernels.NHWC:
			s.Desc.Pitch = whole.PixelPitch()
		default:
			s.Desc.Batch = whole.BatchStride()
		}
		s.Size = s.Desc.Span()
	}
}

func concatAxis(l *graph.Layer) int {
	axis := l.Attrs.(graph.ConcatAttrs).Axis
	if axis < 0 {
		axis += len(l.Outputs[0].Dims)
	}
	return axis
}

// sliceable returns why the inputs of a concatenation cannot be written straight to their places in its output.
func sliceable(n *graph.Network, l *graph.Layer, f kernels.Format, env map[string]int) error {
	axis, y := concatAxis(l), l.Outputs[0]
	outer := symbolic.Eval(y.Dims, env)[:axis]
	if axis > 1 && numeric.Count(outer) > 1 || f != kernels.Linear && axis != 1 {
		return unarranged(wrongAxis, "axis %d is not the outermost", axis)
	}
	seen := map[*graph.Tensor]bool{}
	for i, x := range l.Inputs {
		switch {
		case given(x):
			return unarranged(givenInput, "input %s is a constant", x.Name)
		case n.IsOutput(y):
			return unarranged(networkTensor, "%s is an output of the network, with memory of its own", y.Name)
		case x.Producer == nil || n.IsOutput(x):
			return unarranged(networkTensor, "%s is an input or output of the network, with memory of its own", x.Name)
		case x.Producer.Op.Memory == graph.Viewed || x.Producer.Op.Memory == graph.Joined || seen[x]:
			return unarranged(placeTaken, "input %s has a place already", x.Name)
		case x.Type != y.Type || !x.Range.Equal(y.Range):
			return unarranged(otherType, "input %s has another type or range", x.Name)
		case f != kernels.Linear && i < len(l.Inputs)-1 && x.Dims[1].Eval(env)%f.Block(x.Type) != 0:
			return unarranged(unalignedBlocks, "input %s does not fill whole blocks of channels", x.Name)
		}
		for _, u := range x.Users {
			if u != l && u.Op.Memory == graph.Joined {
				return unarranged(placeTaken, "input %s goes into two concatenations", x.Name)
			}
		}
		seen[x] = true
	}
	return nil
}
