package stages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Tuning says how to search for the precision of layers.
type Tuning struct {
	Goal  report.Goal
	To    []config.Precision // that layers may be raised to; none: all stay in INT8
	Most  int                // engines that are built; 0: 12
	Limit time.Duration      // after which it ends with what it has found, once an engine is built; 0: none
	State *SearchState       // of a search that was stopped, which is gone on from and added to; nil: none
	Each  func(*report.Search)
}

// search looks for the precision and the range of each layer that meet a goal.
//
// What a set of layers in floating point takes from the outputs is found without an engine, by running what differs (study): so
// many sets are looked at. Which are worth it says a knapsack over the errors and times of single layers; what was chosen is run,
// since errors do not quite add up. For an SQNR it is confirmed with biases of its own. Engines are built and measured of what is
// predicted to meet the goal alone, and by how much predictions are off is learned from each.
type search struct {
	studies  *studies
	timing   *timing
	accuracy *accuracy
}

// searching is one search.
type searching struct {
	*search
	Tuning
	study  *study
	report *report.Search
	space
	begin  time.Time
	config config.Config // with what was chosen
	tried  map[string]int
}

// Shares of a search's time after which it goes on with what it has found so far.
const (
	waysUntil    = 0.6 // trying ways to quantise, where no layer is raised
	rangesUntil  = 0.4 // choosing ranges, where layers are
	weighedUntil = 0.7 // raising each part by itself
	refinedUntil = 0.9 // changing one part after the other
)

// late reports whether a share of the time that a search may take has passed.
func (g *searching) late(share float64) bool {
	return g.Limit > 0 && time.Since(g.begin) >= time.Duration(share*float64(g.Limit))
}

// space is what is searched.
type space struct {
	parts   []studied
	choices [][]choice // by part: what else it could be than INT8
}

// choice is a precision of a part.
type choice struct {
	to config.Precision
	quant.Option
}

// show tells what is known so far.
func (g *searching) show() {
	g.report.Elapsed = time.Since(g.begin)
	if g.Each != nil {
		now := *g.report
		now.Points = slices.Clone(g.report.Points)
		g.Each(&now)
	}
}

// options returns the choices as a knapsack takes them.
func (s *space) options() [][]quant.Option {
	list := make([][]quant.Option, len(s.choices))
	for i, choices := range s.choices {
		for _, c := range choices {
			list[i] = append(list[i], c.Option)
		}
	}
	return list
}

// all returns the choice of one precision for all parts.
func (s *space) all(k int) []int {
	chosen := make([]int, len(s.parts))
	for i := range chosen {
		chosen[i] = min(k, len(s.choices[i])-1)
	}
	return chosen
}

// variant returns what a choice for each part makes of the network; -1 is INT8.
func (s *space) variant(chosen []int) (v variant) {
	for i, k := range chosen {
		if k >= 0 {
			v.rules = append(v.rules, raised(s.choices[i][k].to, s.parts[i]).rules...)
		}
	}
	return v
}

// noiseOf is the study's, from memory where it was found before.
func (g *searching) noiseOf(ctx context.Context, v variant) (float64, error) {
	id := g.variantKey(v)
	if n, ok := g.State.noise(id); ok {
		return n, nil
	}
	g.report.Predictions++
	n, err := g.study.noiseOf(ctx, v)
	if err == nil {
		g.State.setNoise(id, n)
	}
	return n, err
}

// costOf is the study's, from memory where it was found before.
func (g *searching) costOf(ctx context.Context, v variant) (cost, error) {
	id := g.variantKey(v)
	if c, ok := g.State.cost(id); ok {
		return c, nil
	}
	c, err := g.study.costOf(ctx, v)
	if err == nil {
		g.State.setCost(id, c)
	}
	return c, err
}

// variantKey tells variants apart, of whatever study.
func (g *searching) variantKey(v variant) string {
	rules := make([]string, len(v.rules))
	for i, r := range v.rules {
		rules[i] = r.String()
	}
	return key(g.study.config, rules, rangeTexts(v.ranges), len(g.study.want))
}

func rangeTexts(ranges map[string]numeric.Range) map[string]string {
	texts := map[string]string{}
	for name, r := range ranges {
		texts[name] = fmt.Sprint(r.Scale, r.Zero)
	}
	return texts
}

// timingNoise is the share of an engine's time below which a saving is none: the tuner's times vary as much.
const timingNoise = 0.02

// more returns how much longer a variant takes than the base.
func more(variant, base time.Duration) float64 {
	d := float64(variant - base)
	if d < 0 && -d < timingNoise*float64(base) {
		return 0
	}
	return d
}

// goesOn reports whether another engine may be built.
func (g *searching) goesOn() bool {
	return len(g.report.Points) < g.Most && (len(g.report.Points) == 0 || !g.late(1))
}
