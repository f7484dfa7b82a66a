package config

import (
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Clone returns a copy that shares nothing with c.
func (c Config) Clone() Config {
	for _, shapes := range []*map[string][]int{&c.Shapes, &c.MinShapes, &c.MaxShapes} {
		*shapes = someOf(*shapes, slices.Clone[[]int])
	}
	c.Profiles = someShapes(c.Profiles, slices.Clone[[]int])
	c.State = filled(maps.Clone(c.State))
	c.Quantization = c.Quantization.Clone()
	c.Disable = slices.Clone(c.Disable)
	c.LayerPrecisions = slices.Clone(c.LayerPrecisions)
	c.Pin = filled(maps.Clone(c.Pin))
	c.Forbid = filled(maps.Clone(c.Forbid))
	for layer, tactics := range c.Forbid {
		c.Forbid[layer] = slices.Clone(tactics)
	}
	return c
}

// FlipDisabled switches a rule or site off, or on again.
func (c *Config) FlipDisabled(name string) { c.Disable = flip(c.Disable, name) }

// FlipPin pins a tactic to a layer, which allows it again if it was forbidden; or leaves the choice to the builder again.
func (c *Config) FlipPin(layer, tactic string) {
	if c.Pin[layer] == tactic {
		c.Unpin(layer)
		return
	}
	if slices.Contains(c.Forbid[layer], tactic) {
		c.flipForbidden(layer, tactic)
	}
	if c.Pin == nil {
		c.Pin = map[string]string{}
	}
	c.Pin[layer] = tactic
}

// Unpin leaves the choice of a layer's tactic to the builder.
func (c *Config) Unpin(layer string) {
	delete(c.Pin, layer)
	c.Pin = filled(c.Pin)
}

// FlipForbid forbids a tactic for a layer, which unpins it; or allows it again.
func (c *Config) FlipForbid(layer, tactic string) {
	if c.Pin[layer] == tactic {
		c.Unpin(layer)
	}
	c.flipForbidden(layer, tactic)
}

func (c *Config) flipForbidden(layer, tactic string) {
	if c.Forbid == nil {
		c.Forbid = map[string][]string{}
	}
	if c.Forbid[layer] = flip(c.Forbid[layer], tactic); len(c.Forbid[layer]) == 0 {
		delete(c.Forbid, layer)
	}
	c.Forbid = filled(c.Forbid)
}

// flip adds s to the list, or takes it out.
func flip(list []string, s string) []string {
	if i := slices.Index(list, s); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return append(list, s)
}

// FlipKeep keeps layers in floating point, by a word of Keep, or quantises them again.
func (q *Quantization) FlipKeep(word string) { q.Keep = flip(q.Keep, word) }

// ChooseWeightRange sets the kind of the ranges of weights, one of WeightRanges, and keeps how many bits their integers have.
func (q *Quantization) ChooseWeightRange(kind string) {
	if r, err := quant.ParseWeightRange(kind); err == nil {
		q.WeightRanges = r.Reduce(q.ReducedWeights()).String()
	}
}

// ReducedWeights reports whether weights have integers of 7 bits alone.
func (q Quantization) ReducedWeights() bool {
	r, _ := quant.ParseWeightRange(q.Full().WeightRanges)
	return r.Reduced()
}

// FlipReducedWeights gives weights integers of 7 bits alone, or of 8 again.
func (q *Quantization) FlipReducedWeights() {
	r, _ := quant.ParseWeightRange(q.Full().WeightRanges)
	q.WeightRanges = r.Reduce(!r.Reduced()).String()
}

// SetRange gives a tensor the range of a scale and zero point, times a factor, to four digits.
func (q *Quantization) SetRange(tensor string, scale float32, zero int32, by float64) {
	s := q.Scheme()
	r := numeric.PerTensor(scale, zero)
	lo, hi := quant.Limits(r, s.DataType())
	if !s.Asymmetric {
		lo, hi = -quant.AMax(r), quant.AMax(r)
	}
	q.Give(tensor, fourDigits(lo*by), fourDigits(hi*by))
}

// Give gives a tensor a range.
func (q *Quantization) Give(tensor string, low, high float64) {
	if q.Ranges == nil {
		q.Ranges = map[string][]float64{}
	}
	q.Ranges[tensor] = []float64{low, high}
}

func fourDigits(x float64) float64 {
	if x == 0 {
		return 0
	}
	unit := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*unit) / unit
}
