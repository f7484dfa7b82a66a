package run

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// bindings are what a context needs to work in the caller's memory.
type bindings struct {
	own  []kernels.Mem // by slot, the context's memory
	uses map[int][]use // by root: where the slots in it are arguments
}

// use is one slot that lies in a root, and one argument of a launch that is the slot; nil where it is none.
type use struct {
	slot int
	arg  *kernels.Mem
}

// prepare lists the uses of the slots.
func (b *bindings) prepare(c *frame) {
	p := c.loaded.Plan
	b.own, b.uses = append([]kernels.Mem(nil), c.mem...), map[int][]use{}
	for i := range p.Slots {
		b.uses[p.root(i)] = append(b.uses[p.root(i)], use{slot: i})
	}
	add := func(slot int, arg *kernels.Mem) {
		if slot >= 0 {
			r := p.root(slot)
			b.uses[r] = append(b.uses[r], use{slot, arg})
		}
	}
	for i, s := range p.Steps {
		for j, in := range s.In {
			add(in, &c.args[i].in[j])
		}
		for j, out := range s.Out {
			add(out, &c.args[i].out[j])
		}
	}
}

// Bind makes the context read the named input from data, or write the named output to it, instead of its own memory, until
// [ExecutionContext.Unbind]; nothing is copied then. It reports false, and changes nothing, where the device has memory of its
// own, where an output lies in an input or with another output, and where data is not the tensor's bytes. data's address must
// suit the backend's kernels.
func (c *ExecutionContext) Bind(name string, data []byte) bool {
	root, ok := c.bindable(name)
	if !ok || c.start != nil || c.loaded.Plan.Slots[root].Desc.Type == numeric.Str || len(data) != c.loaded.Plan.Slots[root].Desc.Bytes() {
		return false
	}
	p := c.loaded.Plan
	begin := p.Slots[root].Offset
	part := func(slot int) (from, to int) {
		from = p.Slots[slot].Offset - begin
		return from, from + min(p.Slots[slot].Size, p.Slots[slot].Desc.Span())
	}
	for _, u := range c.bound.uses[root] {
		if from, to := part(u.slot); from < 0 || to > len(data) {
			return false
		}
	}
	for _, u := range c.bound.uses[root] {
		from, to := part(u.slot)
		c.place(u, kernels.Mem{Host: data[from:to:to]})
	}
	c.changed = true
	return true
}

// Unbind makes the context use its own memory for the named input or output again.
func (c *ExecutionContext) Unbind(name string) {
	if root, ok := c.bindable(name); ok {
		for _, u := range c.bound.uses[root] {
			c.place(u, c.bound.own[u.slot])
		}
	}
}

func (c *frame) place(u use, m kernels.Mem) {
	c.mem[u.slot] = m
	if u.arg != nil {
		*u.arg = m
	}
}

// bindable returns the slot whose memory is that of the named input or output and of nothing else that the caller sees.
func (c *ExecutionContext) bindable(name string) (root int, ok bool) {
	slot, input := c.inputs[name]
	if !input {
		if slot, ok = c.outputs[name]; !ok {
			return 0, false
		}
	}
	p := c.loaded.Plan
	root = p.root(slot)
	_, captures := c.stream.(kernels.Capturer)
	if captures || c.mem[root].Host == nil || p.Slots[root].Offset != p.Slots[slot].Offset || p.Slots[root].Region != IO {
		return 0, false
	}
	for other, s := range c.inputs {
		if other != name && p.root(s) == root {
			return 0, false
		}
	}
	for other, s := range c.outputs {
		if !input && other != name && p.root(s) == root {
			return 0, false
		}
	}
	if c.bound.own == nil {
		c.bound.prepare(c.frame)
	}
	return root, true
}

// OutputTo copies the named output to dst, which has exactly its bytes.
func (c *ExecutionContext) OutputTo(name string, dst []byte) error {
	if i, ok := c.outputs[name]; ok && c.mem[i].Host != nil && c.loaded.Plan.Slots[i].Desc.Type != numeric.Str {
		s := c.loaded.Plan.Slots[i]
		if len(dst) != numeric.Count(s.Desc.Dims)*s.Desc.Type.Size() {
			return fmt.Errorf("output %s: %d bytes for %v", name, len(dst), s.Desc)
		}
		s.Desc.ToLinear(dst, c.mem[i].Host)
		return nil
	}
	v, err := c.Output(name)
	if err == nil && len(dst) != len(v.Data) {
		err = fmt.Errorf("output %s: %d bytes for %s%v", name, len(dst), v.Type, v.Dims)
	}
	if err == nil {
		copy(dst, v.Data)
	}
	return err
}

// ExecuteUntil is [ExecutionContext.Execute] that ends with ctx: between two layers where the host launches them one by one,
// else before the first. Its error is then ctx's, and outputs are left as they are half-way.
func (c *ExecutionContext) ExecuteUntil(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, captures := c.capturer(); captures || ctx.Done() == nil {
		return c.Execute()
	}
	c.until = ctx
	defer func() { c.until = nil }()
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.enqueue(nil); err != nil {
		return err
	}
	return c.finish()
}
