package cputest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Sums computes the exact sums of an NCHW convolution of bytes; padding holds the zero point.
func Sums(s windows.Shape, x []byte, zero int32, w []int16) []int32 {
	oh, ow := s.OutHeight(), s.OutWidth()
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	var y []int32
	for n := range s.Batch {
		for f := range s.Filters {
			for i := range oh * ow {
				sum := int32(0)
				for c := range inGroup {
					plane := x[(n*s.Channels+f/outGroup*inGroup+c)*s.Height*s.Width:]
					for kh := range s.KernelH {
						for kw := range s.KernelW {
							iy := i/ow*s.StrideH + kh*s.DilationH - s.PadTop
							ix := i%ow*s.StrideW + kw*s.DilationW - s.PadLeft
							if iy < 0 || iy >= s.Height || ix < 0 || ix >= s.Width {
								continue
							}
							sum += (int32(plane[iy*s.Width+ix]) - zero) * int32(w[((f*inGroup+c)*s.KernelH+kh)*s.KernelW+kw])
						}
					}
				}
				y = append(y, sum)
			}
		}
	}
	return y
}

// BlockedBytes converts NCHW to NCHWc16; lanes beyond the channels hold junk.
func BlockedBytes(x []byte, n, c, pixels int) []byte {
	out := make([]byte, n*work.BlocksOf(c)*pixels*work.Lanes)
	for i := range out {
		l, p, b := i%work.Lanes, i/work.Lanes%pixels, i/work.Lanes/pixels
		image, channel := b/work.BlocksOf(c), b%work.BlocksOf(c)*work.Lanes+l
		out[i] = byte(77 * i)
		if channel < c {
			out[i] = x[(image*c+channel)*pixels+p]
		}
	}
	return out
}

// RandomBytes returns bytes of any value.
func RandomBytes(r *rand.Rand, n int) []byte {
	v := make([]byte, n)
	for i := range v {
		v[i] = byte(r.IntN(256))
	}
	return v
}

// Int8Case is a quantised convolution on random data with every part of the epilogue.
type Int8Case struct {
	shape       windows.Shape
	X, Residual []byte // NCHW
	Weights     []int16
	Zero        int32
	Scale, Bias []float32
	Epilogue    quantised.Epilogue
}

// NewInt8Case returns a case on weights of no more than limit: most are small, as weights are, for one block of filters, and they are
// all as likely for the next.
func NewInt8Case(r *rand.Rand, s windows.Shape, limit int) *Int8Case {
	c := &Int8Case{shape: s, Zero: int32(r.IntN(256)), X: RandomBytes(r, s.Batch*s.Channels*s.Height*s.Width)}
	any := func() int { return r.IntN(2*limit+1) - limit }
	for f := range s.Filters {
		for range s.Channels / s.Groups * s.KernelH * s.KernelW {
			w := any()
			if f/work.Lanes%2 == 0 && r.IntN(100) > 0 {
				w = (w + any() + any()) / 3
			}
			c.Weights = append(c.Weights, int16(w))
		}
	}
	for range s.Filters {
		c.Scale = append(c.Scale, r.Float32()*0.001)
		c.Bias = append(c.Bias, float32(r.NormFloat64()))
	}
	c.Residual = RandomBytes(r, s.Batch*s.Filters*s.OutHeight()*s.OutWidth())
	c.Epilogue = quantised.Epilogue{Outer: [2]float32{-10, 12}, OutScale: 0.11, OutZero: 120,
		ClampInner: true, Inner: [2]float32{-9, 9}, ResidualScale: 0.02, ResidualZero: 100}
	return c
}

// Value computes the real value of element i (NCHW) of the output from its sum.
func (c *Int8Case) Value(i int, sum int32) float32 {
	e := &c.Epilogue
	f := i / (c.shape.OutHeight() * c.shape.OutWidth()) % c.shape.Filters
	v := float32(float32(sum)*c.Scale[f]) + c.Bias[f]
	v = min(max(v, e.Inner[0]), e.Inner[1])
	v += float32((float32(c.Residual[i]) - float32(e.ResidualZero)) * e.ResidualScale)
	return min(max(v, e.Outer[0]), e.Outer[1])
}

// Want quantises it.
func (c *Int8Case) Want(i int, sum int32) byte {
	q := math.RoundToEven(float64(c.Value(i, sum)/c.Epilogue.OutScale)) + float64(c.Epilogue.OutZero)
	return byte(min(max(q, 0), 255))
}

// RunsInt8 is what the convolutions of bytes have in common.
type RunsInt8 interface {
	Workspace() int
	Run(work.Parallel, *quantised.Call)
}

// Check runs the convolution and compares every element.
func (c *Int8Case) Check(t *testing.T, conv RunsInt8, stem bool) {
	t.Helper()
	s := c.shape
	oh, ow := s.OutHeight(), s.OutWidth()
	call := quantised.Call{Epilogue: c.Epilogue, Workspace: make([]byte, conv.Workspace())}
	call.In = work.BlockedBytes(BlockedBytes(c.X, s.Batch, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	if stem {
		call.In = work.Bytes4{Data: c.X, Image: s.Channels * s.Height * s.Width, Plane: s.Height * s.Width}
	}
	call.Epilogue.Residual = work.BlockedBytes(BlockedBytes(c.Residual, s.Batch, s.Filters, oh*ow), s.Filters, oh, ow)
	out := make([]byte, s.Batch*work.BlocksOf(s.Filters)*oh*ow*work.Lanes)
	call.Epilogue.Out = work.BlockedBytes(out, s.Filters, oh, ow)
	conv.Run(Serial, &call)
	for i, sum := range Sums(s, c.X, c.Zero, c.Weights) {
		p, plane := i%(oh*ow), i/(oh*ow)
		n, f := plane/s.Filters, plane%s.Filters
		got := out[((n*work.BlocksOf(s.Filters)+f/work.Lanes)*oh*ow+p)*work.Lanes+f%work.Lanes]
		if want := c.Want(i, sum); got != want {
			t.Fatalf("image %d filter %d pixel %d: %d, want %d (sum %d)", n, f, p, got, want, sum)
		}
	}
}
