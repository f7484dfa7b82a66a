package ptxsim

import "math"

// mmaFloats are the operands of an mma, spread: each use writes all that it reads.
type mmaFloats struct {
	a [32]float32 // a row
	b [32][8]float32
	c [16][8]float32
}

// execMMA multiplies in float32, adding in the order of k. A tensor core's order and rounding are its own: see Options.Rough.
func execMMA(w *warp, in *inst, m uint32) {
	if !w.whole(in, m) {
		return
	}
	s, f := in.x.(*mmaShape), &w.block.worker.floats
	w.accumulators(in, s, &f.c)
	multiply := multiplyRow
	if w.block.launch.opt.Rough {
		multiply = multiplyRowRough
	}
	if s.halves {
		w.multiplyHalves(in, s, f, multiply)
	} else {
		w.multiplyFloats(in, s, f, multiply)
	}
	for r, x := range in.v {
		d := &w.r[x]
		for l := range d {
			g, t := l/4, l%4
			if s.half {
				row := &f.c[g+8*r]
				d[l] = uint32(halfFromFloat(row[2*t])) | uint32(halfFromFloat(row[2*t+1]))<<16
				continue
			}
			d[l] = math.Float32bits(f.c[g+8*(r/2)][2*t+r%2])
		}
	}
}

// accumulators spreads the registers of C.
func (w *warp) accumulators(in *inst, s *mmaShape, c *[16][8]float32) {
	for r, x := range in.vc {
		for l, v := range &w.r[x] {
			g, t := l/4, l%4
			if s.half {
				row := &c[g+8*r]
				row[2*t], row[2*t+1] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
				continue
			}
			c[g+8*(r/2)][2*t+r%2] = math.Float32frombits(v)
		}
	}
}

// multiplyHalves and multiplyFloats add the product of A and B to f.c. Of halves, the rows of A that are zero, which tiles
// that hang over their matrix are full of, are passed over where they change nothing.

func (w *warp) multiplyHalves(in *inst, s *mmaShape, f *mmaFloats, multiply func(a []float32, b *[32][8]float32, c *[8]float32)) {
	var special uint32 // its sign bits tell whether an element of B is infinite or NaN
	for r, x := range in.vb {
		for l, v := range &w.r[x] {
			special |= v&0x7c007c00 + 0x04000400
			k := 8*r + l%4*2
			f.b[k][l/4], f.b[k+1][l/4] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
		}
	}
	finite := special&0x80008000 == 0
	for i := range s.m {
		var words [8]uint32 // of the row
		var bits uint32
		for r := i / 8; r < len(in.va); r += 2 {
			for t, v := range w.r[in.va[r]][i%8*4:][:4] {
				bits |= v
				words[r/2*4+t] = v
			}
		}
		if finite && bits&0x7fff7fff == 0 && keepsZero(&f.c[i]) {
			continue
		}
		for t, v := range words[:s.k/2] {
			f.a[2*t], f.a[2*t+1] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
		}
		multiply(f.a[:s.k], &f.b, &f.c[i])
	}
}

// keepsZero reports whether adding zeros of whatever sign to c leaves it as it is: -0 may become 0, a NaN another one.
func keepsZero(c *[8]float32) bool {
	for _, v := range c {
		if v != v || math.Float32bits(v) == 1<<31 {
			return false
		}
	}
	return true
}

func (w *warp) multiplyFloats(in *inst, s *mmaShape, f *mmaFloats, multiply func(a []float32, b *[32][8]float32, c *[8]float32)) {
	width := 32 / s.per
	mask := uint32(1)<<width - 1
	rows := s.m / 8
	for r, x := range in.vb {
		for l, v := range &w.r[x] {
			for j := range s.per {
				f.b[4*s.per*r+l%4*s.per+j][l/4] = s.toB(v >> (j * width) & mask)
			}
		}
	}
	for i := range s.m {
		for r := i / 8; r < len(in.va); r += rows {
			for t, v := range w.r[in.va[r]][i%8*4:][:4] {
				for j := range s.per {
					f.a[4*s.per*(r/rows)+t*s.per+j] = s.toA(v >> (j * width) & mask)
				}
			}
		}
		multiply(f.a[:s.k], &f.b, &f.c[i])
	}
}

// multiplyRow adds to c, a row of C, the product of a row of A with B.
func multiplyRow(a []float32, b *[32][8]float32, c *[8]float32) {
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	for k, x := range a {
		row := &b[k&31]
		c0 += x * row[0]
		c1 += x * row[1]
		c2 += x * row[2]
		c3 += x * row[3]
		c4 += x * row[4]
		c5 += x * row[5]
		c6 += x * row[6]
		c7 += x * row[7]
	}
	c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7] = c0, c1, c2, c3, c4, c5, c6, c7
}

// bytePairs is B of a product of bytes: two neighbours of a row in one number, as b0 + b1<<32. A multiple of it, and the sum
// of 32, holds those of both, which need 22 bits.
type bytePairs [32][4]int64

// execIntegerMMA multiplies bytes; sums wrap, or saturate with .satfinite.
func execIntegerMMA(w *warp, in *inst, m uint32) {
	if !w.whole(in, m) {
		return
	}
	s := in.x.(*mmaShape)
	b := &w.block.worker.pairs
	for r, x := range in.vb {
		for l, v := range &w.r[x] {
			g, k := l/4, 16*r+l%4*4
			b0, b1, b2, b3 := spreadBytes(v, s.signB)
			if rows := b[k:][:4]; g%2 == 0 {
				rows[0][g/2], rows[1][g/2], rows[2][g/2], rows[3][g/2] = b0, b1, b2, b3
			} else {
				rows[0][g/2] += b0 << 32
				rows[1][g/2] += b1 << 32
				rows[2][g/2] += b2 << 32
				rows[3][g/2] += b3 << 32
			}
		}
	}
	var sums [16][8]int32
	for i := range s.m {
		w.multiplyBytes(in, s, i, b, &sums[i])
	}
	for r, x := range in.v {
		d, c := &w.r[x], &w.r[in.vc[r]]
		for l := range d {
			v := int64(sums[l/4+8*(r/2)][l%4*2+r%2]) + int64(int32(c[l]))
			if s.sat {
				v = min(max(v, math.MinInt32), math.MaxInt32)
			}
			d[l] = uint32(v)
		}
	}
}

// multiplyBytes is the product of row i of A with B.
func (w *warp) multiplyBytes(in *inst, s *mmaShape, i int, b *bytePairs, sums *[8]int32) {
	var a [32]int64
	var bits uint32
	rows := s.m / 8
	for r := i / 8; r < len(in.va); r += rows {
		for t, v := range w.r[in.va[r]][i%8*4:][:4] {
			bits |= v
			dst := a[r/rows*16+4*t:][:4]
			dst[0], dst[1], dst[2], dst[3] = spreadBytes(v, s.signA)
		}
	}
	if bits == 0 {
		return
	}
	var c0, c1, c2, c3 int64
	for k, x := range a[:s.k] {
		row := &b[k&31]
		c0 += x * row[0]
		c1 += x * row[1]
		c2 += x * row[2]
		c3 += x * row[3]
	}
	for n, c := range [4]int64{c0, c1, c2, c3} {
		low := int32(c)
		sums[2*n], sums[2*n+1] = low, int32((c-int64(low))>>32)
	}
}

// spreadBytes is the four bytes of v as numbers.
func spreadBytes(v uint32, signed bool) (b0, b1, b2, b3 int64) {
	if signed {
		return int64(int8(v)), int64(int8(v >> 8)), int64(int8(v >> 16)), int64(int8(v >> 24))
	}
	return int64(v & 255), int64(v >> 8 & 255), int64(v >> 16 & 255), int64(v >> 24)
}
