package elementwise

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
	Op  Op
	Arg [3]int     // earlier values; how many count is Op's arity
	Imm [2]float32 // parameters, such as Clamp's bounds; how many count is Op's
}

// Op is an element-wise operation. Comparisons and logic give 1 for true and 0 for false.
type Op uint8

// The element-wise operations; x, y, z are the arguments and a, b the immediates.
const (
	Const Op = iota // a
	Add
	Sub
	Mul
	Div
	Max // NaN if either is
	Min // NaN if either is
	Pow
	Mod   // C's fmod: the sign of x
	PRelu // x >= 0 ? x : y*x
	Neg
	Abs
	Sign
	Relu
	Clamp // max(a, min(b, x))
	Sqrt
	Reciprocal
	Exp
	Log
	Sin
	Cos
	Tanh
	Erf
	Sigmoid
	Floor
	Ceil
	Round       // half to even
	Silu        // x * sigmoid(x)
	Gelu        // x * (1 + erf(x/sqrt 2)) / 2
	GeluTanh    // the tanh approximation of Gelu
	HardSigmoid // max(0, min(1, a*x + b))
	HardSwish   // x * max(0, min(1, x/6 + 1/2))
	LeakyRelu   // x >= 0 ? x : a*x
	Elu         // x >= 0 ? x : a*(exp(x)-1)
	Selu        // b * (x >= 0 ? x : a*(exp(x)-1))
	Softplus    // log(1 + exp(x))
	Softsign    // x / (1 + |x|)
	Equal
	Less
	LessEqual
	Greater
	GreaterEqual
	And
	Or
	Xor
	Not
	Select // x != 0 ? y : z
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Asinh
	Acosh
	Atanh
	ops
)

// Info says how an operation reads and prints.
type Info struct {
	Name  string
	Arity int // values read from Arg
	Imms  int // immediates read from Imm
}

var infos = [ops]Info{
	Const: {"const", 0, 1}, Add: {"add", 2, 0}, Sub: {"sub", 2, 0}, Mul: {"mul", 2, 0}, Div: {"div", 2, 0},
	Max: {"max", 2, 0}, Min: {"min", 2, 0}, Pow: {"pow", 2, 0}, Mod: {"mod", 2, 0}, PRelu: {"prelu", 2, 0},
	Neg: {"neg", 1, 0}, Abs: {"abs", 1, 0}, Sign: {"sign", 1, 0}, Relu: {"relu", 1, 0}, Clamp: {"clamp", 1, 2},
	Sqrt: {"sqrt", 1, 0}, Reciprocal: {"reciprocal", 1, 0}, Exp: {"exp", 1, 0}, Log: {"log", 1, 0},
	Sin: {"sin", 1, 0}, Cos: {"cos", 1, 0}, Tanh: {"tanh", 1, 0}, Erf: {"erf", 1, 0}, Sigmoid: {"sigmoid", 1, 0},
	Floor: {"floor", 1, 0}, Ceil: {"ceil", 1, 0}, Round: {"round", 1, 0}, Silu: {"silu", 1, 0}, Gelu: {"gelu", 1, 0},
	GeluTanh: {"gelu_tanh", 1, 0}, HardSigmoid: {"hard_sigmoid", 1, 2}, HardSwish: {"hard_swish", 1, 0},
	LeakyRelu: {"leaky_relu", 1, 1}, Elu: {"elu", 1, 1}, Selu: {"selu", 1, 2}, Softplus: {"softplus", 1, 0},
	Softsign: {"softsign", 1, 0}, Equal: {"equal", 2, 0}, Less: {"less", 2, 0}, LessEqual: {"less_equal", 2, 0},
	Greater: {"greater", 2, 0}, GreaterEqual: {"greater_equal", 2, 0}, And: {"and", 2, 0}, Or: {"or", 2, 0},
	Xor: {"xor", 2, 0}, Not: {"not", 1, 0}, Select: {"select", 3, 0},
	Tan: {"tan", 1, 0}, Asin: {"asin", 1, 0}, Acos: {"acos", 1, 0}, Atan: {"atan", 1, 0}, Sinh: {"sinh", 1, 0},
	Cosh: {"cosh", 1, 0}, Asinh: {"asinh", 1, 0}, Acosh: {"acosh", 1, 0}, Atanh: {"atanh", 1, 0},
}

// Info returns what is known of o; a zero Info for an unknown operation.
func (o Op) Info() Info {
	if o < ops {
		return infos[o]
	}
	return Info{}
}

func (o Op) String() string { return o.Info().Name }

// MarshalText writes the operation's name.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads an operation's name.
func (o *Op) UnmarshalText(b []byte) error {
	for i, info := range infos {
		if info.Name == string(b) {
			*o = Op(i)
			return nil
		}
	}
	return fmt.Errorf("unknown element-wise operation %q", b)
}

// Of returns the program of one operation on as many arguments as it takes. What it does not read is zero, so that equal programs are alike.
func Of(op Op, imm ...float32) Program {
	in := Instr{Op: op}
	for i := range op.Info().Arity {
		in.Arg[i] = i
	}
	copy(in.Imm[:], imm)
	return Program{Args: op.Info().Arity, Code: []Instr{in}}
}

// Unary returns the program of one operation on one argument.
func Unary(op Op, imm ...float32) Program { return Of(op, imm...) }

// Binary returns the program of one operation on two arguments.
func Binary(op Op) Program { return Of(op) }

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
		if in.Op >= ops {
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
		case Add, Sub, Mul, Relu, Clamp, Max, Min, Neg,
			Abs, Sign, Tanh, Erf, Sigmoid, Silu, Gelu,
			GeluTanh, HardSigmoid, HardSwish, LeakyRelu, PRelu, Softsign:
		case Const:
			if f := float64(in.Imm[0]); math.IsNaN(f) || math.IsInf(f, 0) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// Operations returns how many operations of a program each element takes.
func (p Program) Operations() (n int64) {
	for _, in := range p.Code {
		if in.Op != Const {
			n++
		}
	}
	return n
}
