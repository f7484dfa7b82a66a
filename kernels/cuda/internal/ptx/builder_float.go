package ptx

// AddF is a + b.
func (k *K) AddF(a, b Float) Float { return k.float2("add", "rn.f32", a, b) }

// SubF is a - b.
func (k *K) SubF(a, b Float) Float { return k.float2("sub", "rn.f32", a, b) }

// MulF is a * b, rounded: it is never fused with an addition.
func (k *K) MulF(a, b Float) Float { return k.float2("mul", "rn.f32", a, b) }

// DivF is a / b, correctly rounded.
func (k *K) DivF(a, b Float) Float { return k.float2("div", "rn.f32", a, b) }

// DivApprox is a / b within 2 ulp.
func (k *K) DivApprox(a, b Float) Float { return k.float2("div", "full.f32", a, b) }

// MinF is the smaller of a and b, or the one that is not NaN.
func (k *K) MinF(a, b Float) Float { return k.float2("min", "f32", a, b) }

// MaxF is the larger of a and b, or the one that is not NaN.
func (k *K) MaxF(a, b Float) Float { return k.float2("max", "f32", a, b) }

// MinNaN is the smaller of a and b, NaN if either is.
func (k *K) MinNaN(a, b Float) Float { return k.float2("min", "NaN.f32", a, b) }

// MaxNaN is the larger of a and b, NaN if either is.
func (k *K) MaxNaN(a, b Float) Float { return k.float2("max", "NaN.f32", a, b) }

func (k *K) float2(op, mod string, a, b Float) Float {
	d := k.float()
	k.emit(op, mods(mod), d.op, a.op, b.op)
	return d
}

// Fma is a*b + c, rounded once.
func (k *K) Fma(a, b, c Float) Float {
	d := k.float()
	k.emit("fma", mods("rn.f32"), d.op, a.op, b.op, c.op)
	return d
}

// FmaTo adds a*b to d, a variable.
func (k *K) FmaTo(d, a, b Float) { k.emit("fma", mods("rn.f32"), d.op, a.op, b.op, d.op) }

// AbsF is |a|.
func (k *K) AbsF(a Float) Float { return k.float1("abs", "f32", a) }

// NegF is -a.
func (k *K) NegF(a Float) Float { return k.float1("neg", "f32", a) }

// Sqrt is the square root of a, correctly rounded.
func (k *K) Sqrt(a Float) Float { return k.float1("sqrt", "rn.f32", a) }

// Rcp is 1/a, correctly rounded; RcpApprox within 1 ulp.
func (k *K) Rcp(a Float) Float       { return k.float1("rcp", "rn.f32", a) }
func (k *K) RcpApprox(a Float) Float { return k.float1("rcp", "approx.f32", a) }

// Ex2 is 2^a within 2 ulp, Lg2 the binary logarithm of a. Ex2Flush is Ex2 with zeros for what is smaller than normal numbers
// are, which the hardware does in one instruction.
func (k *K) Ex2(a Float) Float      { return k.float1("ex2", "approx.f32", a) }
func (k *K) Ex2Flush(a Float) Float { return k.float1("ex2", "approx.ftz.f32", a) }
func (k *K) Lg2(a Float) Float      { return k.float1("lg2", "approx.f32", a) }

// SinApprox and CosApprox are good to 2^-20 between -pi and pi.
func (k *K) SinApprox(a Float) Float { return k.float1("sin", "approx.f32", a) }
func (k *K) CosApprox(a Float) Float { return k.float1("cos", "approx.f32", a) }

// Floor, Ceil, Trunc and Round (half to even) are a as a whole number.
func (k *K) Floor(a Float) Float { return k.float1("cvt", "rmi.f32.f32", a) }
func (k *K) Ceil(a Float) Float  { return k.float1("cvt", "rpi.f32.f32", a) }
func (k *K) Trunc(a Float) Float { return k.float1("cvt", "rzi.f32.f32", a) }
func (k *K) Round(a Float) Float { return k.float1("cvt", "rni.f32.f32", a) }

// CopySign is the magnitude of a with the sign of s.
func (k *K) CopySign(s, a Float) Float { return k.float2("copysign", "f32", s, a) }

func (k *K) float1(op, mod string, a Float) Float {
	d := k.float()
	k.emit(op, mods(mod), d.op, a.op)
	return d
}

// IntToFloat is a, exactly below 2^24, else rounded.
func (k *K) IntToFloat(a Int) Float {
	d := k.float()
	k.emit("cvt", mods("rn.f32.s32"), d.op, a.op)
	return d
}

// UintToFloat is a, exactly below 2^24, else rounded.
func (k *K) UintToFloat(a Uint) Float {
	d := k.float()
	k.emit("cvt", mods("rn.f32.u32"), d.op, a.op)
	return d
}

// FloatToInt is a rounded half to even and saturated; 0 of NaN.
func (k *K) FloatToInt(a Float) Int {
	d := k.word()
	k.emit("cvt", mods("rni.s32.f32"), d.op, a.op)
	return Int{d}
}

// Saturate4 packs four integers as bytes, the first lowest, each saturated: to -128..127 if signed, else 0..255.
func (k *K) Saturate4(q [4]Int, signed bool) Word {
	to := "u8"
	if signed {
		to = "s8"
	}
	high, all := k.word(), k.word()
	k.emit("cvt.pack", mods("sat."+to+".s32.b32"), high.op, q[3].op, q[2].op, W(0).op)
	k.emit("cvt.pack", mods("sat."+to+".s32.b32"), all.op, q[1].op, q[0].op, high.op)
	return Word{all}
}

// Bits is a's bits, and FloatOf the float of such bits.
func (k *K) Bits(a Float) Word {
	d := k.word()
	k.emit("mov", mods("b32"), d.op, a.op)
	return Word{d}
}

// FloatOf is the float that has the bits of w.
func (k *K) FloatOf(w Word) Float {
	if n, ok := w.Constant(); ok {
		return Float{immediate(n, 32)}
	}
	d := k.float()
	k.emit("mov", mods("b32"), d.op, w.op)
	return d
}

// PackHalves is two floats rounded to halves, lo in the lower one.
func (k *K) PackHalves(lo, hi Float) Word {
	d := k.word()
	k.emit("cvt", mods("rn.f16x2.f32"), d.op, hi.op, lo.op)
	return Word{d}
}

// UnpackHalves is the two halves of w, the lower one first.
func (k *K) UnpackHalves(w Word) (lo, hi Float) {
	a, b := k.half(), k.half()
	k.emit("mov", mods("b32"), Operand{Kind: VectorOperand, Vec: []Operand{a.op, b.op}}, w.op)
	return k.HalfToFloat(a), k.HalfToFloat(b)
}

// HalfToFloat is a, exactly.
func (k *K) HalfToFloat(a Half) Float {
	d := k.float()
	k.emit("cvt", mods("f32.f16"), d.op, a.op)
	return d
}

// FloatToHalf is a rounded half to even.
func (k *K) FloatToHalf(a Float) Half {
	d := k.half()
	k.emit("cvt", mods("rn.f16.f32"), d.op, a.op)
	return d
}

// HalfToUint is a half's bits, and UintToHalf the half of the lower 16 bits.
func (k *K) HalfToUint(a Half) Uint {
	d := k.word()
	k.emit("cvt", mods("u32.u16"), d.op, a.op)
	return Uint{d}
}

// UintToHalf is the half that has the lower 16 bits of a.
func (k *K) UintToHalf(a Uint) Half {
	d := k.half()
	k.emit("cvt", mods("u16.u32"), d.op, a.op)
	return d
}
