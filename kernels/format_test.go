package kernels

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

func TestFormatRoundTrip(t *testing.T) {
	for _, f := range Formats() {
		for _, typ := range []numeric.DataType{numeric.I8, numeric.F16, numeric.F32, numeric.I64} {
			for _, dims := range [][]int{{1, 1, 1, 1}, {2, 16, 3, 5}, {3, 17, 2, 2}, {1, 40, 7}, {2, 3}} {
				d := Desc{Type: typ, Dims: dims, Format: f}
				src := make([]byte, numeric.Count(dims)*typ.Size())
				for i := range src {
					src[i] = byte(i*7 + 1)
				}
				for _, extra := range []int{0, 64} {
					if d.Batch, d.Pitch = 0, 0; extra > 0 && f == NHWC {
						d.Pitch = d.Width() + extra
					} else if extra > 0 {
						d.Batch = d.perBatch() + extra
					}
					stored := make([]byte, d.BatchStride()*dims[0]*typ.Size())
					back := make([]byte, len(src))
					d.FromLinear(stored, src)
					d.ToLinear(back, stored)
					if !bytes.Equal(src, back) {
						t.Errorf("%v with %d elements between: round trip changed the elements", d, extra)
					}
				}
			}
		}
	}
}

func TestSameBytes(t *testing.T) {
	desc := func(f Format, dims ...int) Desc { return Desc{Type: numeric.F32, Dims: dims, Format: f} }
	for _, c := range []struct {
		a, b Desc
		want bool
	}{
		{desc(Linear, 2, 32, 1, 1), desc(C16, 2, 32, 1, 1), true},
		{desc(Linear, 2, 32), desc(C16, 2, 32, 1, 1), true},
		{desc(NHWC, 2, 32, 1, 1), desc(C16, 2, 32, 1, 1), true},
		{desc(NHWC, 2, 34), desc(Linear, 2, 34), false},
		{desc(NHWC, 2, 1, 5, 5), desc(Linear, 2, 1, 5, 5), false},
		{desc(Linear, 2, 20, 1, 1), desc(C16, 2, 20, 1, 1), false},
		{desc(Linear, 2, 32, 2, 1), desc(C16, 2, 32, 2, 1), false},
		{desc(Linear, 2, 64), desc(Linear, 2, 32, 2, 1), true},
	} {
		if got := c.a.SameBytes(c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}
