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

// convLayers are those of resnet50, mobilenet_v2 and small CNNs on 32x32 images.
var convLayers = []struct {
	shape  windows.Shape
	planar bool
}{
	{cputest.Square(3, 224, 224, 64, 7, 2, 3), true},
	{cputest.Square(64, 56, 56, 64, 3, 1, 1), false},
	{cputest.Square(128, 28, 28, 128, 3, 1, 1), false},
	{cputest.Square(256, 14, 14, 256, 3, 1, 1), false},
	{cputest.Square(512, 7, 7, 512, 3, 1, 1), false},
	{cputest.Square(128, 56, 56, 128, 3, 2, 1), false},
	{cputest.Square(512, 14, 14, 512, 3, 2, 1), false},
	{cputest.Square(64, 56, 56, 256, 1, 1, 0), false},
	{cputest.Square(256, 56, 56, 64, 1, 1, 0), false},
	{cputest.Square(256, 56, 56, 512, 1, 2, 0), false},
	{cputest.Square(512, 28, 28, 128, 1, 1, 0), false},
	{cputest.Square(1024, 14, 14, 256, 1, 1, 0), false},
	{cputest.Square(256, 14, 14, 1024, 1, 1, 0), false},
	{cputest.Square(2048, 7, 7, 512, 1, 1, 0), false},
	{cputest.Square(512, 7, 7, 2048, 1, 1, 0), false},
	{cputest.Square(3, 224, 224, 32, 3, 2, 1), true},
	{cputest.Square(32, 112, 112, 16, 1, 1, 0), false},
	{cputest.Square(16, 112, 112, 96, 1, 1, 0), false},
	{cputest.Square(24, 56, 56, 144, 1, 1, 0), false},
	{cputest.Square(144, 28, 28, 32, 1, 1, 0), false},
	{cputest.Square(64, 14, 14, 384, 1, 1, 0), false},
	{cputest.Square(160, 7, 7, 960, 1, 1, 0), false},
	{cputest.Square(320, 7, 7, 1280, 1, 1, 0), false},
	{cputest.Square(3, 32, 32, 16, 3, 1, 1), true},
	{cputest.Square(16, 32, 32, 16, 3, 1, 1), false},
	{cputest.Square(32, 16, 16, 32, 3, 1, 1), false},
	{cputest.Square(64, 8, 8, 64, 3, 1, 1), false},
	{cputest.Square(128, 4, 4, 128, 3, 1, 1), false},
	{cputest.Square(64, 32, 32, 64, 3, 1, 1), false},
	{cputest.Square(128, 32, 32, 128, 3, 1, 1), false},
}

func BenchmarkConvF32(b *testing.B) {
	for _, l := range convLayers {
		s := l.shape
		for _, workers := range []int{1, 2} {
			name := fmt.Sprintf("%d_%dx%d_%d_%dx%d_s%d/w%d", s.Channels, s.Height, s.Width, s.Filters, s.KernelH, s.KernelW, s.StrideH, workers)
			b.Run(name, func(b *testing.B) {
				benchConv(b, s, l.planar, workers)
			})
		}
	}
}

func benchConv(b *testing.B, s windows.Shape, planar bool, workers int) {
	r := rand.New(rand.NewPCG(1, 1))
	w := cputest.Normals(r, s.Filters*s.Channels*s.KernelH*s.KernelW)
	c, err := NewDirectF32(s, w, nil, ConfigF32{Planar: planar, Features: asm.HostFeatures(), Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	channels := work.BlocksOf(s.Channels) * work.Lanes
	if planar {
		channels = s.Channels
	}
	x := cputest.Normals(r, channels*s.Height*s.Width)
	call := CallF32{In: work.Blocked(x, s.Channels, s.Height, s.Width), Limits: [2]float32{0, 6}, Workspace: work.AlignedFloats(c.Workspace())}
	if planar {
		call.In = work.Planar(x, s.Channels, s.Height, s.Width)
	}
	call.Out = work.Blocked(work.AlignedFloats(work.BlocksOf(s.Filters)*work.Lanes*s.OutHeight()*s.OutWidth()), s.Filters, s.OutHeight(), s.OutWidth())
	parallel, stop := cputest.Workers(workers)
	defer stop()
	flops := 2 * s.OutHeight() * s.OutWidth() * s.Filters * s.Channels * s.KernelH * s.KernelW
	cputest.Time(b, flops, workers, func() { c.Run(parallel, &call) })
}
