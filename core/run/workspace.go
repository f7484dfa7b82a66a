package run

import (
	"cmp"
	"errors"
	"slices"
)

// widen gives step i a workspace of so many bytes in what the tensors alive then leave free of the arena: at the plan's
// extents they may be smaller than their slots. It reports whether there is such a place. The plan's slots are its own.
func (p *Plan) widen(i, bytes int) bool {
	var beside []block
	around, own := p.around(), span{first: i, last: i, around: p.aroundStep(i)}
	for j, s := range p.Slots {
		r := p.root(j)
		root := p.Slots[r]
		live := span{first: root.First, last: root.Last, around: around[r]}
		if root.Region != Arena || live.before(own) || own.before(live) || j == p.Steps[i].Scratch {
			continue
		}
		size := s.Size
		if s.Tensor != nil {
			size = s.Desc.Span()
		}
		beside = append(beside, block{begin: s.Offset, end: s.Offset + roundUp(size)})
	}
	slices.SortFunc(beside, func(a, b block) int { return cmp.Compare(a.begin, b.begin) })
	beside = append(beside, block{begin: p.Memory.Peak})
	bytes = roundUp(bytes)
	floor := 0
	for _, b := range beside {
		if b.begin-floor >= bytes {
			p.place(i, Slot{Offset: floor, Size: bytes, First: i, Last: i, Of: -1})
			return true
		}
		floor = max(floor, b.end)
	}
	return false
}

// place makes a slot the workspace of step i.
func (p *Plan) place(i int, s Slot) {
	if at := p.Steps[i].Scratch; at >= 0 {
		p.Slots[at] = s
		return
	}
	p.Steps = slices.Clone(p.Steps)
	p.Steps[i].Scratch = len(p.Slots)
	p.Slots = append(p.Slots, s)
}

// withWorkspace returns a ranged plan in which every step has the workspace that its tactic needs at the plan's extents, as far
// as there is room: they may be others than those that it was laid out for.
func (p *Plan) withWorkspace(b Backend) *Plan {
	if !p.Ranged() {
		return p
	}
	q := *p
	q.Slots = slices.Clone(p.Slots)
	for i, s := range p.Steps {
		if s.Tactic == InMemory {
			continue
		}
		t, ok := findTactic(b, s)
		if short := (*shortOfWorkspace)(nil); ok && errors.As(q.fits(s, t, q.Binding(i)), &short) {
			q.widen(i, short.need)
		}
	}
	return &q
}

// LiveBytes returns how many bytes of activations and workspace are needed at most at a time, with inputs and outputs, at the
// extents that the plan is at: no more than its memory, which is for the largest that it serves. Workspaces count as they are
// laid out, which is for all extents.
func (p *Plan) LiveBytes() int {
	size, io := make([]int, len(p.Slots)), 0
	for i, s := range p.Slots { // of the roots, all that lies in them
		bytes := s.Size
		if s.Tensor != nil {
			bytes = s.Desc.Span()
		}
		r := p.root(i)
		size[r] = max(size[r], roundUp(s.Offset-p.Slots[r].Offset+bytes))
	}
	var spans []span
	for i, s := range p.Slots {
		switch {
		case s.Of >= 0:
		case s.Region == IO:
			io += size[i]
		default:
			spans = append(spans, span{size: size[i], first: s.First, last: s.Last})
		}
	}
	live, _ := lowerBound(spans)
	return live + io
}
