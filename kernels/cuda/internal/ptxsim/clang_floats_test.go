package ptxsim

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// exactly rounds an exact number to a float32 in a direction.
func exactly(v *big.Float, mode big.RoundingMode) float32 {
	f, _ := new(big.Float).SetPrec(24).SetMode(mode).Set(v).Float32()
	return f
}

func bigFloat(v float32) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(float64(v)) }

var clangFloats = []clangCase{
	{"floats_to_ints", func(r *rig, rnd *rand.Rand) {
		x := floats(rnd, clangN, 300)
		x[0], x[1], x[2], x[3], x[4], x[5] = 0.5, 1.5, 2.5, -0.5, 3e9, -3e9
		s, u, b, c, l := r.alloc(4*clangN), r.alloc(4*clangN), r.alloc(clangN), r.alloc(clangN), r.alloc(8*clangN)
		r.run("floats_to_ints", line(4), line(128), s, u, b, c, l, r.put(x), int32(clangN))
		limit := func(v, low, high float64) float64 { return max(low, min(high, v)) }
		for i, v := range get[int32](r, s, clangN) {
			f := float64(x[i])
			up := limit(math.Ceil(f), -128, 127)
			ok := v == int32(limit(math.RoundToEven(f), math.MinInt32, math.MaxInt32)) &&
				get[uint32](r, u, clangN)[i] == uint32(limit(math.Trunc(f), 0, math.MaxUint32)) &&
				get[int64](r, l, clangN)[i] == int64(math.Floor(f)) && get[int8](r, b, clangN)[i] == int8(up) && get[uint8](r, c, clangN)[i] == uint8(int(up))
			if !ok {
				r.t.Fatalf("element %d, %v", i, x[i])
			}
		}
	}},
	{"ints_to_floats", func(r *rig, rnd *rand.Rand) {
		x := each(words[uint64](rnd, clangN), func(v uint64) int64 { return int64(v) })
		x[0], x[1], x[2] = math.MaxInt64, math.MinInt64, -1
		f, d := r.alloc(4*clangN), r.alloc(8*clangN)
		r.run("ints_to_floats", line(4), line(128), f, d, r.put(x), int32(clangN))
		for i, v := range x {
			wf := float32(v) + float32(uint32(v)) + float32(int16(v)) + float32(uint8(v))
			wd := float64(v) + float64(uint64(v))
			if gf, gd := get[float32](r, f, clangN)[i], get[float64](r, d, clangN)[i]; gf != wf || gd != wd {
				r.t.Fatalf("%d becomes %v and %v, want %v and %v", v, gf, gd, wf, wd)
			}
		}
	}},
	{"doubles", func(r *rig, rnd *rand.Rand) {
		x := each(floats(rnd, clangN, 9), func(v float32) float64 { return float64(v) * 1.000000001 })
		elementwise(r, "doubles", 8, func(i int) float64 {
			return math.FMA(x[i], x[i], -1.5)/(x[i]+10) + float64(float32(x[i]))
		}, r.put(x))
	}},
	{"rounding", func(r *rig, rnd *rand.Rand) {
		x := floats(rnd, clangN, 3)
		y := r.alloc(16 * clangN)
		r.run("rounding", line(4), line(128), y, r.put(x), int32(clangN))
		got := get[float32](r, y, 4*clangN)
		for i, v := range x {
			b := bigFloat(v)
			square := new(big.Float).SetPrec(400).Mul(b, b)
			want := [4]float32{
				exactly(new(big.Float).SetPrec(400).Add(b, bigFloat(0.3)), big.ToZero),
				exactly(new(big.Float).SetPrec(400).Mul(b, bigFloat(1.7)), big.ToPositiveInf),
				exactly(square.Add(square, bigFloat(0.1)), big.ToNegativeInf),
				1/v + float32(math.Sqrt(math.Abs(float64(v)))),
			}
			if [4]float32(got[4*i:]) != want {
				r.t.Fatalf("of %v: %v, want %v", v, got[4*i:4*i+4], want)
			}
		}
	}},
	{"minmax", func(r *rig, rnd *rand.Rand) {
		a, b := floats(rnd, clangN, 3), floats(rnd, clangN, 3)
		nan := float32(math.NaN())
		a[0], b[1] = nan, nan
		elementwise(r, "minmax", 4, func(i int) float32 {
			hi, lo := max(a[i], b[i]), min(a[i], b[i])
			switch {
			case a[i] != a[i]:
				hi, lo = b[i], b[i]
			case b[i] != b[i]:
				hi, lo = a[i], a[i]
			}
			return hi - lo + float32(math.Abs(float64(a[i])))
		}, r.put(a), r.put(b))
	}},
	{"functions", func(r *rig, rnd *rand.Rand) {
		x := floats(rnd, clangN, 5)
		y := r.alloc(4 * clangN)
		r.run("functions", line(4), line(128), y, r.put(x), int32(clangN))
		near(r, get[float32](r, y, clangN), each(x, func(v float32) float32 {
			f := float64(v)
			return float32(math.Exp2(f) + math.Log2(f+20) + 1/(f+30) + 1/math.Sqrt(f+20) + math.Sin(f)*math.Cos(f))
		}))
	}},
	{"halves", func(r *rig, rnd *rand.Rand) {
		half := func(f float64) float64 { return roundTo(f, 11, -14) }
		a, b := each(floats(rnd, clangN, 8), func(v float32) uint16 { return halfBits(half(float64(v))) }), each(floats(rnd, clangN, 8), func(v float32) uint16 { return halfBits(half(float64(v))) })
		elementwise(r, "halves", 2, func(i int) uint16 {
			x, z := halfValue(a[i]), halfValue(b[i])
			v := half(half(x*z) + 0.5)
			if x < z {
				v = half(v - x)
			}
			return halfBits(half(v * 0.5))
		}, r.put(a), r.put(b))
	}},
}

// roundTo rounds to a float of precision bits, whose least normal exponent is least: by big.Float, not by our own code.
func roundTo(v float64, precision uint, least int) float64 {
	if v == 0 {
		return v
	}
	if e := int(math.Floor(math.Log2(math.Abs(v)))); e < least {
		step := math.Ldexp(1, least-int(precision)+1)
		return math.RoundToEven(v/step) * step
	}
	f, _ := new(big.Float).SetPrec(precision).SetFloat64(v).Float64()
	return f
}

// halfValue and halfBits read and write an f16 that is neither infinite nor NaN, by the definition of the format.
func halfValue(h uint16) float64 {
	sign, e, m := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	if e == 0 {
		return sign * m * 0x1p-24
	}
	return sign * (1024 + m) * math.Ldexp(1, e-25)
}

func halfBits(v float64) uint16 {
	sign := uint16(0)
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	if v < 0x1p-14 {
		return sign | uint16(v*0x1p24)
	}
	f, e := math.Frexp(v)
	return sign | uint16(e+14)<<10 | uint16(f*2048-1024)
}
