package ptxsim

import (
	"math"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// convert decodes cvt and cvt.pack.
func (d *decoder) convert() {
	if d.in.Op == "cvt.pack" || d.has("pack") {
		d.pack()
		return
	}
	t := d.types()
	if len(t) != 2 {
		d.fail("cvt names two types")
		return
	}
	to, from := t[0], t[1]
	switch {
	case to == ptx.F16X2 && from == ptx.F32, to == ptx.BF162 && from == ptx.F32,
		to == "e4m3x2" && from == ptx.F32, to == "e5m2x2" && from == ptx.F32:
		d.convertPair(to)
		return
	case from == "e4m3x2", from == "e5m2x2", to == "e4m3x2", to == "e5m2x2":
		d.convertBytes(to, from)
		return
	case to == ptx.F32 && from == ptx.F16 && len(d.mods) == 2:
		d.out.d, d.out.a, d.out.exec = d.dst(32), d.arg(1, 16), execHalfToFloat
		return
	case to == ptx.F16 && from == ptx.F32 && len(d.mods) == 3 && d.has("rn"):
		d.out.d, d.out.a, d.out.exec = d.dst(16), d.arg(1, 32), execFloatToHalf
		return
	}
	d.convertOne(to, from)
}

func execHalfToFloat(w *warp, in *inst, m uint32) {
	d, a := w.dst32(in.d, m), &w.r[in.a]
	for l := range d {
		d[l] = float32bits(halfToFloat(uint16(a[l])))
	}
	w.done32(in.d, m)
}

func execFloatToHalf(w *warp, in *inst, m uint32) {
	d, a := w.dst32(in.d, m), &w.r[in.a]
	for l := range d {
		d[l] = uint32(halfFromFloat(math.Float32frombits(a[l])))
	}
	w.done32(in.d, m)
}

// registerWidth is the width of the register of operand i, which cvt, ld and st let be wider than the type.
func (d *decoder) registerWidth(o *ptx.Operand, width int) int {
	if o.Kind == ptx.RegOperand {
		if _, w := d.register(o); w > width {
			return w
		}
	}
	return max(width, 16)
}

// convertOne decodes the conversion of one number.
func (d *decoder) convertOne(to, from ptx.Type) {
	if !d.want(2, 2) {
		return
	}
	dw, sw := d.registerWidth(&d.in.Args[0], bitsOf(to)), d.registerWidth(&d.in.Args[1], bitsOf(from))
	d.out.d, d.out.a = d.dst(dw), d.arg(1, sw)
	f := d.conversion(to, from)
	toWide, fromWide := dw == 64, sw == 64
	mask := ^uint64(0)
	if !toWide {
		mask = 1<<dw - 1
	}
	d.out.exec = func(w *warp, in *inst, m uint32) {
		for l := range warpSize {
			if m>>l&1 != 0 {
				w.put(in.d, toWide, l, f(w.load(in.a, fromWide, l))&mask)
			}
		}
	}
}

// conversion is the function from the bits of one type to those of another, integers extended to 64 bits.
func (d *decoder) conversion(to, from ptx.Type) func(uint64) uint64 {
	r, sat := d.rounding(), d.has("sat")
	tw, fw := uint(bitsOf(to)), uint(bitsOf(from))
	source := floatOp{t: from, flush: d.has("ftz") && from == ptx.F32}
	target := floatOp{t: to, r: r, flush: d.has("ftz") && to == ptx.F32, sat: sat, relu: d.has("relu")}
	integral := d.one("rni", "rzi", "rmi", "rpi") != ""
	switch {
	case to == ptx.TF32:
		return func(v uint64) uint64 { return uint64(tf32Format.round(source32(v), r)) << 13 }
	case !isFloatType(from) && !isFloatType(to):
		return func(v uint64) uint64 {
			v = extend(v, fw, isSigned(from))
			if sat {
				return saturate(v, isSigned(from), to)
			}
			return extend(v, tw, isSigned(to))
		}
	case !isFloatType(from):
		return func(v uint64) uint64 {
			f, err := integerToFloat(extend(v, fw, isSigned(from)), isSigned(from))
			return target.set(f, err)
		}
	case !isFloatType(to):
		return func(v uint64) uint64 {
			f := source.get(v)
			return floatToInteger(roundInteger(f, r), to)
		}
	case integral:
		return func(v uint64) uint64 { return target.set(roundInteger(source.get(v), r), 0) }
	}
	return func(v uint64) uint64 { return target.set(source.get(v), 0) }
}

func source32(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }

// integerToFloat is the nearest float64 to v and the rest.
func integerToFloat(v uint64, signed bool) (f, err float64) {
	if signed {
		f = float64(int64(v))
		if f >= 0x1p63 {
			return f, float64(int64(v - 1<<63))
		}
		return f, float64(int64(v) - int64(f))
	}
	f = float64(v)
	if f >= 0x1p64 {
		return f, -float64(-v)
	}
	return f, float64(int64(v - uint64(f)))
}

// floatToInteger is an integral value as an integer of type t: the nearest one there is; a NaN is 0.
func floatToInteger(f float64, t ptx.Type) uint64 {
	width := bitsOf(t)
	if f != f {
		return 0
	}
	if isSigned(t) {
		most := math.Ldexp(1, width-1)
		switch {
		case f >= most:
			return 1<<(width-1) - 1
		case f < -most:
			return -uint64(1 << (width - 1))
		}
		return uint64(int64(f))
	}
	switch {
	case f >= math.Ldexp(1, width):
		return ^uint64(0) >> (64 - width)
	case f < 0:
		return 0
	}
	return uint64(f)
}

// saturate is the integer of type t nearest to v.
func saturate(v uint64, signed bool, t ptx.Type) uint64 {
	width := uint(bitsOf(t))
	low, high := uint64(0), ^uint64(0)>>(64-width)
	if isSigned(t) {
		low, high = -uint64(1<<(width-1)), uint64(1<<(width-1)-1)
	}
	if signed && int64(v) < 0 {
		if !isSigned(t) {
			return 0
		}
		return uint64(max(int64(v), int64(low)))
	}
	return min(v, high)
}

// convertPair decodes the conversion of two f32 into one register: the first source into the upper half.
func (d *decoder) convertPair(to ptx.Type) {
	if !d.want(3, 3) {
		return
	}
	r, relu, half := d.rounding(), d.has("relu"), uint(bitsOf(to)/2)
	var f func(v float64) uint32
	switch to {
	case ptx.F16X2:
		f = func(v float64) uint32 { return halfFormat.round(v, r) }
		if r == toNearest {
			f = func(v float64) uint32 { return uint32(halfFromFloat(float32(v))) }
		}
	case ptx.BF162:
		f = func(v float64) uint32 { return bfloatFormat.round(v, r) }
	case "e4m3x2":
		f = e4m3Format.satfinite
	case "e5m2x2":
		f = e5m2Format.satfinite
	}
	d.out.d, d.out.a, d.out.b = d.dst(bitsOf(to)), d.arg(1, 32), d.arg(2, 32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
		for l := range d {
			x, y := float64(math.Float32frombits(a[l])), float64(math.Float32frombits(b[l]))
			if relu && x <= 0 {
				x = 0
			}
			if relu && y <= 0 {
				y = 0
			}
			d[l] = f(x)<<half | f(y)
		}
		w.done32(in.d, m)
	}
}

// convertBytes decodes conversions between pairs of halves and pairs of 8-bit floats.
func (d *decoder) convertBytes(to, from ptx.Type) {
	formats := map[ptx.Type]*narrowFormat{"e4m3x2": &e4m3Format, "e5m2x2": &e5m2Format, ptx.F16X2: &halfFormat}
	src, dst := formats[from], formats[to]
	if src == nil || dst == nil || !d.want(2, 2) {
		d.fail("the simulator does not have this conversion")
		return
	}
	relu := d.has("relu")
	d.out.d, d.out.a = d.dst(bitsOf(to)), d.arg(1, bitsOf(from))
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d, a := w.dst32(in.d, m), &w.r[in.a]
		for l := range d {
			var out uint32
			for i := range 2 {
				v := src.float(a[l] >> (i * src.width) & (1<<src.width - 1))
				if relu && v <= 0 {
					v = 0
				}
				out |= dst.satfinite(v) << (i * dst.width)
			}
			d[l] = out
		}
		w.done32(in.d, m)
	}
}

// pack decodes cvt.pack.sat: two s32 saturated to half words or, with a third operand to shift them in, to bytes.
func (d *decoder) pack() {
	t := d.types()
	if len(t) < 2 || !d.has("sat") {
		d.fail("the simulator does not have this form of cvt.pack")
		return
	}
	to, signed := t[0], isSigned(t[1])
	width := bitsOf(to)
	n := 3
	if width == 8 {
		n = 4
	}
	if !d.want(n, n) {
		return
	}
	d.out.d, d.out.a, d.out.b, d.out.c = d.dst(32), d.arg(1, 32), d.arg(2, 32), d.constant(0, false)
	if n == 4 {
		d.out.c = d.arg(3, 32)
	}
	mask := uint64(1)<<width - 1
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			x := saturate(extend(uint64(a[l]), 32, signed), signed, to) & mask
			y := saturate(extend(uint64(b[l]), 32, signed), signed, to) & mask
			d[l] = uint32(x<<width|y) | c[l]<<(2*width)
		}
		w.done32(in.d, m)
	}
}
