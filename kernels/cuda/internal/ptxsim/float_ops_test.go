package ptxsim

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// bigFormat is a float format, for a reference of its own: exact arithmetic on big.Float, rounded once.
type bigFormat struct {
	width, precision, least, most int
	get                           func(uint64) float64
}

var bigFormats = map[string]bigFormat{
	"f16": {16, 11, -14, 15, func(v uint64) float64 {
		switch h := uint16(v); {
		case h&0x7fff > 0x7c00:
			return math.NaN()
		case h&0x7fff == 0x7c00:
			return math.Inf(1 - 2*int(h>>15))
		default:
			return halfValue(h)
		}
	}},
	"bf16": {16, 8, -126, 127, func(v uint64) float64 { return float64(math.Float32frombits(uint32(v) << 16)) }},
	"f32":  {32, 24, -126, 127, func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }},
	"f64":  {64, 53, -1022, 1023, math.Float64frombits},
}

var bigModes = map[string]big.RoundingMode{"rn": big.ToNearestEven, "rz": big.ToZero, "rm": big.ToNegativeInf, "rp": big.ToPositiveInf}

// round rounds an exact number to the format, as a float64.
func (f bigFormat) round(v *big.Float, mode big.RoundingMode) float64 {
	if v.Sign() == 0 {
		return 0
	}
	e := v.MantExp(nil) - 1
	precision := f.precision
	if e < f.least {
		precision -= f.least - e
	}
	var out *big.Float
	if precision < 1 { // between zero and the least number: a number of one bit and something
		least := new(big.Float).SetMantExp(big.NewFloat(1), f.least-f.precision+1)
		if v.Sign() < 0 {
			least.Neg(least)
		}
		away := mode == big.ToPositiveInf && v.Sign() > 0 || mode == big.ToNegativeInf && v.Sign() < 0 ||
			mode == big.ToNearestEven && new(big.Float).Abs(v).Cmp(new(big.Float).SetMantExp(big.NewFloat(1), f.least-f.precision)) > 0
		out = choose(away, least, new(big.Float))
	} else {
		out = new(big.Float).SetPrec(uint(precision)).SetMode(mode).Set(v)
	}
	if out.Sign() != 0 && out.MantExp(nil)-1 > f.most {
		up := mode == big.ToNearestEven || mode == big.ToPositiveInf && v.Sign() > 0 || mode == big.ToNegativeInf && v.Sign() < 0
		if up {
			return math.Inf(v.Sign())
		}
		return float64(v.Sign()) * math.Ldexp(2-math.Ldexp(1, 1-f.precision), f.most)
	}
	d, _ := out.Float64()
	return d
}

// floatSamples are numbers of a format, close to each other in exponent so that results round in all ways, and specials.
func floatSamples(f bigFormat, rnd *rand.Rand, n int) []uint64 {
	x := make([]uint64, n)
	exponents := uint64(1)<<(f.width-f.precision) - 1
	bias := exponents / 2
	for i := range x {
		mantissa := rnd.Uint64() & (1<<(f.precision-1) - 1)
		if rnd.IntN(3) == 0 { // few bits: ties
			mantissa &= ^uint64(0) << (f.precision - 3)
		}
		e := bias + rnd.Uint64()%20 - 10
		switch rnd.IntN(8) {
		case 0:
			e = rnd.Uint64() % (exponents + 1)
		case 1:
			e = rnd.Uint64() % 3
		}
		x[i] = rnd.Uint64()&1<<(f.width-1) | e<<(f.precision-1) | mantissa
	}
	inf := exponents << (f.precision - 1)
	for i, v := range []uint64{0, 1 << (f.width - 1), inf, inf | 1<<(f.width-1), inf | 1<<(f.precision-2), 1, inf - 1} {
		x[i*9] = v
	}
	return x
}

// TestFloats runs add, sub, mul and fma in every format and rounding, against exact arithmetic.
func TestFloats(t *testing.T) {
	exact := func() *big.Float { return new(big.Float).SetPrec(5000) }
	for _, name := range []string{"f16", "bf16", "f32", "f64"} {
		f := bigFormats[name]
		for _, mode := range []string{"rn", "rz", "rm", "rp"} {
			for _, op := range []string{"add", "sub", "mul", "fma"} {
				if mode != "rn" && (f.width == 16 || op == "fma" && name == "f64") {
					continue
				}
				w := []int{f.width, f.width, f.width}
				if op == "fma" {
					w = append(w, f.width)
				}
				c := opCase{inst: op + "." + mode + "." + name, widths: w}
				checkFloats(t, c, f, func(a, b, c float64) float64 {
					var v *big.Float
					switch op {
					case "add":
						v = exact().Add(exact().SetFloat64(a), exact().SetFloat64(b))
					case "sub":
						v = exact().Sub(exact().SetFloat64(a), exact().SetFloat64(b))
					case "mul":
						v = exact().Mul(exact().SetFloat64(a), exact().SetFloat64(b))
					case "fma":
						v = exact().Add(exact().Mul(exact().SetFloat64(a), exact().SetFloat64(b)), exact().SetFloat64(c))
					}
					return f.round(v, bigModes[mode])
				}, func(a, b, c float64) float64 {
					switch op {
					case "add":
						return a + b
					case "sub":
						return a - b
					case "mul":
						return a * b
					}
					return a*b + c
				})
			}
		}
	}
}

// checkFloats compares an instruction with exact for finite numbers, and with special where one is not finite.
func checkFloats(t *testing.T, c opCase, f bigFormat, exact, special func(a, b, c float64) float64) {
	t.Run(c.inst, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(5, 6))
		const n = 2048
		x, y, z := floatSamples(f, rnd, n), floatSamples(f, rnd, n), floatSamples(f, rnd, n)
		rnd.Shuffle(n, func(i, j int) { y[i], y[j] = y[j], y[i] })
		for i, v := range runOp(t, c, x, y, z) {
			a, b, cc := f.get(x[i]), f.get(y[i]), f.get(z[i])
			if len(c.widths) < 4 {
				cc = 0
			}
			if len(c.widths) < 3 {
				b = 0
			}
			got := f.get(v)
			finite := !math.IsInf(a, 0) && a == a && !math.IsInf(b, 0) && b == b && !math.IsInf(cc, 0) && cc == cc
			want := special(a, b, cc)
			if finite {
				want = exact(a, b, cc)
			}
			if got != want && (got == got || want == want) {
				t.Fatalf("%s of %v, %v, %v: %v, want %v", c.inst, a, b, cc, got, want)
			}
		}
	})
}

// TestDivision runs the correctly rounded division, root and reciprocal of f32.
func TestDivision(t *testing.T) {
	f := bigFormats["f32"]
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	for mode, m := range bigModes {
		checkFloats(t, opCase{"div." + mode + ".f32", []int{32, 32, 32}, nil}, f, func(a, b, _ float64) float64 {
			if b == 0 || a == 0 {
				return a / b
			}
			return f.round(new(big.Float).SetPrec(300).Quo(exact(a), exact(b)), m)
		}, func(a, b, _ float64) float64 { return a / b })
		checkFloats(t, opCase{"sqrt." + mode + ".f32", []int{32, 32}, nil}, f, func(a, _, _ float64) float64 {
			if a <= 0 {
				return math.Sqrt(a)
			}
			return f.round(new(big.Float).SetPrec(300).Sqrt(exact(a)), m)
		}, func(a, _, _ float64) float64 { return math.Sqrt(a) })
	}
}

// TestFloatConversions runs cvt between formats, and to integers, in every rounding.
func TestFloatConversions(t *testing.T) {
	for _, c := range []struct{ to, from, modes string }{
		{"f16", "f32", "rn rz"}, {"bf16", "f32", "rn rz"}, {"f32", "f64", "rn rz rm rp"}, {"f16", "f64", "rn"},
		{"f32", "f16", ""}, {"f64", "f32", ""}, {"f32", "bf16", ""},
	} {
		to, from := bigFormats[c.to], bigFormats[c.from]
		modes := strings.Fields(c.modes)
		if len(modes) == 0 {
			modes = []string{""}
		}
		for _, mode := range modes {
			inst := strings.ReplaceAll(fmt.Sprintf("cvt.%s.%s.%s", mode, c.to, c.from), "..", ".")
			t.Run(inst, func(t *testing.T) {
				x := floatSamples(from, rand.New(rand.NewPCG(7, 8)), 2048)
				for i, v := range runOp(t, opCase{inst + " %d, %a", []int{to.width, from.width}, nil}, x, x, x) {
					a := from.get(x[i])
					want := a
					if a == a && !math.IsInf(a, 0) {
						want = to.round(new(big.Float).SetFloat64(a), bigModes[choose(mode == "", "rn", mode)])
					}
					if got := to.get(v); got != want && (got == got || want == want) {
						t.Fatalf("of %v: %v, want %v", a, got, want)
					}
				}
			})
		}
	}
	rounds := map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil}
	for mode, f := range rounds {
		for _, from := range []string{"f16", "f32", "f64"} {
			for _, to := range []string{"s8", "u8", "s16", "u32", "s32", "s64"} {
				floatToIntegerCase(t, mode, to, from, f)
			}
		}
	}
}

func floatToIntegerCase(t *testing.T, mode, to, from string, round func(float64) float64) {
	width := map[string]int{"s8": 8, "u8": 8, "s16": 16, "u32": 32, "s32": 32, "s64": 64}[to]
	inst := fmt.Sprintf("cvt.%s.sat.%s.%s", mode, to, from)
	if width == 64 {
		inst = fmt.Sprintf("cvt.%s.%s.%s", mode, to, from)
	}
	t.Run(inst, func(t *testing.T) {
		f := bigFormats[from]
		x := floatSamples(f, rand.New(rand.NewPCG(9, 10)), 1024)
		for i, v := range runOp(t, opCase{inst + " %d, %a", []int{width, f.width}, nil}, x, x, x) {
			a := f.get(x[i])
			least, most := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(width))
			if to[0] == 's' {
				most.Rsh(most, 1)
				least.Neg(most)
			}
			most.Sub(most, big.NewInt(1))
			want := new(big.Int)
			switch {
			case a != a:
			case math.IsInf(a, 1):
				want = most
			case math.IsInf(a, -1):
				want = least
			default:
				want, _ = big.NewFloat(round(a)).Int(nil)
				if want.Cmp(most) > 0 {
					want = most
				}
				if want.Cmp(least) < 0 {
					want = least
				}
			}
			if low(v, width) != low(new(big.Int).And(want, new(big.Int).SetUint64(^uint64(0))).Uint64(), width) {
				t.Fatalf("of %v: %#x, want %v", a, v, want)
			}
		}
	})
}

// TestFloatForms runs what is left: minimum and maximum, saturation, flushing, packed halves, comparisons.
func TestFloatForms(t *testing.T) {
	f := bigFormats["f32"]
	pick := func(least bool) func(a, b, _ float64) float64 {
		return func(a, b, _ float64) float64 {
			switch {
			case a != a:
				return b
			case b != b:
				return a
			case least:
				return min(a, b)
			}
			return max(a, b)
		}
	}
	flush := func(v float64) float64 { return choose(math.Abs(v) < 0x1p-126, 0, v) }
	for _, c := range []struct {
		inst string
		n    int
		f    func(a, b, c float64) float64
	}{
		{"min.f32", 3, pick(true)}, {"max.f32", 3, pick(false)},
		{"max.NaN.f32", 3, func(a, b, _ float64) float64 { return max(a, b) }},
		{"add.sat.f32", 3, func(a, b, _ float64) float64 {
			return float64(max(0, min(1, pick(false)(float64(float32(a)+float32(b)), 0, 0))))
		}},
		{"add.ftz.f32", 3, func(a, b, _ float64) float64 { return flush(float64(float32(flush(a)) + float32(flush(b)))) }},
		{"mul.ftz.f32", 3, func(a, b, _ float64) float64 { return flush(float64(float32(flush(a)) * float32(flush(b)))) }},
		{"abs.f32", 2, func(a, _, _ float64) float64 { return math.Abs(a) }},
		{"neg.f32", 2, func(a, _, _ float64) float64 { return -a }},
		{"copysign.f32", 3, func(a, b, _ float64) float64 { return math.Copysign(b, a) }},
		{"cvt.rni.f32.f32", 2, func(a, _, _ float64) float64 { return math.RoundToEven(a) }},
		{"cvt.rna.tf32.f32 %d, %a", 2, func(a, _, _ float64) float64 {
			return choose(a != a || math.IsInf(a, 0), a, float64(math.Float32frombits((math.Float32bits(float32(a))+0x1000)&^0x1fff)))
		}},
	} {
		widths := []int{32, 32, 32, 32}[:c.n]
		checkFloats(t, opCase{c.inst, widths, nil}, f, c.f, c.f)
	}
	a, b, _ := samples(rand.New(rand.NewPCG(11, 12)))
	for name, g := range map[string]func(a, b float64) bool{
		"eq": func(a, b float64) bool { return a == b }, "ne": func(a, b float64) bool { return a < b || a > b },
		"lt": func(a, b float64) bool { return a < b }, "le": func(a, b float64) bool { return a <= b },
		"ltu": func(a, b float64) bool { return !(a >= b) }, "geu": func(a, b float64) bool { return !(a < b) },
		"neu": func(a, b float64) bool { return a != b }, "equ": func(a, b float64) bool { return !(a < b || a > b) },
		"num": func(a, b float64) bool { return a == a && b == b }, "nan": func(a, b float64) bool { return a != a || b != b },
	} {
		for i, v := range runOp(t, opCase{"setp." + name + ".f32", []int{1, 32, 32}, nil}, a, b, b) {
			if want := bit(g(f.get(a[i]), f.get(b[i]))); v != want {
				t.Fatalf("setp.%s of %v and %v: %d", name, f.get(a[i]), f.get(b[i]), v)
			}
		}
	}
	h := bigFormats["f16"]
	for i, v := range runOp(t, opCase{"fma.rn.relu.f16x2", []int{32, 32, 32, 32}, nil}, a, b, a) {
		for s := 0; s < 32; s += 16 {
			x, y := h.get(a[i]>>s&0xffff), h.get(b[i]>>s&0xffff)
			want := x*y + x
			if want == want && !math.IsInf(want, 0) {
				exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(x), big.NewFloat(y))
				want = max(0, h.round(exact.Add(exact, big.NewFloat(x)), big.ToNearestEven))
			}
			if got := h.get(v >> s & 0xffff); got != max(want, 0) && (got == got || want == want) {
				t.Fatalf("fma.relu of %v, %v: %v, want %v", x, y, got, want)
			}
		}
	}
}

// TestNarrowFormats checks the 8-bit floats against their definition: every bit pattern comes back from its value, and
// what lies between two goes to the nearer.
func TestNarrowFormats(t *testing.T) {
	for name, f := range map[string]*narrowFormat{"e4m3": &e4m3Format, "e5m2": &e5m2Format} {
		for b := range uint32(256) {
			v := f.float(b)
			if v != v {
				continue
			}
			if got := f.round(v, toNearest); got != b {
				t.Errorf("%s: %#x is %v, which is %#x", name, b, v, got)
			}
		}
		if got := f.satfinite(1e6); f.float(got) != map[string]float64{"e4m3": 448, "e5m2": 57344}[name] {
			t.Errorf("%s: 1e6 saturates to %v", name, f.float(got))
		}
	}
	if v := e4m3Format.float(0x38); v != 1 {
		t.Errorf("e4m3 0x38 is %v", v)
	}
	if v := e5m2Format.float(0x3c); v != 1 {
		t.Errorf("e5m2 0x3c is %v", v)
	}
	for h := range uint32(1 << 16) {
		if v := float64(halfToFloat(uint16(h))); v != halfFormat.float(h) && v == v {
			t.Fatalf("f16 %#x: %v and %v", h, v, halfFormat.float(h))
		} else if v == v && uint32(halfFromFloat(float32(v))) != h {
			t.Fatalf("f16 %#x becomes %#x", h, halfFromFloat(float32(v)))
		}
	}
}
