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

func BenchmarkConvInt8(b *testing.B) {
	for _, l := range convLayers {
		s := l.shape
		for _, workers := range []int{1, 2} {
			name := fmt.Sprintf("%d_%dx%d_%d_%dx%d_s%d/w%d", s.Channels, s.Height, s.Width, s.Filters, s.KernelH, s.KernelW, s.StrideH, workers)
			b.Run(name, func(b *testing.B) { benchConvInt8(b, s, workers) })
		}
	}
}

func benchConvInt8(b *testing.B, s windows.Shape, workers int) {
	c := cputest.NewInt8Case(rand.New(rand.NewPCG(1, 1)), s, 127)
	stem := s.Channels <= 4
	conv, err := NewDirectInt8(s, c.Weights, c.Scale, c.Bias,
		ConfigInt8{InZero: c.Zero, Stem: stem, Features: asm.HostFeatures(), Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	oh, ow := s.OutHeight(), s.OutWidth()
	call := quantised.Call{Epilogue: c.Epilogue, Workspace: make([]byte, conv.Workspace()), InScale: 0.02}
	call.Epilogue.ClampInner = false
	if stem {
		call.Float = work.Planar(make([]float32, s.Channels*s.Height*s.Width), s.Channels, s.Height, s.Width)
	} else {
		call.In = work.BlockedBytes(cputest.BlockedBytes(c.X, s.Batch, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	}
	call.Epilogue.Out = work.BlockedBytes(make([]byte, work.BlocksOf(s.Filters)*oh*ow*work.Lanes), s.Filters, oh, ow)
	parallel, stop := cputest.Workers(workers)
	defer stop()
	cputest.TimeInt8(b, 2*oh*ow*s.Filters*s.Channels*s.KernelH*s.KernelW, workers, func() { conv.Run(parallel, &call) })
}
