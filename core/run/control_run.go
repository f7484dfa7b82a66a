package run

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// control runs the bodies of a step for one context. Everything lies in the host's memory.
type control struct {
	step    Step
	layer   *graph.Layer
	env     map[string]int
	room    controlRoom
	scratch kernels.Mem
	bodies  []*body
	strings map[int][]byte // numbers of the inputs that are constant strings, in this run
}

// body is a plan inside a step, with its launches in the memory of the step.
type body struct {
	*frame
	outputs []bodyOutput
	runs    int             // since the last inference that is timed by step began
	times   []time.Duration // by step, in that inference
}

// bodyOutput is where a body has an output.
type bodyOutput struct {
	slot, root int
	direct     bool // it can lie anywhere: the body writes it to where it is wanted
}

// newControl returns what says which inputs and outputs of a layer those of its bodies are.
func newControl(s Step) *control { return &control{step: s, layer: s.Layer} }

// input returns the input of the layer that input i of a body is, -1 for none, and the axis that the body sees one place of; -1
// where it sees all.
func (x *control) input(i int) (from, axis int) {
	switch a := x.layer.Attrs.(type) {
	case graph.LoopAttrs:
		if i < 2 {
			return -1, -1
		}
	case graph.ScanAttrs:
		if k := i - a.States; k >= 0 && k < a.Scanned {
			return i, a.InAxis(k, len(x.layer.Inputs[i].Dims))
		}
	default:
		return i + 1, -1
	}
	return i, -1
}

// output returns the output of the layer that output i of a body is, -1 for none, and the axis that it is one place of.
func (x *control) output(i int) (to, axis int) {
	switch a := x.layer.Attrs.(type) {
	case graph.LoopAttrs:
		if i--; i < a.Carried {
			return i, -1
		}
		return i, 0
	case graph.ScanAttrs:
		if i >= a.States {
			return i, a.OutAxis(i-a.States, len(x.layer.Outputs[i].Dims))
		}
	}
	return i, -1
}

// control returns what runs the bodies of a step in its workspace.
func (c *ExecutionContext) control(at *Loaded, step int, scratch kernels.Mem) *control {
	s := at.Plan.Steps[step]
	x := newControl(s)
	x.env, x.room, x.scratch = at.Plan.Env(), roomOf(s.Layer, s.Bodies), scratch
	for _, l := range at.bodies[step] {
		f := c.newFrame(&shape{Loaded: l}, x.part(0, x.room.io), x.part(x.room.io, x.room.total-x.room.io))
		f.bound.prepare(f)
		b := &body{frame: f, times: make([]time.Duration, len(f.args))}
		for _, t := range l.Plan.Network.Outputs {
			b.outputs = append(b.outputs, b.place(l.Plan, f.outputs[t.Name]))
		}
		x.bodies = append(x.bodies, b)
	}
	return x
}

// part returns so many bytes of the workspace.
func (x *control) part(at, bytes int) kernels.Mem { return within(x.scratch, at, bytes) }

// within returns a part of memory of the host.
func within(m kernels.Mem, at, bytes int) kernels.Mem {
	return kernels.Mem{Host: m.Host[at : at+bytes : at+bytes]}
}

// place says whether the output in a slot has memory that nothing else has.
func (b *body) place(p *Plan, slot int) bodyOutput {
	o := bodyOutput{slot: slot, root: p.root(slot)}
	r, s := p.Slots[o.root], p.Slots[slot]
	o.direct = o.root >= len(p.Network.Inputs) && r.Offset == s.Offset && s.Desc.Dense() && r.Desc.Bytes() == s.Desc.Bytes()
	for _, other := range b.outputs {
		o.direct = o.direct && other.root != o.root
	}
	return o
}

// lay makes the slots in a root lie in other memory.
func (f *frame) lay(root int, m kernels.Mem) {
	p := f.loaded.Plan
	for _, u := range f.bound.uses[root] {
		s := p.Slots[u.slot]
		f.place(u, within(m, s.Offset-p.Slots[root].Offset, min(s.Size, s.Desc.Span())))
	}
}

// run launches the steps of the body.
func (b *body) run(c *ExecutionContext) error {
	b.runs++
	for i := range b.args {
		if c.until != nil && c.until.Err() != nil {
			return c.until.Err()
		}
		var begin kernels.Mark
		timed := c.inner && b.loaded.kernels[i] != nil
		if timed {
			begin = c.stream.Record()
		}
		if err := b.launch(c, c.stream, i); err != nil {
			return stepError(b.loaded.Plan.Steps[i], err)
		}
		if timed {
			b.times[i] += c.stream.Elapsed(begin, c.stream.Record())
		}
	}
	return c.stream.Wait()
}

// launch launches step i of a frame.
func (f *frame) launch(c *ExecutionContext, s kernels.Stream, i int) error {
	a := &f.args[i]
	if a.control != nil {
		return a.control.run(c, a)
	}
	if k := f.loaded.kernels[i]; k != nil {
		return LaunchKernel(k, s, a.in, a.out, a.scratch)
	}
	return nil
}

// run runs the bodies as the layer says, from and to the memory of the step.
func (x *control) run(c *ExecutionContext, a *launch) error {
	if err := x.number(c); err != nil {
		return err
	}
	for _, b := range x.bodies {
		for i := range b.loaded.Plan.Network.Inputs {
			if from, axis := x.input(i); from >= 0 && axis < 0 {
				b.lay(i, x.given(a, from))
			}
		}
	}
	switch x.layer.Op {
	case graph.If:
		b := x.bodies[1]
		if x.given(a, 0).Host[0] != 0 {
			b = x.bodies[0]
		}
		for i := range b.outputs {
			b.send(i, a.out[i])
		}
		if err := b.run(c); err != nil {
			return err
		}
		for i := range b.outputs {
			b.deliver(i, a.out[i])
		}
		return nil
	case graph.Loop:
		return x.loop(c, a)
	}
	return x.scan(c, a)
}

// number gives the inputs that are constant strings their numbers.
func (x *control) number(c *ExecutionContext) error {
	for i, t := range x.layer.Inputs {
		v, ok := t.Const()
		if !ok || v.Type != numeric.Str {
			continue
		}
		n, err := c.stored(v)
		if err != nil {
			return err
		}
		if x.strings == nil {
			x.strings = map[int][]byte{}
		}
		x.strings[i] = n.Data
	}
	return nil
}

// given returns the memory of an input of the step.
func (x *control) given(a *launch, i int) kernels.Mem {
	if t := x.layer.Inputs[i]; t != nil && t.IsConst() {
		if numbers, ok := x.strings[i]; ok {
			return kernels.Mem{Host: numbers}
		}
		return kernels.Mem{Host: t.Weights}
	}
	return a.in[i]
}

// send has an output written to where it is wanted, if it can be.
func (b *body) send(i int, to kernels.Mem) {
	if o := b.outputs[i]; o.direct {
		b.lay(o.root, to)
	}
}

// deliver brings an output to where it is wanted, if it does not lie there.
func (b *body) deliver(i int, to kernels.Mem) {
	if o := b.outputs[i]; !o.direct {
		d := b.loaded.Plan.Slots[o.slot].Desc
		d.ToLinear(to.Host[:numeric.Count(d.Dims)*d.Type.Size()], b.mem[o.slot].Host)
	}
}

// handed is what an iteration hands to the next one: each value lies in an output of the step and in the workspace in turn, such
// that the last of so many iterations leaves it in the output.
type handed struct {
	body     *body
	now      []kernels.Mem
	places   [][2]kernels.Mem // the output, and the workspace
	in, out  int              // the body's first input and output of them
	last     int              // the number of the last iteration
	inOutput bool
}

func (x *control) hand(a *launch, b *body, n, in, out, from, last int) *handed {
	h := &handed{body: b, in: in, out: out, last: last}
	for j := range n {
		h.now = append(h.now, x.given(a, from+j))
		size := b.loaded.Plan.Slots[in+j].Desc.Bytes()
		h.places = append(h.places, [2]kernels.Mem{within(a.out[j], 0, size), x.part(x.room.carried[j], size)})
	}
	return h
}

// begin has the body read the values, and write the next ones, at iteration k.
func (h *handed) begin(k int) {
	h.inOutput = (h.last-k)%2 == 0
	for j := range h.now {
		h.body.lay(h.in+j, h.now[j])
		h.body.send(h.out+j, h.target(j))
	}
}

func (h *handed) target(j int) kernels.Mem {
	if h.inOutput {
		return h.places[j][0]
	}
	return h.places[j][1]
}

// end takes over the next values.
func (h *handed) end() {
	for j := range h.now {
		h.body.deliver(h.out+j, h.target(j))
		h.now[j] = h.target(j)
	}
}

// finish brings the values into the outputs of the step.
func (h *handed) finish() {
	for j, m := range h.now {
		if !h.inOutput {
			copy(h.places[j][0].Host, m.Host)
		}
	}
}

func (x *control) loop(c *ExecutionContext, a *launch) error {
	b, carried := x.bodies[0], x.layer.Attrs.(graph.LoopAttrs).Carried
	most, goes := math.MaxInt, true
	if x.layer.Inputs[0] != nil {
		most = int(int64(binary.NativeEndian.Uint64(x.given(a, 0).Host)))
	}
	if x.layer.Inputs[1] != nil {
		goes = x.given(a, 1).Host[0] != 0
	}
	number, condition := x.part(x.room.number, 8), x.part(x.room.condition, 1)
	condition.Host[0] = 1
	b.lay(0, number)
	b.lay(1, condition)
	h := x.hand(a, b, carried, 2, 1, 2, most-1)
	outputs := x.gather(a, b, 1+carried)
	done := 0
	for k := 0; k < most && goes; k++ {
		if k == graph.MaxIterations {
			return graph.EndlessError{}
		}
		binary.NativeEndian.PutUint64(number.Host, uint64(k))
		h.begin(k)
		if err := b.iterate(c, outputs, k); err != nil {
			return err
		}
		h.end()
		goes, done = b.mem[b.outputs[0].slot].Host[0] != 0, done+1
	}
	h.finish()
	for _, counting := range x.layer.Counted() {
		numbers := numeric.View[int64](a.out[counting.Output].Host)
		for k := done; k < len(numbers); k++ {
			numbers[k] = -1
		}
	}
	return nil
}

func (x *control) scan(c *ExecutionContext, a *launch) error {
	at := x.layer.Attrs.(graph.ScanAttrs)
	b := x.bodies[0]
	var scanned []strips
	for i := range at.Scanned {
		t := x.layer.Inputs[at.States+i]
		scanned = append(scanned, stripsOf(symbolic.Eval(t.Dims, x.env), at.InAxis(i, len(t.Dims)), t.Type))
	}
	n := scanned[0].extent
	h := x.hand(a, b, at.States, 0, 0, 0, n-1)
	outputs := x.gather(a, b, at.States)
	for k := range n {
		for i, p := range scanned {
			m, backwards := x.given(a, at.States+i), at.InPlace(i, 0, 2) > 0
			if p.axis > 0 {
				e := x.part(x.room.elements[i], p.count*p.bytes)
				p.collect(e.Host, m, p.at(k, backwards))
				b.lay(at.States+i, e)
			} else {
				b.lay(at.States+i, p.place(m, k, backwards))
			}
		}
		h.begin(k)
		if err := b.iterate(c, outputs, k); err != nil {
			return err
		}
		h.end()
	}
	h.finish()
	return nil
}
