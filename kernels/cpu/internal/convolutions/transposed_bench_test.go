package convolutions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// transposedLayers are those of decoders.
var transposedLayers = []TransposedShape{
	deconv(64, 64, 64, 32, 2, 2, 0, 0),
	deconv(256, 32, 32, 128, 4, 2, 1, 0),
	deconv(128, 56, 56, 64, 3, 2, 1, 1),
	deconv(64, 64, 64, 3, 4, 2, 1, 0),
	deconv(64, 32, 32, 32, 5, 1, 2, 0),
	deconv(256, 7, 7, 128, 5, 1, 2, 0),
	deconv(512, 4, 4, 256, 4, 2, 1, 0),
	deconv(1024, 16, 16, 512, 2, 2, 0, 0),
}

func BenchmarkTransposedF32(b *testing.B) {
	for _, s := range transposedLayers {
		for _, workers := range []int{1, 2} {
			r := rand.New(rand.NewPCG(1, 1))
			w := cputest.Normals(r, s.Filters*s.Channels*s.KernelH*s.KernelW)
			flops := 2 * s.Height * s.Width * s.Channels * s.Filters * s.KernelH * s.KernelW
			run := func(name string, c transposedComputation, err error) {
				b.Run(fmt.Sprintf("%v/%s/w%d", s, name, workers), func(b *testing.B) {
					if err != nil {
						b.Skip(err)
					}
					call := CallF32{Limits: programs.NoLimits(), Workspace: work.AlignedFloats(c.Workspace())}
					in, out := work.AlignedFloats(work.BlocksOf(s.Channels)*work.Lanes*s.Height*s.Width), work.AlignedFloats(work.BlocksOf(s.Filters)*work.Lanes*s.OutHeight*s.OutWidth)
					call.In, call.Out = work.Blocked(in, s.Channels, s.Height, s.Width), work.Blocked(out, s.Filters, s.OutHeight, s.OutWidth)
					if name == "columns" {
						call.Out = work.Planar(out, s.Filters, s.OutHeight, s.OutWidth)
					}
					parallel, stop := cputest.Workers(workers)
					defer stop()
					cputest.Time(b, flops, workers, func() { c.Run(parallel, &call) })
				})
			}
			subpixel, err := NewTransposedF32(s, windows.Depth{}, w, nil, asm.HostFeatures(), workers)
			run("subpixel", subpixel, err)
			columns, err := NewTransposedColumnsF32(s, w, nil, false, asm.HostFeatures(), workers)
			run("columns", columns, err)
		}
	}
}

func BenchmarkTransposedInt8(b *testing.B) {
	for _, s := range transposedLayers {
		b.Run(s.String(), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			w := make([]int16, s.Filters*s.Channels*s.KernelH*s.KernelW)
			for i := range w {
				w[i] = int16(r.IntN(255) - 127)
			}
			c, err := NewTransposedInt8(s, w, make([]float32, s.Filters), nil, ConfigInt8{InZero: 128, Features: asm.HostFeatures(), Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			in, out := make([]byte, work.BlocksOf(s.Channels)*work.Lanes*s.Height*s.Width), make([]byte, work.BlocksOf(s.Filters)*work.Lanes*s.OutHeight*s.OutWidth)
			call := quantised.Call{In: work.BlockedBytes(in, s.Channels, s.Height, s.Width), Workspace: make([]byte, c.Workspace())}
			call.Epilogue = quantised.Epilogue{Inner: programs.NoLimits(), Outer: programs.NoLimits(), OutScale: 1, Out: work.BlockedBytes(out, s.Filters, s.OutHeight, s.OutWidth)}
			flops := 2 * s.Height * s.Width * s.Channels * s.Filters * s.KernelH * s.KernelW
			cputest.Time(b, flops, 1, func() { c.Run(cputest.Serial, &call) })
		})
	}
}
