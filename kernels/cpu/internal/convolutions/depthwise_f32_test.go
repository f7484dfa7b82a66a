package convolutions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
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
	call := CallF32{Limits: [2]float32{-4, 6}, Workspace: make([]float32, d.Workspace())}
	call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	call.Residual = work.Blocked(cputest.ToBlocked(residual, s.Batch, s.Channels, oh*ow, 0), s.Channels, oh, ow)
	call.Out = work.Blocked(make([]float32, len(call.Residual.Data)), s.Channels, oh, ow)
	d.Run(cputest.Serial, &call)
	cputest.CheckBlocked(t, s, call.Out, want, func(i int) (float64, float64) {
		return min(max(want[i]+float64(residual[i]), -4), 6), scale[i]
	})
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
				call := CallF32{Limits: [2]float32{0, 6}, Workspace: work.AlignedFloats(d.Workspace())}
				call.In = work.Blocked(work.AlignedFloats(s.Channels*s.Height*s.Width), s.Channels, s.Height, s.Width)
				call.Out = work.Blocked(work.AlignedFloats(s.Channels*s.OutHeight()*s.OutWidth()), s.Channels, s.OutHeight(), s.OutWidth())
				parallel, stop := cputest.Workers(workers)
				defer stop()
				cputest.Time(b, 2*s.Channels*s.OutHeight()*s.OutWidth()*s.KernelH*s.KernelW, workers, func() { d.Run(parallel, &call) })
			})
		}
	}
}
