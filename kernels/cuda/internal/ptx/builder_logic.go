package ptx

// compare emits a setp.
func (k *K) compare(mod string, a, b value) Cond {
	d := k.cond()
	k.emit("setp", mods(mod), d.op, a.op, b.op)
	return d
}

// Comparisons of unsigned words.
func (k *K) Eq(a, b Uint) Cond { return k.compare("eq.u32", k.inRegister(a.value, b.value), b.value) }
func (k *K) Ne(a, b Uint) Cond { return k.compare("ne.u32", k.inRegister(a.value, b.value), b.value) }
func (k *K) Lt(a, b Uint) Cond { return k.compare("lt.u32", k.inRegister(a.value, b.value), b.value) }
func (k *K) Le(a, b Uint) Cond { return k.compare("le.u32", k.inRegister(a.value, b.value), b.value) }
func (k *K) Gt(a, b Uint) Cond { return k.compare("gt.u32", k.inRegister(a.value, b.value), b.value) }
func (k *K) Ge(a, b Uint) Cond { return k.compare("ge.u32", k.inRegister(a.value, b.value), b.value) }

// Comparisons of signed words.
func (k *K) LtS(a, b Int) Cond { return k.compare("lt.s32", k.inRegister(a.value, b.value), b.value) }
func (k *K) GeS(a, b Int) Cond { return k.compare("ge.s32", k.inRegister(a.value, b.value), b.value) }

// Comparisons of floats; with NaN all but NeF are false.
func (k *K) EqF(a, b Float) Cond { return k.compare("eq.f32", a.value, b.value) }
func (k *K) NeF(a, b Float) Cond { return k.compare("neu.f32", a.value, b.value) }
func (k *K) LtF(a, b Float) Cond { return k.compare("lt.f32", a.value, b.value) }
func (k *K) LeF(a, b Float) Cond { return k.compare("le.f32", a.value, b.value) }
func (k *K) GtF(a, b Float) Cond { return k.compare("gt.f32", a.value, b.value) }
func (k *K) GeF(a, b Float) Cond { return k.compare("ge.f32", a.value, b.value) }

// Both is p && q.
func (k *K) Both(p, q Cond) Cond { return k.logic("and", p, q) }

// Either is p || q.
func (k *K) Either(p, q Cond) Cond { return k.logic("or", p, q) }

// logic works on registers: complements are made first.
func (k *K) logic(op string, p, q Cond) Cond {
	d := k.cond()
	k.emit(op, mods("pred"), d.op, k.plain(p).op, k.plain(q).op)
	return d
}

// plain is p in a register that is not complemented.
func (k *K) plain(p Cond) Cond {
	if !p.op.Not {
		return p
	}
	d := k.cond()
	k.emit("not", mods("pred"), d.op, p.Not().op)
	return d
}

// Select is a where p holds, else b.
func (k *K) Select(p Cond, a, b Uint) Uint { return Uint{k.sel("b32", k.word(), p, a.value, b.value)} }

// SelectF is a where p holds, else b.
func (k *K) SelectF(p Cond, a, b Float) Float {
	return Float{k.sel("f32", k.float().value, p, a.value, b.value)}
}

func (k *K) sel(mod string, d value, p Cond, a, b value) value {
	if p.op.Not {
		p, a, b = p.Not(), b, a
	}
	k.emit("selp", mods(mod), d.op, a.op, b.op, p.op)
	return d
}

// Var is a register that Set changes: what a loop carries.
func (k *K) Var(init Uint) Uint {
	d := Uint{k.word()}
	k.Set(d, init)
	return d
}

// VarF is a register that SetF changes.
func (k *K) VarF(init Float) Float {
	d := k.float()
	k.SetF(d, init)
	return d
}

// VarS is a register that SetS changes.
func (k *K) VarS(init Int) Int { return k.Var(init.Uint()).Int() }

// VarGlobal is an address that SetGlobal changes.
func (k *K) VarGlobal(init GlobalPtr) GlobalPtr {
	d := GlobalPtr{k.long(), 0}
	k.SetGlobal(d, init)
	return d
}

// Set makes d, a Var, equal to v.
func (k *K) Set(d, v Uint) { k.emit("mov", mods("b32"), d.op, v.op) }

// SetS makes d, a VarS, equal to v.
func (k *K) SetS(d, v Int) { k.Set(d.Uint(), v.Uint()) }

// SetF makes d, a VarF, equal to v.
func (k *K) SetF(d, v Float) { k.emit("mov", mods("f32"), d.op, v.op) }

// SetGlobal makes d, a VarGlobal, equal to v.
func (k *K) SetGlobal(d, v GlobalPtr) {
	if v.off == 0 {
		k.emit("mov", mods("b64"), d.op, v.op)
		return
	}
	k.emit("add", mods("s64"), d.op, v.op, immediate(v.off, 0).op)
}

// special reads a special register.
func (k *K) special(name string) Uint {
	d := k.word()
	k.emit("mov", mods("u32"), d.op, Operand{Kind: SpecialOperand, Name: name})
	return Uint{d}
}

// Thread is the thread's index in its block, below what the kernel was started with.
func (k *K) Thread() Uint { return k.special("%tid.x") }

// Lane is the thread's index in its warp.
func (k *K) Lane() Uint { return k.special("%laneid") }

// BlockX, BlockY and BlockZ are the block's indices in the grid; BlocksX is the grid's extent.
func (k *K) BlockX() Uint  { return k.special("%ctaid.x") }
func (k *K) BlockY() Uint  { return k.special("%ctaid.y") }
func (k *K) BlockZ() Uint  { return k.special("%ctaid.z") }
func (k *K) BlocksX() Uint { return k.special("%nctaid.x") }
