package ptxsim

import "math"

// fastFloat returns the function of a common operation on f32, rounded to nearest, and its number of operands.
func fastFloat(root string) (execFunc, int) {
	switch root {
	case "fma":
		return execFma32, 4
	case "add":
		return execAddF32, 3
	case "sub":
		return execSubF32, 3
	case "mul":
		return execMulF32, 3
	case "max":
		return execMaxF32, 3
	case "min":
		return execMinF32, 3
	}
	return nil, 0
}

func execFma32(w *warp, in *inst, m uint32) {
	d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
	for l := range d {
		p, z := float64(math.Float32frombits(a[l]))*float64(math.Float32frombits(b[l])), float64(math.Float32frombits(c[l]))
		s := p + z
		x := math.Float64bits(s)
		// Rounding twice is rounding once but for what lies half way between two floats, and outside the normal range.
		if x&0x1fffffff == 0x10000000 || x>>52&0x7ff-897 > 253 {
			if x<<1 == 0 {
				d[l] = uint32(x >> 32) // of its sign
				continue
			}
			d[l] = fmaSlow(s, p, z)
			continue
		}
		d[l] = math.Float32bits(float32(s))
	}
	w.done32(in.d, m)
}

// fmaSlow rounds p+c, of which s is the nearest float64. A sum that is zero is so exactly.
func fmaSlow(s, p, c float64) uint32 {
	if s == 0 || s-s != 0 {
		return float32bits(float32(s))
	}
	t := s - p
	return math.Float32bits(float32(sticky(s, (p-(s-t))+(c-t))))
}

// float32bits is the bits of f; of a NaN, those of the GPU's.
func float32bits(f float32) uint32 {
	if f != f {
		return nan32
	}
	return math.Float32bits(f)
}

func execAddF32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = float32bits(math.Float32frombits(a[l]) + math.Float32frombits(b[l]))
	}
	w.done32(in.d, m)
}

func execSubF32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = float32bits(math.Float32frombits(a[l]) - math.Float32frombits(b[l]))
	}
	w.done32(in.d, m)
}

func execMulF32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = float32bits(math.Float32frombits(a[l]) * math.Float32frombits(b[l]))
	}
	w.done32(in.d, m)
}

func execMaxF32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		x, y := math.Float32frombits(a[l]), math.Float32frombits(b[l])
		switch {
		case x > y:
			d[l] = a[l]
		case x < y:
			d[l] = b[l]
		default:
			d[l] = float32bits(float32(extreme(float64(x), float64(y), false, false)))
		}
	}
	w.done32(in.d, m)
}

func execMinF32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		x, y := math.Float32frombits(a[l]), math.Float32frombits(b[l])
		switch {
		case x < y:
			d[l] = a[l]
		case x > y:
			d[l] = b[l]
		default:
			d[l] = float32bits(float32(extreme(float64(x), float64(y), true, false)))
		}
	}
	w.done32(in.d, m)
}
