package ptx

// Loads and stores of one value, of two, of four: the address is a multiple of the whole size.

func (p pointer) LdB32(a ...Access) Bits32    { return Bits32{p.load(B32, B32, 1, a)[0]} }
func (p pointer) StB32(v Bits32, a ...Access) { p.store(B32, a, v.value) }

func (p pointer) LdB32x2(a ...Access) [2]Bits32 {
	v := p.load(B32, B32, 2, a)
	return [2]Bits32{{v[0]}, {v[1]}}
}
func (p pointer) LdB32x4(a ...Access) [4]Bits32 {
	v := p.load(B32, B32, 4, a)
	return [4]Bits32{{v[0]}, {v[1]}, {v[2]}, {v[3]}}
}
func (p pointer) StB32x2(v [2]Bits32, a ...Access) { p.store(B32, a, v[0].value, v[1].value) }
func (p pointer) StB32x4(v [4]Bits32, a ...Access) {
	p.store(B32, a, v[0].value, v[1].value, v[2].value, v[3].value)
}

func (p pointer) LdU32(a ...Access) Uint32    { return Uint32{p.load(U32, B32, 1, a)[0]} }
func (p pointer) StU32(v Uint32, a ...Access) { p.store(U32, a, v.value) }

func (p pointer) LdU32x2(a ...Access) [2]Uint32 {
	v := p.load(U32, B32, 2, a)
	return [2]Uint32{{v[0]}, {v[1]}}
}
func (p pointer) LdU32x4(a ...Access) [4]Uint32 {
	v := p.load(U32, B32, 4, a)
	return [4]Uint32{{v[0]}, {v[1]}, {v[2]}, {v[3]}}
}
func (p pointer) StU32x2(v [2]Uint32, a ...Access) { p.store(U32, a, v[0].value, v[1].value) }
func (p pointer) StU32x4(v [4]Uint32, a ...Access) {
	p.store(U32, a, v[0].value, v[1].value, v[2].value, v[3].value)
}

func (p pointer) LdS32(a ...Access) Int32    { return Int32{p.load(S32, B32, 1, a)[0]} }
func (p pointer) StS32(v Int32, a ...Access) { p.store(S32, a, v.value) }

func (p pointer) LdS32x2(a ...Access) [2]Int32 {
	v := p.load(S32, B32, 2, a)
	return [2]Int32{{v[0]}, {v[1]}}
}
func (p pointer) LdS32x4(a ...Access) [4]Int32 {
	v := p.load(S32, B32, 4, a)
	return [4]Int32{{v[0]}, {v[1]}, {v[2]}, {v[3]}}
}
func (p pointer) StS32x2(v [2]Int32, a ...Access) { p.store(S32, a, v[0].value, v[1].value) }
func (p pointer) StS32x4(v [4]Int32, a ...Access) {
	p.store(S32, a, v[0].value, v[1].value, v[2].value, v[3].value)
}

func (p pointer) LdF32(a ...Access) Float32    { return Float32{p.load(F32, F32, 1, a)[0]} }
func (p pointer) StF32(v Float32, a ...Access) { p.store(F32, a, v.value) }

func (p pointer) LdF32x2(a ...Access) [2]Float32 {
	v := p.load(F32, F32, 2, a)
	return [2]Float32{{v[0]}, {v[1]}}
}
func (p pointer) LdF32x4(a ...Access) [4]Float32 {
	v := p.load(F32, F32, 4, a)
	return [4]Float32{{v[0]}, {v[1]}, {v[2]}, {v[3]}}
}
func (p pointer) StF32x2(v [2]Float32, a ...Access) { p.store(F32, a, v[0].value, v[1].value) }
func (p pointer) StF32x4(v [4]Float32, a ...Access) {
	p.store(F32, a, v[0].value, v[1].value, v[2].value, v[3].value)
}

func (p pointer) LdB64(a ...Access) Bits64    { return Bits64{p.load(B64, B64, 1, a)[0]} }
func (p pointer) StB64(v Bits64, a ...Access) { p.store(B64, a, v.value) }

func (p pointer) LdB16(a ...Access) Bits16    { return Bits16{p.load(B16, B16, 1, a)[0]} }
func (p pointer) StB16(v Bits16, a ...Access) { p.store(B16, a, v.value) }

// LdU8, LdS8, LdU16 and LdS16 extend to 32 bits; StU8 and StU16 write the lower bits.
func (p pointer) LdU8(a ...Access) Uint32     { return Uint32{p.load(U8, B32, 1, a)[0]} }
func (p pointer) LdS8(a ...Access) Int32      { return Int32{p.load(S8, B32, 1, a)[0]} }
func (p pointer) LdU16(a ...Access) Uint32    { return Uint32{p.load(U16, B32, 1, a)[0]} }
func (p pointer) LdS16(a ...Access) Int32     { return Int32{p.load(S16, B32, 1, a)[0]} }
func (p pointer) StU8(v Uint32, a ...Access)  { p.store(U8, a, v.value) }
func (p pointer) StU16(v Uint32, a ...Access) { p.store(U16, a, v.value) }

// LdF16 and StF16 move a half.
func (p pointer) LdF16(a ...Access) Float16    { return p.LdB16(a...).F16() }
func (p pointer) StF16(v Float16, a ...Access) { p.StB16(v.Bits(), a...) }

// atomic adds an atomic operation on all of the device's memory: order is relaxed, acquire, release or acq_rel.
func (p pointer) atomic(order Order, op string, t, class Type, args ...value) value {
	d := p.b.fresh(class)
	operands := []Operand{d.o, p.address()}
	for _, v := range args {
		operands = append(operands, v.o)
	}
	p.guarded(func() { p.b.emit("atom."+string(order)+".gpu."+string(p.space)+"."+op+"."+string(t), operands...) })
	return d
}

// Order is what an atomic operation orders (PTX ISA 8.9).
type Order string

// The orders.
const (
	OrderRelaxed Order = "relaxed"
	OrderAcquire Order = "acquire"
	OrderRelease Order = "release"
	OrderAcqRel  Order = "acq_rel"
)

// AtomAddU32 adds and gives what was there before: with OrderAcqRel the counter by which the last block of a split sum is
// found. With a condition the result is undefined where that does not hold; the others are alike.
func (p pointer) AtomAddU32(v Uint32, o Order) Uint32 {
	return Uint32{p.atomic(o, "add", U32, B32, v.value)}
}
func (p pointer) AtomIncU32(limit Uint32, o Order) Uint32 {
	return Uint32{p.atomic(o, "inc", U32, B32, limit.value)}
}
func (p pointer) AtomMaxU32(v Uint32, o Order) Uint32 {
	return Uint32{p.atomic(o, "max", U32, B32, v.value)}
}
func (p pointer) AtomMaxS32(v Int32, o Order) Int32 {
	return Int32{p.atomic(o, "max", S32, B32, v.value)}
}
func (p pointer) AtomAddF32(v Float32, o Order) Float32 {
	return Float32{p.atomic(o, "add", F32, F32, v.value)}
}
func (p pointer) AtomExchB32(v Bits32, o Order) Bits32 {
	return Bits32{p.atomic(o, "exch", B32, B32, v.value)}
}

// AtomCasB32 writes v where want was.
func (p pointer) AtomCasB32(want, v Bits32, o Order) Bits32 {
	return Bits32{p.atomic(o, "cas", B32, B32, want.value, v.value)}
}

// RedAddU32 and RedAddF32 add and give nothing.
func (p pointer) RedAddU32(v Uint32)  { p.reduce("add", U32, v.value) }
func (p pointer) RedAddF32(v Float32) { p.reduce("add", F32, v.value) }

func (p pointer) reduce(op string, t Type, v value) {
	p.guarded(func() { p.b.emit("red.relaxed.gpu."+string(p.space)+"."+op+"."+string(t), p.address(), v.o) })
}
