package convolutions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// sliceSums is what a convolution of volumes is made of: those of its slices.
type sliceSums struct {
	batch, channels, filters int
	plane, outPlane          int // elements of a slice of a channel
	kernels, taps            int // of the weights: kernels, and elements of a slice of one
	in, out, depth           int // slices of the input, the output and the kernels
}

// naive sums an NCDHW convolution up in float64; scale is the sum of the magnitudes of the terms. met calls f for slices of
// the input, the output and the kernels that belong together, existing or not; of computes the convolution of slices.
func (s sliceSums) naive(x, w, bias []float32, met func(f func(in, out, k int)), of func(x, w, bias []float32) (y, scale []float64)) (y, scale []float64) {
	n := s.batch * s.filters * s.out * s.outPlane
	y, scale = make([]float64, n), make([]float64, n)
	zero := make([]float32, s.filters)
	met(func(in, out, k int) {
		if in < 0 || in >= s.in || out < 0 || out >= s.out {
			return
		}
		var part, weights []float32
		for i := range s.batch * s.channels {
			part = append(part, x[(i*s.in+in)*s.plane:][:s.plane]...)
		}
		for i := range s.kernels {
			weights = append(weights, w[(i*s.depth+k)*s.taps:][:s.taps]...)
		}
		sum, size := of(part, weights, zero)
		for i, v := range sum {
			at := (i/s.outPlane*s.out+out)*s.outPlane + i%s.outPlane
			y[at], scale[at] = y[at]+v, scale[at]+size[i]
		}
	})
	for i := range y {
		v := float64(bias[i/s.outPlane/s.out%s.filters])
		y[i], scale[i] = y[i]+v, scale[i]+math.Abs(v)
	}
	return y, scale
}

// naiveVolume computes a convolution of volumes by Conv.
func naiveVolume(s windows.Shape, d windows.Depth, x, w, bias []float32) (y, scale []float64) {
	parts := sliceSums{s.Batch, s.Channels, s.Filters, s.Height * s.Width, s.OutHeight() * s.OutWidth(),
		s.Filters * (s.Channels / s.Groups), s.KernelH * s.KernelW, d.In, d.Out, d.Kernel}
	met := func(f func(in, out, k int)) {
		for out := range d.Out {
			for k := range d.Kernel {
				f(out*d.Stride+k*d.Dilation-d.PadFront, out, k)
			}
		}
	}
	return parts.naive(x, w, bias, met, func(x, w, bias []float32) (y, scale []float64) { return cputest.Conv(s, x, w, bias) })
}

func TestConvVolumeF32(t *testing.T) {
	batch := cputest.Square(20, 5, 6, 33, 3, 2, 1)
	batch.Batch = 2
	grouped := cputest.Square(24, 4, 5, 36, 3, 1, 1)
	grouped.Groups = 3
	for i, c := range []struct {
		s windows.Shape
		d windows.Depth
	}{
		{cputest.Square(3, 8, 9, 16, 3, 1, 1), windows.Depth{In: 5, Out: 5, Kernel: 3, Stride: 1, Dilation: 1, PadFront: 1}},
		{cputest.Square(16, 7, 7, 48, 1, 1, 0), windows.Depth{In: 4, Out: 4, Kernel: 1, Stride: 1, Dilation: 1}},
		{cputest.Square(33, 6, 6, 40, 1, 1, 0), windows.Depth{In: 7, Out: 3, Kernel: 3, Stride: 2, Dilation: 1}},
		{batch, windows.Depth{In: 6, Out: 4, Kernel: 2, Stride: 2, Dilation: 3, PadFront: 2}},
		{grouped, windows.Depth{In: 3, Out: 7, Kernel: 3, Stride: 1, Dilation: 1, PadFront: 3}},
		{cputest.Depthwise(19, 9, 8, 3, 1, 1), windows.Depth{In: 5, Out: 5, Kernel: 3, Stride: 1, Dilation: 1, PadFront: 1}},
		{cputest.Depthwise(16, 30, 31, 5, 2, 2), windows.Depth{In: 7, Out: 3, Kernel: 3, Stride: 2, Dilation: 2, PadFront: 1}},
		{cputest.Square(600, 3, 3, 40, 3, 1, 1), windows.Depth{In: 3, Out: 3, Kernel: 3, Stride: 1, Dilation: 1, PadFront: 1}},
	} {
		for _, features := range cputest.FeatureSets() {
			for _, planar := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%v/planar=%v", i, features, planar), func(t *testing.T) {
					cfg := ConfigF32{Planar: planar, Depth: c.d, Features: features, Workers: 1 + i%3}
					testConvVolume(t, c.s, cfg)
				})
			}
		}
	}
}

func testConvVolume(t *testing.T, s windows.Shape, cfg ConfigF32) {
	d, r := cfg.Depth, rand.New(rand.NewPCG(7, uint64(s.Channels)))
	x := cputest.Normals(r, s.Batch*s.Channels*d.In*s.Height*s.Width)
	w := cputest.Normals(r, s.Filters*s.Channels/s.Groups*d.Kernel*s.KernelH*s.KernelW)
	bias := cputest.Normals(r, s.Filters)
	c, err := NewDirectF32(s, w, bias, cfg)
	if d.Check() != nil {
		if err == nil {
			t.Error("slices in the padding alone are accepted")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checkConvVolume(t, s, cfg, c, x, w, bias)
	if s.Groups == s.Channels && s.Groups == s.Filters && !cfg.Planar {
		c, err := NewDepthwiseF32(s, d, w, bias, cfg.Features, cfg.Workers)
		if err != nil {
			t.Fatal(err)
		}
		checkConvVolume(t, s, cfg, c, x, w, bias)
	}
}

// checkConvVolume compares a computation of x with naive loops.
func checkConvVolume(t *testing.T, s windows.Shape, cfg ConfigF32, c transposedComputation, x, w, bias []float32) {
	t.Helper()
	d, r := cfg.Depth, rand.New(rand.NewPCG(8, 8))
	want, scale := naiveVolume(s, d, x, w, bias)
	residual := cputest.Normals(r, len(want))
	oh, pixels := d.Out*s.OutHeight(), d.Out*s.OutHeight()*s.OutWidth()
	call := CallF32{Limits: [2]float32{-40, 60}, Workspace: make([]float32, c.Workspace())}
	call.In = work.Planar(x, s.Channels, d.In*s.Height, s.Width)
	if !cfg.Planar {
		call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, d.In*s.Height*s.Width, 7), s.Channels, d.In*s.Height, s.Width)
	}
	call.Residual = work.Blocked(cputest.ToBlocked(residual, s.Batch, s.Filters, pixels, 0), s.Filters, oh, s.OutWidth())
	call.Out = call.Residual
	call.Out.Data = make([]float32, len(call.Residual.Data))
	fill(call.Out.Data)
	var after int
	if cfg.Workers == 1 {
		call.After = func(_, _, n int) { after += n }
	}
	c.Run(cputest.Serial, &call)
	if cfg.Workers == 1 && after != len(call.Out.Data) {
		t.Errorf("After saw %d of %d elements", after, len(call.Out.Data))
	}
	for i := range want {
		f, n, p := i/pixels%s.Filters, i/pixels/s.Filters, i%pixels
		got := call.Out.Data[n*call.Out.Image+f/work.Lanes*call.Out.Plane+p*work.Lanes+f%work.Lanes]
		v := min(max(want[i]+float64(residual[i]), -40), 60)
		if e := math.Abs(float64(got) - v); !(e <= 1e-6*(1+scale[i])) {
			t.Fatalf("image %d channel %d pixel %d = %g, want %g", n, f, p, got, v)
		}
	}
}
