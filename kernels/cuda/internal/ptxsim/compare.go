package ptxsim

import (
	"math"
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// comparison is a relation: bits that say in which outcomes it holds.
type comparison uint8

const (
	isLess comparison = 1 << iota
	isEqual
	isGreater
	isUnordered
)

// comparisonOf reads the modifier. The u forms hold of NaNs too; lo, ls, hi, hs are those of unsigned numbers.
func comparisonOf(name string) comparison {
	switch name {
	case "eq":
		return isEqual
	case "ne":
		return isLess | isGreater
	case "lt", "lo":
		return isLess
	case "le", "ls":
		return isLess | isEqual
	case "gt", "hi":
		return isGreater
	case "ge", "hs":
		return isGreater | isEqual
	case "equ":
		return isEqual | isUnordered
	case "neu":
		return isLess | isGreater | isUnordered
	case "ltu":
		return isLess | isUnordered
	case "leu":
		return isLess | isEqual | isUnordered
	case "gtu":
		return isGreater | isUnordered
	case "geu":
		return isGreater | isEqual | isUnordered
	case "num":
		return isLess | isEqual | isGreater
	case "nan":
		return isUnordered
	}
	return 0
}

// compare decodes setp and set.
func (d *decoder) compare() {
	relation := comparisonOf(d.mods[0])
	if relation == 0 || !d.want(3, 4) {
		d.fail("has no comparison that the simulator knows")
		return
	}
	t := d.typ()
	width := bitsOf(t)
	op := d.one("and", "or", "xor")
	d.out.a, d.out.b = d.arg(1, width), d.arg(2, width)
	if len(d.in.Args) == 4 {
		d.out.p = d.pred(3)
	} else if op != "" {
		d.fail("%s needs a predicate", op)
	}
	join := combine(op)
	test := d.tester(t, relation)
	if d.in.Op == "setp" {
		d.out.d, d.out.e = d.dst(1), d.pair()
		if t == ptx.F16X2 || t == ptx.BF162 {
			high := d.testerOf(t, relation, 16)
			d.out.exec = func(w *warp, in *inst, m uint32) {
				p := w.predicate(in.p)
				lo, hi := test(w, in), high(w, in)
				w.setPred(in.d, m, join(lo, p))
				w.setPred(in.e, m, join(hi, p))
			}
			return
		}
		if op == "" && d.out.e == d.sinkPred {
			d.out.exec = func(w *warp, in *inst, m uint32) { w.setPred(in.d, m, test(w, in)) }
			return
		}
		d.out.exec = func(w *warp, in *inst, m uint32) {
			p, v := w.predicate(in.p), test(w, in)
			w.setPred(in.d, m, join(v, p))
			w.setPred(in.e, m, join(^v, p))
		}
		return
	}
	yes := all // of an integer result
	if d.types()[0] == ptx.F32 {
		yes = math.Float32bits(1)
	}
	d.out.d = d.dst(32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		v := join(test(w, in), w.predicate(in.p))
		out := w.dst32(in.d, m)
		for l := range out {
			out[l] = -(v >> l & 1) & yes
		}
		w.done32(in.d, m)
	}
}

// tester is the function that finds the lanes in which the relation holds between a and b.
func (d *decoder) tester(t ptx.Type, relation comparison) func(w *warp, in *inst) uint32 {
	switch {
	case bitsOf(t) == 32 && !isFloatType(t) && isSigned(t):
		return func(w *warp, in *inst) uint32 { return compareS32(&w.r[in.a], &w.r[in.b], relation) }
	case bitsOf(t) == 32 && !isFloatType(t):
		return func(w *warp, in *inst) uint32 { return compareU32(&w.r[in.a], &w.r[in.b], relation) }
	}
	return d.testerOf(t, relation, 0)
}

// testerOf is tester for any type; of packed ones, for the number that begins at bit shift.
func (d *decoder) testerOf(t ptx.Type, relation comparison, shift uint) func(w *warp, in *inst) uint32 {
	width := uint(bitsOf(t))
	wide, signed := width == 64, isSigned(t)
	if !isFloatType(t) {
		return func(w *warp, in *inst) (v uint32) {
			for l := range warpSize {
				a, b := extend(w.load(in.a, wide, l), width, signed), extend(w.load(in.b, wide, l), width, signed)
				r := isEqual
				switch {
				case signed && int64(a) < int64(b), !signed && a < b:
					r = isLess
				case a != b:
					r = isGreater
				}
				v |= holds(relation, r) << l
			}
			return v
		}
	}
	o := floatOp{t: t, flush: d.has("ftz")}
	switch t {
	case ptx.F16X2:
		o.t, width = ptx.F16, 16
	case ptx.BF162:
		o.t, width = ptx.BF16, 16
	}
	return func(w *warp, in *inst) (v uint32) {
		for l := range warpSize {
			a, b := o.get(extend(w.load(in.a, wide, l)>>shift, width, false)), o.get(extend(w.load(in.b, wide, l)>>shift, width, false))
			r := isUnordered
			switch {
			case a < b:
				r = isLess
			case a > b:
				r = isGreater
			case a == b:
				r = isEqual
			}
			v |= holds(relation, r) << l
		}
		return v
	}
}

func holds(relation, outcome comparison) uint32 {
	if relation&outcome != 0 {
		return 1
	}
	return 0
}

func compareS32(a, b *vec32, relation comparison) uint32 {
	var less, equal uint32
	for l := range a {
		x, y := int64(int32(a[l])), int64(int32(b[l]))
		less |= uint32(uint64(x-y)>>63) << l
		equal |= uint32((uint64(a[l]^b[l])-1)>>63) << l
	}
	return outcomes(less, equal, relation)
}

func compareU32(a, b *vec32, relation comparison) uint32 {
	var less, equal uint32
	for l := range a {
		x, y := int64(a[l]), int64(b[l])
		less |= uint32(uint64(x-y)>>63) << l
		equal |= uint32((uint64(a[l]^b[l])-1)>>63) << l
	}
	return outcomes(less, equal, relation)
}

// outcomes is the lanes in which the relation holds.
func outcomes(less, equal uint32, relation comparison) uint32 {
	var v uint32
	if relation&isLess != 0 {
		v |= less
	}
	if relation&isEqual != 0 {
		v |= equal
	}
	if relation&isGreater != 0 {
		v |= ^(less | equal)
	}
	return v
}

// choose decodes selp and slct.
func (d *decoder) choose() {
	if !d.want(4, 4) {
		return
	}
	types := d.types()
	width := bitsOf(types[0])
	wide := width == 64
	d.out.d, d.out.a, d.out.b = d.dst(width), d.arg(1, width), d.arg(2, width)
	if d.in.Op == "slct" {
		float := types[len(types)-1] == ptx.F32
		d.out.c = d.arg(3, 32)
		d.out.exec = func(w *warp, in *inst, m uint32) {
			for rest := m; rest != 0; rest &= rest - 1 {
				l := bits.TrailingZeros32(rest)
				x := w.r[in.c][l]
				first := int32(x) >= 0
				if float {
					first = math.Float32frombits(x) >= 0
				}
				s := in.b
				if first {
					s = in.a
				}
				w.put(in.d, wide, l, w.load(s, wide, l))
			}
		}
		return
	}
	d.out.p = d.pred(3)
	if !wide {
		d.out.exec = execSelect32
		return
	}
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d, a, b, p := w.dst64(in.d, m), &w.q[in.a], &w.q[in.b], w.predicate(in.p)
		for l := range d {
			if p>>l&1 != 0 {
				d[l] = a[l]
			} else {
				d[l] = b[l]
			}
		}
		w.done64(in.d, m)
	}
}

func execSelect32(w *warp, in *inst, m uint32) {
	d, a, b, p := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], w.predicate(in.p)
	for l := range d {
		x, y := a[l], b[l]
		d[l] = y ^ (x^y)&-(p>>l&1)
	}
	w.done32(in.d, m)
}
