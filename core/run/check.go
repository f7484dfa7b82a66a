package run

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// check returns an error where running the plan would read or write outside its memory or out of order. Checksums
// keep damage out; this keeps out files that were made wrong.
func (p *Plan) check() error {
	if p.Memory.Peak < 0 || p.Memory.IO < 0 || p.Memory.Peak > 1<<40 || p.Memory.IO > 1<<40 {
		return fmt.Errorf("memory of %d and %d bytes", p.Memory.Peak, p.Memory.IO)
	}
	if err := p.checkRanges(); err != nil {
		return err
	}
	for i, s := range p.Slots {
		limit := p.Memory.Peak
		if s.Region == IO {
			limit = p.Memory.IO
		}
		if s.Offset < 0 || s.Size < 0 || s.Offset > limit || s.Size > limit-s.Offset || s.Of >= len(p.Slots) || s.Of == i {
			return fmt.Errorf("slot %d lies outside its region", i)
		}
		if s.First < -1 || s.First > s.Last || s.Last > len(p.Steps) {
			return fmt.Errorf("slot %d is in use from step %d to %d of %d", i, s.First, s.Last, len(p.Steps))
		}
		if s.Tensor == nil {
			continue
		}
		if err := checkDesc(s, p.Env()); err != nil {
			return fmt.Errorf("slot %d (%s): %w", i, s.Tensor.Name, err)
		}
	}
	if err := p.checkShared(); err != nil {
		return err
	}
	if err := p.checkOutputs(); err != nil {
		return err
	}
	for i, s := range p.Steps {
		if !s.Reformat {
			if err := s.Layer.CheckShapes(p.Env()); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
			if err := p.checkBodies(s); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
		if len(s.In) != len(s.Layer.Inputs) || len(s.Out) != len(s.Layer.Outputs) || s.Scratch >= len(p.Slots) {
			return fmt.Errorf("step %d does not fit its layer", i)
		}
		for j, in := range s.In {
			t := s.Layer.Inputs[j]
			if in < 0 && t != nil && !gives(s.Layer, j) || in >= 0 && (t == nil || t.IsConst()) || in >= len(p.Slots) || in >= 0 && p.Slots[in].Tensor != t {
				return fmt.Errorf("step %d: input %d has slot %d", i, j, in)
			}
		}
		for j, out := range s.Out {
			if out < 0 || out >= len(p.Slots) || p.Slots[out].Tensor != s.Layer.Outputs[j] {
				return fmt.Errorf("step %d: output %d has slot %d", i, j, out)
			}
		}
	}
	if err := p.checkOnce(); err != nil {
		return err
	}
	return p.checkForks()
}

// checkOutputs returns an error where an output is in no slot: neither written as such, nor an input or a constant.
func (p *Plan) checkOutputs() error {
	for _, t := range p.Network.Outputs {
		if _, ok := t.Const(); ok {
			continue
		}
		there := func(s Slot) bool { return s.Tensor == t && s.Region == IO && s.Desc.Format == kernels.Linear }
		if !slices.ContainsFunc(p.Slots, there) {
			return fmt.Errorf("output %s has no slot", t.Name)
		}
	}
	return nil
}

// pitched reports whether a format and shape may have the pitch that d says.
func pitched(d kernels.Desc) bool {
	switch d.Format {
	case kernels.NHWC:
		return len(d.Dims) >= 2 && d.Pitch >= d.Width()
	case kernels.Linear:
		return len(d.Dims) >= 3 && d.Pitch >= d.Dims[len(d.Dims)-1]
	}
	return false
}

func checkDesc(s Slot, env map[string]int) error {
	d := s.Desc
	want := symbolic.Eval(s.Tensor.Dims, env)
	if d.Type != s.Tensor.Type || !slices.Equal(d.Dims, want) {
		return fmt.Errorf("%v, the tensor is %s", d, s.Tensor)
	}
	if !d.Format.Known() || d.Batch < 0 || d.Batch > 1<<40 {
		return fmt.Errorf("format %s, batch stride %d", d.Format, d.Batch)
	}
	n := 1
	for _, e := range want {
		if e < 0 || e > 1<<32 || n > 1<<40/max(1, e) {
			return fmt.Errorf("shape %v", want)
		}
		n *= max(1, e)
	}
	if d.Pitch != 0 && (!pitched(d) || n > 1<<58/d.Pitch) {
		return fmt.Errorf("%v with %d elements from pixel to pixel", d, d.Pitch)
	}
	if d.Span() > s.Size {
		return fmt.Errorf("%d bytes in a slot of %d", d.Span(), s.Size)
	}
	return nil
}

// maxExtent bounds what a symbol of a plan may be.
const maxExtent = 1 << 32

// checkRanges returns an error for a symbol whose value is not in its range, and for a tensor that would be too large somewhere
// in the ranges.
func (p *Plan) checkRanges() error {
	low, high := map[string]int{}, map[string]int{}
	for _, s := range p.Symbols {
		least, most := s.Range()
		if s.Value < least || s.Value > most || least < 0 || most > maxExtent {
			return fmt.Errorf("%s is %d, from %d to %d", s.Name, s.Value, least, most)
		}
		low[s.Name], high[s.Name] = least, most
	}
	if !p.Ranged() {
		return nil
	}
	for i, s := range p.Slots {
		if s.Tensor == nil {
			continue
		}
		n := 1
		for _, d := range s.Tensor.Dims {
			_, most := d.Bounds(low, high)
			if n > 1<<40/max(1, most) {
				return fmt.Errorf("slot %d: %s with up to %d elements on an axis", i, s.Tensor, most)
			}
			n *= max(1, most)
		}
	}
	return nil
}

// checkShared returns an error where slots share memory in a circle.
func (p *Plan) checkShared() error {
	for i := range p.Slots {
		at := i
		for steps := 0; p.Slots[at].Of >= 0; steps++ {
			if at = p.Slots[at].Of; steps > len(p.Slots) {
				return fmt.Errorf("slot %d lies in itself", i)
			}
		}
	}
	return nil
}
