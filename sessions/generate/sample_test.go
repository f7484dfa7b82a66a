package generate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The best are those of a sort, in its order, whichever are equal.
func TestCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	scores, all := make([]float32, 1000), make([]int, 1000)
	for i := range scores {
		scores[i], all[i] = float32(r.IntN(300)), i
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b int) int { return int(scores[b]) - int(scores[a]) })
	for _, most := range []int{1, 40, 1000} {
		c := candidates{scores, slices.Clone(all)}
		if got := c.take(most, func(int) bool { return false }); !slices.Equal(got, sorted[:most]) {
			t.Errorf("the best %d are %v, want %v", most, got[:min(most, 8)], sorted[:min(most, 8)])
		}
	}
	c := candidates{scores, slices.Clone(all)}
	if got := c.take(1000, func(token int) bool { return token == sorted[6] }); !slices.Equal(got, sorted[:7]) {
		t.Errorf("up to the seventh they are %v, want %v", got, sorted[:7])
	}
}

// BenchmarkDraw is what a token costs that is drawn of as many words as GPT-2 has.
func BenchmarkDraw(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	scores := make([]float32, 50257)
	for i := range scores {
		scores[i] = float32(3 * r.NormFloat64())
	}
	for name, s := range map[string]Sampling{"all": {Temperature: .8}, "top-k 40": {Temperature: .8, TopK: 40}, "top-p 0.9": {Temperature: .8, TopP: .9}} {
		b.Run(name, func(b *testing.B) {
			s := newSampler(s)
			for b.Loop() {
				s.next(scores)
			}
		})
	}
}
