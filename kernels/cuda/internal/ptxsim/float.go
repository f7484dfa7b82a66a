package ptxsim

import (
	"math"
	"math/big"
	"slices"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// A rounding is a direction in which a real number becomes a float.
type rounding uint8

const (
	toNearest rounding = iota // even
	toNearestAway
	toZero
	down
	up
)

// roundingOf reads the modifier rn, rz, rm, rp, or their integer forms.
func (d *decoder) rounding() rounding {
	switch d.one("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna") {
	case "rz", "rzi":
		return toZero
	case "rm", "rmi":
		return down
	case "rp", "rpi":
		return up
	case "rna":
		return toNearestAway
	}
	return toNearest
}

// sticky makes of v, the nearest float64 to an exact number v+err, the one of its two neighbours with an odd last bit if
// err is not zero: rounding that further, to at most 51 bits and in any direction, rounds the exact number (round to odd;
// S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func sticky(v, err float64) float64 {
	if err == 0 || err != err || math.IsInf(v, 0) {
		return v
	}
	if b := math.Float64bits(v); b&1 == 0 {
		if v == 0 {
			return math.Copysign(math.SmallestNonzeroFloat64, err)
		}
		if (err > 0) == (v > 0) {
			return math.Float64frombits(b + 1)
		}
		return math.Float64frombits(b - 1)
	}
	return v
}

// sum, product and fused return the nearest float64 to the result and the rest, or a number of the rest's sign; fused is
// for products that float64 holds. Where finite numbers overflow, the rest is infinite too.

func sum(a, b float64) (v, err float64) {
	v = a + b
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return v, -v
	}
	t := v - a
	return v, (a - (v - t)) + (b - t)
}

func product(a, b float64) (v, err float64) {
	v = a * b
	if math.Abs(v) < 0x1p-900 && a != 0 && b != 0 { // the rest may be too small for a float64: its sign will do
		x := new(big.Float).SetPrec(200).SetFloat64(a)
		x.Mul(x, new(big.Float).SetFloat64(b))
		return v, float64(x.Cmp(new(big.Float).SetFloat64(v))) * math.SmallestNonzeroFloat64
	}
	return v, math.FMA(a, b, -v)
}

func fused(a, b, c float64) (v, err float64) { return sum(a*b, c) }

func quotient(a, b float64) (v, err float64) {
	v = a / b
	if rest := math.FMA(-v, b, a); rest != 0 && rest == rest && !math.IsInf(v, 0) {
		err = math.Copysign(math.SmallestNonzeroFloat64, rest) * math.Copysign(1, b)
	}
	return v, err
}

func root(a float64) (v, err float64) {
	v = math.Sqrt(a)
	return v, math.FMA(-v, v, a)
}

// round32 rounds v, which sticky made, to a float32.
func round32(v float64, r rounding) float32 {
	f := float32(v)
	if r == toNearest || float64(f) == v || v != v {
		return f
	}
	bigger := math.Abs(float64(f)) > math.Abs(v)
	switch {
	case r == toZero && bigger, r == down && v > 0 && bigger, r == up && v < 0 && bigger:
		return math.Float32frombits(math.Float32bits(f) - 1)
	case r == down && v < 0 && !bigger, r == up && v > 0 && !bigger:
		return math.Float32frombits(math.Float32bits(f) + 1)
	}
	return f
}

// round64 rounds the exact number v+err. An infinite v is the overflow of finite numbers if err is its opposite.
func round64(v, err float64, r rounding) float64 {
	if r == toNearest || err == 0 || v != v || err != err || math.IsInf(v, 0) && err != -v {
		return v
	}
	switch {
	case err < 0 && (r == down || r == toZero && v > 0):
		return math.Nextafter(v, math.Inf(-1))
	case err > 0 && (r == up || r == toZero && v < 0):
		return math.Nextafter(v, math.Inf(1))
	}
	return v
}

// roundInteger rounds v to an integral value.
func roundInteger(v float64, r rounding) float64 {
	switch r {
	case toZero:
		return math.Trunc(v)
	case down:
		return math.Floor(v)
	case up:
		return math.Ceil(v)
	}
	return math.RoundToEven(v)
}

const nan32 = 0x7fffffff // the NaN that GPUs make

// floatOp is how a float instruction treats its operands and its result.
type floatOp struct {
	t     ptx.Type // of one number: f16 of f16x2
	r     rounding
	flush bool // subnormals to zero
	sat   bool // to [0, 1]
	relu  bool
}

// get makes a number of the type's bits.
func (o *floatOp) get(v uint64) float64 {
	var f float64
	switch o.t {
	case ptx.F16:
		f = float64(halfToFloat(uint16(v)))
	case ptx.BF16:
		f = float64(math.Float32frombits(uint32(v) << 16))
	case ptx.F32:
		f = float64(math.Float32frombits(uint32(v)))
	default:
		return math.Float64frombits(v)
	}
	if o.flush && o.tiny(f) {
		return math.Copysign(0, f)
	}
	return f
}

// tiny reports whether f is subnormal in the type.
func (o *floatOp) tiny(f float64) bool {
	if o.t == ptx.F16 {
		return math.Abs(f) < 0x1p-14
	}
	return math.Abs(f) < 0x1p-126
}

// set rounds the exact number v+err to the type's bits.
func (o *floatOp) set(v, err float64) uint64 {
	if o.sat {
		if !(v > 0) {
			v, err = 0, 0
		} else if v >= 1 {
			v, err = 1, 0
		}
	}
	if o.relu && v <= 0 {
		v, err = 0, 0
	}
	if o.t == ptx.F64 {
		return math.Float64bits(round64(v, err, o.r))
	}
	v = sticky(v, err)
	switch o.t {
	case ptx.F16:
		h := halfFormat.round(v, o.r)
		if o.flush && h&0x7c00 == 0 {
			h &= 0x8000
		}
		return uint64(h)
	case ptx.BF16:
		return uint64(bfloatFormat.round(v, o.r))
	}
	if v != v {
		return nan32
	}
	f := round32(v, o.r)
	if o.flush && o.tiny(float64(f)) {
		f = float32(math.Copysign(0, float64(f)))
	}
	return uint64(math.Float32bits(f))
}

// floats decodes an operation on up to three floats of type t, or on pairs of them; f gives the result as sum does.
func (d *decoder) floats(t ptx.Type, sources int, f func(a, b, c float64) (v, err float64)) {
	if !d.want(1+sources, 1+sources) {
		return
	}
	o := floatOp{t: t, r: d.rounding(), flush: d.has("ftz"), sat: d.has("sat"), relu: d.has("relu")}
	parts, width := uint(1), uint(bitsOf(t))
	switch t {
	case ptx.F16X2:
		o.t, parts = ptx.F16, 2
	case ptx.BF162:
		o.t, parts = ptx.BF16, 2
	}
	wide := width == 64
	d.out.d = d.dst(int(width))
	for i, s := range []*slot{&d.out.a, &d.out.b, &d.out.c} {
		*s = d.constant(0, wide)
		if i < sources {
			*s = d.arg(i+1, int(width))
		}
	}
	step := width / parts
	op, approximate := d.in.Op, d.approximate() && t == ptx.F32
	d.out.exec = func(w *warp, in *inst, m uint32) {
		rough := approximate && w.block.launch.opt.Rough
		for l := range warpSize {
			if m>>l&1 == 0 {
				continue
			}
			a, b, c := w.load(in.a, wide, l), w.load(in.b, wide, l), w.load(in.c, wide, l)
			var out uint64
			for p := range parts {
				s := p * step
				x := o.get(extend(a>>s, step, false))
				v, err := f(x, o.get(extend(b>>s, step, false)), o.get(extend(c>>s, step, false)))
				if rough {
					v, err = roughly(op, v, x), 0
				}
				out |= o.set(v, err) << s
			}
			w.put(in.d, wide, l, out)
		}
	}
}

// multiplierOps are the operations of the units that multiply and add: the others are of units beside them.
var multiplierOps = []string{"add", "sub", "mul", "fma", "mad"}

// floatArithmetic decodes add, sub, mul, fma, mad, div, min, max, abs and neg of floats.
func (d *decoder) floatArithmetic(t ptx.Type) {
	root, fast := d.in.Op, t == ptx.F32 && d.rounding() == toNearest && !d.has("ftz") && !d.has("sat")
	if t == ptx.F32 && slices.Contains(multiplierOps, root) {
		d.out.work.floats = 1
	}
	if root == "fma" || root == "mad" {
		d.out.work.fma = 1
		if t == ptx.F16X2 || t == ptx.BF162 {
			d.out.work.fma = 2
		}
	}
	if fast {
		if f, n := fastFloat(root); f != nil && !d.has("NaN") {
			d.operands(n, 32, f)
			return
		}
	}
	switch root {
	case "add":
		d.floats(t, 2, func(a, b, _ float64) (float64, float64) { return sum(a, b) })
	case "sub":
		d.floats(t, 2, func(a, b, _ float64) (float64, float64) { return sum(a, -b) })
	case "mul":
		d.floats(t, 2, func(a, b, _ float64) (float64, float64) { return product(a, b) })
	case "fma", "mad":
		if t == ptx.F64 {
			if d.rounding() != toNearest {
				d.fail("the simulator has fma.f64 with rounding rn only")
			}
			d.floats(t, 3, func(a, b, c float64) (float64, float64) { return math.FMA(a, b, c), 0 })
			return
		}
		d.floats(t, 3, fused)
	case "div":
		d.floats(t, 2, func(a, b, _ float64) (float64, float64) { return quotient(a, b) })
	case "min", "max":
		nan, least := d.has("NaN"), root == "min"
		d.floats(t, 2, func(a, b, _ float64) (float64, float64) { return extreme(a, b, least, nan), 0 })
	case "abs":
		d.signBit(t, false)
	case "neg":
		d.signBit(t, true)
	}
}

// extreme is min or max: of a number and a NaN the number, or with nan set the NaN; -0 is below +0.
func extreme(a, b float64, least, nan bool) float64 {
	switch {
	case a != a && b != b, nan && (a != a || b != b):
		return math.NaN()
	case a != a:
		return b
	case b != b:
		return a
	case least:
		return min(a, b)
	}
	return max(a, b)
}

// signBit decodes abs and neg, which touch the sign bits alone.
func (d *decoder) signBit(t ptx.Type, flip bool) {
	signs := uint64(1) << (bitsOf(t) - 1)
	if t == ptx.F16X2 || t == ptx.BF162 {
		signs |= 1 << 15
	}
	flush := d.has("ftz") && t == ptx.F32
	d.integer(bitType(bitsOf(t)), 1, func(a, _, _ uint64) uint64 {
		if flush && a&0x7f800000 == 0 {
			a &= 0x80000000
		}
		if flip {
			return a ^ signs
		}
		return a &^ signs
	})
}

// bitType is the untyped type of a width.
func bitType(width int) ptx.Type {
	switch width {
	case 8:
		return ptx.B8
	case 16:
		return ptx.B16
	case 64:
		return ptx.B64
	}
	return ptx.B32
}

// function decodes functions of one number, and copysign. Those that the GPU approximates are given to the nearest float:
// their last bits differ from any GPU's, by as much as may be with Options.Rough.
func (d *decoder) function() {
	t := d.typ()
	one := func(f func(float64) float64) {
		d.floats(t, 1, func(a, _, _ float64) (float64, float64) { return f(a), 0 })
	}
	switch d.in.Op {
	case "rcp":
		d.floats(t, 1, func(a, _, _ float64) (float64, float64) { return quotient(1, a) })
	case "sqrt":
		d.floats(t, 1, func(a, _, _ float64) (float64, float64) { return root(a) })
	case "rsqrt":
		one(func(a float64) float64 { return 1 / math.Sqrt(a) })
	case "sin":
		one(math.Sin)
	case "cos":
		one(math.Cos)
	case "lg2":
		one(math.Log2)
	case "ex2":
		one(math.Exp2)
	case "tanh":
		one(math.Tanh)
	case "copysign": // the sign of a with the magnitude of b
		sign := uint64(1) << (bitsOf(t) - 1)
		d.integer(bitType(bitsOf(t)), 2, func(a, b, _ uint64) uint64 { return a&sign | b&^sign })
	}
}

// testp decodes the classification of floats.
func (d *decoder) testp() {
	if !d.want(2, 2) {
		return
	}
	t, class := d.typ(), d.one("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	o, width := floatOp{t: t}, bitsOf(t)
	wide, least := width == 64, 0x1p-126
	if wide {
		least = 0x1p-1022
	}
	d.out.d, d.out.a = d.dst(1), d.arg(1, width)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		var v uint32
		for l := range warpSize {
			f := o.get(w.load(in.a, wide, l))
			inf, nan, small := math.IsInf(f, 0), f != f, math.Abs(f) < least
			is := map[string]bool{"finite": !inf && !nan, "infinite": inf, "number": !nan, "notanumber": nan,
				"normal": !inf && !nan && !small, "subnormal": small && f != 0}[class]
			if is {
				v |= 1 << l
			}
		}
		w.setPred(in.d, m, v)
	}
}
