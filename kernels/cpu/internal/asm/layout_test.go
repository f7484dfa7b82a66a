package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestLayoutKernels(t *testing.T) {
	for _, k := range LayoutKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for rows := 1; rows <= 16; rows++ {
				for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 49, 4100} {
					stride, step := n+3, 16+16*(rows%2)
					planes, vectors := normals(r, rows*stride), normals(r, n*step+16)
					gotVectors := append([]float32(nil), vectors...)
					k.Interleave(gotVectors, step, planes, stride, rows, n)
					wantVectors := append([]float32(nil), vectors...)
					interleaveGeneric(wantVectors, step, planes, stride, rows, n)
					for i := range wantVectors {
						if gotVectors[i] != wantVectors[i] {
							t.Fatalf("interleave %d rows of %d: element %d = %g, want %g", rows, n, i, gotVectors[i], wantVectors[i])
						}
					}
					back := make([]float32, len(planes))
					k.Deinterleave(back, stride, gotVectors, step, rows, n)
					for i, got := range back {
						want := planes[i]
						if i%stride >= n {
							want = 0
						}
						if got != want {
							t.Fatalf("deinterleave %d rows of %d: element %d = %g, want %g", rows, n, i, got, want)
						}
					}
				}
			}
		})
	}
}

func TestGatherKernels(t *testing.T) {
	for _, k := range LayoutKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{0, 1, 3, 4, 5, 9} {
				for border := range 4 {
					c := GatherCall{Rows: 1 + n%3, Left: border % 2, N: n, Right: border / 2, Step: 16 * (1 + n%2), Pad: -2}
					if c.Left+c.N+c.Right == 0 {
						continue
					}
					c.DstRow, c.SrcRow = 16*(c.Left+c.N+c.Right+1), c.Step*n+16
					c.Src = normals(r, c.Rows*c.SrcRow)
					c.Dst = normals(r, c.Rows*c.DstRow)
					want := c
					want.Dst = append([]float32(nil), c.Dst...)
					gatherGeneric(want)
					k.Gather(c)
					for i := range c.Dst {
						if c.Dst[i] != want.Dst[i] {
							t.Fatalf("%d vectors, borders %d and %d: element %d = %g, want %g", n, c.Left, c.Right, i, c.Dst[i], want.Dst[i])
						}
					}
				}
			}
			for n := range 70 {
				src := normals(r, max(0, 2*n-1))
				dst := make([]float32, n)
				k.Evens(dst, src)
				for i, v := range dst {
					if v != src[2*i] {
						t.Fatalf("evens of %d: element %d = %g, want %g", n, i, v, src[2*i])
					}
				}
			}
		})
	}
}

func TestZipKernels(t *testing.T) {
	for _, k := range LayoutKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for n := range 140 {
				even, odd, dst := normals(r, (n+1)/2), normals(r, n/2), make([]float32, n)
				k.Zip(dst, even, odd)
				for i, v := range dst {
					if want := [][]float32{even, odd}[i%2][i/2]; v != want {
						t.Fatalf("element %d of %d = %g, want %g", i, n, v, want)
					}
				}
			}
		})
	}
}

func TestLanesKernels(t *testing.T) {
	for _, k := range LayoutKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			random := func(n int) []byte {
				b := make([]byte, n)
				for i := range b {
					b[i] = byte(1 + r.IntN(255))
				}
				return b
			}
			for _, size := range []int{1, 2, 4} {
				for _, vectors := range []int{0, 1, 2, 3, 4, 7, 49, 17000} {
					for range 40 {
						c := LanesCall{Size: size, From: r.IntN(16), To: r.IntN(16), Clear: r.IntN(2) == 0}
						c.N = 1 + r.IntN(16-max(c.From, c.To))
						c.Src, c.Dst = random(16*size*vectors), random(16*size*vectors+64)
						before := append([]byte(nil), c.Dst...)
						whole := c.Dst
						c.Dst = whole[:16*size*vectors]
						k.Lanes(c)
						for i, got := range whole {
							lane, want := i/size%16, before[i]
							switch {
							case i >= len(c.Dst):
							case lane >= c.To && lane < c.To+c.N:
								want = c.Src[i+(c.From-c.To)*size]
							case c.Clear:
								want = 0
							}
							if got != want {
								t.Fatalf("%d vectors of %d bytes, %d lanes from %d to %d: byte %d = %d, want %d",
									vectors, size, c.N, c.From, c.To, i, got, want)
							}
						}
					}
				}
			}
		})
	}
}

func TestHalfKernels(t *testing.T) {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	for _, k := range HalfKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			wide := make([]float32, len(all)+1)[1:]
			k.Widen(wide, all)
			for i, v := range wide {
				if want := halfValue(uint16(i)); float64(v) != want && !(math.IsNaN(want) && v != v) {
					t.Fatalf("widen %#04x = %g, want %g", i, v, want)
				}
				if math.Float32bits(v)>>31 != uint32(i>>15) {
					t.Fatalf("widen %#04x lost its sign", i)
				}
			}
			narrowed := make([]uint16, len(wide))
			k.Narrow(narrowed, wide)
			for i, h := range narrowed {
				if want := uint16(i); h != want && !(wide[i] != wide[i] && h == want|0x200) {
					t.Fatalf("narrow %g = %#04x, want %#04x", wide[i], h, want)
				}
			}
			testNarrowRounding(t, k, wide)
		})
	}
}

// halfValue is the definition of binary16.
func halfValue(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&0x3ff)
	v := math.Ldexp(1+fraction/1024, exponent-15)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		v = math.Inf(1)
	case exponent == 0:
		v = fraction * 0x1p-24
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

// testNarrowRounding rounds the points between neighbours, and just beside them.
func testNarrowRounding(t *testing.T, k HalfKernel, wide []float32) {
	for i := range 0x7c00 {
		upper := float64(wide[i+1])
		if i+1 == 0x7c00 {
			upper = 65536
		}
		middle := float32((float64(wide[i]) + upper) / 2)
		even := uint16(i + i&1)
		for _, c := range []struct {
			v    float32
			want uint16
		}{
			{middle, even},
			{math.Nextafter32(middle, 0), uint16(i)},
			{math.Nextafter32(middle, 1e9), uint16(i + 1)},
			{-middle, even | 0x8000},
		} {
			src := make([]float32, 17)
			src[3], src[16] = c.v, c.v
			dst := make([]uint16, 17)
			k.Narrow(dst, src)
			if dst[3] != c.want || dst[16] != c.want {
				t.Fatalf("narrow %g = %#04x, %#04x, want %#04x", c.v, dst[3], dst[16], c.want)
			}
		}
	}
}
