package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// A layer with networks inside, an If, a Loop or a Scan, is a step with a plan for each: its kernels are bound once, and launched
// as often as the layer says. Its workspace is the arena of the bodies, one for all branches of an If, and behind it what an
// iteration hands to the next one. Bodies are planned where the host computes: it decides what is launched next.

// SubPlans is the tactic of a step that runs the plans of its bodies.
const SubPlans = "sub_plans"

// findBodies finds what can compute the layers inside a layer.
func (c *Candidates) findBodies(ctx context.Context, l *graph.Layer) (list []*Candidates, err error) {
	if !c.backend.Info().Host {
		return nil, nil
	}
	if l.CountsInside() { // what follows a count there is at no extents that are known here: its definition runs
		return nil, nil
	}
	for _, b := range l.Bodies() {
		inner, err := c.inside(ctx, b.Network)
		if err != nil {
			return nil, fmt.Errorf("layer %s: %s: %w", l.Name, b.Name, err)
		}
		list = append(list, inner)
	}
	return list, nil
}

// every calls f for the candidates of the network and of those inside its layers.
func (c *Candidates) every(f func(*Candidates)) {
	f(c)
	for _, lc := range c.layers {
		for _, b := range lc.bodies {
			b.every(f)
		}
	}
}

// chooseBodies chooses tactics for the bodies of a layer and lays them out.
func (lc *layerCandidates) chooseBodies(ctx context.Context, env map[string]int) error {
	o := option{tactic: kernels.Tactic{Name: SubPlans}}
	o.price.Timed = true
	for _, b := range lc.bodies {
		inner, err := b.Choose(ctx)
		if err != nil {
			return err
		}
		p, err := inner.Layout()
		if err != nil {
			return err
		}
		o.bodies = append(o.bodies, p)
		once := time.Duration(0)
		for _, s := range p.Steps {
			once += s.Time
			o.price.Timed = o.price.Timed && (s.Timed || s.Tactic == InMemory)
		}
		o.price.Time = max(o.price.Time, once)
	}
	o.price.Time *= time.Duration(iterations(lc.layer, env))
	o.workspace = roomOf(lc.layer, o.bodies).total
	o.bytes = o.workspace
	lc.inside = o
	return nil
}

// iterations returns how often a layer runs its body, 1 where that is not known.
func iterations(l *graph.Layer, env map[string]int) int {
	n, certain, known := l.Trips()
	if v := n.Eval(env); known && (certain || v < graph.MaxIterations) {
		return max(0, v)
	}
	return 1
}

// controlRoom says where in its workspace a step with bodies has what.
type controlRoom struct {
	io        int   // of the bodies: behind the largest arena, the memory of their inputs and outputs
	carried   []int // by value that is handed on: where it lies after every other iteration
	number    int   // of the iteration
	condition int
	elements  []int // by scanned input: one element where they do not lie one behind the other; -1 where they do
	total     int
}

// roomOf returns the workspace of a layer with such bodies.
func roomOf(l *graph.Layer, bodies []*Plan) (r controlRoom) {
	arena, io := 0, 0
	for _, p := range bodies {
		arena, io = max(arena, roundUp(p.Memory.Peak)), max(io, roundUp(p.Memory.IO))
	}
	r.io = arena
	r.total = arena + io
	take := func(bytes int) int {
		at := r.total
		r.total += roundUp(bytes)
		return at
	}
	input := func(i int) int { return bodies[0].Slots[i].Size }
	switch a := l.Attrs.(type) {
	case graph.LoopAttrs:
		r.number, r.condition = take(input(0)), take(input(1))
		for i := range a.Carried {
			r.carried = append(r.carried, take(input(2+i)))
		}
	case graph.ScanAttrs:
		for i := range a.States {
			r.carried = append(r.carried, take(input(i)))
		}
		for i := range a.Scanned {
			if rank := len(l.Inputs[a.States+i].Dims); a.InAxis(i, rank) == 0 {
				r.elements = append(r.elements, -1)
			} else {
				r.elements = append(r.elements, take(input(a.States+i)))
			}
		}
	}
	return r
}

// checkBodies returns an error where the plans of a step do not fit its layer, or their workspace has no room for them.
func (p *Plan) checkBodies(s Step) error {
	bodies := s.Layer.Bodies()
	if n := len(s.Bodies); (n > 0) != (s.Tactic == SubPlans) || n > 0 && n != len(bodies) {
		return fmt.Errorf("tactic %s with %d plans for %d bodies", s.Tactic, n, len(bodies))
	}
	for k, b := range s.Bodies {
		if err := b.check(); err != nil {
			return fmt.Errorf("%s: %w", bodies[k].Name, err)
		}
		if err := b.checkInputs(); err != nil {
			return fmt.Errorf("%s: %w", bodies[k].Name, err)
		}
		if !slices.Equal(b.Symbols, p.Symbols) {
			return fmt.Errorf("%s: it is at other extents", bodies[k].Name)
		}
	}
	if len(s.Bodies) == 0 {
		return nil
	}
	if err := p.checkHanded(s); err != nil {
		return err
	}
	have := 0
	if s.Scratch >= 0 {
		have = p.Slots[s.Scratch].Size
	}
	if need := roomOf(s.Layer, s.Bodies).total; need > have {
		return &shortOfWorkspace{need, have}
	}
	return nil
}

// checkInputs returns an error where the first slots are not those of the network's inputs.
func (p *Plan) checkInputs() error {
	for i, t := range p.Network.Inputs {
		if i >= len(p.Slots) || p.Slots[i].Tensor != t || p.Slots[i].Region != IO || p.Slots[i].Of >= 0 || p.Slots[i].Desc.Format != kernels.Linear {
			return fmt.Errorf("input %s has no slot of its own", t.Name)
		}
	}
	return nil
}

// checkHanded returns an error where what a layer and its bodies hand to each other differs in type or shape.
func (p *Plan) checkHanded(s Step) error {
	env := p.Env()
	c := newControl(s)
	same := func(what string, i int, a, b *graph.Tensor, axis int) error {
		outer, inner := symbolic.Eval(a.Dims, env), symbolic.Eval(b.Dims, env)
		if axis >= 0 && axis < len(outer) {
			outer = slices.Delete(outer, axis, axis+1)
		}
		if a.Type != b.Type || axis >= len(a.Dims) || !slices.Equal(outer, inner) {
			return fmt.Errorf("%s %d of a body is %s, the layer has %s", what, i, b, a)
		}
		return nil
	}
	for _, b := range s.Bodies {
		for i, t := range b.Network.Inputs {
			from, axis := c.input(i)
			if from < 0 {
				if numeric.Count(symbolic.Eval(t.Dims, env)) != 1 || t.Type != []numeric.DataType{numeric.I64, numeric.Bool}[i] {
					return fmt.Errorf("input %d of a body is %s", i, t)
				}
				continue
			}
			if err := same("input", i, s.Layer.Inputs[from], t, axis); err != nil {
				return err
			}
		}
		for i, t := range b.Network.Outputs {
			to, axis := c.output(i)
			if to < 0 {
				if numeric.Count(symbolic.Eval(t.Dims, env)) != 1 || t.Type != numeric.Bool {
					return fmt.Errorf("output %d of a body is %s", i, t)
				}
				continue
			}
			if err := same("output", i, s.Layer.Outputs[to], t, axis); err != nil {
				return err
			}
		}
	}
	return nil
}

// AllSteps returns the steps of the plan, each followed by those of its bodies.
func (p *Plan) AllSteps() []Step {
	var list []Step
	for _, s := range p.Steps {
		list = append(list, s)
		for _, b := range s.Bodies {
			list = append(list, b.AllSteps()...)
		}
	}
	return list
}

// bodiesAt returns the plans of the bodies of a step at other values of the symbols.
func (s Step) bodiesAt(env map[string]int) ([]*Plan, error) {
	var list []*Plan
	for _, b := range s.Bodies {
		q, _, err := b.at(env, b.all())
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// loadBodies binds the kernels of the networks inside a step's layer.
func (l *Loaded) loadBodies(ctx context.Context, step int) error {
	for k, p := range l.Plan.Steps[step].Bodies {
		b, err := Load(ctx, p, l.backend)
		if err != nil {
			s := l.Plan.Steps[step]
			return fmt.Errorf("layer %s: %s: %w", s.Name, s.Layer.Bodies()[k].Name, err)
		}
		l.bodies[step] = append(l.bodies[step], b)
	}
	return nil
}

// bindBodiesAt binds the kernels of the networks inside a step's layer at other extents. Where these need more workspace than
// the step has, it is the context's own.
func (l *Loaded) bindBodiesAt(at *Loaded, step int, env map[string]int) error {
	s := &at.Plan.Steps[step]
	if len(s.Bodies) == 0 {
		return nil
	}
	s.Bodies = nil
	for _, b := range l.bodies[step] {
		made, err := b.bindAt(env, b.Plan.all())
		if err != nil {
			return fmt.Errorf("layer %s: %w", s.Name, err)
		}
		at.bodies[step] = append(at.bodies[step], made)
		s.Bodies = append(s.Bodies, made.Plan)
	}
	have := 0
	if s.Scratch >= 0 {
		have = at.Plan.Slots[s.Scratch].Size
	}
	if need := roomOf(s.Layer, s.Bodies).total; need > have {
		if at.scratch == nil {
			at.scratch = make([]int, len(at.Plan.Steps))
		}
		at.scratch[step] = need
	}
	return nil
}
