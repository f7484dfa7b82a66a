package asm

import "math"

// UnaryOp is an element-wise function of one operand. a and b are its parameters, where it has any.
//
// Exp, Log, Tanh, Erf, Sigmoid, Sin, Cos and what is like them differ between implementations, within the bounds
// that the tests state; the others give the same bits everywhere. NaN stays NaN.
type UnaryOp int

const (
	Neg UnaryOp = iota
	Abs
	Sqrt
	Reciprocal
	Floor
	Ceil
	Round // to even
	Exp
	Log
	Tanh
	Erf
	Sigmoid
	SiLU        // x * sigmoid(x)
	GELU        // x/2 * (1 + erf(x/sqrt 2))
	GELUTanh    // x/2 * (1 + tanh(sqrt(2/pi)*x*(1 + 0.044715*x*x)))
	HardSigmoid // max(0, min(1, a*x + b))
	HardSwish   // x * HardSigmoid(x)
	LeakyReLU   // a*x for negative x, else x
	Clamp       // min(max(x, a), b): ReLU and its like
	Affine      // a*x + b, two roundings
	Sin
	Cos
	numUnary
)

// BinaryOp is an element-wise function of two operands. Comparisons give 1 or 0; Max and Min are NaN where an
// operand is.
type BinaryOp int

const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Max
	Min
	Less
	LessOrEqual
	Equal
	numBinary
)

// VecKernel is one implementation of functions on vectors of float32.
//
// An operand of Binary and Select has as many elements as dst, or 16, which repeat (a value for each lane of
// NCHWc16), or 1. dst may be an operand that is as long. Reductions of nothing are 0, and an empty range.
type VecKernel struct {
	Name  string
	Needs Features

	Unary  func(op UnaryOp, dst, src []float32, a, b float32)
	Binary func(op BinaryOp, dst, x, y []float32)
	// Select gives x where condition is not 0, else y.
	Select func(dst, condition, x, y []float32)

	Sum func(src []float32) float32
	// SumSquares is that of src - less.
	SumSquares func(src []float32, less float32) float32
	// NormalizeRows makes of each row of n elements (x - mean)/sqrt(variance + epsilon)*scale + bias, each operation rounded; not centred,
	// 0 and the mean square are in the places of mean and variance. The variance is that of what is left of the mean, which loses nothing
	// where the mean is large. No scale is one of 1, no bias one of -0.
	NormalizeRows func(dst, src []float32, n int, scale, bias []float32, epsilon float64, centered bool)
	// Range returns the smallest and largest element, infinities of opposite sign for none. NaN is ignored.
	Range func(src []float32) (low, high float32)
	// ExpSum stores exp(src - less) and returns the sum.
	ExpSum func(dst, src []float32, less float32) float32
	// Histogram counts the elements (their magnitudes, if absolute): x falls in bin (x-low)*perUnit, rounded
	// down, the first and last bins taking what lies beyond. It returns the number of NaN, which no bin counts.
	Histogram func(counts []uint64, src []float32, low, perUnit float32, absolute bool) (nan int)
	// Errors compares two tensors.
	Errors func(a, b []float32) VecErrors
}

// VecErrors relates tensors a and b; every sum is in float64. Where an element is NaN the sums are NaN.
type VecErrors struct {
	MaxAbs, SumAbs    float64 // of a-b
	SumSquares        float64 // of a-b
	Dot, NormA, NormB float64 // sums of a*b, a*a, b*b
}

// Softmax stores exp(src - max) / sum.
func (k *VecKernel) Softmax(dst, src []float32) {
	if len(src) == 0 {
		return
	}
	_, high := k.Range(src)
	k.Unary(Affine, dst, dst, 1/k.ExpSum(dst, src, high), 0)
}

// Pow raises x to the power y, operands as in Binary. Constant powers 1, 2, 3, 0.5 and -1 are products, roots
// and reciprocals.
func (k *VecKernel) Pow(dst, x, y []float32) {
	if len(y) == 1 && len(x) == len(dst) {
		switch y[0] {
		case 1:
			copy(dst, x)
			return
		case 2:
			k.Binary(Mul, dst, x, x)
			return
		case 0.5:
			k.Unary(Sqrt, dst, x, 0, 0)
			return
		case -1:
			k.Unary(Reciprocal, dst, x, 0, 0)
			return
		case 3:
			for i, v := range x {
				dst[i] = float32(v*v) * v
			}
			return
		}
	}
	for i := range dst {
		dst[i] = float32(math.Pow(float64(operand(x, i, len(dst))), float64(operand(y, i, len(dst)))))
	}
}

// operand returns element i of an operand of a function of n elements.
func operand(x []float32, i, n int) float32 {
	switch len(x) {
	case n:
		return x[i]
	case 1:
		return x[0]
	}
	return x[i%16]
}
