//go:build amd64 && !noasm

package asm

// VecKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func VecKernels() []VecKernel {
	return []VecKernel{{
		Name: "vec_avx512", Needs: AVX512,
		Unary:      unaryAVX512,
		Binary:     binaryAVX512,
		Select:     selectAVX512,
		Sum:        sumAVX512,
		SumSquares: sumSquaresAVX512,
		Range:      rangeAVX512,
		ExpSum:     expSumAVX512,
		Histogram:  histogramAVX512,
		Errors:     errorsAVX512,
	}, vecKernelGeneric()}
}

// vecCall is the most elements of one call of the assembly: a multiple of 64, and tens of microseconds.
const vecCall = 1 << 15

var unaryFunctions = [numUnary]func(dst, src *float32, n int, a, b float32){
	Neg: vecNegAVX512, Abs: vecAbsAVX512, Sqrt: vecSqrtAVX512, Reciprocal: vecReciprocalAVX512,
	Floor: vecFloorAVX512, Ceil: vecCeilAVX512, Round: vecRoundAVX512,
	Exp: vecExpAVX512, Log: vecLogAVX512, Tanh: vecTanhAVX512, Erf: vecErfAVX512, Sigmoid: vecSigmoidAVX512,
	SiLU: vecSiLUAVX512, GELU: vecGELUAVX512, HardSigmoid: vecHardSigmoidAVX512, HardSwish: vecHardSwishAVX512,
	LeakyReLU: vecLeakyReLUAVX512, Clamp: vecClampAVX512, Affine: vecAffineAVX512,
}

func unaryAVX512(op UnaryOp, dst, src []float32, a, b float32) {
	f := unaryFunctions[op]
	dst = dst[:len(src)]
	for len(src) > 0 {
		n := min(vecCall, len(src))
		f(&dst[0], &src[0], n, a, b)
		dst, src = dst[n:], src[n:]
	}
}

var binaryFunctions = [numBinary]func(dst, x, y *float32, n, xStep, yStep int){
	Add: vecAddAVX512, Sub: vecSubAVX512, Mul: vecMulAVX512, Div: vecDivAVX512, Max: vecMaxAVX512, Min: vecMinAVX512,
	Less: vecLessAVX512, LessOrEqual: vecLessOrEqualAVX512, Equal: vecEqualAVX512,
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

func binaryAVX512(op BinaryOp, dst, x, y []float32) {
	f := binaryFunctions[op]
	xStep, yStep := step(x, len(dst)), step(y, len(dst))
	for len(dst) > 0 {
		n := min(vecCall, len(dst))
		f(&dst[0], &x[0], &y[0], n, xStep, yStep)
		dst, x, y = dst[n:], rest(x, n, xStep), rest(y, n, yStep)
	}
}

func selectAVX512(dst, condition, x, y []float32) {
	xStep, yStep := step(x, len(dst)), step(y, len(dst))
	condition = condition[:len(dst)]
	for len(dst) > 0 {
		n := min(vecCall, len(dst))
		vecSelectAVX512(&dst[0], &condition[0], &x[0], &y[0], n, xStep, yStep)
		dst, condition, x, y = dst[n:], condition[n:], rest(x, n, xStep), rest(y, n, yStep)
	}
}

func sumAVX512(src []float32) (sum float32) {
	for len(src) > 0 {
		var lanes [16]float32
		n := min(vecCall, len(src))
		vecSumAVX512(&lanes[0], &src[0], n)
		sum += addLanes(&lanes)
		src = src[n:]
	}
	return sum
}

func sumSquaresAVX512(src []float32) (sum float32) {
	for len(src) > 0 {
		var lanes [16]float32
		n := min(vecCall, len(src))
		vecSumSquaresAVX512(&lanes[0], &src[0], n)
		sum += addLanes(&lanes)
		src = src[n:]
	}
	return sum
}

func rangeAVX512(src []float32) (low, high float32) {
	low, high = posInf, negInf
	for len(src) > 0 {
		var lanes [32]float32
		n := min(vecCall, len(src))
		vecRangeAVX512(&lanes[0], &src[0], n)
		for i := range 16 {
			low, high = min(low, lanes[i]), max(high, lanes[16+i])
		}
		src = src[n:]
	}
	return low, high
}

func expSumAVX512(dst, src []float32, less float32) (sum float32) {
	dst = dst[:len(src)]
	for len(src) > 0 {
		var lanes [16]float32
		n := min(vecCall, len(src))
		vecExpSumAVX512(&lanes[0], &dst[0], &src[0], n, less)
		sum += addLanes(&lanes)
		dst, src = dst[n:], src[n:]
	}
	return sum
}

// histogramAVX512 counts in four tables by turns: neighbouring equal values, the zeros after a ReLU, would
// make each increment wait for the one before.
func histogramAVX512(counts []uint64, src []float32, low, perUnit float32, absolute bool) (nan int) {
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
		vecBinsAVX512(&bins[0], &src[0], n, low, perUnit, int32(len(counts)-1), keep)
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

func errorsAVX512(a, b []float32) (e VecErrors) {
	b = b[:len(a)]
	whole := len(a) &^ 7
	e = errorsGeneric(a[whole:], b[whole:])
	for from := 0; from < whole; from += vecCall {
		var lanes [48]float64
		vecErrorsAVX512(&lanes[0], &a[from], &b[from], min(vecCall, whole-from))
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
