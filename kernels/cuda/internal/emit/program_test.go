package emit_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// activations are operations that epilogues have, and others, with the error that is allowed beside that of 1e-6 near 0,
// relative: where approximate instructions are exact, and as much where they are as far off as a GPU's may be.
var activations = []struct {
	op  elementwise.Op
	tol float64
}{
	{elementwise.Exp, 1e-6}, {elementwise.Sigmoid, 1e-6}, {elementwise.Silu, 1e-6}, {elementwise.Tanh, 1e-6}, {elementwise.Erf, 1e-6},
	{elementwise.Gelu, 2e-6}, {elementwise.GeluTanh, 4e-6}, {elementwise.Softplus, 1e-6}, {elementwise.Atan, 1e-6},
	{elementwise.Log, 1e-6},
}

// activationModule is a kernel whose threads each compute one element of y from one of x.
func activationModule(op elementwise.Op, n int) *ptx.Module {
	m := ptx.New(ptx.SM80)
	k := m.Kernel("activation", emit.BlockThreads)
	x, y := k.Pointer("x"), k.Pointer("y")
	i := emit.ThreadIndex(k, n)
	k.StoreF(k.Offset(y, i, 4), emit.Translate(k, elementwise.Unary(op), k.LoadF(k.Offset(x, i, 4), 1)))
	k.End()
	return m
}

// TestActivations compares what activations are translated to with their definition: in the whole range, at the ends of
// what exponents hold, and beyond.
func TestActivations(t *testing.T) {
	var x []float32
	for e := -45; e <= 38; e++ {
		for _, f := range []float64{1, 1.37, 2.6, 7.9} {
			v := float32(f * math.Pow10(e))
			x = append(x, v, -v)
		}
	}
	for i := -4000; i <= 4000; i++ {
		x = append(x, float32(i)/40+1e-3)
	}
	x = append(x, 0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()))
	for _, a := range activations {
		name := elementwise.Unary(a.op).String()
		for _, rough := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/rough_%v", name, rough), func(t *testing.T) {
				got := simulateActivation(t, a.op, x, ptxsim.Options{Rough: rough})
				worst := 0.0
				for i, v := range x {
					want := float64(elementwise.Instr{Op: a.op}.Eval(v, 0, 0))
					d := math.Abs(float64(got[i])-want) / (1e-6 + a.tol*math.Abs(want))
					if math.IsNaN(want) && math.IsNaN(float64(got[i])) || float64(got[i]) == want {
						d = 0
					}
					if worst = max(worst, d); !(d <= 1) {
						t.Errorf("of %g it is %g, want %g", v, got[i], want)
					}
				}
				t.Logf("%.2f of the error that is allowed", worst)
			})
		}
	}
}

// TestSoftplusBelowZero holds softplus to a relative error where it is e^x less its square's half, down to what it rounds to 0.
func TestSoftplusBelowZero(t *testing.T) {
	var x []float32
	for i := range 3400 {
		x = append(x, -float32(i)/40)
	}
	for _, rough := range []bool{false, true} {
		for i, got := range simulateActivation(t, elementwise.Softplus, x, ptxsim.Options{Rough: rough}) {
			want := float64(elementwise.Instr{Op: elementwise.Softplus}.Eval(x[i], 0, 0))
			if d := math.Abs(float64(got)-want) / want; !(d <= 4e-6) {
				t.Errorf("softplus of %g is %g, want %g", x[i], got, want)
			}
		}
	}
}

// TestAngles compares sines, cosines and tangents with their definition for numbers of all magnitudes, those beside multiples
// of pi / 2 among them.
func TestAngles(t *testing.T) {
	var x []float32
	for e := 0; e < 255; e++ {
		for _, m := range []uint32{0, 0x123456, 0x48d159, 0x490fdb, 0x7fffff} { // 0x490fdb: that of pi
			v := math.Float32frombits(uint32(e)<<23 | m)
			x = append(x, v, -v)
		}
	}
	for i := -2000; i <= 2000; i++ {
		x = append(x, float32(float64(i)*1021*math.Pi/2), float32(i*33))
	}
	x = append(x, 1e15, 16367173*(1<<36)*(1<<36), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())) // the second is 6e-9 beside a multiple of pi / 2
	for _, op := range []elementwise.Op{elementwise.Sin, elementwise.Cos, elementwise.Tan} {
		got := simulateActivation(t, op, x, ptxsim.Options{})
		for i, v := range x {
			want := float64(elementwise.Instr{Op: op}.Eval(v, 0, 0))
			tol := 4e-7 // of the angle
			if op == elementwise.Tan {
				tol *= 1 + want*want
			}
			d := math.Abs(float64(got[i]) - want)
			if !(d <= tol) && !(math.IsNaN(want) && math.IsNaN(float64(got[i]))) && tol < math.Abs(want)+1 {
				t.Errorf("%s of %g is %g, want %g", elementwise.Unary(op), v, got[i], want)
			}
		}
	}
}

func simulateActivation(t *testing.T, op elementwise.Op, x []float32, o ptxsim.Options) []float32 {
	t.Helper()
	return simulate(t, activationModule(op, len(x)), x, len(x), o)
}

// simulate runs a module's one kernel, a thread for each of n results.
func simulate(t *testing.T, m *ptx.Module, x []float32, n int, o ptxsim.Options) []float32 {
	t.Helper()
	mem := ptxsim.NewMemory(1 << 20)
	from, err := mem.Alloc(int64(4 * len(x)))
	if err != nil {
		t.Fatal(err)
	}
	to, err := mem.Alloc(int64(4 * n))
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Write(from, numeric.Bytes(x)); err != nil {
		t.Fatal(err)
	}
	p, err := ptxsim.Load(mem, m)
	if err != nil {
		t.Fatal(err)
	}
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, from), to)
	shape := ptxsim.Shape{Grid: [3]int{emit.CeilDiv(n, emit.BlockThreads), 1, 1}, Block: [3]int{emit.BlockThreads, 1, 1}}
	if _, err := p.Launch(context.Background(), m.Kernels[0].Name, shape, params, o); err != nil {
		t.Fatal(err)
	}
	y := make([]float32, n)
	if err := mem.Read(to, numeric.Bytes(y)); err != nil {
		t.Fatal(err)
	}
	return y
}

// TestRemainder holds remainders to C's fmod, to the bit: quotients of all sizes, those that lie beside a whole number and those that
// float32 cannot hold.
func TestRemainder(t *testing.T) {
	list := []float32{0, 1, 3, 0.1, 1.1390772, 7, 1e4, 1e15, 16777217, 3e38, math.MaxFloat32, 1e-30, 1e-38, 1e-45, 5e-44, 0x1p-126,
		float32(math.Inf(1)), float32(math.NaN())}
	for i := range 12 {
		list = append(list, float32(i)*0.1, float32(i)*1.1390772, 1/float32(i+1))
	}
	var x, y []float32
	for _, a := range list {
		for _, b := range list {
			x, y = append(x, a, -a, a, -a), append(y, b, b, -b, -b)
		}
	}
	m := ptx.New(ptx.SM80)
	k := m.Kernel("remainder", emit.BlockThreads)
	from, to := k.Pointer("x"), k.Pointer("y")
	i := emit.ThreadIndex(k, len(x))
	a, b := k.LoadF(k.Offset(from, i, 4), 1), k.LoadF(k.Offset(from, i, 4).At(4*len(x)), 1)
	k.StoreF(k.Offset(to, i, 4), emit.Translate(k, elementwise.Program{Args: 2, Code: []elementwise.Instr{{Op: elementwise.Mod, Arg: [3]int{0, 1}}}}, append(a, b...)))
	k.End()
	for j, got := range simulate(t, m, append(x[:len(x):len(x)], y...), len(x), ptxsim.Options{}) {
		want := float32(math.Mod(float64(x[j]), float64(y[j])))
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Errorf("%g mod %g is %g, want %g", x[j], y[j], got, want)
		}
	}
}

// TestActivationCode reads the machine code of activations: they call nothing, so that all elements of a vector are computed
// at a time.
func TestActivationCode(t *testing.T) {
	emittest.Assembler(t)
	for _, a := range activations {
		c := emittest.Disassemble(t, "sm_90a", activationModule(a.op, 1<<20).String())
		n := c.Counts(0, len(c.Names))
		t.Logf("%s: %d instructions", elementwise.Unary(a.op), len(c.Names))
		if n["CALL"]+n["RET"]+n["BSSY"] > 0 {
			t.Errorf("%s: %d calls", elementwise.Unary(a.op), n["CALL"])
		}
	}
}
