package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Effective returns the configuration in one form for all that build the same engine: what has no say is empty, and what
// can be said in several ways is said in one. A calibrator, and how is quantised, has a say only where layers may run in 8 bits and the model does
// not bring quantisation of its own, which quantized says, and how weights are rounded also where they are to have few bits; precisions of layers only where one of them, or that of the whole,
// is below FP32, or where they must be obeyed; to obey or prefer only where there are such. A state is of the data, as what ranges
// are found on is.
func (c Config) Effective(quantized bool) Config {
	c.Batch = max(1, c.Batch)
	c.Calibrator = FullCalibrator(c.Calibrator)
	c.Quantization = c.Quantization.Effective()
	if quantized || !c.Quantizes() {
		c.Calibrator, c.Quantization = "", Quantization{Rounding: c.Quantization.Rounding}
		if c.Weights == "" {
			c.Quantization.Rounding = ""
		}
	}
	if f, err := quant.ParseFewBits(c.Weights); err == nil { // a build says what is wrong with another
		c.Weights = f.String()
	}
	c.LayerPrecisions = effectiveRules(c)
	if lowest, _, err := c.Lowering(); err == nil && (c.Constraints == Ignore || lowest == numeric.F32 && c.Constraints != Obey) {
		c.LayerPrecisions = nil
	}
	if len(c.LayerPrecisions) == 0 || c.Constraints != Obey {
		c.Constraints = ""
	}
	c.State = nil
	c.Disable = sorted(c.Disable)
	for _, shapes := range []*map[string][]int{&c.Shapes, &c.MinShapes, &c.MaxShapes} {
		*shapes = someOf(*shapes, func(dims []int) []int { return dims })
	}
	c.Profiles = someShapes(c.Profiles, func(dims []int) []int { return dims })
	c.Pin = someOf(c.Pin, func(tactic string) string { return tactic })
	c.Forbid = someOf(c.Forbid, sorted)
	return c
}

// Key tells configurations apart by the engines that they build: those of one engine have one. quantized is as for
// [Config.Effective].
func (c Config) Key(quantized bool) string {
	b, err := json.Marshal(c.Effective(quantized))
	if err != nil {
		panic("config: key: " + err.Error()) // every configuration can be written
	}
	return string(b)
}

// Same reports whether two configurations say the same, written as JSON: an empty list is then as good as none.
func Same(a, b Config) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// SameEngine reports whether both configurations build the same engine; see [Config.Effective].
func (c Config) SameEngine(o Config, quantized bool) bool {
	return reflect.DeepEqual(c.Effective(quantized), o.Effective(quantized))
}

// effectiveRules returns the layers' precisions as rules are written, without those that a later one overrules wherever
// they match.
func effectiveRules(c Config) []string {
	rules, err := c.Rules()
	if err != nil {
		return c.LayerPrecisions // a build says what is wrong with them
	}
	var list []string
	for i, r := range rules {
		if !slices.ContainsFunc(rules[i+1:], func(later quant.Rule) bool { return later.MatchesName(r.Pattern, nil) }) {
			list = append(list, r.String())
		}
	}
	return list
}

// FullCalibrator writes a calibrator with its parameter: "percentile" as "percentile:99.99".
func FullCalibrator(name string) string {
	if c, err := quant.ParseCalibrator(name, quant.Scheme{}); err == nil {
		return c.String()
	}
	return name
}
