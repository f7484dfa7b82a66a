package ptx

// L is an immediate of 64 bits.
func L(n int64) Long { return Long{immediate(n, 0)} }

// long2 emits an instruction on two longs.
func (k *K) long2(op, mod string, a, b Long) Long {
	d := k.long()
	k.emit(op, mods(mod), d.op, k.longRegister(a).op, b.op)
	return d
}

// longRegister is a in a register, where it is an immediate.
func (k *K) longRegister(a Long) Long {
	if _, ok := a.Constant(); !ok {
		return a
	}
	return k.VarL(a)
}

// Arithmetic modulo 2^64.
func (k *K) AddL(a, b Long) Long { return k.long2("add", "s64", a, b) }
func (k *K) SubL(a, b Long) Long { return k.long2("sub", "s64", a, b) }
func (k *K) MulL(a, b Long) Long { return k.long2("mul", "lo.s64", a, b) }

// DivL and RemL round toward 0; b is not 0.
func (k *K) DivL(a, b Long, signed bool) Long { return k.long2("div", longType(signed), a, b) }
func (k *K) RemL(a, b Long, signed bool) Long { return k.long2("rem", longType(signed), a, b) }

// The bits of a and b.
func (k *K) AndL(a, b Long) Long { return k.long2("and", "b64", a, b) }
func (k *K) OrL(a, b Long) Long  { return k.long2("or", "b64", a, b) }
func (k *K) XorL(a, b Long) Long { return k.long2("xor", "b64", a, b) }

// ShlL and ShrL shift by n bits, by 64 and more to 0; ShrL keeps the sign of a signed a.
func (k *K) ShlL(a Long, n Uint) Long {
	d := k.long()
	k.emit("shl", mods("b64"), d.op, k.longRegister(a).op, n.op)
	return d
}

func (k *K) ShrL(a Long, n Uint, signed bool) Long {
	d := k.long()
	k.emit("shr", mods(longType(signed)), d.op, k.longRegister(a).op, n.op)
	return d
}

func longType(signed bool) string {
	if signed {
		return "s64"
	}
	return "u64"
}

// Comparisons of longs.
func (k *K) EqL(a, b Long) Cond {
	return k.compare("eq.s64", k.longRegister(a).value, b.value)
}

func (k *K) LtL(a, b Long, signed bool) Cond {
	return k.compare("lt."+longType(signed), k.longRegister(a).value, b.value)
}

// SelectL is a where p holds, else b.
func (k *K) SelectL(p Cond, a, b Long) Long {
	return Long{k.sel("b64", k.long().value, p, a.value, b.value)}
}

// VarL is a register that SetL changes.
func (k *K) VarL(init Long) Long {
	d := k.long()
	k.SetL(d, init)
	return d
}

// SetL changes a variable.
func (k *K) SetL(d, v Long) { k.emit("mov", mods("b64"), d.op, v.op) }

// LongOf is a word as a long, LongOfUint an unsigned one, and Low a long's low word.
func (k *K) LongOf(a Int) Long      { return k.widen("s64.s32", a.value) }
func (k *K) LongOfUint(a Uint) Long { return k.widen("u64.u32", a.value) }

func (k *K) widen(mod string, a value) Long {
	d := k.long()
	k.emit("cvt", mods(mod), d.op, a.op)
	return d
}

func (k *K) Low(a Long) Uint {
	d := k.word()
	k.emit("cvt", mods("u32.u64"), d.op, k.longRegister(a).op)
	return Uint{d}
}

// LongToFloat is a rounded to the nearest float.
func (k *K) LongToFloat(a Long, signed bool) Float {
	d := k.float()
	k.emit("cvt", mods("rn.f32."+longType(signed)), d.op, k.longRegister(a).op)
	return d
}

// FloatToLong is a rounded toward 0 and saturated. What it is of NaN differs among devices.
func (k *K) FloatToLong(a Float, signed bool) Long {
	d := k.long()
	k.emit("cvt", mods("rzi."+longType(signed)+".f32"), d.op, a.op)
	return d
}

// LoadLong is 64 bits of device memory.
func (k *K) LoadLong(p GlobalPtr) Long {
	return Long{k.load("global", "", B64, 1, func() value { return k.long().value }, k.global(p))[0]}
}

// StoreLong writes 64 bits.
func (k *K) StoreLong(p GlobalPtr, a Long) {
	k.store("global", B64, k.global(p), k.longRegister(a).value)
}

// LoadShort is 16 bits of device memory as a word, signed or not.
func (k *K) LoadShort(p GlobalPtr, signed bool) Int {
	t := U16
	if signed {
		t = S16
	}
	return Int{k.load("global", "", t, 1, k.wordOf, k.global(p))[0]}
}

// StoreShort writes the low 16 bits of a word.
func (k *K) StoreShort(p GlobalPtr, w Word) { k.store("global", U16, k.global(p), w.value) }
