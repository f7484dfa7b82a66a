package graph

import (
	"math"
	"strings"
	"testing"
)

// TestFloat8Values: some numbers of each format, as the ONNX specification lists them.
func TestFloat8Values(t *testing.T) {
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
	} {
		if got := float8s[c.format].decode(c.code); got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%s %#02x is %g, want %g", c.format, c.code, got, c.want)
		}
	}
}

// TestFloat8Rounding: every number is itself, what lies between two goes to the nearer, and half way to the even one.
func TestFloat8Rounding(t *testing.T) {
	for format, f := range float8s {
		for code := range 256 {
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
			if code&0x7f == 0x7f || y != y || math.IsInf(y, 0) {
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
			if got := f.decode(f.encode(-x, false)); !(got != got) && !(f.infinite && math.IsInf(got, -1)) {
				t.Errorf("%s: %g overflows to %g", format, -x, got)
			}
		}
	}
}

// TestFloat8IsStorage: no layer but a cast reads the 8-bit floating types.
func TestFloat8IsStorage(t *testing.T) {
	n := NewNetwork("storage")
	x := n.AddInput("x", F8E5M2, Const(2))
	_, err := n.Add("relu", Ops().Named("Relu"), Elementwise{Program: Unary(EltRelu)}, []*Tensor{x})
	if err == nil || !strings.Contains(err.Error(), "only Cast reads") {
		t.Errorf("a Relu of %s: %v", x.Type, err)
	}
	if _, err := n.Add("cast", Cast, CastAttrs{To: F32}, []*Tensor{x}); err != nil {
		t.Error(err)
	}
}
