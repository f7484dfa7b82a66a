package ptxsim

import (
	"math/bits"
	"math/rand/v2"
)

const clangN = 500

// elementwise runs a kernel over clangN elements, whose last parameter is their number, and compares what it wrote.
func elementwise[T comparable](r *rig, name string, size int, want func(i int) T, args ...any) {
	r.t.Helper()
	y := r.alloc(size * clangN)
	r.run(name, line(4), line(128), append(append([]any{y}, args...), int32(clangN))...)
	w := make([]T, clangN)
	for i := range w {
		w[i] = want(i)
	}
	equal(r, get[T](r, y, clangN), w)
}

func choose[T any](c bool, a, b T) T {
	if c {
		return a
	}
	return b
}

var clangIntegers = []clangCase{
	{"divide", func(r *rig, rnd *rand.Rand) {
		a, b := each(words[uint32](rnd, clangN), func(v uint32) int32 { return int32(v) }), ints(rnd, clangN, 1000)
		for i := range b {
			if b[i] == 0 {
				b[i] = 1
			}
		}
		var out [4]uint64
		for i := range out {
			out[i] = r.alloc(4 * clangN)
		}
		r.run("divide", line(4), line(128), out[0], out[1], out[2], out[3], r.put(a), r.put(b), int32(clangN))
		q, m := get[int32](r, out[0], clangN), get[int32](r, out[1], clangN)
		uq, um := get[uint32](r, out[2], clangN), get[uint32](r, out[3], clangN)
		for i := range a {
			if q[i] != a[i]/b[i] || m[i] != a[i]%b[i] || uq[i] != uint32(a[i])/uint32(b[i]) || um[i] != uint32(a[i])%uint32(b[i]) {
				r.t.Fatalf("%d by %d: %d %d %d %d", a[i], b[i], q[i], m[i], uq[i], um[i])
			}
		}
	}},
	{"divide_by_constants", func(r *rig, rnd *rand.Rand) {
		a := each(words[uint32](rnd, clangN), func(v uint32) int32 { return int32(v) })
		elementwise(r, "divide_by_constants", 4, func(i int) int32 {
			return a[i]/7 + a[i]%10 + int32(uint32(a[i])/1000) - a[i]>>3 + a[i]/16
		}, r.put(a))
	}},
	{"wide", func(r *rig, rnd *rand.Rand) {
		a, b := words[uint64](rnd, clangN), words[uint64](rnd, clangN)
		elementwise(r, "wide", 8, func(i int) uint64 {
			x, z := a[i], b[i]
			h, lo := bits.Mul64(x, z)
			v := lo + x<<(z&63) - z>>(x&63) + uint64(int64(x)>>5)
			return v ^ h + x/(z|1) + uint64(int64(z)%(int64(x)|1))
		}, r.put(a), r.put(b))
	}},
	{"select_case", func(r *rig, rnd *rand.Rand) {
		x := ints(rnd, clangN, 1000)
		elementwise(r, "select_case", 4, func(i int) int32 {
			switch v := x[i]; v & 7 {
			case 0:
				return v + 1
			case 1:
				return v * 3
			case 2:
				return -v
			case 3:
				return v ^ 0x55
			case 5, 6:
				return v - 6
			}
			return 42
		}, r.put(x))
	}},
	{"collatz", func(r *rig, rnd *rand.Rand) {
		x := ints(rnd, clangN, 5000)
		for i := range x {
			x[i] = max(x[i], -x[i]) + 1
		}
		elementwise(r, "collatz", 4, func(i int) int32 {
			steps := int32(0)
			for v := uint32(x[i]); v != 1; {
				if v&1 != 0 {
					v = 3*v + 1
				} else {
					v >>= 1
				}
				if steps++; steps > 500 {
					break
				}
			}
			return steps
		}, r.put(x))
	}},
	{"nested", func(r *rig, _ *rand.Rand) {
		elementwise(r, "nested", 4, func(i int) int32 {
			sum := 0
			for a := 0; a < i&15; a++ {
				if a == 7 {
					continue
				}
				for b := a; b < 20; b++ {
					if (a*b+i)%11 == 3 {
						break
					}
					sum += a ^ b
				}
				if sum > 500 {
					break
				}
			}
			return int32(sum)
		})
	}},
	{"bytes", func(r *rig, rnd *rand.Rand) {
		a, b := words[uint32](rnd, clangN), words[uint32](rnd, clangN)
		prmt := func(x, z, sel uint32) (out uint32) {
			v := uint64(z)<<32 | uint64(x)
			for i := range 4 {
				n := sel >> (4 * i) & 15
				c := uint32(v>>(8*(n&7))) & 255
				if n >= 8 {
					c = choose[uint32](c >= 128, 255, 0)
				}
				out |= c << (8 * i)
			}
			return out
		}
		elementwise(r, "bytes", 4, func(i int) uint32 {
			x, z := a[i], b[i]
			return prmt(x, z, 0x6240) ^ prmt(x, z, z) ^ bits.ReverseBytes32(x) ^ bits.RotateLeft32(z, int(x&31)) ^ bits.Reverse32(x)
		}, r.put(a), r.put(b))
	}},
	{"counts", func(r *rig, rnd *rand.Rand) {
		a, b := words[uint32](rnd, clangN), words[uint64](rnd, clangN)
		a[3], b[3] = 0, 0
		elementwise(r, "counts", 4, func(i int) int32 {
			return int32(bits.OnesCount32(a[i])+bits.LeadingZeros32(a[i])+bits.OnesCount64(b[i])+bits.TrailingZeros64(b[i])) +
				int32(a[i]>>5&0x7f) + int32(a[i]<<9)>>20
		}, r.put(a), r.put(b))
	}},
	{"dots", func(r *rig, rnd *rand.Rand) {
		a, b := words[uint32](rnd, clangN), words[uint32](rnd, clangN)
		elementwise(r, "dots", 4, func(i int) int32 {
			s := int32(i)
			for j := range 4 {
				s += int32(int8(a[i]>>(8*j))) * int32(int8(b[i]>>(8*j)))
			}
			u := s
			for j := range 4 {
				u += int32(uint8(a[i]>>(8*j))) * int32(int8(b[i]>>(8*j)))
			}
			return s ^ u
		}, r.put(a), r.put(b))
	}},
	{"bools", func(r *rig, rnd *rand.Rand) {
		a, b := ints(rnd, clangN, 8), ints(rnd, clangN, 8)
		elementwise(r, "bools", 1, func(i int) uint8 {
			p, q, three := a[i] < b[i], a[i]&4 != 0, b[i] == 3
			bit := func(b bool, n int) uint8 { return choose[uint8](b, 1, 0) << n }
			return bit(p && q, 0) | bit(p != three, 1) | bit(!q || three, 2) | bit(choose(a[i] > b[i], p, three), 3)
		}, r.put(a), r.put(b))
	}},
	{"shorts", func(r *rig, rnd *rand.Rand) {
		short := func(v int32) int16 { return int16(v) }
		a, b := each(ints(rnd, clangN, 40000), short), each(ints(rnd, clangN, 40000), short)
		elementwise(r, "shorts", 2, func(i int) int16 {
			return int16(int32(a[i])*int32(b[i]) + int32(a[i]>>2) - int32(b[i]<<3) + int32(min(a[i], b[i])))
		}, r.put(a), r.put(b))
	}},
}
