package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// vecLengths are lengths around the vector, the unrolled loop and the longest call.
var vecLengths = []int{0, 1, 2, 15, 16, 17, 31, 63, 64, 65, 1000, 4096}

var nan32 = float32(math.NaN())

// specials are the values that go wrong.
var specials = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, 2.5, -2.5, inf32, -inf32, nan32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40, -1e-40, 1.1754944e-38, math.MaxFloat32, -math.MaxFloat32,
	88.72283, 88.8, -87.33654, -103.9, -104, -200, 1e-8, -1e-8, 1e10, -1e10, 0.99999994, 1.0000001, 0.75, 1.5, 3.9999998, 4, 9.99, 10}

// elementary are the functions that are approximated, their definition, the error that is allowed in units
// in the last place of the result, and in absolute terms (either will do), and the range to test densely.
var elementary = []struct {
	op       UnaryOp
	name     string
	f        func(x float64) float64
	ulps     float64
	absolute float64
	low      float64
	high     float64
}{
	{Exp, "exp", math.Exp, 2, 0, -104, 89},
	{Log, "log", math.Log, 3, 0, 1e-6, 1e6},
	{Tanh, "tanh", math.Tanh, 4, 0, -11, 11},
	{Erf, "erf", math.Erf, 4, 0, -5, 5},
	{Sigmoid, "sigmoid", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 4, 3e-45, -104, 100},
	{SiLU, "silu", func(x float64) float64 { return x / (1 + math.Exp(-x)) }, 4, 1e-36, -80, 80},
	// Far below zero 1 + erf cancels: the error is one of erf near -1, times x.
	{GELU, "gelu", func(x float64) float64 { return x / 2 * (1 + math.Erf(x*math.Sqrt2/2)) }, 5, 4e-7, -8, 8},
	{GELUTanh, "gelu_tanh", func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*x*(1+0.044715*x*x)))
	}, 5, 4e-7, -8, 8},
	{Sin, "sin", math.Sin, 2, 0, -30, 30},
	{Cos, "cos", math.Cos, 2, 0, -30, 30},
	{Sin, "sin of many turns", math.Sin, 2, 0, -2e5, 2e5},
	{Cos, "cos of many turns", math.Cos, 2, 0, -2e5, 2e5},
}

// TestQuarterTurns: next to multiples of a quarter turn, where all but the last digits of an angle cancel.
func TestQuarterTurns(t *testing.T) {
	var x []float32
	for n := -60000; n <= 60000; n += 7 {
		a := float32(float64(n) * math.Pi / 2)
		x = append(x, math.Nextafter32(a, -inf32), a, math.Nextafter32(a, inf32))
	}
	y := make([]float32, len(x))
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			for op, f := range map[UnaryOp]func(float64) float64{Sin: math.Sin, Cos: math.Cos} {
				k.Unary(op, y, x, 0, 0)
				for i, got := range y {
					if want := f(float64(x[i])); ulps(got, want) > 2 {
						t.Fatalf("%v of %v is %v, want %v", op, x[i], got, want)
					}
				}
			}
		})
	}
}

// ulps returns the distance of got and want in units in the last place of float32.
func ulps(got float32, want float64) float64 {
	if float64(got) == want || math.IsNaN(want) && got != got {
		return 0
	}
	if math.Abs(want) > math.MaxFloat32 && float64(got) == math.Copysign(math.Inf(1), want) {
		return 0
	}
	if math.IsNaN(float64(got)) || math.IsNaN(want) || math.IsInf(want, 0) {
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	unit := math.Ldexp(1, max(e-24, -149))
	return math.Abs(float64(got)-want) / unit
}

func TestVecElementary(t *testing.T) {
	for _, k := range VecKernels() {
		for _, f := range elementary {
			t.Run(k.Name+"/"+f.name, func(t *testing.T) {
				runnable(t, k.Needs)
				x := append([]float32(nil), specials...)
				const dense = 400000
				for i := range dense {
					u := float64(i) / dense
					x = append(x, float32(f.low+(f.high-f.low)*u), float32(math.Ldexp(1, int(80*u)-75)*(1+math.Mod(u*997, 1))))
				}
				if f.low < 0 {
					for _, v := range x[len(specials):] {
						x = append(x, -v)
					}
				}
				y := make([]float32, len(x))
				k.Unary(f.op, y, x, 0, 0)
				worst, where := 0.0, float32(0)
				for i, got := range y {
					want := f.f(float64(x[i]))
					if f.op != Exp && f.op != Log && math.IsInf(float64(x[i]), 0) && (f.op == SiLU || f.op == GELU || f.op == GELUTanh) {
						continue // -Inf * 0
					}
					if math.Abs(float64(got)-want) <= f.absolute {
						continue
					}
					if u := ulps(got, want); !(u <= worst) {
						worst, where = u, x[i]
					}
				}
				t.Logf("%.2f units in the last place at %g", worst, where)
				if !(worst <= f.ulps) {
					t.Errorf("error of %g units in the last place at %g, want at most %g", worst, where, f.ulps)
				}
			})
		}
	}
}

// same compares bits, but for the sign of zero and the kind of NaN.
func same(a, b float32) bool { return a == b || a != a && b != b }

// exact are the functions whose results all implementations share.
var exact = []struct {
	op UnaryOp
	f  func(x, a, b float32) float32
}{
	{Neg, func(x, _, _ float32) float32 { return -x }},
	{Abs, func(x, _, _ float32) float32 { return float32(math.Abs(float64(x))) }},
	{Sqrt, func(x, _, _ float32) float32 { return float32(math.Sqrt(float64(x))) }},
	{Reciprocal, func(x, _, _ float32) float32 { return float32(1 / float64(x)) }},
	{Floor, func(x, _, _ float32) float32 { return float32(math.Floor(float64(x))) }},
	{Ceil, func(x, _, _ float32) float32 { return float32(math.Ceil(float64(x))) }},
	{Round, func(x, _, _ float32) float32 { return float32(math.RoundToEven(float64(x))) }},
	{HardSigmoid, func(x, a, b float32) float32 { return max(0, min(1, float32(a*x)+b)) }},
	{HardSwish, func(x, a, b float32) float32 { return x * max(0, min(1, float32(a*x)+b)) }},
	{LeakyReLU, func(x, a, _ float32) float32 {
		if x < 0 {
			return x * a
		}
		return x
	}},
	{Clamp, func(x, a, b float32) float32 { return min(max(x, a), b) }},
	{Affine, func(x, a, b float32) float32 { return float32(x*a) + b }},
}

// vecValues returns n values, specials among them.
func vecValues(r *rand.Rand, n int) []float32 {
	v := normals(r, n)
	for i := range v {
		if r.IntN(4) == 0 {
			v[i] = specials[r.IntN(len(specials))]
		}
	}
	return v
}

func TestVecUnary(t *testing.T) {
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range vecLengths {
				for _, f := range exact {
					x, y := vecValues(r, n), make([]float32, n+1)
					y[n] = 42
					k.Unary(f.op, y[:n], x, 0.2, 0.5)
					for i, v := range x {
						if want := f.f(v, 0.2, 0.5); !same(y[i], want) {
							t.Fatalf("operation %d of %g: %g, want %g", f.op, v, y[i], want)
						}
					}
					if y[n] != 42 {
						t.Fatalf("operation %d writes beyond %d elements", f.op, n)
					}
				}
			}
		})
	}
}

// shorten returns an operand of a function of n elements: all, a pattern or a scalar.
func shorten(x []float32, kind int) []float32 {
	switch {
	case kind == 1 && len(x) >= 16:
		return x[:16]
	case kind == 2 && len(x) >= 1:
		return x[:1]
	}
	return x
}

func TestVecBinary(t *testing.T) {
	truth := func(b bool) float32 {
		if b {
			return 1
		}
		return 0
	}
	operations := []func(x, y float32) float32{
		Add: func(x, y float32) float32 { return x + y }, Sub: func(x, y float32) float32 { return x - y },
		Mul: func(x, y float32) float32 { return x * y }, Div: func(x, y float32) float32 { return x / y },
		Max: func(x, y float32) float32 { return max(x, y) }, Min: func(x, y float32) float32 { return min(x, y) },
		Less:        func(x, y float32) float32 { return truth(x < y) },
		LessOrEqual: func(x, y float32) float32 { return truth(x <= y) },
		Equal:       func(x, y float32) float32 { return truth(x == y) },
	}
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range append([]int{100000}, vecLengths...) {
				for kinds := range 9 {
					x, y := shorten(vecValues(r, n), kinds%3), shorten(vecValues(r, n), kinds/3)
					dst, condition := make([]float32, n), vecValues(r, n)
					for op, f := range operations {
						k.Binary(BinaryOp(op), dst, x, y)
						for i, got := range dst {
							p, q := operand(x, i, n), operand(y, i, n)
							if want := f(p, q); !same(got, want) {
								t.Fatalf("operation %d of %g and %g, element %d of %d, operands %d: %g, want %g", op, p, q, i, n, kinds, got, want)
							}
						}
					}
					k.Select(dst, condition, x, y)
					for i, got := range dst {
						want := operand(y, i, n)
						if condition[i] != 0 {
							want = operand(x, i, n)
						}
						if !same(got, want) {
							t.Fatalf("select element %d of %d: %g, want %g", i, n, got, want)
						}
					}
				}
			}
		})
	}
}

func TestVecReductions(t *testing.T) {
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range append([]int{100001}, vecLengths...) {
				checkReductions(t, k, r, n)
			}
		})
	}
}

func checkReductions(t *testing.T, k VecKernel, r *rand.Rand, n int) {
	t.Helper()
	x, y := normals(r, n), normals(r, n)
	var want VecErrors
	sum, squares, size := 0.0, 0.0, 0.0
	low, high := posInf, negInf
	for i, v := range x {
		d := float64(v) - float64(y[i])
		want.MaxAbs = max(want.MaxAbs, math.Abs(d))
		want.SumAbs += math.Abs(d)
		want.SumSquares += d * d
		want.Dot += float64(v) * float64(y[i])
		want.NormA += float64(v) * float64(v)
		want.NormB += float64(y[i]) * float64(y[i])
		sum, squares, size = sum+float64(v), squares+float64(v)*float64(v), size+math.Abs(float64(v))
		low, high = min(low, v), max(high, v)
	}
	what := fmt.Sprintf("%d elements: ", n)
	closeTo(t, what+"sum", k.Sum(x), sum, size)
	closeTo(t, what+"sum of squares", k.SumSquares(x, 0), squares, squares)
	about := 0.0
	for _, v := range x {
		about += (float64(v) - 3) * (float64(v) - 3)
	}
	closeTo(t, what+"sum of squares about 3", k.SumSquares(x, 3), about, about)
	if gotLow, gotHigh := k.Range(x); gotLow != low || gotHigh != high {
		t.Fatalf("%srange %g to %g, want %g to %g", what, gotLow, gotHigh, low, high)
	}
	got := k.Errors(x, y)
	for _, c := range [][2]float64{{got.MaxAbs, want.MaxAbs}, {got.SumAbs, want.SumAbs}, {got.SumSquares, want.SumSquares},
		{got.Dot, want.Dot}, {got.NormA, want.NormA}, {got.NormB, want.NormB}} {
		if math.Abs(c[0]-c[1]) > 1e-12*(1+want.NormA+want.NormB) {
			t.Fatalf("%serrors %+v, want %+v", what, got, want)
		}
	}
	soft := make([]float32, n)
	k.Softmax(soft, x)
	total := 0.0
	for _, v := range x {
		total += math.Exp(float64(v) - float64(high))
	}
	for i, v := range x {
		closeTo(t, what+"softmax", soft[i], math.Exp(float64(v)-float64(high))/total, 0)
	}
}

// TestVecNormalizeRows compares with the functions that do one step each, of one row and of several, of rows that take several calls.
func TestVecNormalizeRows(t *testing.T) {
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(5, 6))
			for _, n := range append([]int{100001, 20000}, vecLengths...) {
				if n == 0 {
					continue
				}
				for given := range 8 {
					rows := 1 + r.IntN(5)
					x, want := normals(r, rows*n), make([]float32, rows*n)
					var scale, bias []float32
					if given&1 != 0 {
						scale = normals(r, n)
					}
					if given&2 != 0 {
						bias = normals(r, n)
					}
					for at := 0; at < len(x); at += n {
						x, want, less := x[at:][:n], want[at:][:n], float32(0)
						if given&4 != 0 {
							less = k.Sum(x) / float32(n)
						}
						factor := float32(1 / math.Sqrt(float64(k.SumSquares(x, less))/float64(n)+1e-3))
						k.Binary(Sub, want, x, []float32{less})
						k.Binary(Mul, want, want, []float32{factor})
						if scale != nil {
							k.Binary(Mul, want, want, scale)
						}
						if bias != nil {
							k.Binary(Add, want, want, bias)
						}
					}
					got := make([]float32, rows*n+1)
					got[rows*n] = 42
					k.NormalizeRows(got[:rows*n], x, n, scale, bias, 1e-3, given&4 != 0)
					for i := range want {
						if !same(got[i], want[i]) || math.Signbit(float64(got[i])) != math.Signbit(float64(want[i])) && got[i] == 0 {
							t.Fatalf("element %d of %d rows of %d, given %d: %g, want %g", i, rows, n, given, got[i], want[i])
						}
					}
					if got[rows*n] != 42 {
						t.Fatalf("writes beyond %d rows of %d elements", rows, n)
					}
				}
			}
		})
	}
}

func TestVecRangeIgnoresNaN(t *testing.T) {
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			x := make([]float32, 37)
			for i := range x {
				x[i] = nan32
			}
			if low, high := k.Range(x); low != posInf || high != negInf {
				t.Fatalf("range %g to %g of NaN", low, high)
			}
			x[3], x[36] = 5, -7
			if low, high := k.Range(x); low != -7 || high != 5 {
				t.Fatalf("range %g to %g, want -7 to 5", low, high)
			}
		})
	}
}

func TestVecHistogram(t *testing.T) {
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range append([]int{5000}, vecLengths...) {
				for _, bins := range []int{1, 7, 2048, 5000} {
					for _, absolute := range []bool{false, true} {
						checkHistogram(t, k, vecValues(r, n), bins, absolute)
					}
				}
			}
		})
	}
}

func checkHistogram(t *testing.T, k VecKernel, x []float32, bins int, absolute bool) {
	t.Helper()
	low, perUnit := float32(-2), float32(bins)/4
	got, want := make([]uint64, bins), make([]uint64, bins)
	got[0], want[0] = 3, 3
	nan, wantNaN := k.Histogram(got, x, low, perUnit, absolute), 0
	for _, v := range x {
		if absolute {
			v = float32(math.Abs(float64(v)))
		}
		at := float64(float32(float32(v-low) * perUnit))
		if at != at {
			wantNaN++
			continue
		}
		want[int(min(max(at, 0), float64(bins-1)))]++
	}
	if nan != wantNaN {
		t.Fatalf("%d NaN, want %d", nan, wantNaN)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("bin %d of %d holds %d, want %d", i, bins, got[i], want[i])
		}
	}
}

func TestVecPow(t *testing.T) {
	for _, k := range VecKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			x := []float32{0.5, 1, 2, 3.25, 10, 1e-3}
			dst := make([]float32, len(x))
			for _, y := range []float32{1, 2, 3, 0.5, -1, 2.5, 0, -2} {
				k.Pow(dst, x, []float32{y})
				for i, got := range dst {
					if u := ulps(got, math.Pow(float64(x[i]), float64(y))); u > 2 {
						t.Fatalf("%g^%g = %g: error of %g units in the last place", x[i], y, got, u)
					}
				}
			}
		})
	}
}

func BenchmarkVec(b *testing.B) {
	const n = 4096
	x, y := normals(rand.New(rand.NewPCG(1, 2)), n), make([]float32, n)
	k := VecKernels()[0]
	for _, f := range []struct {
		name string
		op   UnaryOp
	}{{"clamp", Clamp}, {"exp", Exp}, {"log", Log}, {"tanh", Tanh}, {"erf", Erf}, {"sigmoid", Sigmoid}, {"gelu", GELU}, {"gelu_tanh", GELUTanh}, {"hardswish", HardSwish}, {"sin", Sin}, {"cos", Cos}} {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(n * 4)
			for b.Loop() {
				k.Unary(f.op, y, x, 0, 1)
			}
		})
	}
	counts := make([]uint64, 2048)
	for _, f := range []struct {
		name string
		run  func()
	}{
		{"add", func() { k.Binary(Add, y, x, x) }},
		{"sum", func() { k.Sum(x) }},
		{"range", func() { k.Range(x) }},
		{"softmax", func() { k.Softmax(y, x) }},
		{"histogram", func() { k.Histogram(counts, x, 0, 500, true) }},
		{"errors", func() { k.Errors(x, y) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(n * 4)
			for b.Loop() {
				f.run()
			}
		})
	}
}
