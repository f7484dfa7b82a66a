package ptx

// Var is a register of its own that begins with a's value: what a loop changes with Set.
func (a Float32) Var() Float32 { return Float32{a.op("mov.f32", F32)} }

// Set moves b into a's register.
func (a Float32) Set(b Float32) { a.set("mov.f32", b.value) }

// AddMul adds x*y to a in a's register, rounding once.
func (a Float32) AddMul(x, y Float32) {
	if a.o.Kind != RegOperand {
		a.b.fail("a constant cannot be added to")
	}
	a.b.emit("fma.rn.f32", a.o, x.o, y.o, a.o)
}

// Add, Sub, Mul and Div round to nearest even; DivApprox is off by at most 2 ulp.
func (a Float32) Add(b Float32) Float32       { return Float32{a.op("add.rn.f32", F32, b.value)} }
func (a Float32) Sub(b Float32) Float32       { return Float32{a.op("sub.rn.f32", F32, b.value)} }
func (a Float32) Mul(b Float32) Float32       { return Float32{a.op("mul.rn.f32", F32, b.value)} }
func (a Float32) Div(b Float32) Float32       { return Float32{a.op("div.rn.f32", F32, b.value)} }
func (a Float32) DivApprox(b Float32) Float32 { return Float32{a.op("div.full.f32", F32, b.value)} }

// Min and Max are the number where one operand is NaN; MinNaN and MaxNaN are NaN then.
func (a Float32) Min(b Float32) Float32    { return Float32{a.op("min.f32", F32, b.value)} }
func (a Float32) Max(b Float32) Float32    { return Float32{a.op("max.f32", F32, b.value)} }
func (a Float32) MinNaN(b Float32) Float32 { return Float32{a.op("min.NaN.f32", F32, b.value)} }
func (a Float32) MaxNaN(b Float32) Float32 { return Float32{a.op("max.NaN.f32", F32, b.value)} }

// Fma is a*b + c, rounded once.
func (a Float32) Fma(b, c Float32) Float32 { return Float32{a.op("fma.rn.f32", F32, b.value, c.value)} }

// Functions of one number. Those named after an Approx and Rsqrt, Ex2, Lg2, Tanh, Sin and Cos are off in the last bits (PTX
// ISA 9.7.3); the others round to nearest even.
func (a Float32) Abs() Float32        { return Float32{a.op("abs.f32", F32)} }
func (a Float32) Neg() Float32        { return Float32{a.op("neg.f32", F32)} }
func (a Float32) Sqrt() Float32       { return Float32{a.op("sqrt.rn.f32", F32)} }
func (a Float32) SqrtApprox() Float32 { return Float32{a.op("sqrt.approx.f32", F32)} }
func (a Float32) Rcp() Float32        { return Float32{a.op("rcp.rn.f32", F32)} }
func (a Float32) RcpApprox() Float32  { return Float32{a.op("rcp.approx.f32", F32)} }
func (a Float32) Rsqrt() Float32      { return Float32{a.op("rsqrt.approx.f32", F32)} }
func (a Float32) Ex2() Float32        { return Float32{a.op("ex2.approx.f32", F32)} }
func (a Float32) Lg2() Float32        { return Float32{a.op("lg2.approx.f32", F32)} }
func (a Float32) Tanh() Float32       { return Float32{a.op("tanh.approx.f32", F32)} }
func (a Float32) Sin() Float32        { return Float32{a.op("sin.approx.f32", F32)} }
func (a Float32) Cos() Float32        { return Float32{a.op("cos.approx.f32", F32)} }
func (a Float32) Floor() Float32      { return Float32{a.op("cvt.rmi.f32.f32", F32)} }
func (a Float32) Ceil() Float32       { return Float32{a.op("cvt.rpi.f32.f32", F32)} }
func (a Float32) Trunc() Float32      { return Float32{a.op("cvt.rzi.f32.f32", F32)} }
func (a Float32) RoundEven() Float32  { return Float32{a.op("cvt.rni.f32.f32", F32)} }

// Eq, Ne, Lt, Le, Gt and Ge compare; with NaN only Ne holds.
func (a Float32) Eq(b Float32) Bool { return Bool{a.op("setp.eq.f32", Pred, b.value)} }
func (a Float32) Ne(b Float32) Bool { return Bool{a.op("setp.neu.f32", Pred, b.value)} }
func (a Float32) Lt(b Float32) Bool { return Bool{a.op("setp.lt.f32", Pred, b.value)} }
func (a Float32) Le(b Float32) Bool { return Bool{a.op("setp.le.f32", Pred, b.value)} }
func (a Float32) Gt(b Float32) Bool { return Bool{a.op("setp.gt.f32", Pred, b.value)} }
func (a Float32) Ge(b Float32) Bool { return Bool{a.op("setp.ge.f32", Pred, b.value)} }

// Bits is the number's bits.
func (a Float32) Bits() Bits32 { return Bits32{a.op("mov.b32", B32)} }

// ToF16, ToBF16 and ToTF32 round to nearest, the first two to even and the last away from zero.
func (a Float32) ToF16() Float16   { return Float16{a.op("cvt.rn.f16.f32", B16)} }
func (a Float32) ToBF16() BFloat16 { return BFloat16{a.op("cvt.rn.bf16.f32", B16)} }
func (a Float32) ToTF32() Bits32   { return Bits32{a.op("cvt.rna.tf32.f32", B32)} }

// ToS32, ToU32, ToS8 and ToU8 round to nearest even and saturate; NaN becomes 0.
func (a Float32) ToS32() Int32  { return Int32{a.op("cvt.rni.s32.f32", B32)} }
func (a Float32) ToU32() Uint32 { return Uint32{a.op("cvt.rni.u32.f32", B32)} }
func (a Float32) ToS8() Int32   { return Int32{a.op("cvt.rni.sat.s8.f32", B32)} }
func (a Float32) ToU8() Uint32  { return Uint32{a.op("cvt.rni.sat.u8.f32", B32)} }

// ToS32Trunc rounds toward zero.
func (a Float32) ToS32Trunc() Int32 { return Int32{a.op("cvt.rzi.s32.f32", B32)} }

// PackF16x2 and PackBF16x2 round two numbers to nearest even, a into the lower half.
func (a Float32) PackF16x2(high Float32) Float16x2 {
	return Float16x2{high.op("cvt.rn.f16x2.f32", B32, a.value)}
}
func (a Float32) PackBF16x2(high Float32) BFloat16x2 {
	return BFloat16x2{high.op("cvt.rn.bf16x2.f32", B32, a.value)}
}

// ShflXor, ShflDown and ShflFrom are as those of Uint32.
func (a Float32) ShflXor(mask uint32) Float32 { return Float32{a.shfl("bfly", a.b.U32(mask), 31, F32)} }
func (a Float32) ShflDown(delta uint32) Float32 {
	return Float32{a.shfl("down", a.b.U32(delta), 31, F32)}
}
func (a Float32) ShflFrom(lane Uint32) Float32 { return Float32{a.shfl("idx", lane, 31, F32)} }

// Float64 rounds to nearest even.
func (a Float64) Add(b Float64) Float64    { return Float64{a.op("add.rn.f64", F64, b.value)} }
func (a Float64) Sub(b Float64) Float64    { return Float64{a.op("sub.rn.f64", F64, b.value)} }
func (a Float64) Mul(b Float64) Float64    { return Float64{a.op("mul.rn.f64", F64, b.value)} }
func (a Float64) Div(b Float64) Float64    { return Float64{a.op("div.rn.f64", F64, b.value)} }
func (a Float64) Fma(b, c Float64) Float64 { return Float64{a.op("fma.rn.f64", F64, b.value, c.value)} }
func (a Float64) ToF32() Float32           { return Float32{a.op("cvt.rn.f32.f64", F32)} }
func (a Float32) ToF64() Float64           { return Float64{a.op("cvt.f64.f32", F64)} }
