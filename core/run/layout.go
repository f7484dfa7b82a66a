package run

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// NewPlan lays a lowered network out for a backend and the given values of its symbols: it finds the candidates, prices them,
// chooses tactics and formats, puts reformats between layers that do not agree, decides what is a view, a slice or computed in
// place, and gives every tensor its place in memory.
func NewPlan(ctx context.Context, n *graph.Network, env map[string]int, b Backend, cost Cost) (*Plan, error) {
	return NewPlanOf(ctx, n, Extents{Opt: env}, b, cost)
}

// NewPlanOf is [NewPlan] for ranges of symbols.
func NewPlanOf(ctx context.Context, n *graph.Network, x Extents, b Backend, cost Cost) (*Plan, error) {
	c, err := FindCandidates(ctx, n, x, b)
	if err != nil {
		return nil, err
	}
	if err := c.Price(ctx, cost); err != nil {
		return nil, err
	}
	choice, err := c.Choose(ctx)
	if err != nil {
		return nil, err
	}
	return choice.Layout()
}

// Layout makes a plan of a choice: the third stage of planning. Where symbols have ranges every tensor has room for its
// largest extents, and what shares memory at some extents does so at all of them.
func (c *Choice) Layout() (*Plan, error) { return c.LayoutWith(nil) }

// LayoutWith is [Choice.Layout] with forks, which are those of a plan that it made.
func (c *Choice) LayoutWith(forks []Fork) (*Plan, error) {
	apart := map[*graph.Layer]bool{}
	for {
		p, err := c.layout(apart, forks, false)
		if err == nil && p.Once() > 0 {
			var without *Plan
			if without, err = c.layout(apart, forks, true); err == nil && !p.keeps(without) {
				p = without
			}
		}
		if err != nil {
			return nil, err
		}
		at, err := c.misplaced(p)
		switch {
		case err == nil:
			return p, nil
		case at == nil || apart[at]:
			return nil, err
		}
		apart[at] = true
	}
}

// layout lays out the choice. The layers in apart launch something, and write to memory of their own. With always, no step runs but
// once at a shape.
func (c *Choice) layout(apart map[*graph.Layer]bool, forks []Fork, always bool) (*Plan, error) {
	y := &layout{Choice: c, apart: apart, always: always, plan: &Plan{Target: c.backend.Info().Fingerprint, Network: c.network, Symbols: c.extents.symbols()}, places: map[place]int{}, reuse: map[int]bool{}, whole: map[int]bool{}, strided: map[int]bool{}}
	if err := y.steps(); err != nil {
		return nil, err
	}
	y.decided()
	y.plan.live()
	y.plan.Forks = forks
	y.shareInPlace()
	y.plan.assign()
	return y.plan, nil
}

// layout turns the choices into steps and slots.
type layout struct {
	*Choice
	apart   map[*graph.Layer]bool // that share no memory
	always  bool                  // all steps run in each execution
	plan    *Plan
	places  map[place]int // slots by tensor and format
	reuse   map[int]bool  // steps whose tactic may write where it reads
	whole   map[int]bool  // slots that others are slices of
	strided map[int]bool  // slots that are written by a tactic that can write slices
}

type place struct {
	t *graph.Tensor
	f kernels.Format
}

func (y *layout) steps() error {
	for _, t := range y.network.Inputs {
		y.newSlot(t, desc(t, kernels.Linear, y.env), IO, -1)
	}
	for _, l := range y.busy {
		if err := y.layer(l); err != nil {
			return err
		}
	}
	for _, t := range y.network.Outputs {
		if t.Producer == nil {
			continue // a constant, or an input handed through
		}
		if _, ok := y.places[place{t, kernels.Linear}]; ok {
			continue
		}
		if err := y.bring(t, y.chosen(t.Producer).out, kernels.Linear, "the caller"); err != nil {
			return err
		}
	}
	return nil
}

// newSlot adds a slot with memory of its own.
func (y *layout) newSlot(t *graph.Tensor, d kernels.Desc, r Region, first int) int {
	i := len(y.plan.Slots)
	size := roundUp(y.most(t, d.Format).Bytes())
	y.plan.Slots = append(y.plan.Slots, Slot{Tensor: t, Desc: d, Region: r, Size: size, First: first, Last: first, Of: -1})
	y.places[place{t, d.Format}] = i
	return i
}

// share adds a slot for t that lies in slot of, offset bytes behind its begin.
func (y *layout) share(t *graph.Tensor, d kernels.Desc, of, offset, first int) int {
	i := y.newSlot(t, d, y.plan.Slots[of].Region, first)
	s := &y.plan.Slots[i]
	s.Of, s.Offset, s.Size = of, offset, d.Span()
	return i
}

// bring makes sure that t has a slot in the wanted format.
func (y *layout) bring(t *graph.Tensor, from, to kernels.Format, consumer string) error {
	if _, ok := y.places[place{t, to}]; ok {
		return nil
	}
	src := y.places[place{t, from}]
	d := desc(t, to, y.env)
	if y.plan.Slots[src].Desc.SameBytes(d) && y.sameBytes(t, from, to) {
		slot := y.share(t, d, src, 0, y.plan.Slots[src].First)
		if to == kernels.Linear && y.network.IsOutput(t) {
			y.plan.Slots[y.plan.root(slot)].Region = IO
		}
		return nil
	}
	o, err := y.reformatOption(t, from, to)
	if err != nil {
		return err
	}
	region := Arena
	if to == kernels.Linear && y.network.IsOutput(t) {
		region = IO
	}
	dst := y.newSlot(t, d, region, len(y.plan.Steps))
	y.strided[dst] = o.tactic.Strided
	step := Step{
		Name: fmt.Sprintf("Reformat %s to %s", t.Name, to), Layer: reformatLayer(t, t), Tactic: o.tactic.Name, Reformat: true,
		Origin: fmt.Sprintf("%s for %s", to, consumer), In: []int{src}, Out: []int{dst}, Scratch: -1,
		Time: o.price.Time, Timed: o.price.Timed,
	}
	if t.Producer != nil {
		step.From = t.Producer.From
	}
	y.scratch(&step, o)
	y.plan.Steps = append(y.plan.Steps, step)
	return nil
}

// layer adds the step of one layer, and the reformats before it.
func (y *layout) layer(l *graph.Layer) error {
	o := y.chosen(l)
	in, err := y.inputs(l, o)
	why := y.of[l].launched(o)
	if err == nil && o.memory {
		if why = y.arranged(l, in); why != nil {
			o = y.launching(l, o.out)
			in, err = y.inputs(l, o)
		}
	}
	if err != nil {
		return err
	}
	step := Step{
		Name: l.Name, From: l.From, Layer: l, Tactic: o.tactic.Name, In: in, Scratch: -1,
		Time: o.price.Time, Timed: o.price.Timed, Candidates: y.of[l].report(), Bodies: o.bodies,
	}
	if why != nil {
		step.Candidates = append(step.Candidates, Candidate{Tactic: InMemory, Code: reasonCode(why), Reason: why.Error(), Unfit: true})
	}
	index := len(y.plan.Steps)
	switch {
	case !o.memory:
		for _, t := range l.Outputs {
			region := Arena
			if o.out == kernels.Linear && y.network.IsOutput(t) {
				region = IO
			}
			slot := y.newSlot(t, desc(t, o.out, y.env), region, index)
			y.strided[slot] = o.tactic.Strided
			step.Out = append(step.Out, slot)
		}
		y.scratch(&step, o)
		y.reuse[index] = o.tactic.InPlace
	case l.Op.Memory == graph.Parted:
		step.Tactic = InMemory
		y.parts(&step, index)
	case l.Op == graph.Concat:
		step.Tactic, step.Out = InMemory, []int{y.newSlot(l.Outputs[0], desc(l.Outputs[0], o.out, y.env), Arena, index)}
		y.slices(&step)
	default:
		step.Tactic = InMemory
		out := y.share(l.Outputs[0], desc(l.Outputs[0], kernels.Linear, y.env), step.In[0], 0, index)
		step.Out = []int{out}
		if y.network.IsOutput(l.Outputs[0]) {
			y.plan.Slots[y.plan.root(out)].Region = IO
		}
	}
	y.plan.Steps = append(y.plan.Steps, step)
	return nil
}

// inputs brings a layer's inputs into the formats of an option and returns their slots.
func (y *layout) inputs(l *graph.Layer, o option) ([]int, error) {
	slots := make([]int, len(l.Inputs))
	for i, x := range l.Inputs {
		if x == nil || gives(l, i) {
			slots[i] = -1
			continue
		}
		have := kernels.Linear
		if x.Producer != nil {
			have = y.chosen(x.Producer).out
		}
		want := formatOf(l, i, o.in, o.out)
		if err := y.bring(x, have, want, l.Name); err != nil {
			return nil, err
		}
		slots[i] = y.places[place{x, want}]
	}
	return slots, nil
}

// scratch gives the step its workspace.
func (y *layout) scratch(step *Step, o option) {
	if n := o.workspace; n > 0 {
		step.Scratch = len(y.plan.Slots)
		at := len(y.plan.Steps)
		y.plan.Slots = append(y.plan.Slots, Slot{Size: roundUp(n), First: at, Last: at, Of: -1})
	}
}

// launching returns the fastest option of l in a format that launches a kernel, or in any format.
func (y *layout) launching(l *graph.Layer, f kernels.Format) option {
	best := -1
	for i, o := range y.options[l] {
		if o.memory {
			continue
		}
		if best < 0 || o.out == f && y.options[l][best].out != f || o.price.Time < y.options[l][best].price.Time {
			best = i
		}
	}
	y.pick[l] = best
	return y.options[l][best]
}

func roundUp(n int) int { return (n + Align - 1) / Align * Align }

// root returns the slot whose memory slot i is in.
func (p *Plan) root(i int) int {
	for p.Slots[i].Of >= 0 {
		i = p.Slots[i].Of
	}
	return i
}

// live extends the lives of the slots to their last readers, and those of the roots over all that lies in them.
func (p *Plan) live() {
	for i, s := range p.Steps {
		for _, in := range s.In {
			if in >= 0 {
				p.Slots[in].Last = max(p.Slots[in].Last, i)
			}
		}
	}
	for i := range p.Slots {
		s := &p.Slots[i]
		if s.Tensor != nil && s.Region == IO && p.Network.IsOutput(s.Tensor) {
			s.Last = len(p.Steps)
		}
	}
	for i := range p.Slots {
		s, r := p.Slots[i], &p.Slots[p.root(i)]
		r.First, r.Last = min(r.First, s.First), max(r.Last, s.Last)
	}
}

// shareInPlace lets a step whose tactic can write over an input do so, where nothing reads that input later.
func (y *layout) shareInPlace() {
	p := y.plan
	for i, step := range p.Steps {
		if !y.reuse[i] || p.Slots[step.Out[0]].Of >= 0 || y.apart[step.Layer] {
			continue
		}
		out := &p.Slots[step.Out[0]]
		for _, in := range step.In {
			if in < 0 {
				continue
			}
			r := p.root(in)
			root := &p.Slots[r]
			if root.Region != Arena || out.Region != Arena || y.whole[r] || y.whole[step.Out[0]] || root.Last != i || !p.Slots[in].Desc.Equal(out.Desc) || p.beside(i, r) {
				continue
			}
			out.Of, out.Offset = in, 0
			root.First, root.Last = min(root.First, out.First), max(root.Last, out.Last)
			break
		}
	}
}

// assign gives every slot its offset.
func (p *Plan) assign() {
	stats := MemoryStats{}
	begin := make([]int, len(p.Slots)) // of the roots
	for i, s := range p.Slots {
		if s.Of < 0 && s.Region == IO {
			begin[i] = stats.IO
			stats.IO += s.Size
		}
	}
	spans, roots := p.spans()
	for _, i := range roots {
		stats.Naive += p.Slots[i].Size
		if p.Slots[i].Tensor == nil {
			stats.Workspace = max(stats.Workspace, p.Slots[i].Size)
		}
	}
	offsets, peak := pack(spans)
	for k, i := range roots {
		begin[i] = offsets[k]
	}
	final := make([]int, len(p.Slots))
	for i := range p.Slots {
		for j := i; j >= 0; j = p.Slots[j].Of {
			if p.Slots[j].Of < 0 {
				final[i] += begin[j]
				p.Slots[i].Region = p.Slots[j].Region
			} else {
				final[i] += p.Slots[j].Offset
			}
		}
	}
	for i := range p.Slots {
		p.Slots[i].Offset = final[i]
	}
	stats.Peak = peak
	stats.LowerBound, stats.PeakStep = lowerBound(spans)
	for _, t := range p.Network.Consts() {
		stats.Weights += len(t.Weights)
	}
	for _, s := range p.Steps {
		for _, b := range s.Bodies {
			stats.Weights += b.Memory.Weights
		}
	}
	p.Memory = stats
}

// spans returns what the planner places, and the slots that it is of: those with memory of their own in the arena.
func (p *Plan) spans() (spans []span, roots []int) {
	around := p.around()
	for i, s := range p.Slots {
		if s.Of < 0 && s.Region == Arena {
			spans = append(spans, span{s.Size, s.First, s.Last, around[i]})
			roots = append(roots, i)
		}
	}
	return spans, roots
}
