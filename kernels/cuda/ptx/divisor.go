package ptx

import "math/bits"

// Divisor divides by a number that the kernel does not change: by a product with its reciprocal instead of a division
// (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994).
type Divisor struct{ d, m, s Uint32 }

// Reciprocal is what the host computes for a divisor d from 1 to 2^31: n/d is the upper word of 2n*m, shifted right by s,
// for all n below 2^31.
func Reciprocal(d uint32) (m, s uint32) {
	s = uint32(bits.Len32(d - 1)) // 2^(s-1) < d <= 2^s
	return uint32((uint64(1)<<(31+s) + uint64(d) - 1) / uint64(d)), s
}

// Divisor is that of a constant.
func (b *Builder) Divisor(d uint32) Divisor {
	if d == 0 || d > 1<<31 {
		b.fail("a divisor is between 1 and 2^31, not %d", d)
		d = 1
	}
	m, s := Reciprocal(d)
	return Divisor{b.U32(d), b.U32(m), b.U32(s)}
}

// ParamDivisor declares three parameters: name, a number from 1 to 2^31, and name_m and name_s, its Reciprocal.
func (b *Builder) ParamDivisor(name string) Divisor {
	return Divisor{b.ParamU32(name), b.ParamU32(name + "_m"), b.ParamU32(name + "_s")}
}

// DivBy is the quotient of n below 2^31: three instructions, or for a constant power of two one.
func (n Uint32) DivBy(d Divisor) Uint32 {
	if c := d.d.o; c.Kind == ImmOperand && c.Imm&(c.Imm-1) == 0 {
		return n.ShrBy(d.s)
	}
	return n.Shl(1).MulHi(d.m).ShrBy(d.s)
}

// DivMod is quotient and rest of n below 2^31.
func (n Uint32) DivMod(d Divisor) (quotient, rest Uint32) {
	quotient = n.DivBy(d)
	return quotient, n.Sub(quotient.Mul(d.d))
}

// Swizzle spreads rows over the banks of shared memory, so that the eight rows that LdMatrix reads at once, or the stores
// that fill them, do not meet: it exchanges chunks of 16 bytes within spans of 32, 64 or 128, by the bits of the address
// from bit 7 on. The offset is from a multiple of 8 spans. It is its own inverse.
func Swizzle(offset, span uint32) uint32 { return offset ^ offset>>3&(span-16) }

// Swizzle is Swizzle of an offset in the kernel: two instructions.
func (n Uint32) Swizzle(span uint32) Uint32 {
	const andXor = 0xF0&0xCC ^ 0xAA
	return n.Shr(3).Bits().Lop3(n.b.B32(span-16), n.Bits(), andXor).Uint()
}
