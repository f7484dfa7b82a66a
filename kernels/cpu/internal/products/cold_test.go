package products

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

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

// BenchmarkGemmInt8Cold is products of bytes whose matrices come from memory.
func BenchmarkGemmInt8Cold(b *testing.B) {
	for _, size := range coldShapes {
		m, n, k := size[0], size[1], size[2]
		if n > 1<<14 {
			continue
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%dx%d/w%d", m, n, k, workers), func(b *testing.B) {
				s := cputest.Square(k, 1, 1, n, 1, 1, 0)
				s.Batch = m
				c := cputest.NewInt8Case(rand.New(rand.NewPCG(3, 4)), s, 127)
				first, err := PackInt8(n, k, c.Weights, c.Scale, c.Bias, PackInt8Config{InZero: c.Zero, Features: asm.HostFeatures()})
				if err != nil {
					b.Fatal(err)
				}
				var all []*GemmInt8
				for range max(1, coldBytes/(k*n)) {
					packed := *first
					packed.weights = work.Aligned[int8](len(first.weights))
					copy(packed.weights, first.weights)
					g, err := NewGemmInt8(m, &packed, GemmInt8Config{Workers: workers})
					if err != nil {
						b.Fatal(err)
					}
					all = append(all, g)
				}
				call := GemmInt8Call{A: c.X, Epilogue: c.Epilogue, Workspace: make([]byte, all[0].Workspace())}
				call.Epilogue.ClampInner = false
				call.Epilogue.Out = work.Bytes4{Data: make([]byte, m*n), Image: n}
				parallel, stop := cputest.Workers(workers)
				defer stop()
				turn := 0
				coldTime(b, 2*m*n*k, n*k, 4, workers, func() {
					all[turn%len(all)].Run(parallel, &call)
					turn++
				})
			})
		}
	}
}

// decoded are columns and depth of the products of one token in GPT-2, but for its last, which comes once.
var decoded = [][2]int{{2304, 768}, {768, 768}, {3072, 768}, {768, 3072}}

// BenchmarkDecode is all products of some tokens, side by side, in a network of the size of GPT-2, with weights in float32 and in
// half precision.
func BenchmarkDecode(b *testing.B) {
	for _, half := range []bool{false, true} {
		layers, bytes := decoding(b, half)
		for _, m := range []int{1, 2, 4, 8, 16, 128} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%d/half=%v/w%d", m, half, workers), func(b *testing.B) {
					a, out, room := work.AlignedFloats(m*3072), work.AlignedFloats(m*50257), work.AlignedFloats(RoomF32(m, 768, 3072, 3072))
					parallel, stop := cputest.Workers(workers)
					defer stop()
					coldTime(b, 2*m*bytes/4*layers[0].packed, bytes, 1, workers, func() {
						for _, l := range layers {
							Gemm(parallel, &GemmF32Call{M: m, A: a, AStride: l.K, B: l, Out: out, OutStride: l.N, Limits: programs.NoLimits(),
								Workers: workers, Room: room[:RoomF32(m, l.N, l.K, l.K)]})
						}
					})
				})
			}
		}
	}
}

// BenchmarkDecodeBits is those products with weights of 8 and 4 bits in blocks of 32, and in 8 bits by columns.
func BenchmarkDecodeBits(b *testing.B) {
	for _, c := range []struct{ bits, block int }{{8, 1 << 20}, {8, 32}, {4, 32}, {4, 128}} {
		var layers []*PackedWeights
		bytes, cells := 0, 0
		for i := range 12*len(decoded) + 1 {
			n, k := decoded[i%len(decoded)][0], decoded[i%len(decoded)][1]
			if i == 12*len(decoded) {
				n, k = 50257, 768
			}
			block := min(c.block, k)
			w, err := NewPackedWeights(Integers{K: k, N: n, Bits: c.bits, Group: block, Q: func(k, n int) int { return (k + n) % 13 },
				Scale: func(int, int) float32 { return .125 }, Zero: func(int, int) int32 { return 1 << (c.bits - 1) }}, asm.HostFeatures())
			if err != nil {
				b.Fatal(err)
			}
			layers, cells, bytes = append(layers, w), cells+k*n, bytes+k*n*c.bits/8+4*n*(k/block)
		}
		for _, m := range []int{1, 2, 4, 8, 16, 128} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%d/bits=%d/block=%d/w%d", m, c.bits, c.block, workers), func(b *testing.B) {
					a, out, room := work.AlignedFloats(m*3072), work.AlignedFloats(m*50257), work.AlignedFloats(RoomWeights(m, 768, 3072, 3072, workers))
					parallel, stop := cputest.Workers(workers)
					defer stop()
					coldTime(b, 2*m*cells, bytes, 1, workers, func() {
						for _, l := range layers {
							MultiplyWeights(parallel, &WeightsCall{M: m, A: a, AStride: l.K, B: l, Out: out, OutStride: l.N, Workers: workers, Room: room})
						}
					})
				})
			}
		}
	}
}

// decoding returns the matrices, and their bytes.
func decoding(b *testing.B, half bool) (layers []*PackedB, bytes int) {
	for i := range 12*len(decoded) + 1 {
		n, k := decoded[i%len(decoded)][0], decoded[i%len(decoded)][1]
		if i == 12*len(decoded) {
			n, k = 50257, 768
		}
		p, err := newPackedB(k, n, asm.HostFeatures(), half)
		if err != nil {
			b.Fatal(err)
		}
		for i := range p.data {
			p.data[i] = float32(i%7) - 3
		}
		layers, bytes = append(layers, p), bytes+4*k*n/p.packed
	}
	return layers, bytes
}

// BenchmarkMemory is what the memory gives at most: bytes that are read, and bytes that are copied, which are counted twice.
func BenchmarkMemory(b *testing.B) {
	from, to := work.Aligned[int8](coldBytes), work.Aligned[int8](coldBytes)
	for i := range from {
		from[i] = 1
	}
	for _, workers := range []int{1, 2} {
		parallel, stop := cputest.Workers(workers)
		defer stop()
		b.Run(fmt.Sprintf("read/w%d", workers), func(b *testing.B) {
			coldTime(b, 0, coldBytes, 1, workers, func() { readCold(parallel) })
		})
		b.Run(fmt.Sprintf("copy/w%d", workers), func(b *testing.B) {
			coldTime(b, 0, 2*coldBytes, 1, workers, func() {
				parallel(coldParts, func(i int) { copy(to[i*coldBytes/coldParts:][:coldBytes/coldParts], from[i*coldBytes/coldParts:]) })
			})
		})
	}
}

const coldParts = 40

var coldMemory = sync.OnceValue(func() []byte {
	x := work.Aligned[int8](coldBytes)
	for i := range x {
		x[i] = 1
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x))
})

// readCold reads as many bytes as the caches do not hold.
func readCold(parallel work.Parallel) {
	x := coldMemory()
	parallel(coldParts, func(i int) { asm.ReadAll(asm.HostFeatures(), x[i*coldBytes/coldParts:][:coldBytes/coldParts]) })
}

// coldTime runs f, and between its runs the loops that tell what is possible at most, and reports the best and the median of
// its times, their share of the peak of multiply-adds, and what they are of the best and the median of reading memory.
func coldTime(b *testing.B, flops, bytes int, perFMA float64, workers int, f func()) {
	parallel, stop := cputest.Workers(workers)
	defer stop()
	f()
	readCold(parallel)
	var times, reads []time.Duration
	peak, last := asm.FMAPeak(), time.Now()
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	for b.Loop() {
		times = append(times, timed(f))
		if len(reads) == 0 || time.Since(last) > 50*time.Millisecond {
			b.StopTimer()
			peak = max(peak, asm.FMAPeak())
			reads = append(reads, timed(func() { readCold(parallel) }))
			last = time.Now()
			b.StartTimer()
		}
	}
	slices.Sort(times)
	slices.Sort(reads)
	for _, of := range []struct {
		name       string
		time, read time.Duration
	}{{"best", times[0], reads[0]}, {"median", times[len(times)/2], reads[len(reads)/2]}} {
		rate := float64(bytes) / float64(of.time.Nanoseconds())
		b.ReportMetric(rate, "GB/s-"+of.name)
		b.ReportMetric(100*rate*float64(of.read.Nanoseconds())/coldBytes, "%read-"+of.name)
		b.ReportMetric(100*float64(flops)/float64(of.time.Nanoseconds())/(perFMA*peak*float64(workers)), "%FMA-"+of.name)
	}
	b.ReportMetric(float64(times[0].Nanoseconds())/1e3, "best-us")
	b.ReportMetric(0, "ns/op")
}
