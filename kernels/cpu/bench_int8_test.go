package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/quantised"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// timedInt8 reports the best time of f, its rate and its share of the VNNI peak: as many VPDPBUSD a cycle as
// fused multiply-adds, four times the operations each.
func timedInt8(b *testing.B, ops, workers int, f func()) {
	f()
	best := time.Duration(math.MaxInt64)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	rate := float64(ops) / float64(best.Nanoseconds())
	b.ReportMetric(float64(best.Nanoseconds())/1e3, "best-us")
	b.ReportMetric(rate, "GOP/s")
	if peak := fmaPeak(); peak > 0 {
		b.ReportMetric(100*rate/(4*peak*float64(workers)), "%peak")
	}
}

func BenchmarkConvInt8(b *testing.B) {
	for _, l := range convLayers {
		s := l.shape
		for _, workers := range []int{1, 2} {
			name := fmt.Sprintf("%d_%dx%d_%d_%dx%d_s%d/w%d", s.Channels, s.Height, s.Width, s.Filters, s.KernelH, s.KernelW, s.StrideH, workers)
			b.Run(name, func(b *testing.B) { benchConvInt8(b, s, workers) })
		}
	}
}

func benchConvInt8(b *testing.B, s ConvShape, workers int) {
	c := newInt8Case(rand.New(rand.NewPCG(1, 1)), s, 127)
	stem := s.Channels <= 4
	conv, err := NewConvInt8(s, c.weights, c.scale, c.bias,
		ConvInt8Config{InZero: c.zero, Stem: stem, Features: asm.HostFeatures(), Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	oh, ow := s.OutHeight(), s.OutWidth()
	call := quantised.Call{Epilogue: c.epilogue, Workspace: make([]byte, conv.Workspace()), InScale: 0.02}
	call.Epilogue.ClampInner = false
	if stem {
		call.Float = work.Planar(make([]float32, s.Channels*s.Height*s.Width), s.Channels, s.Height, s.Width)
	} else {
		call.In = work.BlockedBytes(blockedBytes(c.x, s.Batch, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	}
	call.Epilogue.Out = work.BlockedBytes(make([]byte, work.BlocksOf(s.Filters)*oh*ow*work.Lanes), s.Filters, oh, ow)
	parallel, stop := benchParallel(workers)
	defer stop()
	timedInt8(b, 2*oh*ow*s.Filters*s.Channels*s.KernelH*s.KernelW, workers, func() { conv.Run(parallel, &call) })
}
