package convolutions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// naiveTransposed computes an NCHW transposed convolution in float64, as it is defined, by what every input element adds;
// scale is the sum of the magnitudes of the terms.
func naiveTransposed(s TransposedShape, x, w, bias []float32) (y, scale []float64) {
	plane := s.OutHeight * s.OutWidth
	for i := range s.Batch * s.Filters * plane {
		v := float64(bias[i/plane%s.Filters])
		y, scale = append(y, v), append(scale, math.Abs(v))
	}
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	for i, v := range x {
		ix, iy, c, n := i%s.Width, i/s.Width%s.Height, i/s.Width/s.Height%s.Channels, i/s.Width/s.Height/s.Channels
		for f := range outGroup {
			for k := range s.KernelH * s.KernelW {
				oy, ox := iy*s.StrideH+k/s.KernelW*s.DilationH-s.PadTop, ix*s.StrideW+k%s.KernelW*s.DilationW-s.PadLeft
				if oy < 0 || oy >= s.OutHeight || ox < 0 || ox >= s.OutWidth {
					continue
				}
				term := float64(v) * float64(w[(c*outGroup+f)*s.KernelH*s.KernelW+k])
				at := (n*s.Filters+c/inGroup*outGroup+f)*plane + oy*s.OutWidth + ox
				y[at], scale[at] = y[at]+term, scale[at]+math.Abs(term)
			}
		}
	}
	return y, scale
}

// deconv is a square geometry, with so many rows and columns added to the output.
func deconv(c, h, w, f, kernel, stride, pad, more int) TransposedShape {
	return TransposedShape{Batch: 1, Channels: c, Height: h, Width: w, Filters: f, Groups: 1, KernelH: kernel, KernelW: kernel,
		StrideH: stride, StrideW: stride, DilationH: 1, DilationW: 1, PadTop: pad, PadLeft: pad,
		OutHeight: (h-1)*stride + kernel - 2*pad + more, OutWidth: (w-1)*stride + kernel - 2*pad + more}
}

// transposedShapes are odd geometries, small enough for a naive reference.
func transposedShapes() []TransposedShape {
	batch := deconv(17, 5, 6, 33, 3, 2, 1, 1)
	batch.Batch = 3
	grouped := deconv(64, 7, 5, 96, 4, 2, 1, 0)
	grouped.Groups = 2
	narrow := deconv(24, 6, 6, 36, 3, 2, 1, 0)
	narrow.Groups = 6
	depthwise := deconv(19, 5, 8, 19, 4, 2, 1, 0)
	depthwise.Groups = 19
	dilated := deconv(8, 6, 5, 20, 3, 3, 0, 0)
	dilated.DilationH, dilated.DilationW, dilated.OutHeight, dilated.OutWidth = 2, 3, 18, 19
	lopsided := deconv(3, 7, 4, 16, 5, 2, 0, 0)
	lopsided.KernelW, lopsided.StrideW, lopsided.PadTop, lopsided.OutHeight, lopsided.OutWidth = 1, 3, 3, 12, 9
	far := deconv(5, 3, 4, 18, 3, 1, 0, 0)
	far.DilationH, far.DilationW, far.PadTop, far.PadLeft, far.OutHeight, far.OutWidth = 50, 1, 50, 1, 3, 4
	return []TransposedShape{
		deconv(1, 1, 1, 1, 1, 1, 0, 0), deconv(64, 6, 9, 32, 2, 2, 0, 0), deconv(16, 7, 7, 16, 4, 2, 1, 0),
		deconv(20, 14, 14, 40, 3, 2, 1, 1), deconv(3, 8, 9, 64, 5, 1, 2, 0), deconv(32, 9, 9, 3, 4, 2, 1, 0),
		deconv(33, 9, 7, 31, 1, 2, 0, 1), deconv(40, 1, 17, 80, 2, 3, 0, 0), deconv(100, 1, 1, 48, 4, 1, 0, 0), deconv(9, 1, 5, 20, 3, 1, 1, 0), deconv(9, 5, 1, 20, 5, 2, 1, 0),
		deconv(512, 4, 4, 64, 4, 2, 1, 0), deconv(1100, 3, 3, 40, 3, 2, 1, 0), deconv(7, 5, 5, 9, 8, 4, 2, 0),
		deconv(2, 3, 3, 6, 16, 8, 4, 0), deconv(16, 40, 3, 16, 3, 1, 1, 0),
		batch, grouped, narrow, depthwise, dilated, lopsided, far,
	}
}

func (s TransposedShape) String() string {
	return fmt.Sprintf("%dx%dx%dx%d_%dx%dx%d_k%dx%d_s%dx%d_d%dx%d_p%d_%d_g%d", s.Batch, s.Channels, s.Height, s.Width, s.Filters,
		s.OutHeight, s.OutWidth, s.KernelH, s.KernelW, s.StrideH, s.StrideW, s.DilationH, s.DilationW, s.PadTop, s.PadLeft, s.Groups)
}

func TestTransposedF32(t *testing.T) {
	for _, s := range transposedShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprintf("%v/%v/%d", s, features, workers), func(t *testing.T) { testTransposedF32(t, s, features, workers) })
			}
		}
	}
}

func testTransposedF32(t *testing.T, s TransposedShape, features asm.Features, workers int) {
	r := rand.New(rand.NewPCG(7, uint64(s.Channels)))
	x := cputest.Normals(r, s.Batch*s.Channels*s.Height*s.Width)
	w := cputest.Normals(r, s.Filters/s.Groups*s.Channels*s.KernelH*s.KernelW)
	bias := cputest.Normals(r, s.Filters)
	want, scale := naiveTransposed(s, x, w, bias)
	c, err := NewTransposedF32(s, windows.Depth{}, w, bias, features, workers)
	if err != nil {
		t.Fatal(err)
	}
	checkTransposedF32(t, s, c, true, true, x, want, scale, workers)
	if s.Groups > 1 && s.Groups == s.Channels && s.Groups == s.Filters {
		c, err := NewTransposedDepthwiseF32(s, w, bias, features, workers)
		if err != nil {
			t.Fatal(err)
		}
		checkTransposedF32(t, s, c, true, true, x, want, scale, workers)
	}
	for _, planar := range []bool{false, true} {
		c, err := NewTransposedColumnsF32(s, w, bias, planar, features, workers)
		if err == nil {
			checkTransposedF32(t, s, c, !planar, false, x, want, scale, workers)
		} else if s.Filters <= columnsFilters && s.KernelH*s.KernelW < 64 {
			t.Error(err)
		}
	}
}

// checkTransposedF32 compares a computation of x, in blocks or not, with the result without residual and clamp.
func checkTransposedF32(t *testing.T, s TransposedShape, c transposedComputation, blockedIn, blockedOut bool, x []float32, want, scale []float64, workers int) {
	t.Helper()
	pixels := s.OutHeight * s.OutWidth
	residual := make([]float32, len(want))
	if s.Filters%4 > 0 {
		residual = cputest.Normals(rand.New(rand.NewPCG(8, 8)), len(want))
	}
	call := CallF32{Limits: [2]float32{-40, 60}, Workspace: make([]float32, c.Workspace())}
	fill(call.Workspace)
	call.In, call.Residual = work.Planar(x, s.Channels, s.Height, s.Width), work.Planar(residual, s.Filters, s.OutHeight, s.OutWidth)
	if blockedIn {
		call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	}
	if blockedOut {
		call.Residual = work.Blocked(cputest.ToBlocked(residual, s.Batch, s.Filters, pixels, 0), s.Filters, s.OutHeight, s.OutWidth)
	}
	call.Out = call.Residual
	call.Out.Data = make([]float32, len(call.Residual.Data))
	if s.Filters%4 == 0 {
		call.Residual = work.Tensor4{}
	}
	fill(call.Out.Data)
	var after int
	if workers == 1 {
		call.After = func(image, at, n int) {
			after += n
			for i, v := range call.Out.Data[image*call.Out.Image+at:][:n] {
				if v != v {
					t.Fatalf("image %d element %d is not finished", image, at+i)
				}
			}
		}
	}
	c.Run(cputest.Serial, &call)
	if workers == 1 && after != len(call.Out.Data) {
		t.Errorf("After saw %d of %d elements", after, len(call.Out.Data))
	}
	for i := range want {
		f, n, p := i/pixels%s.Filters, i/pixels/s.Filters, i%pixels
		got := call.Out.Data[n*call.Out.Image:]
		if blockedOut {
			got = got[f/work.Lanes*call.Out.Plane+p*work.Lanes+f%work.Lanes:]
		} else {
			got = got[f*call.Out.Plane+p:]
		}
		v := min(max(want[i]+float64(residual[i]), -40), 60)
		if d := math.Abs(float64(got[0]) - v); !(d <= 1e-6*(1+scale[i])) {
			t.Fatalf("%T: image %d channel %d row %d column %d = %g, want %g", c, n, f, p/s.OutWidth, p%s.OutWidth, got[0], v)
		}
	}
}

// fill sets what must be written before it is read.
func fill(x []float32) {
	for i := range x {
		x[i] = float32(math.NaN())
	}
}

// FuzzTransposedF32 compares every kernel with the naive loops on geometries that a fuzzer chooses.
func FuzzTransposedF32(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, ok := randomTransposed(r)
		if !ok {
			return
		}
		testTransposedF32(t, s, asm.HostFeatures(), 1+r.IntN(3))
		testTransposedF32(t, s, 0, 1)
	})
}

// TestTransposedProperties does what the fuzzer does with some geometries.
func TestTransposedProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		if s, ok := randomTransposed(r); ok {
			t.Run(s.String(), func(t *testing.T) {
				sets := cputest.FeatureSets()
				testTransposedF32(t, s, sets[r.IntN(len(sets))], 1+r.IntN(3))
				s.Filters, s.Groups = s.Channels, s.Channels
				testTransposedF32(t, s, sets[r.IntN(len(sets))], 1+r.IntN(3))
			})
		}
	}
}

// randomTransposed returns a geometry, and whether it is one.
func randomTransposed(r *rand.Rand) (TransposedShape, bool) {
	groups := 1 + r.IntN(3)*r.IntN(2)
	s := TransposedShape{Batch: 1 + r.IntN(2), Channels: groups * (1 + r.IntN(24)), Height: 1 + r.IntN(9), Width: 1 + r.IntN(20),
		Filters: groups * (1 + r.IntN(40)), Groups: groups, KernelH: 1 + r.IntN(5), KernelW: 1 + r.IntN(5), StrideH: 1 + r.IntN(4),
		StrideW: 1 + r.IntN(4), DilationH: 1 + r.IntN(3), DilationW: 1 + r.IntN(3), PadTop: r.IntN(4), PadLeft: r.IntN(4)}
	s.OutHeight = (s.Height-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1 - s.PadTop + r.IntN(6) - 3
	s.OutWidth = (s.Width-1)*s.StrideW + (s.KernelW-1)*s.DilationW + 1 - s.PadLeft + r.IntN(6) - 3
	return s, s.check() == nil
}
