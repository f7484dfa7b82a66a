package ptxsim

import (
	"math"
	"strings"
	"testing"
)

// mmaOf is the case of a form whose name contains all of the words.
func mmaOf(t *testing.T, words ...string) mmaCase {
	t.Helper()
next:
	for _, c := range mmaCases() {
		for _, w := range words {
			if !strings.Contains(c.inst, w) {
				continue next
			}
		}
		return c
	}
	t.Fatalf("no form of mma with %q", words)
	return mmaCase{}
}

// multiplied runs a form of mma with the same word in all registers of A and of B, and gives D.
func multiplied(t *testing.T, c mmaCase, a, b uint32, rc []uint32) []uint32 {
	t.Helper()
	fill := func(n int, v uint32) []uint32 {
		words := make([]uint32, 32*n)
		for i := range words {
			words[i] = v
		}
		return words
	}
	r := newRig(t, mmaText(c))
	d := r.alloc(4 * len(rc))
	r.run("op", line(1), line(32), r.put(fill(c.na, a)), r.put(fill(c.nb, b)), r.put(rc), d)
	return get[uint32](r, d, len(rc))
}

// TestMMAZeros multiplies rows of zeros, which change what is added to: -0 becomes 0 but for other zeros, and infinities and
// NaNs in B make NaNs.
func TestMMAZeros(t *testing.T) {
	c := mmaOf(t, "m16n8k16", "f32.f16.f16.f32")
	plain := []float32{1, 0, -3e38, float32(math.Inf(1)), 1e-45}
	for _, sums := range [][]float32{plain, append(plain, float32(math.Copysign(0, -1)), float32(math.NaN()))} {
		rc := make([]uint32, 32*c.nc)
		for i := range rc {
			rc[i] = math.Float32bits(sums[i%len(sums)])
		}
		for _, a := range []uint16{0, 0x8000} {
			for _, b := range []uint16{0x3c00, 0xbc00, 0, 0x7bff, 0x7c00, 0xfc00, 0x7e00} {
				for i, v := range multiplied(t, c, uint32(a)*0x10001, uint32(b)*0x10001, rc) {
					want := math.Float32frombits(rc[i])
					for range 16 {
						want += halfToFloat(a) * halfToFloat(b)
					}
					if v != math.Float32bits(want) && (want == want || math.Float32frombits(v) == math.Float32frombits(v)) {
						t.Fatalf("%#x * %#x + %#x = %#x, want %#x", a, b, rc[i], v, math.Float32bits(want))
					}
				}
			}
		}
	}
}

// TestMMABytes multiplies the largest and the smallest bytes.
func TestMMABytes(t *testing.T) {
	value := func(b uint32, signed bool) int32 {
		if signed {
			return int32(int8(b))
		}
		return int32(b)
	}
	for _, form := range []struct {
		name             string
		signedA, signedB bool
	}{{"s32.s8.s8.s32", true, true}, {"s32.u8.u8.s32", false, false}, {"s32.u8.s8.s32", false, true}, {"s32.s8.u8.s32", true, false}} {
		c := mmaOf(t, "m16n8k32", "s32")
		i := strings.Index(c.inst, "s32")
		c.inst = strings.Replace(c.inst[:i], "satfinite.", "", 1) + form.name
		rc := make([]uint32, 32*c.nc)
		for _, a := range []uint32{0, 1, 0x7f, 0x80, 0xff} {
			for _, b := range []uint32{0, 1, 0x7f, 0x80, 0xff} {
				want := uint32(32 * value(a, form.signedA) * value(b, form.signedB))
				for _, v := range multiplied(t, c, a*0x01010101, b*0x01010101, rc) {
					if v != want {
						t.Fatalf("%s: 32 * %#x * %#x = %#x, want %#x", form.name, a, b, v, want)
					}
				}
			}
		}
	}
}
