package quantised

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// TestPairs packs weights of several kinds for kernels that take pairs, holds what they get to asm.MostPair and to the weights that it
// stands for, and, where the processor has the kernel, its sums to their definition.
func TestPairs(t *testing.T) {
	const filters, steps, pixels = 16, 6, 7
	for _, kind := range []struct {
		name   string
		spread float64 // standard deviation
		most   float64 // beyond int8 for weights less a zero point
		whole  bool    // left to a kernel that takes any
		rest   bool
	}{
		{"narrow", 20, 127, false, false},
		{"as weights are", 32, 127, false, false},
		{"wide", 50, 127, false, true},
		{"even", 1e6, 127, true, false},
		{"less a zero point", 20, 255, false, false},
		{"twice as wide, less a zero point", 200, 255, true, false},
		{"none", 0, 0, false, false},
	} {
		for _, kernel := range asm.QConvKernels() {
			if !kernel.Pairs {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", kernel.Name, kind.name), func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, 6))
				var weights [filters][16 * steps]int16
				for f := range weights {
					for i := range weights[f] {
						w := r.NormFloat64() * kind.spread
						if kind.spread > 1e3 {
							w = (2*r.Float64() - 1) * kind.most
						}
						weights[f][i] = int16(math.Round(max(-kind.most, min(kind.most, w))))
					}
				}
				var reads []Step
				for s := range steps {
					reads = append(reads, Step{Offset: int32(16 * s), Weight: func(f, i int) int16 { return weights[f][16*s+i] }})
				}
				before := []int8{1, 2, 3}
				p := Panel{Kernel: kernel}
				packed := p.Pack(slices.Clone(before), reads, filters)
				if !slices.Equal(packed[:len(before)], before) || p.Weights != len(before) {
					t.Fatal("what was packed before is not there")
				}
				if p.Kernel.Pairs == kind.whole {
					t.Fatalf("the kernel is %s", p.Kernel.Name)
				}
				if got := unpack(t, &p, packed[p.Weights:]); p.Kernel.Pairs && got != weights {
					t.Errorf("packed are\n%v, want\n%v", got, weights)
				}
				if (len(p.Pairs.Rest) > 0) != kind.rest {
					t.Errorf("%d parts of a rest", len(p.Pairs.Rest))
				}
				if !asm.HostFeatures().Has(p.Kernel.Needs) {
					return
				}
				in := make([]byte, (pixels+steps)*16)
				for i := range in {
					in[i] = byte(255 - r.IntN(1+r.IntN(256)))
				}
				var at []int32
				for x := range pixels {
					at = append(at, int32(16*x))
				}
				out := make([]float32, pixels*filters)
				p.Strip(asm.QConvCall{In: in, Steps: p.Steps, Weights: packed[p.Weights:], Start: make([]int32, filters)}, at,
					asm.Requant{Scale: slices.Repeat([]float32{1}, filters), Bias: make([]float32, filters), OutScale: 1, Float: out, OutPixel: filters, OutBlock: 16,
						Outer: [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}})
				for x := range pixels {
					for f := range filters {
						sum := 0
						for i, w := range weights[f] {
							sum += int(w) * int(in[16*x+i])
						}
						if got := out[x*filters+f]; got != float32(sum) {
							t.Fatalf("pixel %d, filter %d: %g, want %d", x, f, got, sum)
						}
					}
				}
			})
		}
	}
}

// unpack returns the weights that a panel stands for, by filter and input.
func unpack(t *testing.T, p *Panel, packed []int8) (weights [16][96]int16) {
	t.Helper()
	fits := func(pairs []int8) {
		for i := 0; i < len(pairs); i += 2 {
			if a, b := int(pairs[i]), int(pairs[i+1]); max(a, 0)+max(b, 0) > asm.MostPair || min(a, 0)+min(b, 0) < -asm.MostPair {
				t.Errorf("%d and %d lie side by side", a, b)
			}
		}
	}
	if !p.Kernel.Pairs {
		return weights
	}
	for s, offset := range p.Steps {
		step := packed[s*256:][:256]
		fits(step)
		for i, w := range step {
			input := i/64*4 + i%4
			weights[i/4%16][int(offset)+int(p.Pairs.Order[16*s+input])] += int16(w)
		}
	}
	for n, offset := range p.Pairs.Rest {
		part := packed[len(p.Steps)*256+n*asm.RestBytes:][:asm.RestBytes]
		fits(part)
		first := 8
		if n < p.Pairs.Low {
			first = 0
		}
		for i, w := range part {
			weights[first+i/4][int(offset)+i%4] += int16(w)
		}
	}
	return weights
}

// TestMatching: a graph with a perfect matching has it found, and one with many matchings and no perfect one ends the search.
func TestMatching(t *testing.T) {
	for _, tt := range []struct {
		name         string
		edge         func(i, j int) bool
		alone, tries int // at most, and at least left
	}{
		{"all", func(i, j int) bool { return true }, 0, mostTries - 17},
		{"a path", func(i, j int) bool { return i-j == 1 || j-i == 1 }, 0, mostTries - 17},
		{"none", func(i, j int) bool { return false }, 16, mostTries - 17},
		{"seven beside nine", func(i, j int) bool { return (i < 7) != (j < 7) }, 2, 0},
		{"cliques of seven and nine", func(i, j int) bool { return (i < 7) == (j < 7) }, 2, 0},
	} {
		m := matching{tries: mostTries, least: 17}
		for i := range 16 {
			for j := range 16 {
				if i != j && tt.edge(i, j) {
					m.fits[i] |= 1 << j
				}
			}
		}
		m.search(1<<16-1, 0)
		if m.least > tt.alone || m.tries < tt.tries {
			t.Errorf("%s: %d are alone, %d tries are left", tt.name, m.least, m.tries)
		}
		for i, j := range m.best {
			if j >= 0 && (int(m.best[j]) != i || !tt.edge(i, int(j))) {
				t.Errorf("%s: %d is with %d", tt.name, i, j)
			}
		}
	}
}
