package ptx

import (
	"math"
	"math/bits"
)

// word2 emits an instruction of two words to a word.
func (k *K) word2(op, mod string, a, b value) value {
	d := k.word()
	k.emit(op, mods(mod), d.op, a.op, b.op)
	return d
}

// mods splits modifiers: "lo.u32".
func mods(text string) []string {
	var list []string
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && text[end] != '.' {
			end++
		}
		list = append(list, text[at:end])
		at = end + 1
	}
	return list
}

// folded returns f of two immediates, where both are.
func folded(a, b Uint, f func(a, b uint32) uint32) (Uint, bool) {
	x, ok1 := a.Constant()
	y, ok2 := b.Constant()
	if !ok1 || !ok2 {
		return Uint{}, false
	}
	return U(int(f(uint32(x), uint32(y)))), true
}

// is reports whether v is the immediate n.
func (v value) is(n int64) bool {
	c, ok := v.Constant()
	return ok && c == n
}

// Add is a + b.
func (k *K) Add(a, b Uint) Uint {
	if c, ok := folded(a, b, func(a, b uint32) uint32 { return a + b }); ok {
		return c
	}
	switch {
	case a.is(0):
		return b
	case b.is(0):
		return a
	}
	return Uint{k.word2("add", "u32", k.inRegister(a.value, b.value), b.value)}
}

// Sub is a - b.
func (k *K) Sub(a, b Uint) Uint {
	if b.is(0) {
		return a
	}
	return Uint{k.word2("sub", "u32", k.inRegister(a.value, b.value), b.value)}
}

// Mul is the low word of a * b.
func (k *K) Mul(a, b Uint) Uint {
	if c, ok := folded(a, b, func(a, b uint32) uint32 { return a * b }); ok {
		return c
	}
	if _, ok := a.Constant(); ok {
		a, b = b, a
	}
	if n, ok := b.Constant(); ok {
		switch {
		case n == 0:
			return U(0)
		case n == 1:
			return a
		case n&(n-1) == 0:
			return k.Shl(a, bits.TrailingZeros32(uint32(n)))
		}
	}
	return Uint{k.word2("mul", "lo.u32", a.value, b.value)}
}

// Mad is the low word of a*b + c.
func (k *K) Mad(a, b, c Uint) Uint {
	_, ac := a.Constant()
	n, bc := b.Constant()
	if ac || c.is(0) || bc && (n&(n-1) == 0) {
		return k.Add(k.Mul(a, b), c)
	}
	d := k.word()
	k.emit("mad", mods("lo.u32"), d.op, a.op, b.op, c.op)
	return Uint{d}
}

// MulHi is the high word of a * b.
func (k *K) MulHi(a, b Uint) Uint { return Uint{k.word2("mul", "hi.u32", a.value, b.value)} }

// Shl is a << n.
func (k *K) Shl(a Uint, n int) Uint {
	if c, ok := a.Constant(); ok {
		return U(int(uint32(c) << n))
	}
	if n == 0 {
		return a
	}
	return Uint{k.word2("shl", "b32", a.value, U(n).value)}
}

// Shr is a >> n.
func (k *K) Shr(a Uint, n int) Uint {
	if c, ok := a.Constant(); ok {
		return U(int(uint32(c) >> n))
	}
	if n == 0 {
		return a
	}
	return Uint{k.word2("shr", "u32", a.value, U(n).value)}
}

// And is a & b.
func (k *K) And(a, b Uint) Uint {
	if c, ok := folded(a, b, func(a, b uint32) uint32 { return a & b }); ok {
		return c
	}
	return Uint{k.word2("and", "b32", k.inRegister(a.value, b.value), b.value)}
}

// Or is a | b.
func (k *K) Or(a, b Uint) Uint {
	return Uint{k.word2("or", "b32", k.inRegister(a.value, b.value), b.value)}
}

// Xor is a ^ b.
func (k *K) Xor(a, b Uint) Uint {
	if c, ok := folded(a, b, func(a, b uint32) uint32 { return a ^ b }); ok {
		return c
	}
	return Uint{k.word2("xor", "b32", k.inRegister(a.value, b.value), b.value)}
}

// Min is the smaller of a and b.
func (k *K) Min(a, b Uint) Uint {
	return Uint{k.word2("min", "u32", k.inRegister(a.value, b.value), b.value)}
}

// Max is the larger of a and b.
func (k *K) Max(a, b Uint) Uint {
	return Uint{k.word2("max", "u32", k.inRegister(a.value, b.value), b.value)}
}

// inRegister moves a into a register where both operands would be immediates.
func (k *K) inRegister(a, b value) value {
	if _, ok := a.Constant(); !ok {
		return a
	}
	if _, ok := b.Constant(); !ok {
		return a
	}
	d := k.word()
	k.emit("mov", mods("b32"), d.op, a.op)
	return d
}

// Div is a / n for a below 2^31, by multiplication (Granlund and Montgomery, "Division by Invariant Integers using
// Multiplication", 1994, for 31-bit dividends).
func (k *K) Div(a Uint, n int) Uint {
	if n <= 0 {
		panic("ptx: division by a number that is not positive")
	}
	if c, ok := a.Constant(); ok {
		return U(int(c) / n)
	}
	if n&(n-1) == 0 {
		return k.Shr(a, bits.TrailingZeros(uint(n)))
	}
	factor, shift := reciprocal(n)
	return k.Shr(k.MulHi(a, U(int(factor))), shift)
}

// reciprocal returns m and s such that a/n = a*m >> (32+s) for all a below 2^31.
func reciprocal(n int) (m uint32, s int) {
	s = bits.Len(uint(n-1)) - 1
	return uint32((uint64(1)<<(32+s) + uint64(n) - 1) / uint64(n)), s
}

// Rem is a % n, given the quotient a / n.
func (k *K) Rem(a, quotient Uint, n int) Uint {
	if n&(n-1) == 0 {
		return k.And(a, U(n-1))
	}
	return k.Sub(a, k.Mul(quotient, U(n)))
}

// DivRem is a / n and a % n for a below 2^31.
func (k *K) DivRem(a Uint, n int) (quotient, rest Uint) {
	if n == 1 {
		return a, U(0)
	}
	quotient = k.Div(a, n)
	return quotient, k.Rem(a, quotient, n)
}

// AddS is a + b.
func (k *K) AddS(a, b Int) Int {
	if b.is(0) {
		return a
	}
	return Int{k.word2("add", "s32", k.inRegister(a.value, b.value), b.value)}
}

// AddSaturated is a + b, kept within 32 bits.
func (k *K) AddSaturated(a, b Int) Int {
	if b.is(0) {
		return a
	}
	return Int{k.word2("add", "sat.s32", k.inRegister(a.value, b.value), b.value)}
}

// SubS is a - b.
func (k *K) SubS(a, b Int) Int {
	if b.is(0) {
		return a
	}
	return Int{k.word2("sub", "s32", k.inRegister(a.value, b.value), b.value)}
}

// MulS is the low word of a * b.
func (k *K) MulS(a, b Int) Int {
	return Int{k.word2("mul", "lo.s32", k.inRegister(a.value, b.value), b.value)}
}

// MadS is the low word of a*b + c.
func (k *K) MadS(a, b, c Int) Int {
	d := k.word()
	k.emit("mad", mods("lo.s32"), d.op, a.op, b.op, c.op)
	return Int{d}
}

// MinS is the smaller of a and b.
func (k *K) MinS(a, b Int) Int {
	return Int{k.word2("min", "s32", k.inRegister(a.value, b.value), b.value)}
}

// MaxS is the larger of a and b.
func (k *K) MaxS(a, b Int) Int {
	return Int{k.word2("max", "s32", k.inRegister(a.value, b.value), b.value)}
}

// ShrS is a >> n, keeping the sign.
func (k *K) ShrS(a Int, n int) Int { return Int{k.word2("shr", "s32", a.value, U(n).value)} }

// Dp4aSigned adds to c the products of a's four signed bytes with b's.
func (k *K) Dp4aSigned(a, b Word, c Int) Int { return k.dp4a("s32.s32", a, b, c) }

// Dp4aUnsigned adds to c the products of a's four unsigned bytes with b's signed ones.
func (k *K) Dp4aUnsigned(a, b Word, c Int) Int { return k.dp4a("u32.s32", a, b, c) }

func (k *K) dp4a(types string, a, b Word, c Int) Int {
	d := k.word()
	k.emit("dp4a", mods(types), d.op, a.op, b.op, c.op)
	return Int{d}
}

// Prmt picks bytes of a (0 to 3) and b (4 to 7), the lowest first, by the nibbles of selector; 8 in a nibble takes the
// byte's sign bit instead.
func (k *K) Prmt(a, b Word, selector uint32) Word {
	d := k.word()
	k.emit("prmt", mods("b32"), d.op, a.op, b.op, W(selector).op)
	return Word{d}
}

// BfeS is the signed field of length bits of a that begins at bit start.
func (k *K) BfeS(a Word, start, length int) Int {
	d := k.word()
	k.emit("bfe", mods("s32"), d.op, a.op, U(start).op, U(length).op)
	return Int{d}
}

// Bfe is the unsigned field of length bits of a that begins at bit start.
func (k *K) Bfe(a Word, start, length int) Uint {
	d := k.word()
	k.emit("bfe", mods("u32"), d.op, a.op, U(start).op, U(length).op)
	return Uint{d}
}

// Offset is the address p + index*scale bytes: the product has 64 bits.
func (k *K) Offset(p GlobalPtr, index Uint, scale int) GlobalPtr {
	if n, ok := index.Constant(); ok {
		return p.At(int(n) * scale)
	}
	if uint64(scale) > math.MaxUint32 { // which is no operand of 32 bits
		return GlobalPtr{k.AddL(p.Long, k.MulL(k.LongOfUint(index), L(int64(scale)))), p.off}
	}
	d := k.long()
	k.emit("mad", mods("wide.u32"), d.op, index.op, U(scale).op, p.op)
	return GlobalPtr{d, p.off}
}

// OffsetS is the address p + index*scale bytes for a signed index and a scale of 31 bits.
func (k *K) OffsetS(p GlobalPtr, index Int, scale int) GlobalPtr {
	d := k.long()
	k.emit("mad", mods("wide.s32"), d.op, index.op, U(scale).op, p.op)
	return GlobalPtr{d, p.off}
}

// Advanced is the address p + bytes in a register of its own.
func (k *K) Advanced(p GlobalPtr, bytes int) GlobalPtr {
	if bytes == 0 {
		return p
	}
	d := GlobalPtr{k.long(), 0}
	k.SetGlobal(d, p.At(bytes))
	return d
}

// OffsetShared is the address p + index*scale bytes.
func (k *K) OffsetShared(p SharedPtr, index Uint, scale int) SharedPtr {
	if n, ok := index.Constant(); ok {
		return p.At(int(n) * scale)
	}
	return SharedPtr{k.Mad(index, U(scale), p.Uint), p.off}
}
