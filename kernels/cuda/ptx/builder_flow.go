package ptx

import "strconv"

func (b *Builder) newLabel() string {
	b.labels++
	return "L" + strconv.Itoa(b.labels)
}

// place puts a label here.
func (b *Builder) place(label string) {
	if b.guard.On {
		b.fail("When holds straight-line instructions alone")
	}
	b.k.Labels = append(b.k.Labels, Label{label, len(b.k.Body)})
}

// branch jumps where p holds; a zero p always does.
func (b *Builder) branch(label string, p Bool) {
	outer := b.guard
	if outer.On {
		b.fail("When holds straight-line instructions alone")
	}
	if p.b != nil {
		b.guard = Guard{On: true, Not: p.o.Not, Reg: p.o.Reg}
	}
	b.emit("bra", Operand{Kind: LabelOperand, Name: label})
	b.guard = outer
}

// When makes each of the instructions that body adds depend on p. There is no control flow in it, no other When, and no
// instruction that a whole warp must execute together.
func (b *Builder) When(p Bool, body func()) {
	if b.guard.On {
		b.fail("When within When: join the conditions with And")
	}
	outer := b.guard
	b.guard = Guard{On: true, Not: p.o.Not, Reg: p.o.Reg}
	body()
	b.guard = outer
}

// If adds body for the threads for which p holds: a branch around it.
func (b *Builder) If(p Bool, body func()) {
	end := b.newLabel()
	b.branch(end, p.Not())
	body()
	b.place(end)
}

// IfElse adds both ways of a choice.
func (b *Builder) IfElse(p Bool, yes, no func()) {
	otherwise, end := b.newLabel(), b.newLabel()
	b.branch(otherwise, p.Not())
	yes()
	b.branch(end, Bool{})
	b.place(otherwise)
	no()
	b.place(end)
}

// For adds a loop for i = from; i < to; i += step, of unsigned numbers that do not wrap; i is the loop's own register.
func (b *Builder) For(from, to, step Uint32, body func(i Uint32)) {
	i := from.Var()
	b.While(func() Bool { return i.Lt(to) }, func() {
		body(i)
		i.Set(i.Add(step))
	})
}

// While adds a loop that runs as long as cond holds. It tests before the first round and at the end of each: cond adds its
// instructions twice.
func (b *Builder) While(cond func() Bool, body func()) {
	again, end := b.newLabel(), b.newLabel()
	b.branch(end, cond().Not())
	b.place(again)
	body()
	b.branch(again, cond())
	b.place(end)
}

// Ret ends the thread.
func (b *Builder) Ret() { b.emit("ret") }

// Barrier waits for all threads of the block, and makes what they wrote to shared memory visible.
func (b *Builder) Barrier() { b.emit("bar.sync", b.integer(0).o) }

// BarrierOf waits for so many threads of the block at the barrier id, 0 to 15; threads is a multiple of 32.
func (b *Builder) BarrierOf(id, threads int) {
	b.emit("bar.sync", b.integer(int64(id)).o, b.integer(int64(threads)).o)
}

// SyncWarp waits for all threads of the warp.
func (b *Builder) SyncWarp() { b.emit("bar.warp.sync", b.integer(fullWarp).o) }

// FenceGPU orders this thread's accesses to memory for all threads of the device, as between the partial sums of a block and
// the count of blocks that are done.
func (b *Builder) FenceGPU() { b.emit("fence.acq_rel.gpu") }

// WaitForUpstream waits for the grids that this one depends on, where it was launched before their end.
func (b *Builder) WaitForUpstream() { b.emit("griddepcontrol.wait") }

// LaunchDependents lets grids that depend on this one begin.
func (b *Builder) LaunchDependents() { b.emit("griddepcontrol.launch_dependents") }

// fullWarp is the mask of all lanes.
const fullWarp = 0xffffffff

// Not is the negation; it takes no instruction.
func (p Bool) Not() Bool {
	p.o.Not = !p.o.Not
	return p
}

// plain is p in a register of its own sense: one instruction if it was negated.
func (p Bool) plain() value {
	if !p.o.Not {
		return p.value
	}
	return p.Not().op("not.pred", Pred)
}

// And, Or and Xor join conditions. Each operand that is negated takes one more instruction.
func (p Bool) And(q Bool) Bool { return Bool{p.plain().op("and.pred", Pred, q.plain())} }
func (p Bool) Or(q Bool) Bool  { return Bool{p.plain().op("or.pred", Pred, q.plain())} }
func (p Bool) Xor(q Bool) Bool { return Bool{p.plain().op("xor.pred", Pred, q.plain())} }

// SelectU32, SelectS32, SelectB32, SelectF32 and SelectF16x2 are x where p holds and y elsewhere.
func (p Bool) SelectU32(x, y Uint32) Uint32 { return Uint32{x.op("selp.b32", B32, y.value, p.value)} }
func (p Bool) SelectS32(x, y Int32) Int32   { return Int32{x.op("selp.b32", B32, y.value, p.value)} }
func (p Bool) SelectB32(x, y Bits32) Bits32 { return Bits32{x.op("selp.b32", B32, y.value, p.value)} }
func (p Bool) SelectF32(x, y Float32) Float32 {
	return Float32{x.op("selp.f32", F32, y.value, p.value)}
}
func (p Bool) SelectF16x2(x, y Float16x2) Float16x2 {
	return Float16x2{x.op("selp.b32", B32, y.value, p.value)}
}

// All and Any ask the whole warp; Ballot has a bit for each lane.
func (p Bool) All() Bool { return Bool{p.op("vote.sync.all.pred", Pred, p.b.integer(fullWarp))} }
func (p Bool) Any() Bool { return Bool{p.op("vote.sync.any.pred", Pred, p.b.integer(fullWarp))} }
func (p Bool) Ballot() Bits32 {
	return Bits32{p.op("vote.sync.ballot.b32", B32, p.b.integer(fullWarp))}
}
