package attention

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// bytesConfigs are ranges of either type, symmetric and not, with scores that differ little and much.
var bytesConfigs = []BytesConfig{
	{Q: asm.Quantization{Scale: 0.02, Signed: true}, K: asm.Quantization{Scale: 0.02, Signed: true}, V: asm.Quantization{Scale: 0.03, Signed: true}},
	{Q: asm.Quantization{Scale: 0.05, Zero: 117}, K: asm.Quantization{Scale: 0.04, Zero: 140}, V: asm.Quantization{Scale: 0.01, Zero: 99},
		Out: asm.Quantization{Scale: 0.004, Zero: 120}},
	{Q: asm.Quantization{Scale: 0.03, Zero: -11, Signed: true}, K: asm.Quantization{Scale: 0.02, Zero: 5, Signed: true}, V: asm.Quantization{Scale: 0.02, Zero: -3, Signed: true},
		Out: asm.Quantization{Scale: 0.01, Zero: 7, Signed: true}},
}

// randomBytes returns as many bytes as there are elements, and makes the elements what they stand for.
func randomBytes(r *rand.Rand, x []float32, q asm.Quantization) []byte {
	b := make([]byte, len(x))
	for i := range b {
		b[i] = byte(r.Uint32())
		n := int32(b[i])
		if q.Signed {
			n = int32(int8(b[i]))
		}
		x[i] = float32(n-q.Zero) * q.Scale
	}
	return b
}

// TestBytes holds results to the definition in float64, as near as shares that are rounded to 1/255 of the highest let them be.
func TestBytes(t *testing.T) {
	for _, isa := range cputest.FeatureSets() {
		t.Run(isa.String(), func(t *testing.T) {
			list := shapes()
			for n, name := range slices.Sorted(maps.Keys(list)) {
				s := list[name]
				if s.Past > 0 || s.Softcap != 0 || cputest.RaceEnabled && name != "grouped" {
					continue
				}
				if isa != asm.HostFeatures() && s.Batch*s.Heads*s.Queries*s.Keys > 20000 {
					continue // how blocks and tiles are cut is the same
				}
				for i, c := range bytesConfigs {
					if i == n%len(bytesConfigs) || name == "odd" {
						t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) { checkBytes(t, s, c, isa) })
					}
				}
			}
		})
	}
}

func checkBytes(t *testing.T, s Shape, cfg BytesConfig, isa asm.Features) {
	r := rand.New(rand.NewPCG(1, 2))
	floats := operands(r, &s)
	c := BytesCall{Q: randomBytes(r, floats.Q, cfg.Q), K: randomBytes(r, floats.K, cfg.K), V: randomBytes(r, floats.V, cfg.V), Call: *floats}
	want := define(&s, floats)
	var first []byte
	for _, workers := range cputest.WorkerCounts() {
		b, err := NewBytes(s, cfg, isa, workers)
		if err != nil {
			t.Fatal(err)
		}
		c.Out = slices.Repeat([]byte{77}, len(c.Y))
		for i := range c.Y {
			c.Y[i] = 77
		}
		c.Workspace = slices.Repeat([]byte{0xff}, b.Workspace())
		p := work.NewPool(workers)
		b.Run(p.Run, &c)
		p.Close()
		for i := range c.Out {
			if cfg.Out.Scale != 0 {
				n := int32(c.Out[i])
				if cfg.Out.Signed {
					n = int32(int8(c.Out[i]))
				}
				c.Y[i] = float32(n-cfg.Out.Zero) * cfg.Out.Scale
			}
		}
		if first == nil {
			checkNear(t, &s, &c, cfg, want)
			first = slices.Clone(c.Out)
			if cfg.Out.Scale == 0 {
				continue
			}
		}
		if !slices.Equal(first, c.Out) {
			t.Fatalf("%d workers: other bits than by one", workers)
		}
	}
}

// checkNear allows each key to be wrong by its rounding, as far as its value is from the result, and a step of the result.
func checkNear(t *testing.T, s *Shape, c *BytesCall, cfg BytesConfig, want []float64) {
	t.Helper()
	low, high := (0-float64(cfg.Out.Zero))*float64(cfg.Out.Scale), (255-float64(cfg.Out.Zero))*float64(cfg.Out.Scale)
	if cfg.Out.Signed {
		low, high = low-128*float64(cfg.Out.Scale), high-128*float64(cfg.Out.Scale)
	}
	for batch := range s.Batch {
		for head := range s.Heads {
			_, v := s.sources(&c.Call, batch, head/s.group())
			for i := range s.Queries {
				scores, highest := definedScores(s, &c.Call, batch, head, i)
				total := 0.0
				for _, x := range scores {
					total += math.Exp(x - highest)
				}
				for l := range s.ValueSize {
					at := batch*s.Y.Batch + head*s.Y.Head + i*s.Y.Row + l
					bound := 1e-4*math.Abs(want[at]) + 1e-5 + 0.51*float64(cfg.Out.Scale)
					for j, score := range scores {
						if row, _, _ := v.at(j, 1); !math.IsInf(score, -1) {
							bound += math.Abs(float64(row[l])-want[at]) / 509 / max(total-float64(len(scores))/510, 0.99)
						}
					}
					x := want[at]
					if cfg.Out.Scale != 0 {
						x = max(low, min(high, x))
					}
					if got := float64(c.Y[at]); !(math.Abs(got-x) <= bound) {
						t.Fatalf("batch %d, head %d, query %d, element %d = %g, want %g within %g", batch, head, i, l, got, x, bound)
					}
				}
			}
		}
	}
}
