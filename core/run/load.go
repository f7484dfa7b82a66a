package run

import (
	"context"
	"fmt"
	"slices"
	"time"

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
}

// Load binds the plan's kernels on backend. A tactic that the backend does not have is an error that wraps
// ErrStale: the plan is for another target, and NewPlan on its network makes one for this.
func Load(ctx context.Context, p *Plan, backend Backend) (*Loaded, error) {
	l := &Loaded{Plan: p, backend: backend, kernels: make([]kernels.Kernel, len(p.Steps))}
	if c, ok := backend.(Compiler); ok && len(p.Code) > 0 {
		c.Adopt(p.Code)
	}
	for i, s := range p.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.Tactic == InMemory {
			continue
		}
		t, ok := findTactic(backend, s)
		if !ok {
			return nil, fmt.Errorf("layer %s: %s has no tactic %s: %w", s.Name, backend.Info().Name, s.Tactic, ErrStale)
		}
		b := p.Binding(i)
		if err := p.fits(s, t, b); err != nil {
			return nil, fmt.Errorf("layer %s: tactic %s does not compute it: %w: %w", s.Name, s.Tactic, err, ErrStale)
		}
		bound, err := t.Bind(b)
		if err != nil {
			return nil, fmt.Errorf("layer %s: tactic %s: %w", s.Name, s.Tactic, err)
		}
		l.kernels[i] = bound
	}
	var err error
	l.constants, err = Place(backend, l.kernels...)
	return l, err
}

// Place uploads the constants of bound kernels in one allocation, which the caller frees when the kernels have had
// their last launch.
func Place(b Backend, bound ...kernels.Kernel) (kernels.Mem, error) {
	var data []byte
	var offsets []int
	for _, k := range bound {
		data = append(data, make([]byte, roundUp(len(data))-len(data))...)
		offsets = append(offsets, len(data))
		if r, ok := k.(kernels.Resident); ok {
			data = append(data, r.Constants()...)
		}
	}
	if len(data) == 0 {
		return kernels.Mem{}, nil
	}
	mem, err := b.Alloc(len(data))
	if err != nil {
		return mem, fmt.Errorf("constants: %w", err)
	}
	s, err := b.NewStream()
	if err != nil {
		b.Free(mem)
		return kernels.Mem{}, err
	}
	defer s.Close()
	if err = b.Upload(s, mem, data); err == nil {
		err = s.Wait()
	}
	if err != nil {
		b.Free(mem)
		return kernels.Mem{}, fmt.Errorf("constants: %w", err)
	}
	for i, k := range bound {
		if r, ok := k.(kernels.Resident); ok {
			r.Place(b.Slice(mem, offsets[i], len(r.Constants())))
		}
	}
	return mem, nil
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

// Backend returns the backend that the plan is loaded on.
func (l *Loaded) Backend() Backend { return l.backend }

// Close gives the constants' memory back. The contexts must be closed before.
func (l *Loaded) Close() {
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
func (p *Plan) fits(s Step, t kernels.Tactic, b kernels.Binding) error {
	for i, d := range b.In {
		if b.Consts[i] != nil || s.Layer.Inputs[i] == nil {
			continue
		}
		if want := formatOf(s.Layer, i, t.In, t.Out); d.Format != want && !t.Reference || !d.Dense() && !t.Strided {
			return fmt.Errorf("input %d is %v", i, d)
		}
	}
	for i, d := range b.Out {
		if d.Format != t.Out && !t.Reference || !d.Dense() && !t.Strided {
			return fmt.Errorf("output %d is %v", i, d)
		}
	}
	if t.Out != kernels.Linear || t.In != kernels.Linear {
		if err := blockable(b); err != nil {
			return err
		}
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
		return fmt.Errorf("it needs %d bytes of workspace, the plan has %d", need, have)
	}
	return nil
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
			b.In[j], b.Consts[j] = desc(t, kernels.Linear, env), t.Weights
		}
	}
	for j, out := range s.Out {
		b.Out[j] = p.Slots[out].Desc
	}
	return b
}

// ExecutionContext runs a loaded plan with memory of its own: TensorRT's IExecutionContext. It has one user at a time;
// make one for each goroutine.
type ExecutionContext struct {
	loaded  *Loaded
	stream  kernels.Stream
	arena   kernels.Mem
	io      kernels.Mem
	mem     []kernels.Mem // by slot
	inputs  map[string]int
	outputs map[string]int
	args    []launch       // by step
	whole   kernels.Graph  // all steps, where the stream can capture them
	stepped kernels.Graph  // all steps with a mark before, between and after
	marks   []kernels.Mark // of stepped
}

type launch struct {
	in, out []kernels.Mem
	scratch kernels.Mem
}

// NewContext allocates what one user of the plan needs.
func (l *Loaded) NewContext() (*ExecutionContext, error) {
	p, b := l.Plan, l.backend
	c := &ExecutionContext{loaded: l, inputs: map[string]int{}, outputs: map[string]int{}}
	var err error
	if c.arena, err = b.Alloc(p.Memory.Peak); err != nil {
		return nil, err
	}
	if c.io, err = b.Alloc(p.Memory.IO); err == nil {
		c.stream, err = b.NewStream()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	for i, s := range p.Slots {
		region := c.arena
		if s.Region == IO {
			region = c.io
		}
		c.mem = append(c.mem, b.Slice(region, s.Offset, s.Size))
		if s.Tensor == nil || s.Desc.Format != kernels.Linear || s.Region != IO {
			continue
		}
		if p.Network.IsInput(s.Tensor) {
			c.inputs[s.Tensor.Name] = i
		}
		if p.Network.IsOutput(s.Tensor) {
			c.outputs[s.Tensor.Name] = i
		}
	}
	for _, s := range p.Steps {
		var a launch
		for _, in := range s.In {
			if in < 0 {
				a.in = append(a.in, kernels.Mem{})
			} else {
				a.in = append(a.in, c.mem[in])
			}
		}
		for _, out := range s.Out {
			a.out = append(a.out, c.mem[out])
		}
		if s.Scratch >= 0 {
			a.scratch = c.mem[s.Scratch]
		}
		c.args = append(c.args, a)
	}
	return c, nil
}

// Close gives the context's memory back.
func (c *ExecutionContext) Close() {
	for _, g := range []kernels.Graph{c.whole, c.stepped} {
		if g != nil {
			_ = g.Close() // nothing is left to be done
		}
	}
	if c.stream != nil {
		c.stream.Close()
	}
	c.loaded.backend.Free(c.arena)
	c.loaded.backend.Free(c.io)
}

// SetInput copies a value to the named input. It stays there until it is set again.
func (c *ExecutionContext) SetInput(name string, v graph.Value) error {
	i, ok := c.inputs[name]
	if !ok {
		return fmt.Errorf("input %s: the engine has no such input", name)
	}
	s := c.loaded.Plan.Slots[i]
	want := graph.Value{Type: s.Desc.Type, Dims: s.Desc.Dims}
	if v.Type != want.Type || !slices.Equal(v.Dims, want.Dims) {
		return fmt.Errorf("input %s: data is %s%v, the plan is for %s%v", name, v.Type, v.Dims, want.Type, want.Dims)
	}
	return c.loaded.backend.Upload(c.stream, c.mem[i], v.Data)
}

// SetInputs copies a value to every input of the network.
func (c *ExecutionContext) SetInputs(values map[string]graph.Value) error {
	for _, t := range c.loaded.Plan.Network.Inputs {
		v, ok := values[t.Name]
		if !ok {
			return fmt.Errorf("input %s: no data", t.Name)
		}
		if err := c.SetInput(t.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// Output returns a copy of the named output.
func (c *ExecutionContext) Output(name string) (graph.Value, error) {
	if i, ok := c.outputs[name]; ok {
		return c.Read(i)
	}
	n := c.loaded.Plan.Network
	for _, t := range n.Outputs {
		if t.Name != name {
			continue
		}
		if v, ok := t.Const(); ok {
			return v, nil
		}
		if i, ok := c.inputs[name]; ok { // an input handed through
			return c.Read(i)
		}
	}
	return graph.Value{}, fmt.Errorf("output %s: the engine has no such output", name)
}

// Outputs returns copies of all outputs by name.
func (c *ExecutionContext) Outputs() (map[string]graph.Value, error) {
	m := map[string]graph.Value{}
	for _, t := range c.loaded.Plan.Network.Outputs {
		v, err := c.Output(t.Name)
		if err != nil {
			return nil, err
		}
		m[t.Name] = v
	}
	return m, nil
}

// Execute runs all steps and waits for them. Where the stream can, it records them at the first call, and replays them.
func (c *ExecutionContext) Execute() error {
	capturer, ok := c.stream.(kernels.Capturer)
	if !ok {
		if err := c.enqueue(nil); err != nil {
			return err
		}
		return c.stream.Wait()
	}
	if c.whole == nil {
		g, err := capturer.Capture(func() error { return c.enqueue(nil) })
		if err != nil {
			return err
		}
		c.whole = g
	}
	if err := c.whole.Launch(); err != nil {
		return err
	}
	return c.stream.Wait()
}

// enqueue launches all steps, with a mark before the first and after each, where there is room for marks.
func (c *ExecutionContext) enqueue(marks []kernels.Mark) error {
	if marks != nil {
		marks[0] = c.stream.Record()
	}
	for i := range c.args {
		if err := c.launch(i); err != nil {
			return err
		}
		if marks != nil {
			marks[i+1] = c.stream.Record()
		}
	}
	return nil
}

func (c *ExecutionContext) launch(i int) error {
	k := c.loaded.kernels[i]
	if k == nil {
		return nil
	}
	a := &c.args[i]
	if err := k.Launch(c.stream, a.in, a.out, a.scratch); err != nil {
		return fmt.Errorf("layer %s: tactic %s: %w", c.loaded.Plan.Steps[i].Name, c.loaded.Plan.Steps[i].Tactic, err)
	}
	return nil
}

// Observer is called around each step while the memory that the step reads and writes is alive; Read and Write reach
// it. A nil function is not called.
type Observer struct {
	Before func(step int) error
	After  func(step int) error
}

// Observe runs all steps one by one under the observer.
func (c *ExecutionContext) Observe(ctx context.Context, o Observer) error {
	for i := range c.args {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.Before != nil {
			if err := o.Before(i); err != nil {
				return err
			}
		}
		if err := c.launch(i); err != nil {
			return err
		}
		if err := c.stream.Wait(); err != nil {
			return err
		}
		if o.After != nil {
			if err := o.After(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Read returns the elements of a slot's tensor in logical order, as they are stored.
func (c *ExecutionContext) Read(slot int) (graph.Value, error) {
	s := c.loaded.Plan.Slots[slot]
	v := graph.NewValue(s.Desc.Type, s.Desc.Dims...)
	stored := c.mem[slot].Host
	if stored == nil {
		stored = make([]byte, s.Size)
		if err := c.loaded.backend.Download(c.stream, stored, c.mem[slot]); err != nil {
			return v, err
		}
		if err := c.stream.Wait(); err != nil {
			return v, err
		}
	}
	s.Desc.ToLinear(v.Data, stored)
	return v, nil
}

// Write stores elements, given in logical order, as a slot's tensor.
func (c *ExecutionContext) Write(slot int, v graph.Value) error {
	s := c.loaded.Plan.Slots[slot]
	if m := c.mem[slot].Host; m != nil {
		s.Desc.FromLinear(m, v.Data)
		return nil
	}
	stored := make([]byte, s.Desc.Span())
	if !s.Desc.Dense() { // what lies between belongs to others
		if err := c.loaded.backend.Download(c.stream, stored, c.mem[slot]); err != nil {
			return err
		}
		if err := c.stream.Wait(); err != nil {
			return err
		}
	}
	s.Desc.FromLinear(stored, v.Data)
	return c.loaded.backend.Upload(c.stream, c.mem[slot], stored)
}

// ExecuteTimed runs all steps once and sets times, which has room for one a step, to each step's; it returns the
// time from end to end. Marks between steps cost little on a CPU, but are not free: it is a mode of its own.
func (c *ExecutionContext) ExecuteTimed(times []time.Duration) (time.Duration, error) {
	if c.marks == nil {
		c.marks = make([]kernels.Mark, len(c.args)+1)
	}
	capturer, ok := c.stream.(kernels.Capturer)
	var err error
	switch {
	case !ok:
		err = c.enqueue(c.marks)
	case c.stepped == nil:
		if c.stepped, err = capturer.Capture(func() error { return c.enqueue(c.marks) }); err != nil {
			return 0, err
		}
		fallthrough
	default:
		err = c.stepped.Launch()
	}
	if err == nil {
		err = c.stream.Wait()
	}
	if err != nil {
		return 0, err
	}
	for i := range c.args {
		times[i] = c.stream.Elapsed(c.marks[i], c.marks[i+1])
	}
	return c.stream.Elapsed(c.marks[0], c.marks[len(c.args)]), nil
}
