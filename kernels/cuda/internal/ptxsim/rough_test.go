package ptxsim

import (
	"math"
	"testing"
)

// TestErrors checks that approximate results differ from the exact ones, by no more than the ISA allows, and not where they are
// exact on every GPU.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		op       string
		v, x     float64
		absolute float64
	}{
		{"rcp", 1.0 / 3, 3, 0x1p-26}, {"rcp", 0.25, 4, 0}, {"ex2", 1.4142135623730951, 0.5, 0x1.8p-23}, {"ex2", 8, 3, 0},
		{"ex2", math.Inf(1), 200, 0}, {"ex2", 0, -300, 0}, {"div", 0.3, 3, 0x1.8p-25}, {"sqrt", 1.5, 2.25, 0x1p-24},
		{"sin", 0.5, 0.5235987755982989, 0x1.6ap-21}, {"cos", 1, 0, 0}, {"lg2", 0.5849625007211562, 1.5, 0x1p-22},
		{"lg2", 20, 1 << 20, 20 * 0x1p-22}, {"tanh", 0.5, 0.5493061443340549, 0x1p-12}, {"add", 3, 1, 0},
	} {
		if e := errorOf(c.op, c.v, c.x); e != c.absolute {
			t.Errorf("%s of %v is %v within %v, want %v", c.op, c.x, c.v, e, c.absolute)
		}
		if got := roughly(c.op, c.v, c.x); math.Abs(got-c.v) > 1.001*c.absolute || c.absolute > 0 && got == c.v {
			t.Errorf("%s of %v is %v, want %v off by %v", c.op, c.x, got, c.v, c.absolute)
		}
	}
}

// TestRoughSums checks what a tensor core keeps of a sum.
func TestRoughSums(t *testing.T) {
	one := func(a []float32, column float32, c float32) float32 {
		var b [32][8]float32
		for k := range a {
			b[k][0] = column
		}
		sums := [8]float32{c}
		multiplyRowRough(a, &b, &sums)
		return sums[0]
	}
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		a      []float32
		column float32
		c      float32
		want   float32
	}{
		{[]float32{1, 2, 3}, 2, 1, 13},                          // exact
		{[]float32{0, 0}, 1, 0, 0},                              // nothing
		{[]float32{1, 0x1p-24}, 1, 0, 1},                        // what lies below the last bit is lost
		{[]float32{0x1.8p-24, 0x1.8p-24, 0x1.8p-24}, 1, 1, 1},   // of every term
		{[]float32{0x1.8p-23, 0x1.8p-23}, 1, 1, 1 + 0x1p-22},    // cut off, not rounded
		{[]float32{-0x1.8p-23, 0x1p-23}, 1, 1, 1},               // toward zero
		{[]float32{1 << 20, -(1 << 20), 0x1p-5}, 1, 0, 0},       // small beside what cancels
		{[]float32{1, inf}, 1, 0, inf}, {[]float32{3}, 1, 1, 4}, // not finite
	} {
		if got := one(c.a, c.column, c.c); got != c.want {
			t.Errorf("%v times %v on %v is %v, want %v", c.a, c.column, c.c, got, c.want)
		}
	}
	if got := one([]float32{float32(math.NaN())}, 1, 1); got == got {
		t.Errorf("of NaN it is %v", got)
	}
}
