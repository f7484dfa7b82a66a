package attention

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
)

// benchShapes are attentions of known networks.
var benchShapes = []struct {
	name  string
	shape Shape
}{
	{"bert_128", shape(1, 12, 12, 128, 128, 64, 64)},
	{"gpt2_128", causal(shape(1, 12, 12, 128, 128, 64, 64))},
	{"bert_512", shape(1, 12, 12, 512, 512, 64, 64)},
	{"gpt2_2048", causal(shape(1, 12, 12, 2048, 2048, 64, 64))},
	{"decode_1024", causal(shape(1, 12, 12, 1, 1024, 64, 64))},
	{"grouped_decode_4096", causal(shape(1, 32, 8, 1, 4096, 128, 128))},
}

// flops is the arithmetic of the products of what is seen.
func flops(s *Shape) int {
	pairs := 0
	for i := range s.Queries {
		from, to := s.seen(i+s.Past, s.Keys)
		pairs += to - from
	}
	return 2 * s.Batch * s.Heads * pairs * (s.Size + s.ValueSize)
}

func causal(s Shape) Shape {
	s.Reach, s.Past = 1, s.Keys-s.Queries
	return s
}

func BenchmarkAttention(b *testing.B) {
	for _, c := range benchShapes {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", c.name, workers), func(b *testing.B) {
				s := c.shape.dense(c.shape.Queries == 1, 0)
				a, err := New(s, asm.HostFeatures()&(asm.AVX512|asm.AVX2), workers)
				if err != nil {
					b.Fatal(err)
				}
				call := operands(rand.New(rand.NewPCG(1, 2)), &s)
				call.Workspace = make([]float32, a.Workspace())
				loop, stop := cputest.Workers(workers)
				defer stop()
				cputest.Time(b, flops(&s), workers, func() { a.Run(loop, call) })
			})
		}
	}
}

func BenchmarkBytes(b *testing.B) {
	for _, c := range benchShapes[:4] {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", c.name, workers), func(b *testing.B) {
				s := c.shape.dense(false, 0)
				cfg := bytesConfigs[2]
				a, err := NewBytes(s, cfg, asm.HostFeatures(), workers)
				if err != nil {
					b.Fatal(err)
				}
				r := rand.New(rand.NewPCG(1, 2))
				floats := operands(r, &s)
				call := &BytesCall{Q: randomBytes(r, floats.Q, cfg.Q), K: randomBytes(r, floats.K, cfg.K), V: randomBytes(r, floats.V, cfg.V),
					Out: make([]byte, len(floats.Y)), Workspace: make([]byte, a.Workspace())}
				loop, stop := cputest.Workers(workers)
				defer stop()
				cputest.TimeInt8(b, flops(&s), workers, func() { a.Run(loop, call) })
			})
		}
	}
}
