package poolings

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func BenchmarkMaxPoolF32(b *testing.B) {
	for _, features := range []asm.Features{asm.HostFeatures(), asm.AVX2} {
		for _, s := range []PoolShape{
			{Batch: 1, Channels: 64, Height: 112, Width: 112, KernelH: 3, KernelW: 3, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, PadTop: 1, PadLeft: 1, PadBottom: 1, PadRight: 1},
			{Batch: 1, Channels: 64, Height: 32, Width: 32, KernelH: 2, KernelW: 2, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1},
			{Batch: 1, Channels: 256, Height: 14, Width: 14, KernelH: 3, KernelW: 3, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1, PadTop: 1, PadLeft: 1, PadBottom: 1, PadRight: 1},
		} {
			b.Run(fmt.Sprintf("%v/%dx%d_k%d_s%d", features, s.Channels, s.Height, s.KernelH, s.StrideH), func(b *testing.B) {
				l, err := NewPoolF32(s, MaxPool, features, 1)
				if err != nil {
					b.Fatal(err)
				}
				oh, ow := (s.Height+2*s.PadTop-s.KernelH)/s.StrideH+1, (s.Width+2*s.PadLeft-s.KernelW)/s.StrideW+1
				call := PoolF32Call{In: work.Blocked(work.AlignedFloats(s.Channels*s.Height*s.Width), s.Channels, s.Height, s.Width),
					Out: work.Blocked(work.AlignedFloats(s.Channels*oh*ow), s.Channels, oh, ow), Workspace: work.AlignedFloats(l.Workspace())}
				cputest.Time(b, s.Channels*oh*ow*s.KernelH*s.KernelW, 1, func() { l.Run(cputest.Serial, &call) })
			})
		}
	}
}
