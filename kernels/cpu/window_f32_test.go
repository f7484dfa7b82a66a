package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

func depthwiseOf(channels, h, w, kernel, stride, pad int) ConvShape {
	s := conv(channels, h, w, channels, kernel, stride, pad)
	s.Groups = channels
	return s
}

// windowShapes are odd geometries of depthwise convolution and pooling.
func windowShapes() []ConvShape {
	batch := depthwiseOf(33, 6, 5, 3, 2, 1)
	batch.Batch = 3
	dilated := depthwiseOf(5, 15, 31, 3, 1, 2)
	dilated.DilationH, dilated.DilationW = 2, 3
	both := depthwiseOf(7, 17, 16, 3, 3, 2)
	both.DilationH, both.DilationW = 2, 2
	lopsided := depthwiseOf(16, 10, 9, 5, 2, 0)
	lopsided.KernelW, lopsided.PadTop, lopsided.PadRight, lopsided.StrideW = 1, 3, 2, 1
	return []ConvShape{
		depthwiseOf(1, 1, 1, 1, 1, 0), depthwiseOf(16, 7, 7, 3, 1, 1), depthwiseOf(40, 14, 14, 5, 1, 2),
		depthwiseOf(3, 112, 112, 3, 1, 1), depthwiseOf(17, 29, 30, 3, 2, 1), depthwiseOf(20, 56, 56, 5, 2, 2),
		depthwiseOf(2, 300, 200, 3, 1, 1), batch, dilated, both, lopsided,
	}
}

func windowName(s ConvShape, features asm.Features) string {
	return fmt.Sprintf("%dx%dx%dx%d_k%dx%d_s%d_d%d/%v", s.Batch, s.Channels, s.Height, s.Width, s.KernelH, s.KernelW, s.StrideH,
		s.DilationH, features)
}

func TestDepthwiseF32(t *testing.T) {
	for _, s := range windowShapes() {
		for _, features := range featureSets() {
			for _, workers := range workerCounts() {
				t.Run(windowName(s, features), func(t *testing.T) { testDepthwise(t, s, features, workers) })
			}
		}
	}
}

func testDepthwise(t *testing.T, s ConvShape, features asm.Features, workers int) {
	r := rand.New(rand.NewPCG(9, uint64(s.Channels)))
	x := normals(r, s.Batch*s.Channels*s.Height*s.Width)
	w, bias := normals(r, s.Channels*s.KernelH*s.KernelW), normals(r, s.Channels)
	want, scale := naiveConv(s, x, w, bias)
	d, err := NewDepthwiseF32(s, ConvDepth{}, w, bias, features, workers)
	if err != nil {
		t.Fatal(err)
	}
	oh, ow := s.OutHeight(), s.OutWidth()
	residual := normals(r, len(want))
	call := ConvF32Call{Limits: [2]float32{-4, 6}, Workspace: make([]float32, d.Workspace())}
	call.In = work.Blocked(toBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	call.Residual = work.Blocked(toBlocked(residual, s.Batch, s.Channels, oh*ow, 0), s.Channels, oh, ow)
	call.Out = work.Blocked(make([]float32, len(call.Residual.Data)), s.Channels, oh, ow)
	d.Run(serial, &call)
	checkBlocked(t, s, call.Out, want, func(i int) (float64, float64) {
		return min(max(want[i]+float64(residual[i]), -4), 6), scale[i]
	})
}

// checkBlocked compares an NCHWc16 result with the values and term magnitudes of NCHW elements.
func checkBlocked(t *testing.T, s ConvShape, out work.Tensor4, elements []float64, want func(i int) (value, scale float64)) {
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

func TestPoolF32(t *testing.T) {
	for _, s := range windowShapes() {
		for _, features := range featureSets() {
			for _, mode := range []PoolMode{MaxPool, AveragePool, AveragePoolIncludingPad} {
				for _, extra := range []int{0, 1} {
					t.Run(fmt.Sprintf("%s/%d/extra=%d", windowName(s, features), mode, extra), func(t *testing.T) {
						testPool(t, s, features, mode, extra)
					})
				}
			}
		}
	}
}

func testPool(t *testing.T, s ConvShape, features asm.Features, mode PoolMode, extra int) {
	p := PoolShape{Batch: s.Batch, Channels: s.Channels, Height: s.Height, Width: s.Width, KernelH: s.KernelH, KernelW: s.KernelW,
		StrideH: s.StrideH, StrideW: s.StrideW, DilationH: s.DilationH, DilationW: s.DilationW, PadTop: s.PadTop, PadLeft: s.PadLeft,
		PadBottom: s.PadBottom, PadRight: s.PadRight, ExtraBottom: extra, ExtraRight: extra}
	l, err := NewPoolF32(p, mode, features, 1+2*extra)
	if err != nil {
		t.Fatal(err)
	}
	x := normals(rand.New(rand.NewPCG(3, 3)), s.Batch*s.Channels*s.Height*s.Width)
	bottom, right := s.PadBottom, s.PadRight // of the padding that an average may count
	s.PadBottom, s.PadRight = s.PadBottom+extra, s.PadRight+extra
	oh, ow := s.OutHeight(), s.OutWidth()
	var want []float64
	for i := range s.Batch * s.Channels * oh * ow {
		plane := x[i/(oh*ow)*s.Height*s.Width:]
		most, sum, n := math.Inf(-1), 0.0, 0
		for k := range s.KernelH * s.KernelW {
			y := i%(oh*ow)/ow*s.StrideH + k/s.KernelW*s.DilationH - s.PadTop
			z := i%ow*s.StrideW + k%s.KernelW*s.DilationW - s.PadLeft
			if y >= 0 && y < s.Height && z >= 0 && z < s.Width {
				v := float64(plane[y*s.Width+z])
				most, sum, n = max(most, v), sum+v, n+1
			} else if mode == AveragePoolIncludingPad && y < s.Height+bottom && z < s.Width+right {
				n++
			}
		}
		if mode != MaxPool {
			most = sum / float64(max(1, n))
		}
		want = append(want, most)
	}
	call := PoolF32Call{Workspace: make([]float32, l.Workspace())}
	call.In = work.Blocked(toBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	call.Out = work.Blocked(make([]float32, s.Batch*work.BlocksOf(s.Channels)*oh*ow*work.Lanes), s.Channels, oh, ow)
	l.Run(serial, &call)
	checkBlocked(t, s, call.Out, want, func(i int) (float64, float64) { return want[i], 1 })
}

func TestGlobalAverageF32(t *testing.T) {
	const batch, channels, pixels = 2, 37, 49
	x := normals(rand.New(rand.NewPCG(3, 3)), batch*channels*pixels)
	for _, features := range featureSets() {
		g := NewGlobalAverageF32(batch, channels, pixels, features)
		out := work.Blocked(make([]float32, batch*work.BlocksOf(channels)*work.Lanes), channels, 1, 1)
		for u := range g.Units() {
			g.Run(out, work.Blocked(toBlocked(x, batch, channels, pixels, 7), channels, 1, pixels), u)
		}
		for i := range batch * channels {
			want := 0.0
			for _, v := range x[i*pixels : (i+1)*pixels] {
				want += float64(v) / pixels
			}
			got := float64(out.Data[i/channels*out.Image+i%channels/work.Lanes*work.Lanes+i%channels%work.Lanes])
			if math.Abs(got-want) > 1e-6 {
				t.Fatalf("%v: image %d channel %d = %g, want %g", features, i/channels, i%channels, got, want)
			}
		}
	}
}

func BenchmarkDepthwiseF32(b *testing.B) {
	for _, s := range []ConvShape{depthwiseOf(32, 112, 112, 3, 1, 1), depthwiseOf(96, 112, 112, 3, 2, 1), depthwiseOf(144, 56, 56, 3, 1, 1),
		depthwiseOf(192, 28, 28, 3, 1, 1), depthwiseOf(384, 14, 14, 3, 1, 1), depthwiseOf(576, 14, 14, 3, 2, 1), depthwiseOf(960, 7, 7, 3, 1, 1),
		depthwiseOf(64, 16, 16, 3, 1, 1), depthwiseOf(240, 14, 14, 5, 1, 2)} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d_%dx%d_%dx%d_s%d/w%d", s.Channels, s.Height, s.Width, s.KernelH, s.KernelW, s.StrideH, workers), func(b *testing.B) {
				d, err := NewDepthwiseF32(s, ConvDepth{}, make([]float32, s.Channels*s.KernelH*s.KernelW), nil, asm.HostFeatures(), workers)
				if err != nil {
					b.Fatal(err)
				}
				call := ConvF32Call{Limits: [2]float32{0, 6}, Workspace: work.AlignedFloats(d.Workspace())}
				call.In = work.Blocked(work.AlignedFloats(s.Channels*s.Height*s.Width), s.Channels, s.Height, s.Width)
				call.Out = work.Blocked(work.AlignedFloats(s.Channels*s.OutHeight()*s.OutWidth()), s.Channels, s.OutHeight(), s.OutWidth())
				parallel, stop := benchParallel(workers)
				defer stop()
				timed(b, 2*s.Channels*s.OutHeight()*s.OutWidth()*s.KernelH*s.KernelW, workers, func() { d.Run(parallel, &call) })
			})
		}
	}
}
