package programs

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// TestElu: near 0, where exp(x)-1 is a small difference, and at the ends elu is what its definition says.
func TestElu(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{0, -1e-30, 1e-30, -3e-8, -1e-4, -0.3, -1, -20, -100, -3e38, 3e38, 2, inf, -inf, nan, -0.69}
	for _, in := range []elementwise.Instr{{Op: elementwise.Elu, Imm: [2]float32{1}}, {Op: elementwise.Elu, Imm: [2]float32{0.3}}, {Op: elementwise.Selu, Imm: [2]float32{1.67, 1.05}}} {
		for _, k := range runnable() {
			v := prepareInstr(in)
			got, room := make([]float32, len(x)), make([]float32, rooms*len(x))
			v.run(&k, got, x, nil, nil, room)
			for i, a := range x {
				want := float64(in.Eval(a, 0, 0))
				if g := float64(got[i]); g != want && !(math.Abs(g-want) <= 1e-6*math.Abs(want)) && (g == g || want == want) {
					t.Errorf("%v of %v is %v, want %v", in.Op, a, g, want)
				}
			}
		}
	}
}

// TestComposed: operations that are several functions on vectors are what their definitions say, whatever operand the result overwrites.
func TestComposed(t *testing.T) {
	inf, nan, minus := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	values := []float32{0, minus, 1, -1, 0.3, -0.7, 5, -5, -16, -16.7, -20, 20, 88, -88, -103, 1e-30, -1e-30, 3e38, -3e38, inf, -inf, nan}
	var x, y []float32
	for _, a := range values {
		for _, b := range values {
			x, y = append(x, a), append(y, b)
		}
	}
	for _, op := range []elementwise.Op{elementwise.Softplus, elementwise.Softsign, elementwise.Sign, elementwise.Not, elementwise.And, elementwise.Or, elementwise.Xor} {
		in := elementwise.Instr{Op: op, Arg: [3]int{0, 1}}
		v := prepareInstr(in)
		for _, k := range runnable() {
			for over := range 3 {
				a, b, room := slices.Clone(x), slices.Clone(y), make([]float32, rooms*len(x))
				got := [][]float32{make([]float32, len(x)), a, b}[over]
				v.run(&k, got, a, b, nil, room)
				for i := range x {
					want, g := float64(in.Eval(x[i], y[i], 0)), float64(got[i])
					if g != want && !(math.Abs(g-want) <= 1e-6*math.Abs(want)+1e-44) && (g == g || want == want) {
						t.Errorf("%s: %v of %v and %v is %v, want %v", k.Name, op, x[i], y[i], g, want)
					}
				}
			}
		}
	}
}

// TestPRelu: what the slope is has no say where x is not negative, though it be infinite or no number.
func TestPRelu(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.3, -1e-30, 3e38, inf, -inf, nan}
	in := elementwise.Instr{Op: elementwise.PRelu, Arg: [3]int{0, 1}}
	for _, k := range runnable() {
		v := prepareInstr(in)
		for _, slope := range special {
			got, room, slopes := make([]float32, len(special)), make([]float32, rooms*len(special)), make([]float32, len(special))
			for i := range slopes {
				slopes[i] = slope
			}
			for _, y := range [][]float32{slopes, slopes[:1]} { // one for each, or one for all
				v.run(&k, got, special, y, nil, room)
				for i, x := range special {
					if g, want := got[i], in.Eval(x, slope, 0); g != want && (g == g || want == want) {
						t.Errorf("prelu of %v with slope %v is %v, want %v", x, slope, g, want)
					}
				}
			}
		}
	}
}

// runnable returns the vector kernels that the processor runs.
func runnable() []asm.VecKernel {
	return slices.DeleteFunc(asm.VecKernels(), func(k asm.VecKernel) bool { return !asm.HostFeatures().Has(k.Needs) })
}
