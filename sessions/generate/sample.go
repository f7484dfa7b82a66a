package generate

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// Sampling says how the next token is chosen from the scores of all. The zero value takes the best.
type Sampling struct {
	Temperature float64 // scores are divided by it before they become probabilities; 0 takes the best token
	TopK        int     // only so many of the best; 0 is all
	TopP        float64 // only the best that have this probability together; 0 is all
	Seed        uint64  // the same seed gives the same text
}

// sampler chooses tokens.
type sampler struct {
	Sampling
	random *rand.Rand
	left   candidates
	order  []int     // of those that may be drawn
	odds   []float64 // of theirs
}

func newSampler(s Sampling) *sampler {
	return &sampler{Sampling: s, random: rand.New(rand.NewPCG(s.Seed, 0x9e3779b97f4a7c15))}
}

// next returns a token. Of equal scores the first is the best; NaN is the worst.
func (s *sampler) next(scores []float32) int {
	best := 0
	for i, v := range scores {
		if v > scores[best] || v == v && scores[best] != scores[best] {
			best = i
		}
	}
	if s.Temperature <= 0 || scores[best] != scores[best] {
		return best
	}
	return s.draw(scores, best)
}

// draw draws a token by its probability. Where all may be drawn they stay in their order; else the best are taken one by one, since
// sorting all words of a language takes as long as computing their scores.
func (s *sampler) draw(scores []float32, best int) int {
	s.left = candidates{scores, s.left.order[:0]}
	for i, v := range scores {
		if v == v {
			s.left.order = append(s.left.order, i)
		}
	}
	odds := func(i int) float64 { return math.Exp(float64(scores[i]-scores[best]) / s.Temperature) }
	if s.order = s.left.order; s.TopK > 0 && s.TopK < len(s.order) {
		s.order = s.left.take(s.TopK, func(int) bool { return false })
	}
	s.odds = s.odds[:0]
	sum := 0.0
	for _, i := range s.order {
		s.odds = append(s.odds, odds(i))
		sum += s.odds[len(s.odds)-1]
	}
	if s.TopP > 0 && s.TopP < 1 {
		all, kept := sum, 0.0
		s.left.order = s.order
		s.odds = s.odds[:0]
		s.order = s.left.take(len(s.order), func(i int) bool {
			s.odds = append(s.odds, odds(i))
			kept += s.odds[len(s.odds)-1]
			return kept >= s.TopP*all
		})
		sum = kept
	}
	left := s.random.Float64() * sum
	for i, p := range s.odds {
		if left -= p; left < 0 {
			return s.order[i]
		}
	}
	return s.order[len(s.odds)-1]
}

// candidates is a heap of tokens, the best first; of equal scores the first token is the best.
type candidates struct {
	scores []float32
	order  []int
}

func (c *candidates) Len() int { return len(c.order) }
func (c *candidates) Less(i, j int) bool {
	a, b := c.order[i], c.order[j]
	return c.scores[a] > c.scores[b] || c.scores[a] == c.scores[b] && a < b
}
func (c *candidates) Swap(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] }
func (c *candidates) Push(any)      { panic("generate: candidates only get fewer") }
func (c *candidates) Pop() any {
	c.order = c.order[:len(c.order)-1]
	return nil
}

// take takes the best, at most so many of them, up to one that ends it; the best comes first.
func (c *candidates) take(most int, ends func(token int) bool) []int {
	var list []int
	heap.Init(c)
	for len(list) < most && len(c.order) > 0 {
		list = append(list, c.order[0])
		if heap.Pop(c); ends(list[len(list)-1]) {
			break
		}
	}
	return list
}
