package ptx

// ToF32 is exact.
func (a Float16) ToF32() Float32  { return Float32{a.op("cvt.f32.f16", F32)} }
func (a BFloat16) ToF32() Float32 { return Float32{a.op("cvt.f32.bf16", F32)} }

// Bits is the same register: no instruction.
func (a Float16) Bits() Bits16      { return Bits16(a) }
func (a BFloat16) Bits() Bits16     { return Bits16(a) }
func (a Float16x2) Bits() Bits32    { return Bits32(a) }
func (a BFloat16x2) Bits() Bits32   { return Bits32(a) }
func (a Bits16) F16() Float16       { return Float16(a) }
func (a Bits16) BF16() BFloat16     { return BFloat16(a) }
func (a Bits32) F16x2() Float16x2   { return Float16x2(a) }
func (a Bits32) BF16x2() BFloat16x2 { return BFloat16x2(a) }
func (a Bits32) Uint() Uint32       { return Uint32(a) }
func (a Bits32) Int() Int32         { return Int32(a) }

// Set moves b into a's register; Var makes such a register.
func (a Float16x2) Set(b Float16x2) { a.set("mov.b32", b.value) }
func (a Float16x2) Var() Float16x2  { return Float16x2{a.op("mov.b32", B32)} }
func (a Bits32) Set(b Bits32)       { a.set("mov.b32", b.value) }
func (a Bits32) Var() Bits32        { return Bits32{a.op("mov.b32", B32)} }

// Arithmetic on pairs of halves, rounded to nearest even.
func (a Float16x2) Add(b Float16x2) Float16x2 { return Float16x2{a.op("add.rn.f16x2", B32, b.value)} }
func (a Float16x2) Sub(b Float16x2) Float16x2 { return Float16x2{a.op("sub.rn.f16x2", B32, b.value)} }
func (a Float16x2) Mul(b Float16x2) Float16x2 { return Float16x2{a.op("mul.rn.f16x2", B32, b.value)} }
func (a Float16x2) Min(b Float16x2) Float16x2 { return Float16x2{a.op("min.f16x2", B32, b.value)} }
func (a Float16x2) Max(b Float16x2) Float16x2 { return Float16x2{a.op("max.f16x2", B32, b.value)} }
func (a Float16x2) Fma(b, c Float16x2) Float16x2 {
	return Float16x2{a.op("fma.rn.f16x2", B32, b.value, c.value)}
}

// AddMul adds x*y to a in a's register.
func (a Float16x2) AddMul(x, y Float16x2) { a.b.emit("fma.rn.f16x2", a.o, x.o, y.o, a.o) }

// Unpack is the lower and the upper half.
func (a Float16x2) Unpack() (low, high Float16) {
	low, high = Float16{a.b.fresh(B16)}, Float16{a.b.fresh(B16)}
	a.b.emit("mov.b32", vector(low.value, high.value), a.o)
	return low, high
}

// Unpack is the lower and the upper half.
func (a Bits32) Unpack() (low, high Bits16) {
	l, h := a.F16x2().Unpack()
	return l.Bits(), h.Bits()
}

// Pack puts a into the lower half of 32 bits.
func (a Bits16) Pack(high Bits16) Bits32 {
	d := a.b.fresh(B32)
	a.b.emit("mov.b32", d.o, vector(a.value, high.value))
	return Bits32{d}
}

// F32 is the number with these bits.
func (a Bits32) F32() Float32 { return Float32{a.op("mov.b32", F32)} }

// And, Or, Xor, Shl and Shr are bitwise.
func (a Bits32) And(b Bits32) Bits32 { return Bits32{a.op("and.b32", B32, b.value)} }
func (a Bits32) Or(b Bits32) Bits32  { return Bits32{a.op("or.b32", B32, b.value)} }
func (a Bits32) Xor(b Bits32) Bits32 { return Bits32{a.op("xor.b32", B32, b.value)} }
func (a Bits32) Not() Bits32         { return Bits32{a.op("not.b32", B32)} }
func (a Bits32) Shl(n uint32) Bits32 { return Bits32{a.op("shl.b32", B32, a.b.integer(int64(n)))} }
func (a Bits32) Shr(n uint32) Bits32 { return Bits32{a.op("shr.b32", B32, a.b.integer(int64(n)))} }
func (a Bits32) Popc() Uint32        { return Uint32{a.op("popc.b32", B32)} }

// Lop3 is any function of three bits, by its table: that of 0xF0, 0xCC and 0xAA for a, b and c.
func (a Bits32) Lop3(b, c Bits32, table uint8) Bits32 {
	return Bits32{a.op("lop3.b32", B32, b.value, c.value, a.b.integer(int64(table)))}
}

// Insert is a with the length bits from start replaced by those of field.
func (a Bits32) Insert(field Bits32, start, length uint32) Bits32 {
	return Bits32{field.op("bfi.b32", B32, a.value, a.b.integer(int64(start)), a.b.integer(int64(length)))}
}

// Prmt picks the four bytes that the nibbles of selector name among those of a, 0 to 3, and b, 4 to 7.
func (a Bits32) Prmt(b Bits32, selector uint32) Bits32 {
	return Bits32{a.op("prmt.b32", B32, b.value, a.b.integer(int64(selector)))}
}

// Dp4aS and Dp4aU add the four products of bytes of a and b, signed or unsigned, to c.
func (a Bits32) Dp4aS(b Bits32, c Int32) Int32 {
	return Int32{a.op("dp4a.s32.s32", B32, b.value, c.value)}
}
func (a Bits32) Dp4aU(b Bits32, c Uint32) Uint32 {
	return Uint32{a.op("dp4a.u32.u32", B32, b.value, c.value)}
}

// Dp4aUS is of unsigned bytes of a with signed ones of b.
func (a Bits32) Dp4aUS(b Bits32, c Int32) Int32 {
	return Int32{a.op("dp4a.u32.s32", B32, b.value, c.value)}
}

// PackS8 saturates a and b to 8 bits, and makes them the bytes 1 and 0 below the lower half of rest, which moves up: two of
// these pack four numbers, the last two first. PackU8 is for unsigned bytes.
func (a Int32) PackS8(b Int32, rest Bits32) Bits32 {
	return Bits32{a.op("cvt.pack.sat.s8.s32.b32", B32, b.value, rest.value)}
}
func (a Int32) PackU8(b Int32, rest Bits32) Bits32 {
	return Bits32{a.op("cvt.pack.sat.u8.s32.b32", B32, b.value, rest.value)}
}

// Add and Mul are of 64 bits; Low is the lower half.
func (a Uint64) Add(b Uint64) Uint64 { return Uint64{a.op("add.u64", B64, b.value)} }
func (a Uint64) Mul(b Uint64) Uint64 { return Uint64{a.op("mul.lo.u64", B64, b.value)} }
func (a Int64) Add(b Int64) Int64    { return Int64{a.op("add.s64", B64, b.value)} }
func (a Uint64) Low() Uint32         { return Uint32{a.op("cvt.u32.u64", B32)} }
func (a Uint64) Shr(n uint32) Uint64 { return Uint64{a.op("shr.u64", B64, a.b.integer(int64(n)))} }
func (a Uint64) Lt(b Uint64) Bool    { return Bool{a.op("setp.lt.u64", Pred, b.value)} }
