package run

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Loaded is a plan on one backend: every kernel bound, constants packed. It is immutable and shared by any number of
// execution contexts.
type Loaded struct {
	Plan      *Plan
	backend   Backend
	kernels   []kernels.Kernel // by step; nil for InMemory
	constants kernels.Mem      // of all kernels, on devices with memory of their own
	places    []kernels.Mem    // in it, by step
	scratch   []int            // workspace beyond the plan's, by step; nil for none
	packs     *packs           // what kernels at other extents, and of other plans, have in common
	shapes    *shapes          // those at other extents; nil where the plan has but one
	bodies    [][]*Loaded      // by step, of the networks inside its layer
	apart     bool             // it is a plan of its own, whose tensors lie elsewhere
}

// Load binds the plan's kernels on backend. A tactic that the backend does not have is an error that wraps
// ErrStale: the plan is for another target, and NewPlan on its network makes one for this. Where the device has not the
// memory that one context takes the error is a *NoRoom.
func Load(ctx context.Context, p *Plan, backend Backend) (*Loaded, error) {
	return LoadTelling(ctx, p, backend, nil)
}

// LoadTelling is [Load] that tells after each of the plan's steps how many are done, and which came last: packing weights and
// compiling kernels may take seconds. It tells one at a time. A nil tell is not called.
func LoadTelling(ctx context.Context, p *Plan, backend Backend, tell func(done, total int, layer string)) (*Loaded, error) {
	return load(ctx, p, backend, packsOf(p), unpacked, tell)
}

// load is LoadTelling with what kernels keep of constants, and with the bytes that these will take.
func load(ctx context.Context, p *Plan, backend Backend, packs *packs, constants int64, tell func(done, total int, layer string)) (*Loaded, error) {
	if err := p.Network.CheckShapes(p.Env()); err != nil {
		return nil, err
	}
	if err := p.hasRoom(backend, constants); err != nil {
		return nil, err
	}
	p = p.withWorkspace(backend)
	l := &Loaded{Plan: p, packs: packs, backend: backend, kernels: make([]kernels.Kernel, len(p.Steps)), shapes: newShapes(p), bodies: make([][]*Loaded, len(p.Steps))}
	atATime := 1
	if c, ok := backend.(Compiler); ok {
		c.Adopt(p.Code)
		atATime = runtime.GOMAXPROCS(0)
	}
	var telling sync.Mutex
	done, room := 0, newPackingRoom(p, backend)
	err := Parallel(ctx, len(p.Steps), atATime, func(i int) (err error) {
		if err := room.next(i); err != nil {
			return err
		}
		if l.kernels[i], err = bindStep(p, i, backend, packs.at(p.Steps[i].Layer, p.Steps[i].Tactic)); err == nil {
			err = l.loadBodies(ctx, i)
		}
		if tell != nil {
			telling.Lock()
			defer telling.Unlock()
			done++
			tell(done, len(p.Steps), p.Steps[i].Name)
		}
		return err
	})
	if err == nil {
		err = p.hasRoom(backend, constantBytes(l.kernels))
	}
	if err == nil {
		l.constants, l.places, err = placeConstants(backend, l.kernels, nil)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// bindStep returns the kernel of step i; nil for InMemory.
func bindStep(p *Plan, i int, backend Backend, packs *kernels.Packs) (kernels.Kernel, error) {
	s := p.Steps[i]
	if s.Tactic == InMemory || s.Tactic == SubPlans {
		return nil, nil
	}
	t, ok := findTactic(backend, s)
	if !ok {
		return nil, fmt.Errorf("layer %s: %s has no tactic %s: %w", s.Name, backend.Info().Name, s.Tactic, ErrStale)
	}
	b := p.Binding(i)
	b.Packs = packs
	if err := p.fits(s, t, b); err != nil {
		return nil, fmt.Errorf("layer %s: tactic %s does not compute it: %w: %w", s.Name, s.Tactic, err, ErrStale)
	}
	k, err := BindTactic(t, b)
	if err != nil {
		return nil, fmt.Errorf("layer %s: tactic %s: %w", s.Name, s.Tactic, err)
	}
	return k, nil
}

// BindTactic is t.Bind, whose panic is an error.
func BindTactic(t kernels.Tactic, b kernels.Binding) (k kernels.Kernel, err error) {
	defer graph.CatchFault(&err)
	return t.Bind(b)
}

// LaunchKernel is k.Launch, whose panic is an error.
func LaunchKernel(k kernels.Kernel, s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) (err error) {
	defer graph.CatchFault(&err)
	return k.Launch(s, in, out, workspace)
}

// Code returns the compiled code of the kernels, each once: what Plan.Code is to be in an engine file.
func (l *Loaded) Code() []kernels.Code {
	var all []kernels.Code
	seen := map[string]bool{}
	for _, k := range l.kernels {
		c, ok := k.(kernels.Compiled)
		if !ok {
			continue
		}
		for _, code := range c.Code() {
			if !seen[code.Key] {
				seen[code.Key] = true
				all = append(all, code)
			}
		}
	}
	return all
}

// Explain shows the code of a step; the error says where its backend has none to show.
func (l *Loaded) Explain(step int) (kernels.Explanation, error) {
	s := l.Plan.Steps[step]
	k, ok := l.kernels[step].(kernels.Explained)
	if !ok {
		return kernels.Explanation{}, fmt.Errorf("layer %s: tactic %s of %s has no code of its own to show", s.Name, s.Tactic, l.backend.Info().Name)
	}
	e, err := k.Explain()
	if err != nil {
		return e, fmt.Errorf("layer %s: tactic %s: %w", s.Name, s.Tactic, err)
	}
	return e, nil
}

// Backend returns the backend that the plan is loaded on.
func (l *Loaded) Backend() Backend { return l.backend }

// Close gives the kernels and the constants' memory back. The contexts must be closed before.
func (l *Loaded) Close() {
	l.shapes.close()
	for _, list := range l.bodies {
		for _, b := range list {
			b.Close()
		}
	}
	l.bodies = nil
	for i, k := range l.kernels {
		_ = kernels.Close(k) // what cannot be unloaded is lost with its device
		l.kernels[i] = nil
	}
	l.backend.Free(l.constants)
	l.constants = kernels.Mem{}
}

// findTactic returns the tactic that the step names, if it is there and still matches.
func findTactic(b Backend, s Step) (kernels.Tactic, bool) {
	for _, t := range b.Tactics(s.Layer.Op) {
		if t.Name == s.Tactic {
			return t, true
		}
	}
	return kernels.Tactic{}, false
}

// fits returns why a step cannot be run by the tactic that it names: the tactic does not match, or the plan gives it
// other formats or less memory than it works with.
func (p *Plan) fits(s Step, t kernels.Tactic, b kernels.Binding) (err error) {
	defer graph.CatchFault(&err)
	for i, d := range b.In {
		if b.Consts[i] != nil || s.Layer.Inputs[i] == nil {
			continue
		}
		if want := formatOf(s.Layer, i, t.In, t.Out); d.Format != want && !t.Reference || !t.Reads(d) {
			return fmt.Errorf("input %d is %v", i, d)
		}
	}
	for i, d := range b.Out {
		if d.Format != t.Out && !t.Reference || !d.Dense() && (!t.Strided || d.Format == kernels.Linear && d.Pitch > 0) {
			return fmt.Errorf("output %d is %v", i, d)
		}
	}
	if t.Out != kernels.Linear || t.In != kernels.Linear {
		if err := blockable(b); err != nil {
			return err
		}
	}
	if err := takesStrings(t, s.Layer); err != nil {
		return err
	}
	if err := t.Match(b); err != nil {
		return err
	}
	if t.Workspace == nil {
		return nil
	}
	have := 0
	if s.Scratch >= 0 {
		have = p.Slots[s.Scratch].Size
	}
	if need := t.Workspace(b); need > have {
		return &shortOfWorkspace{need, have}
	}
	return nil
}

// shortOfWorkspace is the error of a tactic that needs more workspace than a plan gives it.
type shortOfWorkspace struct{ need, have int }

func (e *shortOfWorkspace) Error() string {
	return fmt.Sprintf("it needs %d bytes of workspace, the plan has %d", e.need, e.have)
}

// Binding returns what step i's kernel is bound to.
func (p *Plan) Binding(i int) kernels.Binding {
	s, env := p.Steps[i], p.Env()
	b := kernels.Binding{
		Layer: s.Layer, In: make([]kernels.Desc, len(s.In)), Out: make([]kernels.Desc, len(s.Out)),
		Consts: make([][]byte, len(s.In)),
	}
	for j, in := range s.In {
		t := s.Layer.Inputs[j]
		switch {
		case in >= 0:
			b.In[j] = p.Slots[in].Desc
		case t != nil:
			b.In[j], b.Consts[j] = desc(t, kernels.Linear, env), elements(t, env)
		}
	}
	for j, out := range s.Out {
		b.Out[j] = p.Slots[out].Desc
	}
	return b
}
