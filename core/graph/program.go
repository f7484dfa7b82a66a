package graph

import (
	"fmt"
	"math"
)

// Program is an element-wise expression over float32, in single-assignment form: values 0 to Args-1 are its
// arguments, and each instruction defines the next value. Its result is the last value. The empty program over one
// argument is the identity.
//
// It is the one form of element-wise work: what follows a convolution (its epilogue, where argument 0 is the
// convolution's own result), a fused region of activations, and a single Relu are all Programs, and every backend
// and Eval read this type. An argument is a tensor broadcast to the result's shape as ONNX broadcasts.
type Program struct {
	Args int
	Code []Instr
}

// Instr computes one value from earlier ones.
type Instr struct {
	Op  EltOp
	Arg [3]int     // earlier values; how many count is Op's arity
	Imm [2]float32 // parameters, such as Clamp's bounds; how many count is Op's
}

// EltOp is an element-wise operation. Comparisons and logic give 1 for true and 0 for false.
type EltOp uint8

// The element-wise operations; x, y, z are the arguments and a, b the immediates.
const (
	EltConst EltOp = iota // a
	EltAdd
	EltSub
	EltMul
	EltDiv
	EltMax // NaN if either is
	EltMin // NaN if either is
	EltPow
	EltMod   // C's fmod: the sign of x
	EltPRelu // x >= 0 ? x : y*x
	EltNeg
	EltAbs
	EltSign
	EltRelu
	EltClamp // max(a, min(b, x))
	EltSqrt
	EltReciprocal
	EltExp
	EltLog
	EltSin
	EltCos
	EltTanh
	EltErf
	EltSigmoid
	EltFloor
	EltCeil
	EltRound       // half to even
	EltSilu        // x * sigmoid(x)
	EltGelu        // x * (1 + erf(x/sqrt 2)) / 2
	EltGeluTanh    // the tanh approximation of Gelu
	EltHardSigmoid // max(0, min(1, a*x + b))
	EltHardSwish   // x * max(0, min(1, x/6 + 1/2))
	EltLeakyRelu   // x >= 0 ? x : a*x
	EltElu         // x >= 0 ? x : a*(exp(x)-1)
	EltSelu        // b * (x >= 0 ? x : a*(exp(x)-1))
	EltSoftplus    // log(1 + exp(x))
	EltSoftsign    // x / (1 + |x|)
	EltEqual
	EltLess
	EltLessEqual
	EltGreater
	EltGreaterEqual
	EltAnd
	EltOr
	EltXor
	EltNot
	EltSelect // x != 0 ? y : z
	EltTan
	EltAsin
	EltAcos
	EltAtan
	EltSinh
	EltCosh
	EltAsinh
	EltAcosh
	EltAtanh
	eltOps
)

// EltInfo says how an operation reads and prints.
type EltInfo struct {
	Name  string
	Arity int // values read from Arg
	Imms  int // immediates read from Imm
}

var eltInfos = [eltOps]EltInfo{
	EltConst: {"const", 0, 1}, EltAdd: {"add", 2, 0}, EltSub: {"sub", 2, 0}, EltMul: {"mul", 2, 0}, EltDiv: {"div", 2, 0},
	EltMax: {"max", 2, 0}, EltMin: {"min", 2, 0}, EltPow: {"pow", 2, 0}, EltMod: {"mod", 2, 0}, EltPRelu: {"prelu", 2, 0},
	EltNeg: {"neg", 1, 0}, EltAbs: {"abs", 1, 0}, EltSign: {"sign", 1, 0}, EltRelu: {"relu", 1, 0}, EltClamp: {"clamp", 1, 2},
	EltSqrt: {"sqrt", 1, 0}, EltReciprocal: {"reciprocal", 1, 0}, EltExp: {"exp", 1, 0}, EltLog: {"log", 1, 0},
	EltSin: {"sin", 1, 0}, EltCos: {"cos", 1, 0}, EltTanh: {"tanh", 1, 0}, EltErf: {"erf", 1, 0}, EltSigmoid: {"sigmoid", 1, 0},
	EltFloor: {"floor", 1, 0}, EltCeil: {"ceil", 1, 0}, EltRound: {"round", 1, 0}, EltSilu: {"silu", 1, 0}, EltGelu: {"gelu", 1, 0},
	EltGeluTanh: {"gelu_tanh", 1, 0}, EltHardSigmoid: {"hard_sigmoid", 1, 2}, EltHardSwish: {"hard_swish", 1, 0},
	EltLeakyRelu: {"leaky_relu", 1, 1}, EltElu: {"elu", 1, 1}, EltSelu: {"selu", 1, 2}, EltSoftplus: {"softplus", 1, 0},
	EltSoftsign: {"softsign", 1, 0}, EltEqual: {"equal", 2, 0}, EltLess: {"less", 2, 0}, EltLessEqual: {"less_equal", 2, 0},
	EltGreater: {"greater", 2, 0}, EltGreaterEqual: {"greater_equal", 2, 0}, EltAnd: {"and", 2, 0}, EltOr: {"or", 2, 0},
	EltXor: {"xor", 2, 0}, EltNot: {"not", 1, 0}, EltSelect: {"select", 3, 0},
	EltTan: {"tan", 1, 0}, EltAsin: {"asin", 1, 0}, EltAcos: {"acos", 1, 0}, EltAtan: {"atan", 1, 0}, EltSinh: {"sinh", 1, 0},
	EltCosh: {"cosh", 1, 0}, EltAsinh: {"asinh", 1, 0}, EltAcosh: {"acosh", 1, 0}, EltAtanh: {"atanh", 1, 0},
}

// Info returns what is known of o; a zero EltInfo for an unknown operation.
func (o EltOp) Info() EltInfo {
	if o < eltOps {
		return eltInfos[o]
	}
	return EltInfo{}
}

func (o EltOp) String() string { return o.Info().Name }

// MarshalText writes the operation's name.
func (o EltOp) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads an operation's name.
func (o *EltOp) UnmarshalText(b []byte) error {
	for i, info := range eltInfos {
		if info.Name == string(b) {
			*o = EltOp(i)
			return nil
		}
	}
	return fmt.Errorf("unknown element-wise operation %q", b)
}

// Unary returns the program of one operation on one argument.
func Unary(op EltOp, imm ...float32) Program {
	in := Instr{Op: op}
	copy(in.Imm[:], imm)
	return Program{Args: 1, Code: []Instr{in}}
}

// Binary returns the program of one operation on two arguments.
func Binary(op EltOp) Program { return Program{Args: 2, Code: []Instr{{Op: op, Arg: [3]int{0, 1}}}} }

// IsIdentity reports whether p returns its only argument.
func (p Program) IsIdentity() bool { return len(p.Code) == 0 }

// Result returns the index of the value that is p's result.
func (p Program) Result() int { return max(0, p.Args+len(p.Code)-1) }

// Then returns the program that applies next to p's result as next's argument at, the other arguments of next
// becoming new arguments behind p's, in order.
func (p Program) Then(next Program, at int) Program {
	args := p.Args + next.Args - 1
	r := Program{Args: args, Code: make([]Instr, 0, len(p.Code)+len(next.Code))}
	shift := func(v int) int { // a value of p in the new numbering
		if v >= p.Args {
			v += args - p.Args
		}
		return v
	}
	for _, in := range p.Code {
		r.Code = append(r.Code, in.renumber(shift))
	}
	base := args + len(p.Code)
	for _, in := range next.Code {
		r.Code = append(r.Code, in.renumber(func(v int) int {
			switch {
			case v >= next.Args:
				return base + v - next.Args
			case v == at:
				return shift(p.Result())
			case v > at:
				v--
			}
			return p.Args + v
		}))
	}
	return r
}

func (in Instr) renumber(f func(int) int) Instr {
	for i := range in.Op.Info().Arity {
		in.Arg[i] = f(in.Arg[i])
	}
	return in
}

// Check returns an error where p reads a value that is not defined before, or has an unknown operation.
func (p Program) Check() error {
	if p.Args < 0 || len(p.Code) == 0 && p.Args != 1 && p.Args != 0 {
		return fmt.Errorf("program of %d arguments has no result", p.Args)
	}
	for i, in := range p.Code {
		if in.Op >= eltOps {
			return fmt.Errorf("instruction %d: unknown operation %d", i, in.Op)
		}
		for _, a := range in.Arg[:in.Op.Info().Arity] {
			if a < 0 || a >= p.Args+i {
				return fmt.Errorf("instruction %d: %s reads value %d before it is defined", i, in.Op, a)
			}
		}
	}
	return nil
}

// StaysFinite reports whether a program of finite arguments of common size has a finite result.
func (p Program) StaysFinite() bool {
	for _, in := range p.Code {
		switch in.Op {
		case EltAdd, EltSub, EltMul, EltRelu, EltClamp, EltMax, EltMin, EltNeg,
			EltAbs, EltSign, EltTanh, EltErf, EltSigmoid, EltSilu, EltGelu,
			EltGeluTanh, EltHardSigmoid, EltHardSwish, EltLeakyRelu, EltPRelu, EltSoftsign:
		case EltConst:
			if f := float64(in.Imm[0]); math.IsNaN(f) || math.IsInf(f, 0) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
