package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// shapes are a loaded plan at other extents than its own: kernels bound to these, the constants in common.
type shapes struct {
	lock sync.Mutex
	list []*shape // the one used last comes last
}

// shape is a loaded plan at one set of extents, or a stretch of it.
type shape struct {
	*Loaded
	key   string
	users int // contexts that are at it
}

// maxShapes bounds how many are kept that no context is at.
const maxShapes = 64

// newShapes returns nil for a plan that serves no other extents.
func newShapes(p *Plan) *shapes {
	if !p.Ranged() {
		return nil
	}
	return &shapes{}
}

func (s *shapes) close() {
	if s == nil {
		return
	}
	for _, at := range s.list {
		at.Close()
	}
	s.list = nil
}

// at returns a stretch of the plan at the given extents, which must be given back.
func (l *Loaded) at(env map[string]int, part stretch) (*shape, error) {
	if err := l.Plan.serves(env); err != nil {
		return nil, err
	}
	key := valuesText(l.Plan.Symbols, env)
	switch whole := part == l.Plan.all(); {
	case l.shapes == nil || whole && key == valuesText(l.Plan.Symbols, l.Plan.Env()):
		return &shape{Loaded: l}, nil
	case !whole:
		key += fmt.Sprintf(", steps %d to %d", part.first, part.end)
	}
	s := l.shapes
	s.lock.Lock()
	if at := s.find(key); at != nil {
		at.users++
		s.lock.Unlock()
		return at, nil
	}
	s.lock.Unlock()
	made, err := l.bindAt(env, part)
	if err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	at := s.find(key)
	if at == nil {
		at = &shape{Loaded: made, key: key}
		s.list = append(s.list, at)
	} else {
		made.Close() // another context was faster
	}
	at.users++
	for i := 0; len(s.list) > maxShapes && i < len(s.list); {
		if s.list[i].users > 0 {
			i++
			continue
		}
		s.list[i].Close()
		s.list = slices.Delete(s.list, i, i+1)
	}
	return at, nil
}

// find returns the shape that is kept under a key, as the one used last.
func (s *shapes) find(key string) *shape {
	i := slices.IndexFunc(s.list, func(at *shape) bool { return at.key == key })
	if i < 0 {
		return nil
	}
	at := s.list[i]
	s.list = append(slices.Delete(s.list, i, i+1), at)
	return at
}

// release gives back what at returned.
func (l *Loaded) release(at *shape) {
	if at == nil || l.shapes == nil {
		return
	}
	l.shapes.lock.Lock()
	at.users--
	l.shapes.lock.Unlock()
}

// bindAt binds the plan's kernels at other extents, those of a stretch behind a count alone. Where the plan's memory does not do for
// the whole of it, which its samples have not shown, it is a plan of its own.
func (l *Loaded) bindAt(env map[string]int, part stretch) (at *Loaded, err error) {
	defer graph.CatchFault(&err)
	whole := part == l.Plan.all()
	if err := l.Plan.Network.CheckShapesBut(env, l.Plan.uncounted(part)); err != nil {
		return nil, err
	}
	p, _, err := l.Plan.at(env, part)
	if err != nil && !whole {
		return nil, fmt.Errorf("at %s the plan's memory does not do: %w", valuesText(l.Plan.Symbols, env), err)
	}
	if err != nil {
		if p, err = NewPlan(context.Background(), l.Plan.Network, env, l.backend, BestGuess); err != nil {
			return nil, err
		}
		at, err := Load(context.Background(), p, l.backend)
		if err == nil {
			at.apart = true
		}
		return at, err
	}
	at = &Loaded{Plan: p, packs: l.packs, backend: l.backend, kernels: make([]kernels.Kernel, len(p.Steps)), bodies: make([][]*Loaded, len(p.Steps))}
	atATime := 1
	if _, ok := l.backend.(Compiler); ok {
		atATime = runtime.GOMAXPROCS(0)
	}
	refused := make([]error, len(p.Steps))
	err = Parallel(context.Background(), len(p.Steps), atATime, func(i int) error {
		if part.has(i) && p.computes(i) {
			at.kernels[i], refused[i] = bindStep(p, i, l.backend, l.packs.at(p.Steps[i].Layer, p.Steps[i].Tactic))
		}
		return nil
	})
	for i := part.first; i < part.end; i++ {
		if err == nil {
			err = l.bindBodiesAt(at, i, env)
		}
		if err == nil && refused[i] != nil {
			at.kernels[i], err = l.bindOther(at, i, refused[i])
		}
	}
	if err != nil {
		at.Close()
		return nil, err
	}
	if at.constants, at.places, err = placeConstants(l.backend, at.kernels, l); err != nil {
		at.Close()
		return nil, err
	}
	return at, nil
}

// computes reports whether a kernel computes step i: it is no view, and one of its outputs has elements.
func (p *Plan) computes(i int) bool {
	empty := func(d kernels.Desc) bool { return slices.Contains(d.Dims, 0) }
	s := p.Steps[i]
	return s.Tactic != InMemory && s.Tactic != SubPlans && slices.ContainsFunc(p.Binding(i).Out, func(d kernels.Desc) bool { return !empty(d) })
}

// bindOther returns a kernel of step i of the plan at other extents that the step's own tactic refused to compute in the plan's
// memory: that tactic, or where it does not take the extents the first that does, in the same formats. A workspace that is
// larger at these extents than at the samples of the plan lies where these leave room in the arena, and is the context's own if
// they do not.
func (l *Loaded) bindOther(at *Loaded, i int, err error) (kernels.Kernel, error) {
	p := at.Plan
	s := p.Steps[i]
	b := p.Binding(i)
	if short := (*shortOfWorkspace)(nil); errors.As(err, &short) {
		if !p.widen(i, short.need) {
			if at.scratch == nil {
				at.scratch = make([]int, len(p.Steps))
			}
			at.scratch[i] = short.need
		}
		t, _ := findTactic(l.backend, s)
		b.Packs = l.packs.at(s.Layer, s.Tactic)
		var k kernels.Kernel
		if k, err = BindTactic(t, b); err == nil {
			return k, nil
		}
	}
	for _, t := range l.substitutes(s) {
		if p.fits(s, t, b) != nil {
			continue
		}
		b.Packs = l.packs.at(s.Layer, t.Name)
		if k, other := BindTactic(t, b); other == nil {
			p.Steps = slices.Clone(p.Steps)
			p.Steps[i].Tactic = t.Name
			return k, nil
		}
	}
	return nil, err
}

// substitutes returns what may take the place of a step's tactic, the fastest first as far as that is known.
func (l *Loaded) substitutes(s Step) []kernels.Tactic {
	table := l.backend.Tactics(s.Layer.Op)
	var own kernels.Tactic
	rank := map[string]int{}
	for i, c := range s.Candidates {
		if c.Reason == "" {
			rank[c.Tactic] = i + 1
		}
	}
	for _, t := range table {
		if t.Name == s.Tactic {
			own = t
		}
	}
	var measured, others []kernels.Tactic
	for _, t := range table {
		switch {
		case t.Name == s.Tactic || !t.Reference && (t.In != own.In || t.Out != own.Out):
		case rank[t.Name] > 0:
			measured = append(measured, t)
		default:
			others = append(others, t)
		}
	}
	slices.SortStableFunc(measured, func(a, b kernels.Tactic) int {
		return int(s.Candidates[rank[a.Name]-1].Time - s.Candidates[rank[b.Name]-1].Time)
	})
	return append(measured, others...)
}

// maxFrames bounds the shapes at which a context keeps its arguments, and on a GPU its graphs.
const maxFrames = 16

// SetShapes brings the context to the given shapes of its inputs, within what the plan serves: an *OutOfRange, which changes
// nothing, for others. Inputs that are not named keep theirs, as far as their symbols do. Inputs must be set anew behind it, and
// what Bind has bound is unbound. Shapes that the context was at before cost next to nothing and allocate nothing, others bind
// the kernels to them, whose constants stay where they are.
func (c *ExecutionContext) SetShapes(shapes map[string][]int) error {
	if f := c.frameAt(shapes); f != nil {
		c.enter(f)
		return nil
	}
	env, err := c.base.Plan.Network.BindSome(c.Env(), shapes)
	if err != nil {
		return err
	}
	f, err := c.frameOf(c.base.Plan.whole(env), c.base.Plan.all())
	if err != nil {
		return err
	}
	c.enter(f)
	return nil
}

// Feed copies a value to every input of the network, to whose shapes the context is brought first: within what the plan serves, an
// *OutOfRange, which changes nothing, for others.
func (c *ExecutionContext) Feed(values map[string]numeric.Value) error {
	shapes, env, others := map[string][]int{}, c.Env(), false
	for _, t := range c.base.Plan.Network.Inputs {
		v, ok := values[t.Name]
		if !ok {
			return fmt.Errorf("input %s: no data", t.Name)
		}
		dims, err := t.ShapeOf(v)
		if err != nil {
			return err
		}
		shapes[t.Name] = dims
		others = others || !slices.Equal(dims, symbolic.Eval(t.Extents(), env))
	}
	if others {
		if err := c.SetShapes(shapes); err != nil {
			return err
		}
	}
	return c.SetInputs(values)
}

// frameOf returns the context's frame at values of the symbols, for a stretch of the steps: one that it keeps, or a new one.
func (c *ExecutionContext) frameOf(env map[string]int, part stretch) (*frame, error) {
	at, err := c.base.at(env, part)
	if err != nil {
		return nil, err
	}
	for i, f := range c.frames {
		if f.loaded == at.Loaded {
			c.base.release(at)
			return c.used(i), nil
		}
	}
	arena, io, held := c.arena, c.io, 0
	var own [3]kernels.Mem
	if p := at.Plan; p.Memory.Peak > c.base.Plan.Memory.Peak || p.Memory.IO > c.base.Plan.Memory.IO {
		if own[0], err = c.base.backend.Alloc(p.Memory.Peak); err == nil {
			own[1], err = c.base.backend.Alloc(p.Memory.IO)
		}
		arena, io, held = own[0], own[1], p.Memory.Peak+p.Memory.IO
	}
	if err == nil && at.scratch != nil {
		own[2], err = c.base.backend.Alloc(slices.Max(at.scratch))
		held += slices.Max(at.scratch)
	}
	if err != nil {
		for _, m := range own {
			c.base.backend.Free(m)
		}
		c.base.release(at)
		return nil, fmt.Errorf("memory of activations: %w", err)
	}
	f := c.newFrame(at, arena, io)
	f.own, f.held = own, held
	for i := range at.scratch {
		if n := at.scratch[i]; n > 0 {
			f.args[i].scratch = c.base.backend.Slice(own[2], 0, n)
			if f.args[i].control != nil {
				f.args[i].control = c.control(at.Loaded, i, f.args[i].scratch)
			}
		}
	}
	c.frames = append(c.frames, f)
	if len(c.frames) > maxFrames {
		i := slices.IndexFunc(c.frames, func(f *frame) bool { return f != c.start && f != c.frame })
		c.frames[i].close(c.base)
		c.frames = slices.Delete(c.frames, i, i+1)
	}
	return f, nil
}

// At reports whether the context is, or was lately, at the given shapes of all inputs: [ExecutionContext.SetShapes] to them
// allocates nothing then.
func (c *ExecutionContext) At(shapes map[string][]int) bool { return c.frameAt(shapes) != nil }

// Env returns the values of symbols that the context is at.
func (c *ExecutionContext) Env() map[string]int { return c.loaded.Plan.Env() }

// Held returns how many bytes the context has for activations, workspaces, inputs and outputs: those of its plan, and where the
// plan's memory does not do for shapes that it is or was lately at, those of these.
func (c *ExecutionContext) Held() int {
	bytes := c.base.Plan.Memory.Peak + c.base.Plan.Memory.IO
	for _, f := range c.frames {
		bytes += f.held
	}
	return bytes
}

// frameAt returns the frame at the given shapes of all inputs where an execution begins, as the one used last; nil if there is none.
func (c *ExecutionContext) frameAt(shapes map[string][]int) *frame {
	n := c.base.Plan.Network
	if len(shapes) != len(n.Inputs) {
		return nil
	}
frames:
	for i := len(c.frames) - 1; i >= 0; i-- {
		if c.frames[i].counted {
			continue
		}
		for k, t := range n.Inputs {
			if dims, ok := shapes[t.Name]; !ok || !slices.Equal(dims, c.frames[i].shapes[k]) {
				continue frames
			}
		}
		return c.used(i)
	}
	return nil
}

// used returns frame i, which becomes the last.
func (c *ExecutionContext) used(i int) *frame {
	f := c.frames[i]
	copy(c.frames[i:], c.frames[i+1:])
	c.frames[len(c.frames)-1] = f
	return f
}

// enter goes on at a frame.
func (c *ExecutionContext) enter(f *frame) {
	c.restart()
	if c.start != nil {
		c.start = f
	}
	if c.frame == f {
		return
	}
	if c.bound.own != nil {
		for name := range c.inputs {
			c.Unbind(name)
		}
		for name := range c.outputs {
			c.Unbind(name)
		}
	}
	c.frame, f.changed, f.ready = f, true, f.loaded.Plan.Once() == 0
	if c.watch != nil {
		c.watch.follow(f.loaded)
	}
}
