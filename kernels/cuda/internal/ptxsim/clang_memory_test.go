package ptxsim

import (
	"math/rand/v2"
)

var clangMemory = []clangCase{
	{"histogram", func(r *rig, rnd *rand.Rand) {
		x := make([]uint8, 3000)
		want := make([]uint32, 64)
		for i := range x {
			x[i] = uint8(rnd.Uint32())
			want[x[i]&63]++
		}
		bins := r.put(make([]uint32, 64))
		r.run("histogram", line(6), line(128), bins, r.put(x), int32(len(x)))
		equal(r, get[uint32](r, bins, 64), want)
	}},
	{"atomics", func(r *rig, rnd *rand.Rand) {
		x := words[uint32](rnd, 256)
		y, f := r.put([]uint32{0, ^uint32(0), 0, 0, 0, 1}), r.put([]float32{0})
		r.run("atomics", line(4), line(64), y, r.put(x), f)
		want := []uint32{0, ^uint32(0), 0, 0, 256 % 101, 1}
		for _, v := range x {
			want[0], want[1] = max(want[0], v), min(want[1], v)
			want[2] |= v
			want[3] ^= v
			want[5] *= 3
		}
		equal(r, get[uint32](r, y, 6), want)
		equal(r, get[float32](r, f, 1), []float32{256})
	}},
	{"vectors", func(r *rig, rnd *rand.Rand) {
		x := floats(rnd, 4*96, 2)
		y := r.alloc(4 * len(x))
		s := r.run("vectors", line(3), line(32), y, r.put(x))
		want := make([]float32, len(x))
		for i := range x {
			want[i] = float32(x[i]*x[i]) + x[i^3]
		}
		equal(r, get[float32](r, y, len(x)), want)
		if w := s.Worst("st.global"); w != nil && w.Efficiency() != 1 {
			r.t.Errorf("stores of 16 bytes use %.2f of their sectors", w.Efficiency())
		}
	}},
	{"structs", func(r *rig, rnd *rand.Rand) {
		type point struct {
			X, Y float32
			Tag  int32
			C    [5]int8
			_    [3]byte
		}
		n := 70
		in := make([]point, n)
		for i := range in {
			in[i] = point{X: rnd.Float32(), Y: rnd.Float32(), Tag: int32(rnd.IntN(100)), C: [5]int8{1, 2, 3, 4, int8(i)}}
		}
		by := point{X: 2, Y: 3, Tag: 7, C: [5]int8{50, 51, 52, 53, 54}}
		out := r.put(make([]point, n))
		r.run("structs", line(3), line(32), out, by, r.put(in), int32(n))
		want := make([]point, n)
		for i, p := range in {
			p.X += by.X
			p.Y *= by.Y
			p.Tag = p.Tag*2 + by.Tag
			p.C[i%5] = by.C[4-i%5]
			want[i] = p
		}
		equal(r, get[point](r, out, n), want)
	}},
	{"lookup", func(r *rig, rnd *rand.Rand) {
		table := [8]int32{3, 1, 4, 1, 5, 9, 2, 6}
		x := ints(rnd, clangN, 100)
		elementwise(r, "lookup", 4, func(i int) int32 {
			var local [8]int32
			for k := range int32(8) {
				local[(k+x[i])&7] = table[k] * k
			}
			return local[x[i]&7] + local[(x[i]+3)&7] + 5
		}, r.put(x))
	}},
}
