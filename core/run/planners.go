package run

// Planner is a way to share out the arena, and what it makes of a plan's tensors.
type Planner struct {
	Name    string
	Peak    int   // bytes of the arena
	Offsets []int // of the plan's slots; those of inputs and outputs are the plan's
	Chosen  bool  // the plan's own: the best of the others, improved by a search where none of them reaches the lower bound
}

// Planners compares ways to share out the arena, over the same sizes and lives: the plan's own first, then the orders in
// which it began to look, and last a runtime that reuses nothing. The lower bound is the same for all of them.
func (p *Plan) Planners() []Planner {
	spans, roots := p.spans()
	list := []Planner{{Name: "this plan", Peak: p.Memory.Peak, Offsets: make([]int, len(p.Slots)), Chosen: true}}
	for i, s := range p.Slots {
		list[0].Offsets[i] = s.Offset
	}
	for _, h := range heuristics {
		offsets, peak := fit(spans, h.order(spans))
		list = append(list, Planner{Name: h.name, Peak: peak, Offsets: p.moved(roots, offsets)})
	}
	offsets, sum := make([]int, len(spans)), 0
	for i, s := range spans {
		offsets[i] = sum
		sum += s.size
	}
	return append(list, Planner{Name: "no reuse", Peak: sum, Offsets: p.moved(roots, offsets)})
}

// moved returns the offsets of all slots where those of the roots are others than the plan's.
func (p *Plan) moved(roots, offsets []int) []int {
	by := make([]int, len(p.Slots))
	for k, i := range roots {
		by[i] = offsets[k] - p.Slots[i].Offset
	}
	list := make([]int, len(p.Slots))
	for i, s := range p.Slots {
		list[i] = s.Offset + by[p.root(i)]
	}
	return list
}
