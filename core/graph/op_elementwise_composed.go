package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// composed lists the ONNX operators that import as a program of several operations, or of a varying number of
// arguments. Each returns the program and its inputs. Where the program can be one operation, that is named, too.
var composed = []struct {
	name    string
	single  elementwise.Op
	program func(n *Node) (elementwise.Program, []*Tensor, error)
}{
	{"Celu", 0, celu}, {"Clip", elementwise.Clamp, clip}, {"Gelu", elementwise.Gelu, gelu}, {"IsInf", 0, isInf}, {"IsNaN", 0, isNaN},
	{"Max", elementwise.Max, variadic(elementwise.Max)}, {"Mean", 0, mean}, {"Min", elementwise.Min, variadic(elementwise.Min)}, {"Mish", 0, mish},
	{"Mod", elementwise.Mod, mod}, {"Shrink", 0, shrink}, {"Sum", 0, variadic(elementwise.Add)}, {"Swish", elementwise.Silu, swish},
	{"ThresholdedRelu", 0, thresholdedRelu},
}

// variadic folds any number of inputs by a binary operation, from the left.
func variadic(op elementwise.Op) func(n *Node) (elementwise.Program, []*Tensor, error) {
	return func(n *Node) (elementwise.Program, []*Tensor, error) {
		b := elementwise.NewBuilder(len(n.Inputs))
		acc := 0
		for i := 1; i < len(n.Inputs); i++ {
			acc = b.Do(op, acc, i)
		}
		return b.Program, n.Inputs, nil
	}
}

func mean(n *Node) (elementwise.Program, []*Tensor, error) {
	p, inputs, err := variadic(elementwise.Add)(n)
	b := &elementwise.Builder{Program: p}
	sum := p.Result()
	b.Do(elementwise.Div, sum, b.Constant(float32(len(inputs))))
	return b.Program, inputs, err
}

// clip is max(min, x) then min(max, x), either of which may be missing. Constant bounds of real numbers become
// immediates: a Clamp, or a Relu if the only bound is 0 from below. Before opset 11 the bounds are attributes.
func clip(n *Node) (elementwise.Program, []*Tensor, error) {
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
	build := elementwise.NewBuilder(1)
	inputs := []*Tensor{x}
	for _, bound := range []struct {
		op elementwise.Op
		t  *Tensor
	}{{elementwise.Max, lo}, {elementwise.Min, hi}} {
		if bound.t != nil {
			next := elementwise.NewBuilder(2)
			next.Do(bound.op, 0, 1)
			build.Program = build.Program.Then(next.Program, 0)
			inputs = append(inputs, bound.t)
		}
	}
	return build.Program, inputs, nil
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
func clampTo(a, b float32) elementwise.Program {
	low, high := !math.IsInf(float64(a), -1), !math.IsInf(float64(b), 1)
	p := elementwise.NewBuilder(1)
	switch {
	case low && high && a <= b:
		return elementwise.Unary(elementwise.Clamp, a, b)
	case low && high:
		p.Do(elementwise.Min, p.Do(elementwise.Max, 0, p.Constant(a)), p.Constant(b))
	case low && a == 0:
		return elementwise.Unary(elementwise.Relu)
	case low:
		p.Do(elementwise.Max, 0, p.Constant(a))
	case high:
		p.Do(elementwise.Min, 0, p.Constant(b))
	}
	return p.Program
}

// gelu is x * Phi(x), with Phi exact or, with approximate = "tanh", its approximation.
func gelu(n *Node) (elementwise.Program, []*Tensor, error) {
	switch mode := n.String("approximate", "none"); mode {
	case "none":
		return elementwise.Unary(elementwise.Gelu), n.Inputs, nil
	case "tanh":
		return elementwise.Unary(elementwise.GeluTanh), n.Inputs, nil
	default:
		return elementwise.Program{}, nil, fmt.Errorf("approximate %q is unknown", mode)
	}
}

// celu is x >= 0 ? x : a*(exp(x/a)-1), which for a < 0 is |a|*(exp(x/|a|)-1) * exp(x/a).
func celu(n *Node) (elementwise.Program, []*Tensor, error) {
	alpha := n.Float("alpha", 1)
	if alpha == 1 {
		return elementwise.Unary(elementwise.Elu, 1), n.Inputs, nil
	}
	if alpha == 0 || math.IsInf(float64(alpha), 0) || alpha != alpha {
		return elementwise.Program{}, nil, fmt.Errorf("alpha is %g, which x cannot be divided by", alpha)
	}
	b := elementwise.NewBuilder(1)
	a := b.Constant(max(alpha, -alpha))
	b.Do(elementwise.Div, 0, a)
	b.Program.Code = append(b.Program.Code, elementwise.Instr{Op: elementwise.Elu, Arg: [3]int{b.Program.Result()}, Imm: [2]float32{1}})
	low := b.Do(elementwise.Mul, b.Program.Result(), a)
	if alpha < 0 {
		low = b.Do(elementwise.Mul, low, b.Do(elementwise.Exp, b.Do(elementwise.Div, 0, b.Constant(alpha))))
	}
	b.Do(elementwise.Select, b.Do(elementwise.GreaterEqual, 0, b.Constant(0)), 0, low)
	return b.Program, n.Inputs, nil
}

// thresholdedRelu is x > alpha ? x : 0.
func thresholdedRelu(n *Node) (elementwise.Program, []*Tensor, error) {
	b := elementwise.NewBuilder(1)
	above := b.Do(elementwise.Greater, 0, b.Constant(n.Float("alpha", 1)))
	b.Do(elementwise.Select, above, 0, b.Constant(0))
	return b.Program, n.Inputs, nil
}

// shrink is x < -lambd ? x + bias : x > lambd ? x - bias : 0.
func shrink(n *Node) (elementwise.Program, []*Tensor, error) {
	lambda, bias := n.Float("lambd", 0.5), n.Float("bias", 0)
	if n.Inputs[0].RealType().IsInteger() {
		return elementwise.Program{}, nil, fmt.Errorf("integers are not supported")
	}
	b := elementwise.NewBuilder(1)
	c := b.Constant(bias)
	high := b.Do(elementwise.Select, b.Do(elementwise.Greater, 0, b.Constant(lambda)), b.Do(elementwise.Sub, 0, c), b.Constant(0))
	b.Do(elementwise.Select, b.Do(elementwise.Less, 0, b.Constant(-lambda)), b.Do(elementwise.Add, 0, c), high)
	return b.Program, n.Inputs, nil
}

// swish is x * sigmoid(alpha * x).
func swish(n *Node) (elementwise.Program, []*Tensor, error) {
	alpha := n.Float("alpha", 1)
	if alpha == 1 {
		return elementwise.Unary(elementwise.Silu), n.Inputs, nil
	}
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Mul, 0, b.Do(elementwise.Sigmoid, b.Do(elementwise.Mul, 0, b.Constant(alpha))))
	return b.Program, n.Inputs, nil
}

// mish is x * tanh(softplus(x)).
func mish(n *Node) (elementwise.Program, []*Tensor, error) {
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Mul, 0, b.Do(elementwise.Tanh, b.Do(elementwise.Softplus, 0)))
	return b.Program, n.Inputs, nil
}

func isNaN(n *Node) (elementwise.Program, []*Tensor, error) {
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Not, b.Do(elementwise.Equal, 0, 0))
	return b.Program, n.Inputs, nil
}

// isInf holds where x equals itself but x - x does not; detect_positive and detect_negative choose the signs.
func isInf(n *Node) (elementwise.Program, []*Tensor, error) {
	b := elementwise.NewBuilder(1)
	zero, difference := b.Constant(0), b.Do(elementwise.Sub, 0, 0)
	inf := b.Do(elementwise.And, b.Do(elementwise.Equal, 0, 0), b.Do(elementwise.Not, b.Do(elementwise.Equal, difference, difference)))
	if !n.Flag("detect_positive", true) {
		inf = b.Do(elementwise.And, inf, b.Do(elementwise.Less, 0, zero))
	}
	if !n.Flag("detect_negative", true) {
		b.Do(elementwise.And, inf, b.Do(elementwise.Greater, 0, zero))
	}
	return b.Program, n.Inputs, nil
}

// mod is the remainder with the sign of the divisor, or C's fmod with the sign of x.
func mod(n *Node) (elementwise.Program, []*Tensor, error) {
	if n.Input(1) == nil {
		return elementwise.Program{}, nil, fmt.Errorf("input 1 is missing")
	}
	if n.Flag("fmod", false) || slices.Contains([]numeric.DataType{numeric.U8, numeric.U16, numeric.U32, numeric.U64}, n.Inputs[0].Type) {
		return elementwise.Binary(elementwise.Mod), n.Inputs, nil
	}
	if n.Inputs[0].RealType().IsFloat() {
		return elementwise.FloorModReals(), n.Inputs, nil
	}
	return elementwise.FloorMod(), n.Inputs, nil
}
