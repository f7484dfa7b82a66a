package reductions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// BenchmarkNormalization is by rows of as many elements as heads and hidden layers have.
func BenchmarkNormalization(b *testing.B) {
	for _, s := range [][2]int{{128, 8}, {512, 64}, {128, 384}, {128, 768}, {1, 4096}} {
		for _, centered := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dx%d/centered=%v", s[0], s[1], centered), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				k := normalization{rows: s[0], n: s[1], epsilon: 1e-5, centered: centered, each: true,
					scale: cputest.Normals(r, s[1]), bias: cputest.Normals(r, s[1]), vec: work.VecKernel(asm.HostFeatures())}
				x, y := cputest.Normals(r, s[0]*s[1]), work.AlignedFloats(s[0]*s[1])
				b.SetBytes(int64(8 * len(x)))
				for b.Loop() {
					k.compute(0, y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*k.rows), "ns/row")
			})
		}
	}
}
