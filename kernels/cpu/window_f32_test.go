package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/cputest"
	"github.com/trtui/trtui/kernels/cpu/poolings"
	"github.com/trtui/trtui/kernels/cpu/windows"
	"github.com/trtui/trtui/kernels/cpu/work"
)

func TestDepthwiseF32(t *testing.T) {
	for _, s := range cputest.WindowShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, workers := range cputest.WorkerCounts() {
				t.Run(cputest.WindowName(s, features), func(t *testing.T) { testDepthwise(t, s, features, workers) })
			}
		}
	}
}

func testDepthwise(t *testing.T, s windows.Shape, features asm.Features, workers int) {
	r := rand.New(rand.NewPCG(9, uint64(s.Channels)))
	x := cputest.Normals(r, s.Batch*s.Channels*s.Height*s.Width)
	w, bias := cputest.Normals(r, s.Channels*s.KernelH*s.KernelW), cputest.Normals(r, s.Channels)
	want, scale := cputest.Conv(s, x, w, bias)
	d, err := NewDepthwiseF32(s, windows.Depth{}, w, bias, features, workers)
	if err != nil {
		t.Fatal(err)
	}
	oh, ow := s.OutHeight(), s.OutWidth()
	residual := cputest.Normals(r, len(want))
	call := ConvF32Call{Limits: [2]float32{-4, 6}, Workspace: make([]float32, d.Workspace())}
	call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	call.Residual = work.Blocked(cputest.ToBlocked(residual, s.Batch, s.Channels, oh*ow, 0), s.Channels, oh, ow)
	call.Out = work.Blocked(make([]float32, len(call.Residual.Data)), s.Channels, oh, ow)
	d.Run(cputest.Serial, &call)
	cputest.CheckBlocked(t, s, call.Out, want, func(i int) (float64, float64) {
		return min(max(want[i]+float64(residual[i]), -4), 6), scale[i]
	})
}

func TestPoolF32(t *testing.T) {
	for _, s := range cputest.WindowShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, mode := range []poolings.PoolMode{poolings.MaxPool, poolings.AveragePool, poolings.AveragePoolIncludingPad} {
				for _, extra := range []int{0, 1} {
					t.Run(fmt.Sprintf("%s/%d/extra=%d", cputest.WindowName(s, features), mode, extra), func(t *testing.T) {
						testPool(t, s, features, mode, extra)
					})
				}
			}
		}
	}
}

func testPool(t *testing.T, s windows.Shape, features asm.Features, mode poolings.PoolMode, extra int) {
	p := poolings.PoolShape{Batch: s.Batch, Channels: s.Channels, Height: s.Height, Width: s.Width, KernelH: s.KernelH, KernelW: s.KernelW,
		StrideH: s.StrideH, StrideW: s.StrideW, DilationH: s.DilationH, DilationW: s.DilationW, PadTop: s.PadTop, PadLeft: s.PadLeft,
		PadBottom: s.PadBottom, PadRight: s.PadRight, ExtraBottom: extra, ExtraRight: extra}
	l, err := poolings.NewPoolF32(p, mode, features, 1+2*extra)
	if err != nil {
		t.Fatal(err)
	}
	x := cputest.Normals(rand.New(rand.NewPCG(3, 3)), s.Batch*s.Channels*s.Height*s.Width)
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
			} else if mode == poolings.AveragePoolIncludingPad && y < s.Height+bottom && z < s.Width+right {
				n++
			}
		}
		if mode != poolings.MaxPool {
			most = sum / float64(max(1, n))
		}
		want = append(want, most)
	}
	call := poolings.PoolF32Call{Workspace: make([]float32, l.Workspace())}
	call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	call.Out = work.Blocked(make([]float32, s.Batch*work.BlocksOf(s.Channels)*oh*ow*work.Lanes), s.Channels, oh, ow)
	l.Run(cputest.Serial, &call)
	cputest.CheckBlocked(t, s, call.Out, want, func(i int) (float64, float64) { return want[i], 1 })
}

func TestGlobalAverageF32(t *testing.T) {
	const batch, channels, pixels = 2, 37, 49
	x := cputest.Normals(rand.New(rand.NewPCG(3, 3)), batch*channels*pixels)
	for _, features := range cputest.FeatureSets() {
		g := poolings.NewGlobalAverageF32(batch, channels, pixels, features)
		out := work.Blocked(make([]float32, batch*work.BlocksOf(channels)*work.Lanes), channels, 1, 1)
		for u := range g.Units() {
			g.Run(out, work.Blocked(cputest.ToBlocked(x, batch, channels, pixels, 7), channels, 1, pixels), u)
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
	for _, s := range []windows.Shape{cputest.Depthwise(32, 112, 112, 3, 1, 1), cputest.Depthwise(96, 112, 112, 3, 2, 1), cputest.Depthwise(144, 56, 56, 3, 1, 1),
		cputest.Depthwise(192, 28, 28, 3, 1, 1), cputest.Depthwise(384, 14, 14, 3, 1, 1), cputest.Depthwise(576, 14, 14, 3, 2, 1), cputest.Depthwise(960, 7, 7, 3, 1, 1),
		cputest.Depthwise(64, 16, 16, 3, 1, 1), cputest.Depthwise(240, 14, 14, 5, 1, 2)} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d_%dx%d_%dx%d_s%d/w%d", s.Channels, s.Height, s.Width, s.KernelH, s.KernelW, s.StrideH, workers), func(b *testing.B) {
				d, err := NewDepthwiseF32(s, windows.Depth{}, make([]float32, s.Channels*s.KernelH*s.KernelW), nil, asm.HostFeatures(), workers)
				if err != nil {
					b.Fatal(err)
				}
				call := ConvF32Call{Limits: [2]float32{0, 6}, Workspace: work.AlignedFloats(d.Workspace())}
				call.In = work.Blocked(work.AlignedFloats(s.Channels*s.Height*s.Width), s.Channels, s.Height, s.Width)
				call.Out = work.Blocked(work.AlignedFloats(s.Channels*s.OutHeight()*s.OutWidth()), s.Channels, s.OutHeight(), s.OutWidth())
				parallel, stop := cputest.Workers(workers)
				defer stop()
				cputest.Time(b, 2*s.Channels*s.OutHeight()*s.OutWidth()*s.KernelH*s.KernelW, workers, func() { d.Run(parallel, &call) })
			})
		}
	}
}
