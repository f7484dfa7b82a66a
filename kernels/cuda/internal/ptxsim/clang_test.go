package ptxsim

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// TestClang runs kernels compiled from CUDA C by clang, whose reading of the ISA is its own, and compares them with the
// same computed in Go.
func TestClang(t *testing.T) {
	for _, level := range []string{"O0", "O3"} {
		text, err := os.ReadFile("testdata/clang/kernels_" + level + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range clangCases {
			for seed := range uint64(2) {
				t.Run(fmt.Sprintf("%s/%s/%d", level, c.name, seed), func(t *testing.T) {
					r := newRig(t, string(text))
					r.opt = Options{Seed: seed, Async: Async(seed)}
					c.run(r, rand.New(rand.NewPCG(seed, 1)))
				})
			}
		}
	}
}

type clangCase struct {
	name string
	run  func(r *rig, rnd *rand.Rand)
}

var clangCases = slices.Concat(clangBasics, clangIntegers, clangFloats, clangMemory)

// equal fails unless got and want are the same.
func equal[T comparable](r *rig, got, want []T) {
	r.t.Helper()
	for i := range want {
		if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
			r.t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// near fails unless got and want agree to a part in 1e5.
func near(r *rig, got, want []float32) {
	r.t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*(1+math.Abs(float64(want[i])))) {
			r.t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func floats(rnd *rand.Rand, n int, scale float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = (rnd.Float32()*2 - 1) * scale
	}
	return x
}

func ints(rnd *rand.Rand, n, most int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(rnd.IntN(2*most+1) - most)
	}
	return x
}

func words[T uint32 | uint64](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rnd.Uint64() >> (rnd.Uint64() % 64))
	}
	return x
}

func each[A, B any](x []A, f func(A) B) []B {
	y := make([]B, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

var clangBasics = []clangCase{
	{"saxpy", func(r *rig, rnd *rand.Rand) {
		n := 300
		x, y := floats(rnd, n, 2), floats(rnd, n, 2)
		dy := r.put(y)
		r.run("saxpy", line(3), line(128), dy, r.put(x), float32(1.5), int32(n))
		want := make([]float32, n)
		for i := range want {
			want[i] = float32(1.5*x[i]) + y[i]
		}
		equal(r, get[float32](r, dy, n), want)
	}},
	{"grid_stride", func(r *rig, rnd *rand.Rand) {
		x := floats(rnd, 1001, 2)
		y := r.alloc(4 * len(x))
		r.run("grid_stride", line(3), line(64), y, r.put(x), int32(len(x)))
		equal(r, get[float32](r, y, len(x)), each(x, func(v float32) float32 { return float32(v*v) - 1 }))
	}},
	{"block_sum", func(r *rig, rnd *rand.Rand) {
		n, blocks := 777, 5
		x := floats(rnd, n*blocks, 1)
		out := r.alloc(4 * blocks)
		r.run("block_sum", line(blocks), line(256), out, r.put(x), int32(n))
		want := make([]float32, blocks)
		for i, v := range x {
			want[i/n] += v
		}
		got := get[float32](r, out, blocks)
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-3 {
				r.t.Fatalf("sum %d is %v, want %v", i, got[i], want[i])
			}
		}
	}},
	{"tree_sum", func(r *rig, rnd *rand.Rand) {
		x := ints(rnd, 512, 1000)
		out := r.alloc(8)
		r.run("tree_sum", line(2), line(256), out, r.put(x))
		want := make([]int32, 2)
		for i, v := range x {
			want[i/256] += v
		}
		equal(r, get[int32](r, out, 2), want)
	}},
	{"scan", func(r *rig, rnd *rand.Rand) {
		x := ints(rnd, 64, 1000)
		y := r.alloc(4 * 64)
		r.run("scan", line(1), line(64), y, r.put(x))
		want := slices.Clone(x)
		for i := range want {
			if i%32 > 0 {
				want[i] += want[i-1]
			}
		}
		equal(r, get[int32](r, y, 64), want)
	}},
	{"matmul", func(r *rig, rnd *rand.Rand) {
		m, n, k := 32, 48, 64
		a, b := floats(rnd, m*k, 1), floats(rnd, k*n, 1)
		c := r.alloc(4 * m * n)
		r.run("matmul", [3]int{n / 16, m / 16, 1}, [3]int{16, 16, 1}, c, r.put(a), r.put(b), int32(n), int32(k))
		want := make([]float32, m*n)
		for i := range m {
			for j := range n {
				for p := range k {
					want[i*n+j] += float32(a[i*k+p] * b[p*n+j])
				}
			}
		}
		equal(r, get[float32](r, c, m*n), want)
	}},
	{"transpose", func(r *rig, rnd *rand.Rand) {
		w, h := 70, 45
		x := floats(rnd, w*h, 1)
		y := r.alloc(4 * w * h)
		s := r.run("transpose", [3]int{3, 2, 1}, [3]int{32, 8, 1}, y, r.put(x), int32(w), int32(h))
		want := make([]float32, w*h)
		for i := range x {
			want[i%w*h+i/w] = x[i]
		}
		equal(r, get[float32](r, y, w*h), want)
		if c := s.Worst("ld"); c == nil || c.Conflicts > 1 {
			r.t.Errorf("the padded tile has bank conflicts: %+v", c)
		}
	}},
	{"converge", func(r *rig, rnd *rand.Rand) {
		x := ints(rnd, 64, 200)
		y := r.alloc(4 * 64)
		r.run("converge", line(1), line(64), y, r.put(x))
		v := each(x, func(v int32) int32 {
			switch {
			case v&1 != 0:
				for k := int32(0); k < v&15; k++ {
					v += k
				}
			case v&2 != 0:
				v *= 5
			default:
				v -= 3
			}
			return v
		})
		want := make([]int32, 64)
		for i := range v {
			want[i] = v[i] + v[i^1]
		}
		var ballot [2]uint32
		for i := range want {
			if want[i] > 100 {
				ballot[i/32] |= 1 << (i % 32)
			}
		}
		for i := range want {
			want[i] += int32(bits.OnesCount32(ballot[i/32]))
		}
		equal(r, get[int32](r, y, 64), want)
	}},
	{"early_exit", func(r *rig, _ *rand.Rand) {
		for _, n := range []int{64, 45, 32, 20} {
			y := r.alloc(4 * n)
			if _, err := r.try("early_exit", line(1), line(64), 0, y, int32(n)); err != nil {
				r.t.Fatal(err)
			}
			want := make([]int32, n)
			for i := range want {
				a, b := int32((i+1)%n), int32(n-1-i)
				want[i] = a*a + b*b
			}
			equal(r, get[int32](r, y, n), want)
		}
	}},
}
