package products

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// coldBytes is what the copies of a matrix fill together, so that each is out of the caches when its turn comes again.
const coldBytes = 160 << 20

// coldShapes are rows, columns and depth of products in transformers.
var coldShapes = [][3]int{{128, 768, 768}, {128, 2304, 768}, {128, 3072, 768}, {128, 768, 3072}, {128, 50257, 768}, {64, 768, 3072},
	{256, 3072, 768}, {512, 768, 3072}, {512, 3072, 768}, {1, 768, 768}, {1, 3072, 768}, {1, 768, 3072}, {1, 50257, 768}, {4, 3072, 768}, {8, 3072, 768},
	{16, 3072, 768}, {16, 768, 3072}, {32, 3072, 768}}

// BenchmarkGemmCold is products whose matrices come from memory, as those of a network do.
func BenchmarkGemmCold(b *testing.B) {
	for _, s := range coldShapes {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%dx%d/w%d", s[0], s[1], s[2], workers), func(b *testing.B) {
				m, n, k := s[0], s[1], s[2]
				r := rand.New(rand.NewPCG(1, 1))
				src := cputest.Normals(r, k*n)
				var packed []*PackedB
				for range max(1, coldBytes/(4*k*n)) {
					p, err := NewPackedB(k, n, asm.HostFeatures())
					if err != nil {
						b.Fatal(err)
					}
					p.Pack(src, n, false)
					packed = append(packed, p)
				}
				call := GemmF32Call{M: m, A: cputest.Normals(r, m*k), AStride: k, Out: work.AlignedFloats(m * n), OutStride: n,
					Limits: programs.NoLimits(), Workers: workers, Room: work.AlignedFloats(RoomF32(m, n, k, k))}
				parallel, stop := cputest.Workers(workers)
				defer stop()
				turn := 0
				coldTime(b, 2*m*n*k, 4*n*k, 1, workers, func() {
					call.B = packed[turn%len(packed)]
					turn++
					Gemm(parallel, &call)
				})
			})
		}
	}
}

// coldTime runs f, and between its runs the loop that tells the peak, and reports the best and the median.
func coldTime(b *testing.B, flops, bytes int, perFMA float64, workers int, f func()) {
	f()
	var times []time.Duration
	peak, last := asm.FMAPeak(), time.Now()
	for b.Loop() {
		start := time.Now()
		f()
		times = append(times, time.Since(start))
		if time.Since(last) > 100*time.Millisecond {
			b.StopTimer()
			peak, last = max(peak, asm.FMAPeak()), time.Now()
			b.StartTimer()
		}
	}
	slices.Sort(times)
	best, median := times[0], times[len(times)/2]
	share := func(d time.Duration) float64 {
		return 100 * float64(flops) / float64(d.Nanoseconds()) / (perFMA * peak * float64(workers))
	}
	b.ReportMetric(float64(best.Nanoseconds())/1e3, "best-us")
	b.ReportMetric(share(best), "%best")
	b.ReportMetric(share(median), "%median")
	b.ReportMetric(float64(bytes)/float64(best.Nanoseconds()), "GB/s")
	b.ReportMetric(float64(bytes)/float64(median.Nanoseconds()), "GB/s-median")
	b.ReportMetric(0, "ns/op")
}
