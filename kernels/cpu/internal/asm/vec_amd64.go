//go:build amd64 && !noasm

package asm

import "math"

// VecKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func VecKernels() []VecKernel {
	return []VecKernel{
		vecAVX512.kernel("vec_avx512", AVX512),
		vecAVX2.kernel("vec_avx2", AVX2),
		vecKernelGeneric(),
	}
}

// vecAssembly is the generated functions of an instruction set. Those that are given arrays on the stack are called by
// name, by wide: what a function value is given, escapes.
type vecAssembly struct {
	unary  [numUnary]func(dst, src *float32, n int, a, b float32)
	binary [numBinary]func(dst, x, y *float32, n, xStep, yStep int)
	choose func(dst, condition, x, y *float32, n, xStep, yStep int)
	wide   bool // AVX-512
}

var vecAVX512 = vecAssembly{
	unary: [numUnary]func(dst, src *float32, n int, a, b float32){
		Neg: vecNegAVX512, Abs: vecAbsAVX512, Sqrt: vecSqrtAVX512, Reciprocal: vecReciprocalAVX512,
		Floor: vecFloorAVX512, Ceil: vecCeilAVX512, Round: vecRoundAVX512,
		Exp: vecExpAVX512, Log: vecLogAVX512, Tanh: vecTanhAVX512, Erf: vecErfAVX512, Sigmoid: vecSigmoidAVX512,
		SiLU: vecSiLUAVX512, GELU: vecGELUAVX512, GELUTanh: vecGELUTanhAVX512, HardSigmoid: vecHardSigmoidAVX512, HardSwish: vecHardSwishAVX512,
		LeakyReLU: vecLeakyReLUAVX512, Clamp: vecClampAVX512, Affine: vecAffineAVX512,
		Sin: vecSinAVX512, Cos: vecCosAVX512,
	},
	binary: [numBinary]func(dst, x, y *float32, n, xStep, yStep int){
		Add: vecAddAVX512, Sub: vecSubAVX512, Mul: vecMulAVX512, Div: vecDivAVX512, Max: vecMaxAVX512, Min: vecMinAVX512,
		Less: vecLessAVX512, LessOrEqual: vecLessOrEqualAVX512, Equal: vecEqualAVX512,
	},
	choose: vecSelectAVX512,
	wide:   true,
}

var vecAVX2 = vecAssembly{
	unary: [numUnary]func(dst, src *float32, n int, a, b float32){
		Neg: vecNegAVX2, Abs: vecAbsAVX2, Sqrt: vecSqrtAVX2, Reciprocal: vecReciprocalAVX2,
		Floor: vecFloorAVX2, Ceil: vecCeilAVX2, Round: vecRoundAVX2,
		Exp: vecExpAVX2, Log: vecLogAVX2, Tanh: vecTanhAVX2, Erf: vecErfAVX2, Sigmoid: vecSigmoidAVX2,
		SiLU: vecSiLUAVX2, GELU: vecGELUAVX2, GELUTanh: vecGELUTanhAVX2, HardSigmoid: vecHardSigmoidAVX2, HardSwish: vecHardSwishAVX2,
		LeakyReLU: vecLeakyReLUAVX2, Clamp: vecClampAVX2, Affine: vecAffineAVX2,
		Sin: vecSinAVX2, Cos: vecCosAVX2,
	},
	binary: [numBinary]func(dst, x, y *float32, n, xStep, yStep int){
		Add: vecAddAVX2, Sub: vecSubAVX2, Mul: vecMulAVX2, Div: vecDivAVX2, Max: vecMaxAVX2, Min: vecMinAVX2,
		Less: vecLessAVX2, LessOrEqual: vecLessOrEqualAVX2, Equal: vecEqualAVX2,
	},
	choose: vecSelectAVX2,
}

// kernel is the table's entry.
func (v *vecAssembly) kernel(name string, needs Features) VecKernel {
	return VecKernel{
		Name: name, Needs: needs,
		Unary:         v.runUnary,
		Binary:        v.runBinary,
		Select:        v.runSelect,
		Sum:           v.runSum,
		SumSquares:    v.runSumSquares,
		NormalizeRows: v.runNormalizeRows,
		Range:         v.runRange,
		ExpSum:        v.runExpSum,
		Histogram:     v.runHistogram,
		Errors:        v.runErrors,
	}
}

// vecCall is the most elements of one call of the assembly: a multiple of 64, and tens of microseconds.
const vecCall = 1 << 15

func (v *vecAssembly) runUnary(op UnaryOp, dst, src []float32, a, b float32) {
	f := v.unary[op]
	dst = dst[:len(src)]
	for len(src) > 0 {
		n := min(vecCall, len(src))
		if (op == Sin || op == Cos) && !v.turnsLittle(src[:n]) {
			unaryGeneric(op, dst[:n], src[:n], a, b)
		} else {
			f(&dst[0], &src[0], n, a, b)
		}
		dst, src = dst[n:], src[n:]
	}
}

// maxAngle is the largest angle whose part of a quarter turn the assembly finds.
const maxAngle = 1e5

// turnsLittle reports whether no angle is larger than that.
func (v *vecAssembly) turnsLittle(angles []float32) bool {
	low, high := v.runRange(angles)
	return low >= -maxAngle && high <= maxAngle
}

// step returns the bytes by which an operand of n elements advances with each 16: none for a pattern of 16, a
// negative number for a scalar.
func step(x []float32, n int) int {
	switch len(x) {
	case n:
		return 64
	case 1:
		return -1
	}
	_ = x[15]
	return 0
}

// rest returns what follows n elements of an operand.
func rest(x []float32, n, step int) []float32 {
	if step == 64 {
		return x[n:]
	}
	return x
}

func (v *vecAssembly) runBinary(op BinaryOp, dst, x, y []float32) {
	f := v.binary[op]
	xStep, yStep := step(x, len(dst)), step(y, len(dst))
	for len(dst) > 0 {
		n := min(vecCall, len(dst))
		f(&dst[0], &x[0], &y[0], n, xStep, yStep)
		dst, x, y = dst[n:], rest(x, n, xStep), rest(y, n, yStep)
	}
}

func (v *vecAssembly) runSelect(dst, condition, x, y []float32) {
	xStep, yStep := step(x, len(dst)), step(y, len(dst))
	condition = condition[:len(dst)]
	for len(dst) > 0 {
		n := min(vecCall, len(dst))
		v.choose(&dst[0], &condition[0], &x[0], &y[0], n, xStep, yStep)
		dst, condition, x, y = dst[n:], condition[n:], rest(x, n, xStep), rest(y, n, yStep)
	}
}

func (v *vecAssembly) runSum(src []float32) (sum float32) {
	for len(src) > 0 {
		var lanes [16]float32
		n := min(vecCall, len(src))
		if v.wide {
			vecSumAVX512(&lanes[0], &src[0], n)
		} else {
			vecSumAVX2(&lanes[0], &src[0], n)
		}
		sum += addLanes(&lanes)
		src = src[n:]
	}
	return sum
}

func (v *vecAssembly) runSumSquares(src []float32, less float32) (sum float32) {
	for len(src) > 0 {
		var lanes [16]float32
		n := min(vecCall, len(src))
		if v.wide {
			vecSumSquaresAVX512(&lanes[0], &src[0], n, less)
		} else {
			vecSumSquaresAVX2(&lanes[0], &src[0], n, less)
		}
		sum += addLanes(&lanes)
		src = src[n:]
	}
	return sum
}

// ones and negativeZeros are 16 factors and addends that change nothing.
var ones, negativeZeros = func() (x, y [16]float32) {
	for i := range x {
		x[i], y[i] = 1, math.Float32frombits(1<<31)
	}
	return x, y
}()

func (v *vecAssembly) runNormalizeRows(dst, src []float32, n int, scale, bias []float32, epsilon float64, centered bool) {
	if n > vecCall {
		v.normalizeLong(dst, src, n, scale, bias, epsilon, centered)
		return
	}
	if scale == nil {
		scale = ones[:]
	}
	if bias == nil {
		bias = negativeZeros[:]
	}
	dst = dst[:len(src)]
	f := vecNormalizeRowsAVX2
	if v.wide {
		f = vecNormalizeRowsAVX512
	}
	for len(src) > 0 {
		rows := min(max(1, vecCall/n), len(src)/n)
		f(&dst[0], &src[0], &scale[0], &bias[0], rows, n, step(scale, n), step(bias, n), float32(n), float64(n), epsilon, centered)
		dst, src = dst[rows*n:], src[rows*n:]
	}
}

// normalizeLong is runNormalizeRows of rows that are too long for one call, pass by pass.
func (v *vecAssembly) normalizeLong(dst, src []float32, n int, scale, bias []float32, epsilon float64, centered bool) {
	for ; len(src) > 0; dst, src = dst[n:], src[n:] {
		x, y, less := src[:n], dst[:n], float32(0)
		if centered {
			less = v.runSum(x) / float32(n)
		}
		factor := float32(1 / math.Sqrt(float64(v.runSumSquares(x, less))/float64(n)+epsilon))
		v.runBinary(Sub, y, x, []float32{less})
		v.runBinary(Mul, y, y, []float32{factor})
		if scale != nil {
			v.runBinary(Mul, y, y, scale)
		}
		if bias != nil {
			v.runBinary(Add, y, y, bias)
		}
	}
}

func (v *vecAssembly) runRange(src []float32) (low, high float32) {
	low, high = posInf, negInf
	for len(src) > 0 {
		var lanes [32]float32
		n := min(vecCall, len(src))
		if v.wide {
			vecRangeAVX512(&lanes[0], &src[0], n)
		} else {
			vecRangeAVX2(&lanes[0], &src[0], n)
		}
		for i, v := range lanes[:16] {
			if v < low {
				low = v
			}
			if w := lanes[16+i]; w > high {
				high = w
			}
		}
		src = src[n:]
	}
	return low, high
}

func (v *vecAssembly) runExpSum(dst, src []float32, less float32) (sum float32) {
	dst = dst[:len(src)]
	for len(src) > 0 {
		var lanes [16]float32
		n := min(vecCall, len(src))
		if v.wide {
			vecExpSumAVX512(&lanes[0], &dst[0], &src[0], n, less)
		} else {
			vecExpSumAVX2(&lanes[0], &dst[0], &src[0], n, less)
		}
		sum += addLanes(&lanes)
		dst, src = dst[n:], src[n:]
	}
	return sum
}

// runHistogram counts in four tables by turns: neighbouring equal values, the zeros after a ReLU, would
// make each increment wait for the one before.
func (v *vecAssembly) runHistogram(counts []uint64, src []float32, low, perUnit float32, absolute bool) (nan int) {
	const most = 2048
	if len(counts) > most {
		return histogramGeneric(counts, src, low, perUnit, absolute)
	}
	keep := ^uint32(0)
	if absolute {
		keep >>= 1
	}
	var tables [4][most + 1]uint32
	var bins [1024]uint32
	for len(src) > 0 {
		n := min(len(bins), len(src))
		if v.wide {
			vecBinsAVX512(&bins[0], &src[0], n, low, perUnit, int32(len(counts)-1), keep)
		} else {
			vecBinsAVX2(&bins[0], &src[0], n, low, perUnit, int32(len(counts)-1), keep)
		}
		for i, b := range bins[:n] {
			tables[i%4][b]++
		}
		src = src[n:]
	}
	for t := range tables {
		for i := range counts {
			counts[i] += uint64(tables[t][i])
		}
		nan += int(tables[t][len(counts)])
	}
	return nan
}

func (v *vecAssembly) runErrors(a, b []float32) (e VecErrors) {
	b = b[:len(a)]
	whole := len(a) &^ 7
	e = errorsGeneric(a[whole:], b[whole:])
	for from := 0; from < whole; from += vecCall {
		var lanes [48]float64
		if v.wide {
			vecErrorsAVX512(&lanes[0], &a[from], &b[from], min(vecCall, whole-from))
		} else {
			vecErrorsAVX2(&lanes[0], &a[from], &b[from], min(vecCall, whole-from))
		}
		for i := range 8 {
			e.MaxAbs = max(e.MaxAbs, lanes[i])
			e.SumAbs += lanes[8+i]
			e.SumSquares += lanes[16+i]
			e.Dot += lanes[24+i]
			e.NormA += lanes[32+i]
			e.NormB += lanes[40+i]
		}
	}
	return e
}
