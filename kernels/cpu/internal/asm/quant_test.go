package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// quantValues are real values around every rounding boundary of q, and the specials.
func quantValues(r *rand.Rand, q Quantization, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		switch r.IntN(10) {
		case 0:
			v[i] = []float32{posInf, negInf, float32(math.NaN()), 3e38, -3e38, 1e-42, 0}[r.IntN(7)]
		case 1, 2, 3:
			v[i] = (float32(r.IntN(512)-256) + 0.5) * q.Scale
			v[i] = math.Float32frombits(math.Float32bits(v[i]) + uint32(r.IntN(3)-1))
		default:
			v[i] = float32(r.NormFloat64()) * 100 * q.Scale
		}
	}
	return v
}

// quantNaive is the definition in ONNX QuantizeLinear.
func quantNaive(f float32, q Quantization) byte {
	lo, hi := 0.0, 255.0
	if q.Signed {
		lo, hi = -128, 127
	}
	v := math.RoundToEven(float64(f/q.Scale)) + float64(q.Zero)
	if v != v {
		return byte(q.Zero)
	}
	if !(v > lo) {
		v = lo
	}
	return byte(int(min(v, hi)))
}

func realNaive(b byte, q Quantization) float32 {
	v := float32(b)
	if q.Signed {
		v = float32(int8(b))
	}
	return float32((v - float32(q.Zero)) * q.Scale)
}

func TestQuantKernels(t *testing.T) {
	quantizations := []Quantization{{0.1, 0, true}, {0.037, -5, true}, {1, 128, false}, {0.7, 3, false}, {1e-3, 255, false}, {1e30, 0, false},
		{1e-44, 100, false}, {3e-40, -17, true}, {1.2e-38, 128, false}, {3.3e29, 77, false}}
	for _, k := range QuantKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{0, 1, 15, 16, 17, 64, 333} {
				for i, q := range quantizations {
					checkLinear(t, k, r, n, q, quantizations[(i+1)%len(quantizations)])
				}
			}
		})
	}
}

// TestQuantKernelTies quantises what lies at every boundary between two bytes and the numbers next to it, for scales of every
// magnitude: where a quotient that is rounded otherwise than a division's would show.
func TestQuantKernelTies(t *testing.T) {
	const near = 2 // numbers on either side
	for _, k := range QuantKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(3, 4))
			var x []float32
			var got []byte
			for range 2000 {
				q := Quantization{Scale: float32(math.Ldexp(1+r.Float64(), r.IntN(220)-110)), Zero: int32(r.IntN(256))}
				x = x[:0]
				for i := range 256 {
					tie := math.Float32bits(float32((float64(int32(i)-q.Zero) + 0.5) * float64(q.Scale)))
					for d := range 2*near + 1 {
						x = append(x, math.Float32frombits(tie+uint32(d)-near))
					}
				}
				got = slices.Grow(got[:0], len(x))[:len(x)]
				k.Quantize(got, x, q)
				for i, f := range x {
					if want := quantNaive(f, q); got[i] != want {
						t.Fatalf("%v by %v: %d, want %d", f, q, got[i], want)
					}
				}
			}
		})
	}
}

// checkLinear checks the conversions of slices.
func checkLinear(t *testing.T, k QuantKernel, r *rand.Rand, n int, q, p Quantization) {
	t.Helper()
	x, a, b := quantValues(r, q, n), qbytes(r, n), qbytes(r, n)
	limits := [2]float32{-20, 50}
	bytesGot, bytesWant := make([]byte, n), make([]byte, n)
	compare := func(what string) {
		t.Helper()
		if !slices.Equal(bytesGot, bytesWant) {
			t.Fatalf("%s of %d elements, %v to %v:\n got %v\nwant %v\nfrom %v", what, n, q, p, bytesGot, bytesWant, x)
		}
	}
	k.Quantize(bytesGot, x, q)
	for i, f := range x {
		bytesWant[i] = quantNaive(f, q)
	}
	compare("quantize")

	k.Requantize(bytesGot, a, q, limits, p)
	for i, v := range a {
		bytesWant[i] = quantNaive(clamp(realNaive(v, q), limits), p)
	}
	compare("requantize")

	k.Add(bytesGot, a, b, q, p, limits, q)
	for i, v := range a {
		bytesWant[i] = quantNaive(clamp(realNaive(v, q)+realNaive(b[i], p), limits), q)
	}
	compare("add")

	table := [256]byte(qbytes(r, 256))
	k.Map(bytesGot, a, &table)
	for i, v := range a {
		bytesWant[i] = table[v]
	}
	compare("map")

	reals, want := make([]float32, n), make([]float32, n)
	k.Dequantize(reals, a, q)
	for i, v := range a {
		want[i] = realNaive(v, q)
	}
	if !slices.Equal(reals, want) {
		t.Fatalf("dequantize of %d elements, %v: got %v, want %v", n, q, reals, want)
	}
}

func TestQuantKernelBlocks(t *testing.T) {
	q := Quantization{Scale: 0.02, Zero: 17}
	for _, k := range QuantKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{1, 7, 16, 17, 49, 64} {
				for channels := 1; channels <= 16; channels++ {
					checkBlocks(t, k, r, n, n+3, channels, q)
				}
			}
		})
	}
}

// checkBlocks checks the conversions to and from channel blocks.
func checkBlocks(t *testing.T, k QuantKernel, r *rand.Rand, n, plane, channels int, q Quantization) {
	t.Helper()
	what := fmt.Sprintf("%d pixels of %d channels", n, channels)
	x := quantValues(r, q, plane*(channels-1)+n)
	block := make([]byte, 16*n)
	k.QuantizeBlock(block, x, plane, channels, q)
	pixels := make([]byte, 4*n)
	k.QuantizePixels(pixels, x, plane, min(4, channels), q)
	stored, joined := qbytes(r, plane*(channels-1)+n), make([]byte, 4*n)
	k.Pixels(joined, stored, plane, min(4, channels), 0x80)
	for p := range n {
		for c := range channels {
			want := quantNaive(x[c*plane+p], q)
			if got := block[16*p+c]; got != want {
				t.Fatalf("%s: block byte %d of pixel %d is %d, want %d", what, c, p, got, want)
			}
			if c < 4 && joined[4*p+c] != stored[c*plane+p]^0x80 {
				t.Fatalf("%s: byte %d of pixel %d is %d, of channel %d", what, c, p, joined[4*p+c], stored[c*plane+p])
			}
			if c < 4 && pixels[4*p+c] != want {
				t.Fatalf("%s: byte %d of pixel %d is %d, want %d", what, c, p, pixels[4*p+c], want)
			}
		}
	}
	back := make([]float32, len(x))
	for i := range back {
		back[i] = 99
	}
	k.DequantizeBlock(back, block, plane, channels, q)
	for i, got := range back {
		want := float32(99)
		if p := i % plane; p < n {
			want = realNaive(block[16*p+i/plane], q)
		}
		if got != want {
			t.Fatalf("%s: dequantized element %d is %g, want %g", what, i, got, want)
		}
	}
}
