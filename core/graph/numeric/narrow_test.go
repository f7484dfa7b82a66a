package numeric

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// TestNarrowValues: some numbers of each format, as the ONNX specification lists them.
func TestNarrowValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		format DataType
		code   byte
		want   float64
	}{
		{F8E4M3FN, 0x00, 0}, {F8E4M3FN, 0x01, 0x1p-9}, {F8E4M3FN, 0x08, 0x1p-6}, {F8E4M3FN, 0x38, 1}, {F8E4M3FN, 0xbc, -1.5},
		{F8E4M3FN, 0x7e, 448}, {F8E4M3FN, 0x7f, nan}, {F8E4M3FN, 0xff, nan},
		{F8E4M3FNUZ, 0x01, 0x1p-10}, {F8E4M3FNUZ, 0x40, 1}, {F8E4M3FNUZ, 0x7f, 240}, {F8E4M3FNUZ, 0xff, -240}, {F8E4M3FNUZ, 0x80, nan},
		{F8E5M2, 0x01, 0x1p-16}, {F8E5M2, 0x3c, 1}, {F8E5M2, 0x7b, 57344}, {F8E5M2, 0x7c, inf}, {F8E5M2, 0xfc, -inf}, {F8E5M2, 0x7d, nan}, {F8E5M2, 0xff, nan},
		{F8E5M2FNUZ, 0x01, 0x1p-17}, {F8E5M2FNUZ, 0x40, 1}, {F8E5M2FNUZ, 0x7f, 57344}, {F8E5M2FNUZ, 0x80, nan},
		{F4E2M1, 0x01, 0.5}, {F4E2M1, 0x0f, -6}, {F6E2M3, 0x01, 0.125}, {F6E2M3, 0x1f, 7.5}, {F6E3M2, 0x01, 0.0625}, {F6E3M2, 0x3f, -28},
	} {
		if got := narrowFloats[c.format].decode(c.code); got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%s %#02x is %g, want %g", c.format, c.code, got, c.want)
		}
	}
}

// TestNarrowRounding: every number is itself, what lies between two goes to the nearer, and half way to the even one.
func TestNarrowRounding(t *testing.T) {
	for format, f := range narrowFloats {
		for code := range 2 * int(f.sign()) {
			x := f.decode(byte(code))
			if x != x {
				if got := f.decode(f.encode(x, true)); got == got {
					t.Errorf("%s: NaN becomes %g", format, got)
				}
				continue
			}
			if got := f.encode(x, false); got != byte(code) {
				t.Errorf("%s: %g is %#02x, became %#02x", format, x, code, got)
			}
			y := f.decode(byte(code + 1))
			if byte(code)&^f.sign() == f.sign()-1 || y != y || math.IsInf(y, 0) {
				continue
			}
			even := byte(code + code&1)
			for _, c := range []struct {
				share float64
				want  byte
			}{{0.49, byte(code)}, {0.5, even}, {0.51, byte(code + 1)}} {
				if got := f.encode(x+c.share*(y-x), true); got != c.want && f.decode(got) != f.decode(c.want) {
					t.Errorf("%s: %g of the way from %#02x is %#02x, want %#02x", format, c.share, code, got, c.want)
				}
			}
		}
		for _, x := range []float64{f.max * 1.2, math.Inf(1)} {
			if got := f.decode(f.encode(-x, true)); got != -f.max {
				t.Errorf("%s: %g saturates to %g", format, -x, got)
			}
			if got := f.decode(f.encode(-x, false)); f.nan != 0 && !(got != got) && !(f.infinite && math.IsInf(got, -1)) {
				t.Errorf("%s: %g overflows to %g", format, -x, got)
			}
		}
	}
}

// TestPowers: F8E8M0 as Cast's specification has it.
func TestPowers(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x        float64
		round    string
		saturate bool
		want     byte
	}{
		{1, RoundUp, true, 127}, {1.001, RoundUp, true, 128}, {1.999, RoundDown, true, 127}, {1.499, RoundNearest, true, 127}, {1.5, RoundNearest, true, 128},
		{-3, RoundUp, true, 129}, {0x1p-127, RoundUp, true, 0}, {0x1p-140, RoundNearest, true, 0}, {0, RoundUp, true, 0}, {inf, RoundUp, true, 254}, {0x1.1p127, RoundUp, true, 254},
		{math.NaN(), RoundUp, true, 255}, {0, RoundNearest, false, 255}, {inf, RoundNearest, false, 255}, {0x1p-140, RoundNearest, false, 255}, {0x1.8p127, RoundNearest, false, 255},
		{0x1.4p127, RoundNearest, false, 254}, {1, "", false, 127}, {1.1, "", false, 128},
	} {
		if got := encodePower(c.x, c.round, c.saturate); got != c.want {
			t.Errorf("%g, round %q, saturate %v: %d, want %d", c.x, c.round, c.saturate, got, c.want)
		}
	}
	for code := range 256 {
		x := decodePower(byte(code))
		if got := encodePower(x, RoundNearest, true); got != byte(code) {
			t.Errorf("%g is %d, became %d", x, code, got)
		}
	}
}

// TestPacked: elements without gaps, the first one in the lowest bits, any number of them.
func TestPacked(t *testing.T) {
	for _, c := range []struct {
		t        DataType
		packed   []byte
		elements []int8
	}{
		{U4, []byte{0x21, 0xf3}, []int8{1, 2, 3, 15}}, {I4, []byte{0x8f, 0x07}, []int8{-1, -8, 7}}, {U2, []byte{0xe4, 0x01}, []int8{0, 1, 2, 3, 1}},
		{I2, []byte{0x0b}, []int8{-1, -2}}, {F4E2M1, []byte{0x0f}, []int8{15}}, {F6E2M3, []byte{0xc1, 0x0f, 0xff, 0x15}, []int8{1, 63, 48, 63, 21}},
		{I4, []byte{}, nil}, {I8, []byte{1, 2}, []int8{1, 2}},
	} {
		if got := View[int8](c.t.Unpacked(c.packed, len(c.elements))); !slices.Equal(got, c.elements) {
			t.Errorf("%s %x is %v, want %v", c.t, c.packed, got, c.elements)
		}
		if got := c.t.Packed(Bytes(c.elements)); !bytes.Equal(got, c.packed) || c.t.PackedSize(len(c.elements)) != len(got) {
			t.Errorf("%s %v is %x, want %x", c.t, c.elements, got, c.packed)
		}
	}
}
