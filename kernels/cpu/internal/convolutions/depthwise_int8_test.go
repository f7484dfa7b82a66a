package convolutions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func TestDepthwiseInt8(t *testing.T) {
	for _, s := range cputest.WindowShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, limit := range []int{127, 255} {
				t.Run(fmt.Sprintf("%s/limit%d", cputest.WindowName(s, features), limit), func(t *testing.T) {
					c := cputest.NewInt8Case(rand.New(rand.NewPCG(5, 6)), s, limit)
					d, err := NewDepthwiseInt8(s, c.Weights, c.Scale, c.Bias, ConfigInt8{InZero: c.Zero, Features: features, Workers: 2})
					if err != nil {
						t.Fatal(err)
					}
					c.Check(t, d, false)
				})
			}
		}
	}
}

func BenchmarkDepthwiseInt8(b *testing.B) {
	for _, s := range []windows.Shape{cputest.Depthwise(32, 112, 112, 3, 1, 1), cputest.Depthwise(96, 112, 112, 3, 2, 1), cputest.Depthwise(144, 56, 56, 3, 1, 1),
		cputest.Depthwise(192, 28, 28, 3, 1, 1), cputest.Depthwise(384, 14, 14, 3, 1, 1), cputest.Depthwise(960, 7, 7, 3, 1, 1), cputest.Depthwise(240, 14, 14, 5, 1, 2), cputest.Depthwise(64, 16, 16, 3, 1, 1)} {
		b.Run(fmt.Sprintf("%d_%dx%d_%dx%d_s%d", s.Channels, s.Height, s.Width, s.KernelH, s.KernelW, s.StrideH), func(b *testing.B) {
			c := cputest.NewInt8Case(rand.New(rand.NewPCG(1, 1)), s, 127)
			d, err := NewDepthwiseInt8(s, c.Weights, c.Scale, c.Bias, ConfigInt8{InZero: c.Zero, Features: asm.HostFeatures(), Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			oh, ow := s.OutHeight(), s.OutWidth()
			call := quantised.Call{Epilogue: c.Epilogue, Workspace: make([]byte, d.Workspace())}
			call.Epilogue.ClampInner = false
			call.In = work.BlockedBytes(cputest.BlockedBytes(c.X, s.Batch, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
			call.Epilogue.Out = work.BlockedBytes(make([]byte, work.BlocksOf(s.Filters)*oh*ow*work.Lanes), s.Filters, oh, ow)
			cputest.TimeInt8(b, 2*oh*ow*s.Filters*s.KernelH*s.KernelW, 1, func() { d.Run(cputest.Serial, &call) })
		})
	}
}
