package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// composed lists the ONNX operators that import as a program of several operations, or of a varying number of
// arguments. Each returns the program and its inputs. Where the program can be one operation, that is named, too.
var composed = []struct {
	name    string
	single  EltOp
	program func(n *Node) (Program, []*Tensor, error)
}{
	{"Celu", 0, celu}, {"Clip", EltClamp, clip}, {"Gelu", EltGelu, gelu}, {"IsInf", 0, isInf}, {"IsNaN", 0, isNaN},
	{"Max", EltMax, variadic(EltMax)}, {"Mean", 0, mean}, {"Min", EltMin, variadic(EltMin)}, {"Mish", 0, mish},
	{"Mod", EltMod, mod}, {"Shrink", 0, shrink}, {"Sum", 0, variadic(EltAdd)}, {"Swish", EltSilu, swish},
	{"ThresholdedRelu", 0, thresholdedRelu},
}

// programBuilder appends instructions and numbers their values.
type programBuilder struct{ p Program }

func newProgram(args int) *programBuilder { return &programBuilder{Program{Args: args}} }

// do appends an operation and returns its value.
func (b *programBuilder) do(op EltOp, args ...int) int {
	in := Instr{Op: op}
	copy(in.Arg[:], args)
	b.p.Code = append(b.p.Code, in)
	return b.p.Result()
}

func (b *programBuilder) constant(v float32) int {
	b.p.Code = append(b.p.Code, Instr{Op: EltConst, Imm: [2]float32{v}})
	return b.p.Result()
}

// variadic folds any number of inputs by a binary operation, from the left.
func variadic(op EltOp) func(n *Node) (Program, []*Tensor, error) {
	return func(n *Node) (Program, []*Tensor, error) {
		b := newProgram(len(n.Inputs))
		acc := 0
		for i := 1; i < len(n.Inputs); i++ {
			acc = b.do(op, acc, i)
		}
		return b.p, n.Inputs, nil
	}
}

func mean(n *Node) (Program, []*Tensor, error) {
	p, inputs, err := variadic(EltAdd)(n)
	b := &programBuilder{p}
	sum := p.Result()
	b.do(EltDiv, sum, b.constant(float32(len(inputs))))
	return b.p, inputs, err
}

// clip is max(min, x) then min(max, x), either of which may be missing. Constant bounds of real numbers become
// immediates: a Clamp, or a Relu if the only bound is 0 from below. Before opset 11 the bounds are attributes.
func clip(n *Node) (Program, []*Tensor, error) {
	if n.Version < 11 && len(n.Inputs) == 1 {
		// The attributes' defaults, float32's limits, are taken as no bounds: they bound nothing but infinities.
		inf := float32(math.Inf(1))
		return clampTo(n.Float("min", -inf), n.Float("max", inf)), n.Inputs, nil
	}
	x, lo, hi := n.Input(0), n.Input(1), n.Input(2)
	a, okA := clipBound(lo, math.Inf(-1))
	b, okB := clipBound(hi, math.Inf(1))
	if okA && okB && x.RealType() != numeric.F64 && !x.RealType().IsInteger() {
		return clampTo(a, b), n.Inputs[:1], nil
	}
	build := newProgram(1)
	inputs := []*Tensor{x}
	for _, bound := range []struct {
		op EltOp
		t  *Tensor
	}{{EltMax, lo}, {EltMin, hi}} {
		if bound.t != nil {
			next := newProgram(2)
			next.do(bound.op, 0, 1)
			build.p = build.p.Then(next.p, 0)
			inputs = append(inputs, bound.t)
		}
	}
	return build.p, inputs, nil
}

// clipBound returns a bound that is missing, or constant and, if it bounds anything, finite.
func clipBound(t *Tensor, missing float64) (float32, bool) {
	if t == nil {
		return float32(missing), true
	}
	v, ok := t.Const()
	if !ok || v.Len() != 1 {
		return 0, false
	}
	bound := v.Floats()[0]
	return bound, float64(bound) == missing || !math.IsInf(float64(bound), 0) && bound == bound
}

// clampTo returns the program that clamps to [a, b], either of which may be infinite; where b is smaller, b counts.
func clampTo(a, b float32) Program {
	low, high := !math.IsInf(float64(a), -1), !math.IsInf(float64(b), 1)
	p := newProgram(1)
	switch {
	case low && high && a <= b:
		return Unary(EltClamp, a, b)
	case low && high:
		p.do(EltMin, p.do(EltMax, 0, p.constant(a)), p.constant(b))
	case low && a == 0:
		return Unary(EltRelu)
	case low:
		p.do(EltMax, 0, p.constant(a))
	case high:
		p.do(EltMin, 0, p.constant(b))
	}
	return p.p
}

// gelu is x * Phi(x), with Phi exact or, with approximate = "tanh", its approximation.
func gelu(n *Node) (Program, []*Tensor, error) {
	switch mode := n.String("approximate", "none"); mode {
	case "none":
		return Unary(EltGelu), n.Inputs, nil
	case "tanh":
		return Unary(EltGeluTanh), n.Inputs, nil
	default:
		return Program{}, nil, fmt.Errorf("approximate %q is unknown", mode)
	}
}

// celu is x >= 0 ? x : a*(exp(x/a)-1), which for a < 0 is |a|*(exp(x/|a|)-1) * exp(x/a).
func celu(n *Node) (Program, []*Tensor, error) {
	alpha := n.Float("alpha", 1)
	if alpha == 1 {
		return Unary(EltElu, 1), n.Inputs, nil
	}
	if alpha == 0 || math.IsInf(float64(alpha), 0) || alpha != alpha {
		return Program{}, nil, fmt.Errorf("alpha is %g, which x cannot be divided by", alpha)
	}
	b := newProgram(1)
	a := b.constant(max(alpha, -alpha))
	b.do(EltDiv, 0, a)
	b.p.Code = append(b.p.Code, Instr{Op: EltElu, Arg: [3]int{b.p.Result()}, Imm: [2]float32{1}})
	low := b.do(EltMul, b.p.Result(), a)
	if alpha < 0 {
		low = b.do(EltMul, low, b.do(EltExp, b.do(EltDiv, 0, b.constant(alpha))))
	}
	b.do(EltSelect, b.do(EltGreaterEqual, 0, b.constant(0)), 0, low)
	return b.p, n.Inputs, nil
}

// thresholdedRelu is x > alpha ? x : 0.
func thresholdedRelu(n *Node) (Program, []*Tensor, error) {
	b := newProgram(1)
	above := b.do(EltGreater, 0, b.constant(n.Float("alpha", 1)))
	b.do(EltSelect, above, 0, b.constant(0))
	return b.p, n.Inputs, nil
}

// shrink is x < -lambd ? x + bias : x > lambd ? x - bias : 0.
func shrink(n *Node) (Program, []*Tensor, error) {
	lambda, bias := n.Float("lambd", 0.5), n.Float("bias", 0)
	if n.Inputs[0].RealType().IsInteger() {
		return Program{}, nil, fmt.Errorf("integers are not supported")
	}
	b := newProgram(1)
	c := b.constant(bias)
	high := b.do(EltSelect, b.do(EltGreater, 0, b.constant(lambda)), b.do(EltSub, 0, c), b.constant(0))
	b.do(EltSelect, b.do(EltLess, 0, b.constant(-lambda)), b.do(EltAdd, 0, c), high)
	return b.p, n.Inputs, nil
}

// swish is x * sigmoid(alpha * x).
func swish(n *Node) (Program, []*Tensor, error) {
	alpha := n.Float("alpha", 1)
	if alpha == 1 {
		return Unary(EltSilu), n.Inputs, nil
	}
	b := newProgram(1)
	b.do(EltMul, 0, b.do(EltSigmoid, b.do(EltMul, 0, b.constant(alpha))))
	return b.p, n.Inputs, nil
}

// mish is x * tanh(softplus(x)).
func mish(n *Node) (Program, []*Tensor, error) {
	b := newProgram(1)
	b.do(EltMul, 0, b.do(EltTanh, b.do(EltSoftplus, 0)))
	return b.p, n.Inputs, nil
}

func isNaN(n *Node) (Program, []*Tensor, error) {
	b := newProgram(1)
	b.do(EltNot, b.do(EltEqual, 0, 0))
	return b.p, n.Inputs, nil
}

// isInf holds where x equals itself but x - x does not; detect_positive and detect_negative choose the signs.
func isInf(n *Node) (Program, []*Tensor, error) {
	b := newProgram(1)
	zero, difference := b.constant(0), b.do(EltSub, 0, 0)
	inf := b.do(EltAnd, b.do(EltEqual, 0, 0), b.do(EltNot, b.do(EltEqual, difference, difference)))
	if !n.Flag("detect_positive", true) {
		inf = b.do(EltAnd, inf, b.do(EltLess, 0, zero))
	}
	if !n.Flag("detect_negative", true) {
		b.do(EltAnd, inf, b.do(EltGreater, 0, zero))
	}
	return b.p, n.Inputs, nil
}

// mod is the remainder with the sign of the divisor, or C's fmod with the sign of x.
func mod(n *Node) (Program, []*Tensor, error) {
	if n.Input(1) == nil {
		return Program{}, nil, fmt.Errorf("input 1 is missing")
	}
	if n.Flag("fmod", false) || slices.Contains([]numeric.DataType{numeric.U8, numeric.U16, numeric.U32, numeric.U64}, n.Inputs[0].Type) {
		return Binary(EltMod), n.Inputs, nil
	}
	b := newProgram(2)
	r, zero := b.do(EltMod, 0, 1), b.constant(0)
	differ := b.do(EltXor, b.do(EltLess, r, zero), b.do(EltLess, 1, zero))
	b.do(EltSelect, b.do(EltAnd, differ, r), b.do(EltAdd, r, 1), r)
	return b.p, n.Inputs, nil
}
