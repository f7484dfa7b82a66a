package ptxsim

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// An instruction without side effects computes all 32 lanes, where it may be, and keeps those of its mask: dst32 is where
// the results go, done32 keeps them.

func (w *warp) dst32(d slot, m uint32) *vec32 {
	if m == all {
		return &w.r[d]
	}
	return &w.tmp32
}

func (w *warp) done32(d slot, m uint32) {
	if m == all {
		return
	}
	x := &w.r[d]
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		x[l] = w.tmp32[l]
	}
}

func (w *warp) dst64(d slot, m uint32) *vec64 {
	if m == all {
		return &w.q[d]
	}
	return &w.tmp64
}

func (w *warp) done64(d slot, m uint32) {
	if m == all {
		return
	}
	x := &w.q[d]
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		x[l] = w.tmp64[l]
	}
}

// predicate is the lanes in which predicate operand p holds.
func (w *warp) predicate(p slot) uint32 {
	if p < 0 {
		return ^w.p[^p]
	}
	return w.p[p]
}

// setPred sets predicate d in lanes m to the bits of v.
func (w *warp) setPred(d slot, m, v uint32) { w.p[d] = w.p[d]&^m | v&m }

// load and put read and write lane l of a register as 64 bits, whatever its width.
func (w *warp) load(s slot, wide bool, l int) uint64 {
	if wide {
		return w.q[s][l]
	}
	return uint64(w.r[s][l])
}

func (w *warp) put(d slot, wide bool, l int, v uint64) {
	if wide {
		w.q[d][l] = v
	} else {
		w.r[d][l] = uint32(v)
	}
}

// extend makes the low width bits of v a 64-bit number.
func extend(v uint64, width uint, signed bool) uint64 {
	s := 64 - width
	if signed {
		return uint64(int64(v<<s) >> s)
	}
	return v << s >> s
}

// integer decodes an operation on up to three numbers of type t, given as 64-bit numbers, of whose result the low bits of
// t's width are kept. Execution is slow; the common operations have functions of their own.
func (d *decoder) integer(t ptx.Type, sources int, f func(a, b, c uint64) uint64) {
	if !d.want(1+sources, 1+sources) {
		return
	}
	width := bitsOf(t)
	wide, signed := width == 64, isSigned(t)
	d.out.d = d.dst(width)
	src := []*slot{&d.out.a, &d.out.b, &d.out.c}
	for i := range src {
		*src[i] = d.constant(0, wide)
		if i < sources {
			*src[i] = d.arg(i+1, width)
		}
	}
	d.out.exec = numeric(uint(width), signed, f)
}

// numeric applies f lane by lane.
func numeric(width uint, signed bool, f func(a, b, c uint64) uint64) execFunc {
	if width == 64 {
		return func(w *warp, in *inst, m uint32) {
			d, a, b, c := w.dst64(in.d, m), &w.q[in.a], &w.q[in.b], &w.q[in.c]
			for l := range d {
				d[l] = f(a[l], b[l], c[l])
			}
			w.done64(in.d, m)
		}
	}
	mask := uint32(1)<<width - 1
	return func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			d[l] = uint32(f(extend(uint64(a[l]), width, signed), extend(uint64(b[l]), width, signed), extend(uint64(c[l]), width, signed))) & mask
		}
		w.done32(in.d, m)
	}
}

// operands3 decodes d, a, b, c of the instruction, all of one width, for functions made by hand.
func (d *decoder) operands(n, width int, f execFunc) {
	if !d.want(n, n) {
		return
	}
	d.out.d = d.dst(width)
	for i, s := range []*slot{&d.out.a, &d.out.b, &d.out.c} {
		if i+1 < n {
			*s = d.arg(i+1, width)
		}
	}
	d.out.exec = f
}
