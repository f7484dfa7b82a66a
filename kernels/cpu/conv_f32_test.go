package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// serial runs the work on the calling goroutine.
func serial(n int, f func(int)) {
	for i := range n {
		f(i)
	}
}

func normals(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// toBlocked converts NCHW to NCHWc16; lanes beyond the channels hold pad.
func toBlocked(x []float32, n, c, pixels int, pad float32) []float32 {
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

// naiveConv computes an NCHW convolution in float64; scale is the sum of the magnitudes of the terms.
func naiveConv(s ConvShape, x, w, bias []float32) (y, scale []float64) {
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

func conv(c, h, w, f, kernel, stride, pad int) ConvShape {
	return ConvShape{Batch: 1, Channels: c, Height: h, Width: w, Filters: f, Groups: 1, KernelH: kernel, KernelW: kernel,
		StrideH: stride, StrideW: stride, DilationH: 1, DilationW: 1, PadTop: pad, PadLeft: pad, PadBottom: pad, PadRight: pad}
}

// convShapes are odd geometries, small enough for a naive reference.
func convShapes() []ConvShape {
	batch := conv(17, 5, 6, 33, 3, 1, 1)
	batch.Batch = 3
	grouped := conv(64, 7, 7, 96, 3, 1, 1)
	grouped.Groups = 2
	narrow := conv(24, 6, 6, 36, 3, 2, 1)
	narrow.Groups = 6
	depthwise := conv(19, 9, 8, 19, 3, 1, 1)
	depthwise.Groups = 19
	dilated := conv(8, 13, 12, 20, 3, 1, 2)
	dilated.DilationH, dilated.DilationW = 2, 3
	both := conv(5, 17, 16, 7, 3, 3, 2)
	both.DilationH, both.DilationW = 2, 2
	lopsided := conv(3, 10, 9, 16, 5, 2, 0)
	lopsided.KernelW, lopsided.PadTop, lopsided.PadRight, lopsided.StrideW = 1, 3, 2, 1
	return []ConvShape{
		conv(1, 1, 1, 1, 1, 1, 0), conv(3, 8, 8, 16, 3, 1, 1), conv(16, 7, 7, 16, 3, 1, 1), conv(20, 14, 14, 40, 3, 1, 1),
		conv(3, 32, 30, 64, 7, 2, 3), conv(32, 9, 9, 48, 1, 1, 0), conv(33, 9, 7, 31, 1, 2, 0), conv(40, 1, 17, 80, 1, 1, 0),
		conv(15, 4, 4, 17, 5, 1, 2), conv(16, 3, 3, 16, 3, 1, 3), conv(512, 7, 7, 64, 3, 1, 1), conv(1100, 3, 3, 40, 1, 1, 0),
		batch, grouped, narrow, depthwise, dilated, both, lopsided,
	}
}

func TestConvF32(t *testing.T) {
	for _, s := range convShapes() {
		for _, features := range featureSets() {
			for _, planar := range []bool{false, true} {
				for _, workers := range workerCounts() {
					name := fmt.Sprintf("%dx%dx%dx%d_%d_k%dx%d_s%d_d%d_g%d/%v/planar=%v/%d", s.Batch, s.Channels, s.Height, s.Width,
						s.Filters, s.KernelH, s.KernelW, s.StrideH, s.DilationH, s.Groups, features, planar, workers)
					t.Run(name, func(t *testing.T) { testConvF32(t, s, features, planar, workers) })
				}
			}
		}
	}
}

func testConvF32(t *testing.T, s ConvShape, features asm.Features, planar bool, workers int) {
	r := rand.New(rand.NewPCG(7, uint64(s.Channels)))
	x := normals(r, s.Batch*s.Channels*s.Height*s.Width)
	w := normals(r, s.Filters*s.Channels/s.Groups*s.KernelH*s.KernelW)
	bias := normals(r, s.Filters)
	want, scale := naiveConv(s, x, w, bias)
	c, err := NewConvF32(s, w, bias, ConvF32Config{Planar: planar, Features: features, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	oh, ow := s.OutHeight(), s.OutWidth()
	residual := normals(r, len(want))
	call := ConvF32Call{Limits: [2]float32{-40, 60}, Workspace: make([]float32, c.Workspace())}
	call.In = work.Planar(x, s.Channels, s.Height, s.Width)
	if !planar {
		call.In = work.Blocked(toBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	}
	call.Residual = work.Blocked(toBlocked(residual, s.Batch, s.Filters, oh*ow, 0), s.Filters, oh, ow)
	out := make([]float32, len(call.Residual.Data))
	call.Out = work.Blocked(out, s.Filters, oh, ow)
	var after int
	if workers == 1 {
		call.After = func(_, _, n int) { after += n }
	}
	c.Run(serial, &call)
	if workers == 1 && after != len(out) {
		t.Errorf("After saw %d of %d elements", after, len(out))
	}
	for i := range want {
		f, n, p := i/(oh*ow)%s.Filters, i/(oh*ow)/s.Filters, i%(oh*ow)
		got := out[n*call.Out.Image+f/work.Lanes*call.Out.Plane+p*work.Lanes+f%work.Lanes]
		v := min(max(want[i]+float64(residual[i]), -40), 60)
		if d := math.Abs(float64(got) - v); !(d <= 1e-6*(1+scale[i])) {
			t.Fatalf("image %d channel %d pixel %d = %g, want %g", n, f, p, got, v)
		}
	}
}
