package cputest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Spawn runs each worker on a goroutine of its own.
func Spawn(n int, f func(int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { f(i) })
	}
	wait.Wait()
}

// Serial runs the work on the calling goroutine.
func Serial(n int, f func(int)) {
	for i := range n {
		f(i)
	}
}

// Normals returns normally distributed numbers.
func Normals(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// ToBlocked converts NCHW to NCHWc16; lanes beyond the channels hold pad.
func ToBlocked(x []float32, n, c, pixels int, pad float32) []float32 {
	out := make([]float32, n*work.BlocksOf(c)*pixels*work.Lanes)
	for i := range out {
		l, p, b := i%work.Lanes, i/work.Lanes%pixels, i/work.Lanes/pixels
		image, channel := b/work.BlocksOf(c), b%work.BlocksOf(c)*work.Lanes+l
		out[i] = pad
		if channel < c {
			out[i] = x[(image*c+channel)*pixels+p]
		}
	}
	return out
}

// Conv computes an NCHW convolution in float64; scale is the sum of the magnitudes of the terms.
func Conv(s windows.Shape, x, w, bias []float32) (y, scale []float64) {
	oh, ow := s.OutHeight(), s.OutWidth()
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	for n := range s.Batch {
		for f := range s.Filters {
			for i := range oh * ow {
				sum, size := float64(bias[f]), math.Abs(float64(bias[f]))
				for c := range inGroup {
					plane := x[(n*s.Channels+f/outGroup*inGroup+c)*s.Height*s.Width:]
					for kh := range s.KernelH {
						for kw := range s.KernelW {
							iy := i/ow*s.StrideH + kh*s.DilationH - s.PadTop
							ix := i%ow*s.StrideW + kw*s.DilationW - s.PadLeft
							if iy < 0 || iy >= s.Height || ix < 0 || ix >= s.Width {
								continue
							}
							term := float64(plane[iy*s.Width+ix]) * float64(w[((f*inGroup+c)*s.KernelH+kh)*s.KernelW+kw])
							sum, size = sum+term, size+math.Abs(term)
						}
					}
				}
				y, scale = append(y, sum), append(scale, size)
			}
		}
	}
	return y, scale
}

// Square returns a convolution of one image from c to f channels, its kernel, strides and pads alike on both axes.
func Square(c, h, w, f, kernel, stride, pad int) windows.Shape {
	return windows.Shape{Batch: 1, Channels: c, Height: h, Width: w, Filters: f, Groups: 1, KernelH: kernel, KernelW: kernel,
		StrideH: stride, StrideW: stride, DilationH: 1, DilationW: 1, PadTop: pad, PadLeft: pad, PadBottom: pad, PadRight: pad}
}

// Depthwise is Square with a filter for each channel.
func Depthwise(channels, h, w, kernel, stride, pad int) windows.Shape {
	s := Square(channels, h, w, channels, kernel, stride, pad)
	s.Groups = channels
	return s
}

// RandomShape returns a small convolution, which may be one that is refused.
func RandomShape(r *rand.Rand) windows.Shape {
	groups := 1 + r.IntN(3)*r.IntN(2)
	return windows.Shape{Batch: 1 + r.IntN(2), Channels: groups * (1 + r.IntN(24)), Height: 1 + r.IntN(20), Width: 1 + r.IntN(20),
		Filters: groups * (1 + r.IntN(40)), Groups: groups, KernelH: 1 + r.IntN(5), KernelW: 1 + r.IntN(5), StrideH: 1 + r.IntN(3),
		StrideW: 1 + r.IntN(3), DilationH: 1 + r.IntN(3), DilationW: 1 + r.IntN(3), PadTop: r.IntN(4), PadLeft: r.IntN(4),
		PadBottom: r.IntN(4), PadRight: r.IntN(4)}
}

// WindowShapes are odd geometries of depthwise convolution and pooling.
func WindowShapes() []windows.Shape {
	batch := Depthwise(33, 6, 5, 3, 2, 1)
	batch.Batch = 3
	dilated := Depthwise(5, 15, 31, 3, 1, 2)
	dilated.DilationH, dilated.DilationW = 2, 3
	both := Depthwise(7, 17, 16, 3, 3, 2)
	both.DilationH, both.DilationW = 2, 2
	lopsided := Depthwise(16, 10, 9, 5, 2, 0)
	lopsided.KernelW, lopsided.PadTop, lopsided.PadRight, lopsided.StrideW = 1, 3, 2, 1
	return []windows.Shape{
		Depthwise(1, 1, 1, 1, 1, 0), Depthwise(16, 7, 7, 3, 1, 1), Depthwise(40, 14, 14, 5, 1, 2),
		Depthwise(3, 112, 112, 3, 1, 1), Depthwise(17, 29, 30, 3, 2, 1), Depthwise(20, 56, 56, 5, 2, 2),
		Depthwise(2, 300, 200, 3, 1, 1), batch, dilated, both, lopsided,
	}
}

// WindowName names a case.
func WindowName(s windows.Shape, features asm.Features) string {
	return fmt.Sprintf("%dx%dx%dx%d_k%dx%d_s%d_d%d/%v", s.Batch, s.Channels, s.Height, s.Width, s.KernelH, s.KernelW, s.StrideH,
		s.DilationH, features)
}

// CheckBlocked compares an NCHWc16 result with the values and term magnitudes of NCHW elements.
func CheckBlocked(t *testing.T, s windows.Shape, out work.Tensor4, elements []float64, want func(i int) (value, scale float64)) {
	t.Helper()
	pixels := s.OutHeight() * s.OutWidth()
	for i := range elements {
		c, n, p := i/pixels%s.Channels, i/pixels/s.Channels, i%pixels
		got := float64(out.Data[n*out.Image+c/work.Lanes*out.Plane+p*work.Lanes+c%work.Lanes])
		if v, scale := want(i); got != v && !(math.Abs(got-v) <= 1e-6*(1+scale)) {
			t.Fatalf("image %d channel %d pixel %d = %g, want %g", n, c, p, got, v)
		}
	}
}
