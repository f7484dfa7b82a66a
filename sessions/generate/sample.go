package generate

import (
	"math"
	"math/rand/v2"
	"slices"
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
	order  []int     // of the candidates, best first
	odds   []float64 // of the candidates
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
	s.order = s.order[:0]
	for i, v := range scores {
		if v == v {
			s.order = append(s.order, i)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	if s.TopK > 0 && s.TopK < len(s.order) {
		s.order = s.order[:s.TopK]
	}
	return s.draw(scores)
}

// draw draws one of the candidates by its probability.
func (s *sampler) draw(scores []float32) int {
	s.odds = s.odds[:0]
	sum, top := 0.0, float64(scores[s.order[0]])
	for _, i := range s.order {
		p := math.Exp((float64(scores[i]) - top) / s.Temperature)
		s.odds = append(s.odds, p)
		sum += p
	}
	if s.TopP > 0 && s.TopP < 1 {
		kept := 0.0
		for i, p := range s.odds {
			if kept += p; kept >= s.TopP*sum {
				s.odds, sum = s.odds[:i+1], kept
				break
			}
		}
	}
	left := s.random.Float64() * sum
	for i, p := range s.odds {
		if left -= p; left < 0 {
			return s.order[i]
		}
	}
	return s.order[len(s.odds)-1]
}
