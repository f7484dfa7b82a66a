package ptx

// Var is a register of its own that begins with a's value: what a loop changes with Set.
func (a Uint32) Var() Uint32 { return Uint32{a.op("mov.b32", B32)} }

// Set moves b into a's register.
func (a Uint32) Set(b Uint32) { a.set("mov.b32", b.value) }

// Bits is the same register as bits: no instruction.
func (a Uint32) Bits() Bits32 { return Bits32(a) }

// Add, Sub and Mul wrap around; MulHi is the upper half of the product.
func (a Uint32) Add(b Uint32) Uint32   { return Uint32{a.op("add.u32", B32, b.value)} }
func (a Uint32) Sub(b Uint32) Uint32   { return Uint32{a.op("sub.u32", B32, b.value)} }
func (a Uint32) Mul(b Uint32) Uint32   { return Uint32{a.op("mul.lo.u32", B32, b.value)} }
func (a Uint32) MulHi(b Uint32) Uint32 { return Uint32{a.op("mul.hi.u32", B32, b.value)} }

// AddI and MulI take a Go number.
func (a Uint32) AddI(n uint32) Uint32 { return a.Add(a.b.U32(n)) }
func (a Uint32) MulI(n uint32) Uint32 { return a.Mul(a.b.U32(n)) }

// Mad is a*b + c.
func (a Uint32) Mad(b, c Uint32) Uint32 { return Uint32{a.op("mad.lo.u32", B32, b.value, c.value)} }

// Div and Rem are slow where b is not a constant: see Divisor.
func (a Uint32) Div(b Uint32) Uint32 { return Uint32{a.op("div.u32", B32, b.value)} }
func (a Uint32) Rem(b Uint32) Uint32 { return Uint32{a.op("rem.u32", B32, b.value)} }

// Min and Max are the lesser and the greater.
func (a Uint32) Min(b Uint32) Uint32 { return Uint32{a.op("min.u32", B32, b.value)} }
func (a Uint32) Max(b Uint32) Uint32 { return Uint32{a.op("max.u32", B32, b.value)} }

// Shr shifts right by a constant, and ShrBy by a value; beyond 31 nothing but zeros is left.
func (a Uint32) Shr(n uint32) Uint32   { return a.ShrBy(a.b.U32(n)) }
func (a Uint32) ShrBy(n Uint32) Uint32 { return Uint32{a.op("shr.u32", B32, n.value)} }

// Extract is the field of length bits from bit start.
func (a Uint32) Extract(start, length uint32) Uint32 {
	return Uint32{a.op("bfe.u32", B32, a.b.integer(int64(start)), a.b.integer(int64(length)))}
}

// Eq, Ne, Lt, Le, Gt and Ge compare.
func (a Uint32) Eq(b Uint32) Bool { return Bool{a.op("setp.eq.u32", Pred, b.value)} }
func (a Uint32) Ne(b Uint32) Bool { return Bool{a.op("setp.ne.u32", Pred, b.value)} }
func (a Uint32) Lt(b Uint32) Bool { return Bool{a.op("setp.lt.u32", Pred, b.value)} }
func (a Uint32) Le(b Uint32) Bool { return Bool{a.op("setp.le.u32", Pred, b.value)} }
func (a Uint32) Gt(b Uint32) Bool { return Bool{a.op("setp.gt.u32", Pred, b.value)} }
func (a Uint32) Ge(b Uint32) Bool { return Bool{a.op("setp.ge.u32", Pred, b.value)} }

// MulWide is the whole product, in 64 bits.
func (a Uint32) MulWide(b Uint32) Uint64 { return Uint64{a.op("mul.wide.u32", B64, b.value)} }

// Widen is the same number in 64 bits.
func (a Uint32) Widen() Uint64 { return Uint64{a.op("cvt.u64.u32", B64)} }

// ToF32 rounds to nearest even.
func (a Uint32) ToF32() Float32 { return Float32{a.op("cvt.rn.f32.u32", F32)} }

// ShflXor is a of the lane whose number differs by mask, ShflDown of the lane delta above, or a itself where there is none, and
// ShflFrom of the lane given. All lanes of the warp take part.
func (a Uint32) ShflXor(mask uint32) Uint32   { return Uint32{a.shfl("bfly", a.b.U32(mask), 31, B32)} }
func (a Uint32) ShflDown(delta uint32) Uint32 { return Uint32{a.shfl("down", a.b.U32(delta), 31, B32)} }
func (a Uint32) ShflFrom(lane Uint32) Uint32  { return Uint32{a.shfl("idx", lane, 31, B32)} }

// ReduxAdd, ReduxMin and ReduxMax go over all lanes of the warp.
func (a Uint32) ReduxAdd() Uint32 {
	return Uint32{a.op("redux.sync.add.u32", B32, a.b.integer(fullWarp))}
}
func (a Uint32) ReduxMin() Uint32 {
	return Uint32{a.op("redux.sync.min.u32", B32, a.b.integer(fullWarp))}
}
func (a Uint32) ReduxMax() Uint32 {
	return Uint32{a.op("redux.sync.max.u32", B32, a.b.integer(fullWarp))}
}

// Int is the same register as a signed number: no instruction.
func (a Uint32) Int() Int32 { return Int32(a) }

// And, Or and Xor are bitwise; Shl shifts left by a constant.
func (a Uint32) And(b Uint32) Uint32   { return Uint32{a.op("and.b32", B32, b.value)} }
func (a Uint32) Or(b Uint32) Uint32    { return Uint32{a.op("or.b32", B32, b.value)} }
func (a Uint32) Xor(b Uint32) Uint32   { return Uint32{a.op("xor.b32", B32, b.value)} }
func (a Uint32) Shl(n uint32) Uint32   { return Uint32{a.op("shl.b32", B32, a.b.integer(int64(n)))} }
func (a Uint32) ShlBy(n Uint32) Uint32 { return Uint32{a.op("shl.b32", B32, n.value)} }

// Var is a register of its own that begins with a's value: what a loop changes with Set.
func (a Int32) Var() Int32 { return Int32{a.op("mov.b32", B32)} }

// Set moves b into a's register.
func (a Int32) Set(b Int32) { a.set("mov.b32", b.value) }

// Bits is the same register as bits: no instruction.
func (a Int32) Bits() Bits32 { return Bits32(a) }

// Add, Sub and Mul wrap around; MulHi is the upper half of the product.
func (a Int32) Add(b Int32) Int32   { return Int32{a.op("add.s32", B32, b.value)} }
func (a Int32) Sub(b Int32) Int32   { return Int32{a.op("sub.s32", B32, b.value)} }
func (a Int32) Mul(b Int32) Int32   { return Int32{a.op("mul.lo.s32", B32, b.value)} }
func (a Int32) MulHi(b Int32) Int32 { return Int32{a.op("mul.hi.s32", B32, b.value)} }

// AddI and MulI take a Go number.
func (a Int32) AddI(n int32) Int32 { return a.Add(a.b.S32(n)) }
func (a Int32) MulI(n int32) Int32 { return a.Mul(a.b.S32(n)) }

// Mad is a*b + c.
func (a Int32) Mad(b, c Int32) Int32 { return Int32{a.op("mad.lo.s32", B32, b.value, c.value)} }

// Div and Rem are slow where b is not a constant: see Divisor.
func (a Int32) Div(b Int32) Int32 { return Int32{a.op("div.s32", B32, b.value)} }
func (a Int32) Rem(b Int32) Int32 { return Int32{a.op("rem.s32", B32, b.value)} }

// Min and Max are the lesser and the greater.
func (a Int32) Min(b Int32) Int32 { return Int32{a.op("min.s32", B32, b.value)} }
func (a Int32) Max(b Int32) Int32 { return Int32{a.op("max.s32", B32, b.value)} }

// Shr shifts right by a constant, and ShrBy by a value; beyond 31 nothing but copies of the sign is left.
func (a Int32) Shr(n uint32) Int32   { return a.ShrBy(a.b.U32(n)) }
func (a Int32) ShrBy(n Uint32) Int32 { return Int32{a.op("shr.s32", B32, n.value)} }

// Extract is the field of length bits from bit start.
func (a Int32) Extract(start, length uint32) Int32 {
	return Int32{a.op("bfe.s32", B32, a.b.integer(int64(start)), a.b.integer(int64(length)))}
}

// Eq, Ne, Lt, Le, Gt and Ge compare.
func (a Int32) Eq(b Int32) Bool { return Bool{a.op("setp.eq.s32", Pred, b.value)} }
func (a Int32) Ne(b Int32) Bool { return Bool{a.op("setp.ne.s32", Pred, b.value)} }
func (a Int32) Lt(b Int32) Bool { return Bool{a.op("setp.lt.s32", Pred, b.value)} }
func (a Int32) Le(b Int32) Bool { return Bool{a.op("setp.le.s32", Pred, b.value)} }
func (a Int32) Gt(b Int32) Bool { return Bool{a.op("setp.gt.s32", Pred, b.value)} }
func (a Int32) Ge(b Int32) Bool { return Bool{a.op("setp.ge.s32", Pred, b.value)} }

// MulWide is the whole product, in 64 bits.
func (a Int32) MulWide(b Int32) Int64 { return Int64{a.op("mul.wide.s32", B64, b.value)} }

// Widen is the same number in 64 bits.
func (a Int32) Widen() Int64 { return Int64{a.op("cvt.s64.s32", B64)} }

// ToF32 rounds to nearest even.
func (a Int32) ToF32() Float32 { return Float32{a.op("cvt.rn.f32.s32", F32)} }

// ShflXor is a of the lane whose number differs by mask, ShflDown of the lane delta above, or a itself where there is none, and
// ShflFrom of the lane given. All lanes of the warp take part.
func (a Int32) ShflXor(mask uint32) Int32   { return Int32{a.shfl("bfly", a.b.U32(mask), 31, B32)} }
func (a Int32) ShflDown(delta uint32) Int32 { return Int32{a.shfl("down", a.b.U32(delta), 31, B32)} }
func (a Int32) ShflFrom(lane Uint32) Int32  { return Int32{a.shfl("idx", lane, 31, B32)} }

// ReduxAdd, ReduxMin and ReduxMax go over all lanes of the warp.
func (a Int32) ReduxAdd() Int32 { return Int32{a.op("redux.sync.add.s32", B32, a.b.integer(fullWarp))} }
func (a Int32) ReduxMin() Int32 { return Int32{a.op("redux.sync.min.s32", B32, a.b.integer(fullWarp))} }
func (a Int32) ReduxMax() Int32 { return Int32{a.op("redux.sync.max.s32", B32, a.b.integer(fullWarp))} }

// Uint is the same register as an unsigned number: no instruction.
func (a Int32) Uint() Uint32 { return Uint32(a) }

// Neg and Abs wrap around at the least number.
func (a Int32) Neg() Int32 { return Int32{a.op("neg.s32", B32)} }
func (a Int32) Abs() Int32 { return Int32{a.op("abs.s32", B32)} }

// AddSat adds with saturation.
func (a Int32) AddSat(b Int32) Int32 { return Int32{a.op("add.sat.s32", B32, b.value)} }

// shfl exchanges between the lanes of a warp.
func (v value) shfl(mode string, lane Uint32, clamp int64, t Type) value {
	return v.op("shfl.sync."+mode+".b32", t, lane.value, v.b.integer(clamp), v.b.integer(fullWarp))
}
