package stages

import (
	"context"
	"math"
	"slices"

	"github.com/trtui/trtui/core/quant"
)

// point of a search that is predicted: a choice for each part, with the error and the time of the whole.
type predicted struct {
	chosen []int
	noise  float64
	time   float64
}

// aim says which of two predicted points is better: those of which what is bounded is within the bound, and of these the one of the lower
// score; where none is within, the one that is nearest to it.
type aim struct {
	bounded func(predicted) float64
	most    float64
	score   func(predicted) float64
}

func (a aim) within(p predicted) bool { return a.bounded(p) <= a.most }

func (a aim) better(p, than predicted) bool {
	switch within, ok := a.within(p), a.within(than); {
	case within != ok:
		return within
	case ok:
		return a.score(p) < a.score(than)
	}
	return a.bounded(p) < a.bounded(than)
}

// leastTime is the aim of the least time within an error. Ten decibels are worth half a percent of the time: what costs nothing is
// raised.
func leastTime(most float64) aim {
	return aim{func(p predicted) float64 { return p.noise }, most, func(p predicted) float64 { return math.Log(max(p.time, 1)) + 0.002*math.Log(max(p.noise, 1e-20)) }}
}

// leastNoise is the aim of the least error within a time.
func leastNoise(most float64) aim {
	return aim{func(p predicted) float64 { return p.time }, most, func(p predicted) float64 { return math.Log(max(p.noise, 1e-20)) }}
}

// passesOfRefinement bounds how often refine goes through all parts.
const passesOfRefinement = 3

// refine improves a point by one change after the other, as long as there is one that does: errors and times of single layers do not
// add up, since a layer that is raised beside another one needs no conversion between them. It begins with the best of some points.
func (g *searching) refine(ctx context.Context, a aim, seeds ...[]int) (best predicted, ok bool, err error) {
	for _, chosen := range seeds {
		p, err := g.predict(ctx, chosen)
		if err != nil {
			return best, false, err
		}
		if best.chosen == nil || a.better(p, best) {
			best = p
		}
	}
	if !a.within(best) {
		return best, false, nil
	}
	for range passesOfRefinement {
		changed := false
		for i := range g.parts {
			if g.late(refinedUntil) {
				return best, true, nil
			}
			for k := -1; k < len(g.choices[i]); k++ {
				if k == best.chosen[i] {
					continue
				}
				chosen := slices.Clone(best.chosen)
				chosen[i] = k
				p, err := g.predict(ctx, chosen)
				if err != nil {
					return best, false, err
				}
				if a.within(p) && a.score(p) < a.score(best)-1e-4 {
					best, changed = p, true
				}
			}
		}
		if !changed {
			break
		}
	}
	return best, true, nil
}

// predict returns the error and the time of a choice.
func (g *searching) predict(ctx context.Context, chosen []int) (predicted, error) {
	p := predicted{chosen: chosen}
	c, err := g.costOf(ctx, g.variant(chosen))
	if err != nil {
		return p, err
	}
	p.time = float64(c.time)
	p.noise, err = g.noiseOf(ctx, g.variant(chosen))
	return p, err
}

// solve returns the set that is predicted to have no more than so much noise in the least time, and its noise. ok is false where no
// set is.
func (g *searching) solve(ctx context.Context, most float64) (best predicted, ok bool, err error) {
	need := g.study.noise - most
	seeds := [][]int{g.all(-1)}
	for range 6 {
		chosen, reached := quant.Cheapest(g.options(), need)
		seeds = append(seeds, chosen)
		noise, err := g.noiseOf(ctx, g.variant(chosen))
		if err != nil {
			return best, false, err
		}
		if noise <= most || !reached {
			break
		}
		need += 1.1 * (noise - most)
	}
	for k := range g.To {
		seeds = append(seeds, g.all(k))
	}
	return g.refine(ctx, leastTime(most), seeds...)
}
