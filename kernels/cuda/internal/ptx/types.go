package ptx

import "strings"

// Bits is the width of a type in bits: 1 of a predicate, 0 of what is no type.
func (t Type) Bits() int {
	switch t {
	case Pred:
		return 1
	case B8, U8, S8, E4M3, E5M2:
		return 8
	case B16, U16, S16, F16, BF16, "e4m3x2", "e5m2x2":
		return 16
	case B32, U32, S32, F32, F16X2, BF162, TF32, "u16x2", "s16x2":
		return 32
	case B64, U64, S64, F64:
		return 64
	case B128:
		return 128
	}
	return 0
}

// wide is the type of twice the width, as of a mul.wide's result.
func (t Type) wide() Type {
	switch t {
	case U16:
		return U32
	case S16:
		return S32
	case U32:
		return U64
	case S32:
		return S64
	case B32:
		return B64
	}
	return t
}

// isFloat reports whether registers of t hold one floating-point number.
func (t Type) isFloat() bool { return t == F16 || t == BF16 || t == F32 || t == F64 }

// untyped reports whether t says nothing but a width: bit types, and the packed and short ones that are held in them.
func (t Type) untyped() bool {
	switch t {
	case F16X2, BF162, TF32, BF16, E4M3, E5M2, "e4m3x2", "e5m2x2", "u16x2", "s16x2":
		return true
	}
	return strings.HasPrefix(string(t), "b") && t != BF162
}

// agrees reports whether a register of type reg may be an operand of type t (PTX ISA 9.2, "Type information for
// instructions and operands"): same width, and not an integer where a float is meant. With relaxed set, as in ld, st and
// cvt, the register may be wider.
func (t Type) agrees(reg Type, relaxed bool) bool {
	if t == Pred || reg == Pred {
		return t == reg
	}
	if t.Bits() != reg.Bits() {
		return relaxed && reg.Bits() > t.Bits() && !t.isFloat() && !reg.isFloat() && t.Bits() > 0
	}
	return t.untyped() || reg.untyped() || t.isFloat() == reg.isFloat()
}
