// Package config is all that a person chooses for a build: a [Config], its file, what it is called, and the form in which
// two that build the same engine are equal. Start with config.go.
package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Config is what a person toggles: the part of a build's configuration that a session can change while it is open.
type Config struct {
	Precision       Precision
	Calibrator      string              // as in quant's table: "entropy", "percentile:99.9"
	Quantization    Quantization        `json:",omitzero"`
	Weights         string              `json:",omitempty"` // what weights of products of real numbers are rounded to, see quant.ParseFewBits; empty: nothing
	Batch           int                 // the value of unbound batch symbols; at least 1
	Shapes          map[string][]int    `json:",omitempty" entry:"input,shape"`   // of inputs, where Batch does not say enough
	MinShapes       map[string][]int    `json:",omitempty" entry:"input,shape"`   // of inputs, the least that the engine serves; none: Shapes
	MaxShapes       map[string][]int    `json:",omitempty" entry:"input,shape"`   // the largest
	Profiles        []Profile           `json:",omitempty"`                       // of the engine, beside that of the three above
	State           map[string]string   `json:",omitempty" entry:"input,output"`  // inputs that are outputs of the item before
	RuleFiles       []string            `json:",omitempty"`                       // files of rules that are applied beside the standard passes
	Disable         []string            `json:",omitempty"`                       // rules ("fuse-conv-bn") and sites ("fuse-conv-bn(Conv_3,BatchNormalization_4)")
	Until           int                 `json:",omitempty" output:"passes_until"` // stop after so many passes; 0: all
	LayerPrecisions []string            `json:",omitempty"`                       // trtexec's grammar: "Conv_3:fp32", "*head*:fp16"; later ones win
	Constraints     Constraints         `json:",omitempty"`                       // what a layer precision that cannot be had is; empty: Prefer
	Pin             map[string]string   `json:",omitempty" entry:"layer,tactic"`  // tactic by layer
	Forbid          map[string][]string `json:",omitempty" entry:"layer,tactics"` // tactics by layer
}

// Default returns the configuration of a build for which nothing else was chosen.
func Default() Config {
	return Config{Precision: FP32, Calibrator: DefaultCalibrator, Batch: 1}
}

// DefaultCalibrator is the calibrator where none was chosen; docs/rationale/quantisation.md says why.
const DefaultCalibrator = "mse"

// Precision is the number format that a build may use for arithmetic.
type Precision string

// The precisions.
const (
	FP32 Precision = "fp32"
	FP16 Precision = "fp16"
	INT8 Precision = "int8"
	// INT8ByToken is what layers alone may be asked for: INT8 with a range for each row where they are products of rows.
	INT8ByToken Precision = "int8:token"
	// FP8 and FP8E5M2 are floats of 8 bits, e4m3fn and e5m2, which no kernel computes with: see Emulated.
	FP8     Precision = "fp8"
	FP8E5M2 Precision = "fp8-e5m2"
)

// Emulated reports whether a precision is what its numbers hold, computed in FP32: it has an accuracy, and no times.
func (p Precision) Emulated() bool { return p == FP8 || p == FP8E5M2 }

// Constraints says what it means that a layer cannot have the precision that was set for it, as trtexec's
// --precisionConstraints does.
type Constraints string

// The constraints. A Config without any, as older recordings have it, prefers.
const (
	Prefer Constraints = "prefer" // a warning; so too where nothing is said
	Obey   Constraints = "obey"   // an error
	Ignore Constraints = "none"   // nothing: no layer's precision is set
)

// DataType returns the type of numbers in that precision; ok is false for one that there is not.
func (p Precision) DataType() (t numeric.DataType, ok bool) {
	switch p {
	case FP32:
		return numeric.F32, true
	case FP16:
		return numeric.F16, true
	case INT8:
		return numeric.I8, true
	case FP8:
		return numeric.F8E4M3FN, true
	case FP8E5M2:
		return numeric.F8E5M2, true
	}
	return t, false
}

// Next returns the precision that follows p when a person cycles through them.
func (p Precision) Next() Precision {
	all := []Precision{FP32, FP16, INT8}
	return all[(slices.Index(all, p)+1)%len(all)]
}

// Lowering returns the precision that the network is lowered to and the rules for layers in it. That precision is the
// lowest one that is asked for, of the whole or of any layer: where it is not that of the whole, the first rule says so.
func (c Config) Lowering() (numeric.DataType, []quant.Rule, error) {
	whole, _ := c.Precision.DataType()
	rules, err := c.Rules()
	if err != nil || c.Constraints == Ignore {
		return whole, nil, err
	}
	order := []numeric.DataType{numeric.F32, numeric.F16, numeric.I8, numeric.F8E4M3FN, numeric.F8E5M2}
	lowest := whole
	for _, r := range rules {
		if c.Precision.Emulated() && r.Precision != numeric.F32 {
			return whole, nil, fmt.Errorf("layer precision %s: beside %s, which is emulated, layers may be in fp32 alone", r, c.Precision)
		}
		if slices.Index(order, r.Precision) > slices.Index(order, lowest) {
			lowest = r.Precision
		}
	}
	if lowest != whole {
		rules = append([]quant.Rule{{Pattern: "*", Precision: whole}}, rules...)
	}
	return lowest, rules, nil
}

// Rules returns the layers' precisions, one rule for each.
func (c Config) Rules() ([]quant.Rule, error) {
	return quant.ParseRules(strings.Join(c.LayerPrecisions, ","))
}

// Quantizes reports whether layers may run in 8 bits: all of them, or some that were set to it. Floats of 8 bits are, too.
func (c Config) Quantizes() bool {
	lowest, _, err := c.Lowering()
	return err == nil && (lowest == numeric.I8 || c.Precision.Emulated())
}

// LayerPrecision returns the precision that was set for a layer, by its own name or by that of a source layer in it, and
// the rule that says so; empty where none was.
func (c Config) LayerPrecision(name string, from []string) (p Precision, rule string) {
	rules, err := c.Rules()
	if err != nil {
		return "", ""
	}
	for _, r := range slices.Backward(rules) {
		if r.MatchesName(name, from) {
			return Precision(r.PrecisionName()), r.String()
		}
	}
	return "", ""
}

// SetLayerPrecision sets the precision of the layer that a source layer is part of; an empty one leaves it to the
// builder again. Rules with * stay, and count for the layer where it has no rule of its own.
func (c *Config) SetLayerPrecision(source string, p Precision) {
	rules, err := c.Rules()
	if err != nil {
		return
	}
	pattern := strings.ReplaceAll(source, ",", "*") // a comma would end the rule
	c.LayerPrecisions = nil
	for _, r := range rules {
		if r.Pattern != pattern {
			c.LayerPrecisions = append(c.LayerPrecisions, r.String())
		}
	}
	if p != "" {
		c.LayerPrecisions = append(c.LayerPrecisions, pattern+":"+string(p))
	}
}

// OfProfile returns the configuration whose first profile is profile k, and which has no other.
func OfProfile(c Config, k int) Config {
	if k > 0 {
		p := c.Profiles[k-1]
		c.Shapes, c.MinShapes, c.MaxShapes = p.Shapes, p.MinShapes, p.MaxShapes
		if len(c.Shapes) == 0 {
			c.Shapes = p.MaxShapes
		}
	}
	c.Profiles = nil
	return c
}
