package convolutions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
)

// naiveTransposedVolume computes a transposed convolution of volumes by naiveTransposed.
func naiveTransposedVolume(s TransposedShape, d windows.Depth, x, w, bias []float32) (y, scale []float64) {
	parts := sliceSums{s.Batch, s.Channels, s.Filters, s.Height * s.Width, s.OutHeight * s.OutWidth,
		s.Channels * s.Filters / s.Groups, s.KernelH * s.KernelW, d.In, d.Out, d.Kernel}
	met := func(f func(in, out, k int)) {
		for in := range d.In {
			for k := range d.Kernel {
				f(in, in*d.Stride+k*d.Dilation-d.PadFront, k)
			}
		}
	}
	return parts.naive(x, w, bias, met, func(x, w, bias []float32) (y, scale []float64) { return naiveTransposed(s, x, w, bias) })
}

func TestTransposedVolumeF32(t *testing.T) {
	batch := deconv(20, 5, 6, 33, 3, 2, 1, 1)
	batch.Batch = 2
	grouped := deconv(24, 4, 5, 36, 3, 1, 1, 0)
	grouped.Groups = 3
	for i, c := range []struct {
		s TransposedShape
		d windows.Depth
	}{
		{deconv(16, 5, 6, 18, 2, 2, 0, 0), windows.Depth{In: 3, Out: 6, Kernel: 2, Stride: 2, Dilation: 1}},
		{deconv(40, 4, 5, 48, 4, 2, 1, 0), windows.Depth{In: 4, Out: 8, Kernel: 4, Stride: 2, Dilation: 1, PadFront: 1}},
		{batch, windows.Depth{In: 3, Out: 6, Kernel: 3, Stride: 2, Dilation: 1, PadFront: 1}},
		{grouped, windows.Depth{In: 3, Out: 7, Kernel: 3, Stride: 1, Dilation: 2}},
		{deconv(600, 3, 3, 40, 3, 2, 1, 0), windows.Depth{In: 3, Out: 3, Kernel: 3, Stride: 1, Dilation: 1, PadFront: 1}},
		{deconv(8, 3, 3, 16, 1, 2, 0, 1), windows.Depth{In: 3, Out: 3, Kernel: 1, Stride: 1, Dilation: 1}},
	} {
		for _, features := range cputest.FeatureSets() {
			t.Run(fmt.Sprintf("%d/%v", i, features), func(t *testing.T) {
				s, d, r, workers := c.s, c.d, rand.New(rand.NewPCG(7, 7)), 1+i%3
				x := cputest.Normals(r, s.Batch*s.Channels*d.In*s.Height*s.Width)
				w := cputest.Normals(r, s.Filters/s.Groups*s.Channels*d.Kernel*s.KernelH*s.KernelW)
				bias := cputest.Normals(r, s.Filters)
				k, err := NewTransposedF32(s, d, w, bias, features, workers)
				if err != nil {
					t.Fatal(err)
				}
				want, scale := naiveTransposedVolume(s, d, x, w, bias)
				// In memory a volume is an image whose rows are those of all slices.
				s.Height, s.OutHeight = d.In*s.Height, d.Out*s.OutHeight
				checkTransposedF32(t, s, k, true, true, x, want, scale, workers)
			})
		}
	}
	if _, err := NewTransposedF32(deconv(4, 3, 3, 4, 2, 2, 0, 0), windows.Depth{In: 3, Out: 5, Kernel: 1, Stride: 2, Dilation: 1}, nil, nil, 0, 1); err == nil {
		t.Error("a slice that no tap meets is accepted")
	}
}
