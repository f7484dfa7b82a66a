package elementwise

import "github.com/trtui/trtui/core/graph/numeric"

// eval2 evaluates the instruction on two operands, whatever values it names.
func (in intInstr) eval2(x, y int64) int64 {
	in.Arg = [3]int{0, 1, 1}
	return in.eval([]int64{x, y})
}

// intInstr is an instruction on integers.
type intInstr struct {
	Instr
	result   numeric.DataType
	unsigned bool // some operand is U64
}

func (in intInstr) eval(vals []int64) int64 {
	var v [3]int64
	for i := range in.Op.Info().Arity {
		v[i] = vals[in.Arg[i]]
	}
	x, y := v[0], v[1]
	switch in.Op {
	case Const:
		return int64(in.Imm[0])
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div, Mod:
		return in.divide(x, y)
	case Max:
		if in.less(x, y) {
			return y
		}
		return x
	case Min:
		if in.less(y, x) {
			return y
		}
		return x
	case Pow:
		return intPow(x, y)
	case PRelu:
		if in.unsigned || x >= 0 {
			return x
		}
		return x * y
	case Neg:
		return -x
	case Abs:
		if in.unsigned {
			return x
		}
		return max(x, -x)
	case Sign:
		return truth[int64](in.less(0, x)) - truth[int64](in.less(x, 0))
	case Relu:
		if in.unsigned {
			return x
		}
		return max(x, 0)
	case Clamp:
		return max(int64(in.Imm[0]), min(int64(in.Imm[1]), x))
	case Select:
		if x != 0 {
			return y
		}
		return v[2]
	}
	return truth[int64](in.compare(x, y))
}

func (in intInstr) less(x, y int64) bool {
	if in.unsigned {
		return uint64(x) < uint64(y)
	}
	return x < y
}

// divide returns the quotient or remainder, rounded toward 0; 0 where y is 0.
func (in intInstr) divide(x, y int64) int64 {
	switch {
	case y == 0:
		return 0
	case in.unsigned && in.Op == Mod:
		return int64(uint64(x) % uint64(y))
	case in.unsigned:
		return int64(uint64(x) / uint64(y))
	case in.Op == Mod:
		return x % y
	}
	return x / y
}

// intPow returns x to the power y, which is 0 for a negative y but for x of 1 and -1.
func intPow(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1, x == -1 && y%2 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	r := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			r *= x
		}
		x *= x
	}
	return r
}

func (in intInstr) compare(x, y int64) bool {
	switch in.Op {
	case Equal:
		return x == y
	case Less:
		return in.less(x, y)
	case LessEqual:
		return !in.less(y, x)
	case Greater:
		return in.less(y, x)
	case GreaterEqual:
		return !in.less(x, y)
	case And:
		return x != 0 && y != 0
	case Or:
		return x != 0 || y != 0
	case Xor:
		return (x != 0) != (y != 0)
	case Not:
		return x == 0
	}
	panic("elementwise: no integer evaluation for " + in.Op.String())
}
