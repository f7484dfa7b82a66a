package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
)

// layerOf returns a layer of its own over inputs of the given values, which become constants where constant says so.
func layerOf(t *testing.T, op *graph.Op, attrs any, in []numeric.Value, constant ...int) *graph.Layer {
	t.Helper()
	l := &graph.Layer{Name: op.Name, Op: op, Attrs: attrs, From: []string{op.Name}}
	for i, v := range in {
		x := &graph.Tensor{Name: fmt.Sprintf("x%d", i), Type: v.Type, Dims: symbolic.Shape(v.Dims...)}
		if slices.Contains(constant, i) {
			x.Weights = v.Data
		}
		l.AddInput(x)
	}
	l.Outputs = []*graph.Tensor{{Name: "y", Producer: l}}
	if err := l.Infer(); err != nil {
		t.Fatal(err)
	}
	return l
}

// onEveryTactic launches a layer by each linear kernel whose name begins with family, and calls check with what it wrote.
// It returns how many there are.
func onEveryTactic(t *testing.T, family string, l *graph.Layer, in []numeric.Value, check func(name string, y numeric.Value, err error)) int {
	t.Helper()
	b := Open(2)
	defer b.Close()
	st, _ := b.NewStream()
	binding := kernels.Binding{Layer: l, Consts: make([][]byte, len(in))}
	mem := make([]kernels.Mem, len(in))
	for i, v := range in {
		binding.In = append(binding.In, kernels.Desc{Type: v.Type, Dims: v.Dims})
		if l.Inputs[i].Weights != nil {
			binding.Consts[i] = v.Data
		} else {
			mem[i].Host = v.Data
		}
	}
	y := numeric.NewValue(l.Outputs[0].Type, symbolic.Eval(l.Outputs[0].Dims, nil)...)
	binding.Out = []kernels.Desc{{Type: y.Type, Dims: y.Dims}}
	out, n := []kernels.Mem{{Host: y.Data}}, 0
	for _, tactic := range everyTactic(b.features, 2) {
		if tactic.Op != l.Op || !strings.HasPrefix(tactic.Name, family) || tactic.In != kernels.Linear || tactic.Match(binding) != nil {
			continue
		}
		k, err := tactic.Bind(binding)
		if err != nil {
			t.Fatalf("%s: %v", tactic.Name, err)
		}
		for i := range y.Data {
			y.Data[i] = 0xaa
		}
		n++
		err = k.Launch(st, mem, out, kernels.Mem{})
		check(tactic.Name, y, err)
		if err != nil {
			continue
		}
		if allocs := testing.AllocsPerRun(5, func() { _ = k.Launch(st, mem, out, kernels.Mem{}) }); allocs > 1 && !cputest.RaceEnabled {
			t.Errorf("%s allocates %v times", tactic.Name, allocs)
		}
	}
	return n
}

// awkward returns numbers of which many are equal and some are infinite or no numbers.
func awkward(r *rand.Rand, n int, nan bool) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(9) - 4)
		switch k := r.IntN(60); {
		case k == 0 && nan:
			x[i] = float32(math.NaN())
		case k == 1:
			x[i] = float32(math.Inf(1 - 2*r.IntN(2)))
		}
	}
	return x
}

func TestArgMax(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, dims := range [][]int{{1, 1, 1}, {5, 2, 1}, {3, 31, 1}, {3, 33, 1}, {2, 513, 1}, {1, 1500, 1}, {2, 40, 3}, {2, 21, 17}, {1, 7, 2051}} {
		for _, kind := range []string{"plain", "nan", "all nan", "all low"} {
			x := awkward(r, numeric.Count(dims), kind == "nan")
			for i := range x {
				switch kind {
				case "all nan":
					x[i] = float32(math.NaN())
				case "all low":
					x[i] = float32(math.Inf(-1))
				}
			}
			for _, op := range []*graph.Op{graph.ArgMax, graph.ArgMin} {
				for _, last := range []bool{false, true} {
					in := []numeric.Value{numeric.Values(numeric.F32, x, dims...)}
					l := layerOf(t, op, graph.ArgAttrs{Axis: 1, Last: last}, in)
					if onEveryTactic(t, "arg", l, in, func(name string, y numeric.Value, err error) {
						for i, got := range y.I64() {
							want := naiveArg(x[i/dims[2]*dims[1]*dims[2]+i%dims[2]:], dims[1], dims[2], op == graph.ArgMin, last)
							if err != nil || got != int64(want) {
								t.Fatalf("%s of %v, %s, last %v: element %d is %d, want %d (%v)", name, dims, kind, last, i, got, want, err)
							}
						}
					}) == 0 {
						t.Fatal("no kernel")
					}
				}
			}
		}
	}
}

// naiveArg orders NaN below all else.
func naiveArg(x []float32, n, step int, smallest, last bool) int {
	above := func(a, b float32) bool { return a > b || b != b && a == a }
	best := 0
	for i := 1; i < n; i++ {
		a, b := x[i*step], x[best*step]
		if smallest {
			a, b = b, a
		}
		if above(a, b) || last && !above(b, a) {
			best = i
		}
	}
	return best
}

func TestReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct{ dims, axes []int }{
		{[]int{700, 3}, []int{1}}, {[]int{37, 63}, []int{1}}, {[]int{19, 64}, []int{1}}, {[]int{5, 257}, []int{1}}, {[]int{3, 9000}, []int{1}},
		{[]int{130, 1100}, []int{0}}, {[]int{4, 150, 7}, []int{1}}, {[]int{3, 5, 6, 70}, []int{1, 3}}, {[]int{9, 5, 40}, []int{0, 2}},
		{[]int{6, 1, 7}, []int{1}}, {[]int{5, 50}, []int{0, 1}},
	} {
		for _, nan := range []bool{false, true} {
			x := cputest.Normals(r, numeric.Count(c.dims))
			for i := range x {
				x[i] = 1 + x[i]/64
			}
			if nan {
				x[len(x)/2] = float32(math.NaN())
			}
			for _, op := range []*graph.Op{graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.ReduceMin, graph.ReduceProd,
				graph.ReduceL1, graph.ReduceL2, graph.ReduceSumSquare} {
				in := []numeric.Value{numeric.Values(numeric.F32, x, c.dims...)}
				l := layerOf(t, op, graph.ReduceAttrs{Axes: c.axes}, in)
				want, scale := naiveReduction(op, x, c.dims, c.axes)
				if onEveryTactic(t, "reduce", l, in, func(name string, y numeric.Value, err error) {
					for i, got := range y.F32() {
						if d := math.Abs(float64(got) - want[i]); err != nil || (got != got) != (want[i] != want[i]) || d > 2e-5*scale[i] {
							t.Fatalf("%s of %v along %v: element %d is %v, want %v (%v)", name, c.dims, c.axes, i, got, want[i], err)
						}
					}
				}) == 0 {
					t.Fatal("no kernel")
				}
			}
		}
	}
}

// naiveReduction reduces in float64, and returns sums of magnitudes, or magnitudes, that errors are a share of.
func naiveReduction(op *graph.Op, x []float32, dims, axes []int) (y, scale []float64) {
	kept := 1
	for i, n := range dims {
		if !slices.Contains(axes, i) {
			kept *= n
		}
	}
	sets := make([][]float64, kept)
	for i, v := range x {
		at, left, step := 0, i, 1
		for a := len(dims) - 1; a >= 0; a-- {
			if !slices.Contains(axes, a) {
				at, step = at+left%dims[a]*step, step*dims[a]
			}
			left /= dims[a]
		}
		sets[at] = append(sets[at], float64(v))
	}
	for _, set := range sets {
		sum, sumAbs, squares, product, low, high := 0.0, 0.0, 0.0, 1.0, set[0], set[0]
		for _, v := range set {
			sum, sumAbs, squares, product = sum+v, sumAbs+math.Abs(v), squares+v*v, product*v
			low, high = min(low, v), max(high, v)
		}
		v, s := sum, sumAbs
		switch op {
		case graph.ReduceMean:
			v, s = sum/float64(len(set)), sumAbs/float64(len(set))
		case graph.ReduceMax:
			v, s = high, math.Abs(high)
		case graph.ReduceMin:
			v, s = low, math.Abs(low)
		case graph.ReduceProd:
			v, s = product, math.Abs(product)*float64(len(set))
		case graph.ReduceL1:
			v = sumAbs
		case graph.ReduceL2:
			v, s = math.Sqrt(squares), math.Sqrt(squares)
		case graph.ReduceSumSquare:
			v, s = squares, squares
		}
		y, scale = append(y, v), append(scale, s)
	}
	return y, scale
}

func TestCastExtremes(t *testing.T) {
	x := []float32{0, float32(math.Copysign(0, -1)), 0.5, -0.5, 1.99, -1.99, 127.5, 128, -128.5, -129, 255.5, 256, 32768, -32769, 65536,
		1 << 24, 1 << 31, -(1 << 31), 1 << 32, 1 << 63, -(1 << 63), 1 << 62, 1.8e19, 2e19, 3e38, -3e38, 1e-42,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	wide := []int64{0, 1, -1, 127, 128, -129, 256, 1 << 24, 1<<24 + 1, 1 << 31, 1<<53 + 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	for _, from := range []numeric.Value{numeric.Values(numeric.F32, x, len(x)), numeric.Values(numeric.I64, wide, len(wide)), numeric.Values(numeric.U64, wide, len(wide))} {
		for _, to := range []numeric.DataType{numeric.F32, numeric.Bool, numeric.I8, numeric.U8, numeric.I16, numeric.U16, numeric.I32, numeric.U32, numeric.I64, numeric.U64} {
			if from.Type == to {
				continue
			}
			in := []numeric.Value{from}
			l := layerOf(t, graph.Cast, graph.CastAttrs{To: to}, in)
			want := numeric.NewValue(to, from.Dims...)
			if err := l.Eval(in, []numeric.Value{want}); err != nil {
				t.Fatal(err)
			}
			if onEveryTactic(t, "cast", l, in, func(name string, y numeric.Value, err error) {
				for i := range y.Len() {
					if size := to.Size(); err != nil || string(y.Data[i*size:][:size]) != string(want.Data[i*size:][:size]) {
						t.Errorf("%s from %s to %s: element %d is %v, want %v (%v)", name, from.Type, to, i, y.Data[i*size:][:size], want.Data[i*size:][:size], err)
					}
				}
			}) == 0 {
				t.Errorf("no kernel from %s to %s", from.Type, to)
			}
		}
	}
}

// TestIntegerComparisons compares integers beyond those that float32 holds with constants within.
func TestIntegerComparisons(t *testing.T) {
	x := []int64{0, 1, -1, 1<<24 - 1, 1 << 24, 1<<24 + 1, -(1 << 24), 1 - 1<<24, math.MaxInt64, math.MinInt64, 77, 1 << 40}
	for _, c := range []int64{0, 1<<24 - 1, 1 - 1<<24, 77, 1 << 24, 1<<24 + 1} {
		in := []numeric.Value{numeric.Values(numeric.I64, x, len(x)), numeric.Values(numeric.I64, []int64{c}, 1)}
		for op, holds := range map[elementwise.Op]func(v int64) bool{
			elementwise.Equal: func(v int64) bool { return v == c }, elementwise.Less: func(v int64) bool { return v < c },
			elementwise.LessEqual: func(v int64) bool { return v <= c }, elementwise.Greater: func(v int64) bool { return v > c },
			elementwise.GreaterEqual: func(v int64) bool { return v >= c },
		} {
			l := layerOf(t, graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(op)}, in, 1)
			inReals := 0
			onEveryTactic(t, "pointwise", l, in, func(name string, y numeric.Value, err error) {
				if name != "pointwise_integers" {
					inReals++
				}
				for i, v := range x {
					if err != nil || (y.Data[i] != 0) != holds(v) {
						t.Errorf("%s: %d %s %d is %d (%v)", name, v, op, c, y.Data[i], err)
					}
				}
			})
			if held := c > -programs.ExactIntegers && c < programs.ExactIntegers; held != (inReals > 0) {
				t.Errorf("%d kernels compare with %d in float32", inReals, c)
			}
		}
	}
}

// TestIntegers computes with integers of any bits, the extremes among them, in tensors of many strips.
func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	random := func(typ numeric.DataType, dims ...int) numeric.Value {
		v := numeric.NewValue(typ, dims...)
		for i := range v.Data {
			v.Data[i] = byte(r.Uint32())
		}
		size := typ.Size()
		for i := range v.Len() { // one in two is small, extreme or 0
			e := v.Data[i*size:][:size]
			k := r.IntN(12)
			if k < 6 {
				clear(e)
			}
			switch k {
			case 0, 1:
				e[0] = byte(r.IntN(70))
			case 2:
				e[size-1] = 0x80
			case 3: // -1, or the largest
				for j := range e {
					e[j] = 0xff
				}
			}
		}
		if typ == numeric.Bool {
			for i := range v.Data {
				v.Data[i] &= 1
			}
		}
		return v
	}
	program := elementwise.Program{Args: 3, Code: []elementwise.Instr{
		{Op: elementwise.Less, Arg: [3]int{0, 1}}, {Op: elementwise.Mul, Arg: [3]int{0, 1}}, {Op: elementwise.Const, Imm: [2]float32{-5}},
		{Op: elementwise.Add, Arg: [3]int{4, 5}}, {Op: elementwise.Div, Arg: [3]int{6, 0}}, {Op: elementwise.Not, Arg: [3]int{2}},
		{Op: elementwise.Or, Arg: [3]int{3, 8}}, {Op: elementwise.Select, Arg: [3]int{9, 7, 1}}, {Op: elementwise.Max, Arg: [3]int{10, 4}},
	}}
	ops := []elementwise.Op{elementwise.Div, elementwise.Mod, elementwise.Max, elementwise.Min, elementwise.Pow, elementwise.PRelu, elementwise.Less,
		elementwise.LessEqual, elementwise.Greater, elementwise.GreaterEqual, elementwise.Equal, elementwise.And, elementwise.Or, elementwise.Xor}
	for _, typ := range []numeric.DataType{numeric.I8, numeric.U8, numeric.I16, numeric.U16, numeric.I32, numeric.U32, numeric.I64, numeric.U64} {
		x, y := random(typ, 7, 1301), random(typ, 7, 1301)
		check := func(what string, l *graph.Layer, in []numeric.Value) {
			t.Helper()
			want := numeric.NewValue(l.Outputs[0].Type, symbolic.Eval(l.Outputs[0].Dims, nil)...)
			if err := l.Eval(in, []numeric.Value{want}); err != nil {
				t.Fatal(err)
			}
			family := "bits"
			if l.Op == graph.Pointwise {
				family = "pointwise"
			}
			if onEveryTactic(t, family, l, in, func(name string, got numeric.Value, err error) {
				for i := range got.Len() {
					if size := got.Type.Size(); err != nil || string(got.Data[i*size:][:size]) != string(want.Data[i*size:][:size]) {
						t.Fatalf("%s: %s of %s: element %d is %v, want %v (%v)", name, what, typ, i, got.Data[i*size:][:size], want.Data[i*size:][:size], err)
					}
				}
			}) == 0 {
				t.Errorf("no kernel for %s of %s", what, typ)
			}
		}
		for _, op := range ops {
			in := []numeric.Value{x, y}
			check(op.String(), layerOf(t, graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(op)}, in), in)
		}
		for _, op := range []elementwise.Op{elementwise.Neg, elementwise.Abs, elementwise.Sign, elementwise.Relu, elementwise.Not} {
			in := []numeric.Value{x}
			check(op.String(), layerOf(t, graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(op)}, in), in)
		}
		for _, other := range []numeric.Value{y, random(typ, 1301), random(typ, 7, 1), random(typ, 1), random(typ)} {
			in := []numeric.Value{x, other, random(numeric.Bool, 1301)}
			for constants := range 3 {
				check(fmt.Sprint("a program with ", other.Dims), layerOf(t, graph.Pointwise, graph.Elementwise{Program: program}, in, []int{0, 1, 2}[:constants]...), in)
			}
			check("and", layerOf(t, graph.BitwiseAnd, nil, in[:2]), in[:2])
			for _, left := range []bool{true, false} {
				check(fmt.Sprint("shift ", left), layerOf(t, graph.BitShift, graph.ShiftAttrs{Left: left}, in[:2]), in[:2])
			}
		}
	}
}

func TestGatherRefusesIndices(t *testing.T) {
	x := numeric.Values(numeric.F32, []float32{0, 1, 2, 3, 4, 5}, 3, 2)
	for at, row := range map[int64]int{0: 0, 2: 2, -1: 2, -3: 0, 3: -1, -4: -1, math.MinInt64: -1, math.MaxInt64: -1} {
		in := []numeric.Value{x, numeric.Values(numeric.I64, []int64{at}, 1)}
		l := layerOf(t, graph.Gather, graph.GatherAttrs{}, in)
		if onEveryTactic(t, "gather", l, in, func(name string, y numeric.Value, err error) {
			if (err != nil) != (row < 0) || row >= 0 && y.F32()[1] != float32(2*row+1) {
				t.Errorf("%s: row %d is %v, %v", name, at, y.F32(), err)
			}
		}) == 0 {
			t.Error("no kernel")
		}
	}
}

// TestRowsThatBroadcast has programs whose arguments keep their value through rows of any length, in products and sums
// among others, and alone.
func TestRowsThatBroadcast(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	affine := elementwise.Binary(elementwise.Mul).Then(elementwise.Binary(elementwise.Add), 0)
	twice := elementwise.Program{Args: 3, Code: []elementwise.Instr{ // the product has two readers
		{Op: elementwise.Mul, Arg: [3]int{0, 1}}, {Op: elementwise.Add, Arg: [3]int{3, 2}}, {Op: elementwise.Sub, Arg: [3]int{4, 3}}}}
	choice := elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}
	slope := elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.PRelu, Arg: [3]int{0, 1}}, {Op: elementwise.Max, Arg: [3]int{3, 2}}}}
	for _, length := range []int{1, 17, 63, 64, 65, 257, 512, 700, 5000} {
		for k, p := range []elementwise.Program{affine, twice, choice, slope} {
			for _, constant := range [][]int{nil, {1, 2}, {2}} {
				in := []numeric.Value{
					numeric.Values(numeric.F32, cputest.Normals(r, 2*3*length), 2, 3, length),
					numeric.Values(numeric.F32, cputest.Normals(r, 3), 3, 1),
					numeric.Values(numeric.F32, cputest.Normals(r, 2), 2, 1, 1),
				}
				if constant == nil { // another argument along the rows
					in[2] = numeric.Values(numeric.F32, cputest.Normals(r, length), length)
				}
				l := layerOf(t, graph.Pointwise, graph.Elementwise{Program: p}, in, constant...)
				want := numeric.NewValue(numeric.F32, 2, 3, length)
				if err := l.Eval(in, []numeric.Value{want}); err != nil {
					t.Fatal(err)
				}
				if onEveryTactic(t, "pointwise", l, in, func(name string, y numeric.Value, err error) {
					for i, got := range y.F32() {
						if d := math.Abs(float64(got - want.F32()[i])); err != nil || !(d < 1e-6) {
							t.Fatalf("%s, program %d, rows of %d: element %d is %v, want %v (%v)", name, k, length, i, got, want.F32()[i], err)
						}
					}
				}) == 0 {
					t.Error("no kernel")
				}
			}
		}
	}
}
