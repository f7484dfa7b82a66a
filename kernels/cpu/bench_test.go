package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// benchParallel returns the loop of a pool of workers, and the function that ends them.
func benchParallel(workers int) (work.Parallel, func()) {
	p := work.NewPool(workers)
	return p.Run, p.Close
}

// timed runs f and reports its best time, which other load on the machine disturbs least, its rate of flops
// and the share of what the workers could do at most.
func timed(b *testing.B, flops, workers int, f func()) {
	f()
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	rate := float64(flops) / float64(best.Nanoseconds())
	b.ReportMetric(float64(best.Nanoseconds())/1e3, "best-us")
	b.ReportMetric(rate, "GFLOP/s")
	if peak := fmaPeak(); peak > 0 {
		b.ReportMetric(100*rate/(peak*float64(workers)), "%peak")
	}
}

// fmaPeak is measured once.
var fmaPeak = sync.OnceValue(asm.FMAPeak)

// convLayers are those of resnet50, mobilenet_v2 and small CNNs on 32x32 images.
var convLayers = []struct {
	shape  ConvShape
	planar bool
}{
	{conv(3, 224, 224, 64, 7, 2, 3), true},
	{conv(64, 56, 56, 64, 3, 1, 1), false},
	{conv(128, 28, 28, 128, 3, 1, 1), false},
	{conv(256, 14, 14, 256, 3, 1, 1), false},
	{conv(512, 7, 7, 512, 3, 1, 1), false},
	{conv(128, 56, 56, 128, 3, 2, 1), false},
	{conv(512, 14, 14, 512, 3, 2, 1), false},
	{conv(64, 56, 56, 256, 1, 1, 0), false},
	{conv(256, 56, 56, 64, 1, 1, 0), false},
	{conv(256, 56, 56, 512, 1, 2, 0), false},
	{conv(512, 28, 28, 128, 1, 1, 0), false},
	{conv(1024, 14, 14, 256, 1, 1, 0), false},
	{conv(256, 14, 14, 1024, 1, 1, 0), false},
	{conv(2048, 7, 7, 512, 1, 1, 0), false},
	{conv(512, 7, 7, 2048, 1, 1, 0), false},
	{conv(3, 224, 224, 32, 3, 2, 1), true},
	{conv(32, 112, 112, 16, 1, 1, 0), false},
	{conv(16, 112, 112, 96, 1, 1, 0), false},
	{conv(24, 56, 56, 144, 1, 1, 0), false},
	{conv(144, 28, 28, 32, 1, 1, 0), false},
	{conv(64, 14, 14, 384, 1, 1, 0), false},
	{conv(160, 7, 7, 960, 1, 1, 0), false},
	{conv(320, 7, 7, 1280, 1, 1, 0), false},
	{conv(3, 32, 32, 16, 3, 1, 1), true},
	{conv(16, 32, 32, 16, 3, 1, 1), false},
	{conv(32, 16, 16, 32, 3, 1, 1), false},
	{conv(64, 8, 8, 64, 3, 1, 1), false},
	{conv(128, 4, 4, 128, 3, 1, 1), false},
	{conv(64, 32, 32, 64, 3, 1, 1), false},
	{conv(128, 32, 32, 128, 3, 1, 1), false},
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

func benchConv(b *testing.B, s ConvShape, planar bool, workers int) {
	r := rand.New(rand.NewPCG(1, 1))
	w := normals(r, s.Filters*s.Channels*s.KernelH*s.KernelW)
	c, err := NewConvF32(s, w, nil, ConvF32Config{Planar: planar, Features: asm.HostFeatures(), Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	channels := work.BlocksOf(s.Channels) * work.Lanes
	if planar {
		channels = s.Channels
	}
	x := normals(r, channels*s.Height*s.Width)
	call := ConvF32Call{In: work.Blocked(x, s.Channels, s.Height, s.Width), Limits: [2]float32{0, 6}, Workspace: work.AlignedFloats(c.Workspace())}
	if planar {
		call.In = work.Planar(x, s.Channels, s.Height, s.Width)
	}
	call.Out = work.Blocked(work.AlignedFloats(work.BlocksOf(s.Filters)*work.Lanes*s.OutHeight()*s.OutWidth()), s.Filters, s.OutHeight(), s.OutWidth())
	parallel, stop := benchParallel(workers)
	defer stop()
	flops := 2 * s.OutHeight() * s.OutWidth() * s.Filters * s.Channels * s.KernelH * s.KernelW
	timed(b, flops, workers, func() { c.Run(parallel, &call) })
}
