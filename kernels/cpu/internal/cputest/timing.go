package cputest

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TimeInt8 reports the best time of f, its rate and its share of the VNNI peak: as many VPDPBUSD a cycle as
// fused multiply-adds, four times the operations each.
func TimeInt8(b *testing.B, ops, workers int, f func()) {
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

// Workers returns the loop of a pool of workers, and the function that ends them.
func Workers(workers int) (work.Parallel, func()) {
	p := work.NewPool(workers)
	return p.Run, p.Close
}

// Time runs f and reports its best time, which other load on the machine disturbs least, its rate of flops
// and the share of what the workers could do at most.
func Time(b *testing.B, flops, workers int, f func()) {
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
