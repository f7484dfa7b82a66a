package run

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// ExecutionContext runs a loaded plan with memory of its own: TensorRT's IExecutionContext. It has one user at a time;
// make one for each goroutine.
type ExecutionContext struct {
	*frame
	base    *Loaded
	stream  kernels.Stream
	arena   kernels.Mem
	io      kernels.Mem
	watch   *watch          // nil where launches are not watched
	until   context.Context // that ends loops, while ExecuteUntil runs; else nil
	inner   bool            // the steps of bodies are timed
	inTurn  bool            // lanes of forks run one after the other
	frames  []*frame        // at all shapes that it keeps, the one used last at the end
	strings bool            // tensors are of strings
	start   *frame          // where an execution begins, if its steps count extents; nil for others
}

// NewContext allocates what one user of the plan needs; the error is a *NoRoom where the device has not got that.
func (l *Loaded) NewContext() (*ExecutionContext, error) { return l.NewContextOf(0) }

// NewContextOf is [Loaded.NewContext] with so many threads of the host for this user alone, where the backend is [Threaded];
// others, and 0, share what the backend has.
func (l *Loaded) NewContextOf(threads int) (*ExecutionContext, error) {
	p, b := l.Plan, l.backend
	c := &ExecutionContext{base: l, strings: networkHasStrings(p.Network)}
	err := p.hasRoom(b, 0)
	if err != nil {
		return nil, err
	}
	if c.arena, err = b.Alloc(p.Memory.Peak); err != nil {
		return nil, fmt.Errorf("arena of activations: %w", err)
	}
	if c.io, err = b.Alloc(p.Memory.IO); err != nil {
		err = fmt.Errorf("memory of inputs and outputs: %w", err)
	} else {
		c.stream, err = newStream(b, threads)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.frame = c.newFrame(&shape{Loaded: l}, c.arena, c.io)
	c.frames = []*frame{c.frame}
	if p.counts() {
		c.start = c.frame
	}
	return c, nil
}

func newStream(b Backend, threads int) (kernels.Stream, error) {
	if t, ok := b.(Threaded); ok && threads > 0 {
		return t.NewStreamOf(threads)
	}
	return b.NewStream()
}

// Loaded returns what the context runs.
func (c *ExecutionContext) Loaded() *Loaded { return c.base }

// Close gives the context's memory back.
func (c *ExecutionContext) Close() {
	for _, f := range c.frames {
		f.close(c.base)
	}
	c.frames = nil
	if c.stream != nil {
		c.stream.Close()
	}
	c.base.backend.Free(c.arena)
	c.base.backend.Free(c.io)
}

// OtherShape is the error for data of another type or shape than that which a context has been brought to; see [ExecutionContext.SetShapes].
type OtherShape struct {
	Input    string
	Type     numeric.DataType // of the data
	Dims     []int
	WantType numeric.DataType
	WantDims []int
}

func (e *OtherShape) Error() string {
	return fmt.Sprintf("input %s: data is %s%v, the plan is for %s%v", e.Input, e.Type, e.Dims, e.WantType, e.WantDims)
}

// SetInput copies a value to the named input. It stays there until it is set again.
func (c *ExecutionContext) SetInput(name string, v numeric.Value) error {
	i, ok := c.inputs[name]
	if !ok {
		return fmt.Errorf("input %s: the engine has no such input", name)
	}
	s := c.loaded.Plan.Slots[i]
	want := numeric.Value{Type: s.Desc.Type, Dims: s.Desc.Dims}
	if v.Type != want.Type || !slices.Equal(v.Dims, want.Dims) {
		return &OtherShape{name, v.Type, v.Dims, want.Type, want.Dims}
	}
	if err := c.isAt(s.Tensor, v); err != nil {
		return err
	}
	c.changed = true
	v, err := c.stored(v)
	if err == nil {
		err = c.loaded.backend.Upload(c.stream, c.mem[i], v.Data)
	}
	if err != nil {
		return fmt.Errorf("input %s: %w", name, err)
	}
	return nil
}

// isAt returns an error for elements of an input that is a shape other than those that the context is at.
func (c *ExecutionContext) isAt(t *graph.Tensor, v numeric.Value) error {
	if !t.IsShape {
		return nil
	}
	list, err := t.ShapeOf(v)
	at := symbolic.Eval(t.Value, c.loaded.Plan.Env())
	if err == nil && slices.ContainsFunc(list, func(e int) bool { return e <= 0 }) {
		var env map[string]int
		if env, err = c.loaded.Plan.Network.BindSome(c.loaded.Plan.Env(), map[string][]int{t.Name: list}); err == nil {
			list = symbolic.Eval(t.Value, env)
		}
	}
	if err == nil && !slices.Equal(list, at) {
		err = fmt.Errorf("input %s: its elements are %v, the context is at %v: shapes depend on them", t.Name, list, at)
	}
	return err
}

// SetInputs copies a value to every input of the network.
func (c *ExecutionContext) SetInputs(values map[string]numeric.Value) error {
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

// Dims returns the shape of the named input or output where the context is, not to be changed; nil for what the network has not.
func (c *ExecutionContext) Dims(name string) []int {
	for _, slots := range [...]map[string]int{c.inputs, c.outputs} {
		if i, ok := slots[name]; ok {
			return c.loaded.Plan.Slots[i].Desc.Dims
		}
	}
	for _, t := range c.loaded.Plan.Network.Outputs {
		if t.Name == name {
			return symbolic.Eval(t.Dims, c.loaded.Plan.Env())
		}
	}
	return nil
}

// Output returns a copy of the named output.
func (c *ExecutionContext) Output(name string) (numeric.Value, error) {
	if i, ok := c.outputs[name]; ok {
		return c.Read(i)
	}
	n := c.loaded.Plan.Network
	for _, t := range n.Outputs {
		if t.Name != name {
			continue
		}
		if v, ok := t.Const(); ok {
			v.Data = bytes.Clone(v.Data)
			return v, nil
		}
		if i, ok := c.inputs[name]; ok { // an input handed through
			return c.Read(i)
		}
	}
	return numeric.Value{}, fmt.Errorf("output %s: the engine has no such output", name)
}

// Outputs returns copies of all outputs by name.
func (c *ExecutionContext) Outputs() (map[string]numeric.Value, error) {
	m := map[string]numeric.Value{}
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
	if err := c.submit(); err != nil {
		return err
	}
	return c.finish()
}

// submit enqueues all steps, as a graph where the stream can.
func (c *ExecutionContext) submit() error {
	if err := c.prepare(); err != nil {
		return err
	}
	capturer, ok := c.capturer()
	if !ok {
		return c.enqueue(nil)
	}
	if c.whole == nil {
		g, err := capturer.Capture(func() error { return c.enqueue(nil) })
		if err != nil {
			return c.ofGraph(err)
		}
		c.whole = g
	}
	return c.located(c.whole.Launch())
}

// capturer returns the stream, if it captures steps as a graph. Steps that are watched, and those of which some count extents, are
// launched one by one.
func (c *ExecutionContext) capturer() (kernels.Capturer, bool) {
	capturer, ok := c.stream.(kernels.Capturer)
	return capturer, ok && c.watch == nil && c.start == nil
}

// finish waits for what was submitted.
func (c *ExecutionContext) finish() error { return c.located(c.stream.Wait()) }

// ofGraph says that an error is one of the plan's graph and not of a layer in it.
func (c *ExecutionContext) ofGraph(err error) error {
	return fmt.Errorf("graph of %d steps of network %s: %w", len(c.args), c.loaded.Plan.Network.Name, err)
}

// located finds the layer at fault in a graph that failed: where the device still works, the steps are run one by one. A
// device that is lost is for the caller to recover; Observe in a new context then names the layer.
func (c *ExecutionContext) located(err error) error {
	if err == nil || c.whole == nil && c.stepped == nil {
		return err
	}
	if !lost(c.loaded.backend, err) {
		if at := c.Observe(context.Background(), Observer{}); at != nil {
			return at
		}
	}
	return c.ofGraph(err)
}

// enqueue launches all steps, those of forks side by side, and marks when each begins and ends, where there is room for marks. It
// ends with the context that the execution is until.
func (c *ExecutionContext) enqueue(marks *marks) error {
	if err := c.begin(); err != nil {
		return err
	}
	beside := c.forks()
	marks.start(c, beside)
	for i := 0; i < len(c.args); i++ {
		if c.until != nil && c.until.Err() != nil {
			return c.until.Err()
		}
		if len(beside) > 0 && beside[0].First == i {
			if err := beside[0].run(c, marks); err != nil {
				return err
			}
			i, beside = beside[0].End()-1, beside[1:]
			continue
		}
		if !c.loaded.Plan.Steps[i].Once {
			if err := c.launch(i); err != nil {
				return err
			}
		}
		marks.ended(c, i)
	}
	return nil
}

func (c *ExecutionContext) launch(i int) error {
	var err error
	if c.launches(i) {
		c.watch.begin(i)
		err = c.frame.launch(c, c.stream, i)
	}
	if err == nil && c.start != nil {
		err = c.recount(i)
	}
	return c.ofStep(i, err)
}

// launches reports whether a step launches anything.
func (f *frame) launches(i int) bool { return f.loaded.kernels[i] != nil || f.args[i].control != nil }

// ofStep says that an error is that of a step.
func (c *ExecutionContext) ofStep(i int, err error) error {
	if err == nil {
		return nil
	}
	return stepError(c.loaded.Plan.Steps[i], err)
}

// stepError says that an error is that of a step; one of a step inside it says so already.
func stepError(s Step, err error) error {
	if s.Tactic == SubPlans {
		return fmt.Errorf("layer %s: %w", s.Name, err)
	}
	return fmt.Errorf("layer %s: tactic %s: %w", s.Name, s.Tactic, err)
}

// Observer is called around each step while the memory that the step reads and writes is alive; Read and Write reach
// it. A nil function is not called.
type Observer struct {
	Before func(step int) error
	After  func(step int) error
}

// Observe runs all steps one by one under the observer, and waits for each: an error of the device names the layer that it
// is of, which the error of Execute may not.
func (c *ExecutionContext) Observe(ctx context.Context, o Observer) error {
	if err := c.begin(); err != nil {
		return err
	}
	c.ready = false // an observer may write where it likes
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
			return c.ofStep(i, err)
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
func (c *ExecutionContext) Read(slot int) (numeric.Value, error) {
	s := c.loaded.Plan.Slots[slot]
	v := numeric.Value{Type: s.Desc.Type, Dims: s.Desc.Dims, Data: make([]byte, numeric.Count(s.Desc.Dims)*s.Desc.Type.Size())}
	if v.Type == numeric.Str {
		v.Type = numeric.I64 // their numbers
	}
	stored := c.mem[slot].Host
	if stored == nil {
		stored = make([]byte, s.Size)
		if err := c.download(stored, slot); err != nil {
			return v, err
		}
	}
	s.Desc.ToLinear(v.Data, stored)
	return c.told(s.Desc.Type, v)
}

// Write stores elements, given in logical order, as a slot's tensor.
func (c *ExecutionContext) Write(slot int, v numeric.Value) error {
	s := c.loaded.Plan.Slots[slot]
	c.changed, c.ready = true, false
	v, err := c.stored(v)
	if err != nil {
		return ofTensor(s, err)
	}
	if m := c.mem[slot].Host; m != nil {
		s.Desc.FromLinear(m, v.Data)
		return nil
	}
	stored := make([]byte, s.Desc.Span())
	if !s.Desc.Dense() { // what lies between belongs to others
		if err := c.download(stored, slot); err != nil {
			return err
		}
	}
	s.Desc.FromLinear(stored, v.Data)
	if err := c.loaded.backend.Upload(c.stream, c.mem[slot], stored); err != nil {
		return ofTensor(s, err)
	}
	return nil
}

// download fills dst with a slot's bytes.
func (c *ExecutionContext) download(dst []byte, slot int) error {
	err := c.loaded.backend.Download(c.stream, dst, c.mem[slot])
	if err == nil {
		err = c.stream.Wait()
	}
	if err != nil {
		return ofTensor(c.loaded.Plan.Slots[slot], err)
	}
	return nil
}

// ofTensor says that an error is that of a slot's tensor.
func ofTensor(s Slot, err error) error { return fmt.Errorf("tensor %s: %w", s.Tensor.Name, err) }
