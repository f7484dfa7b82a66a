package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Quantization says how layers that run in 8 bits are quantised, beside the calibrator that finds the ranges of their
// activations. What it leaves open is as [DefaultQuantization] has it; see [Quantization.Full].
type Quantization struct {
	Activations    string               `json:",omitempty"`                      // see ParseScheme
	WeightScales   string               `json:",omitempty"`                      // one of WeightScales
	WeightRanges   string               `json:",omitempty"`                      // see quant.ParseWeightRange
	Keep           []string             `json:",omitempty"`                      // what stays in floating point: first, last, residuals and names of ops
	Ranges         map[string][]float64 `json:",omitempty" entry:"tensor,range"` // of activations, least and largest, in place of the calibrator's
	BiasCorrection quant.BiasCorrection `json:",omitempty"`                      // empty: off
	Equalization   string               `json:",omitempty"`                      // of channels, see quant.ParseEqualizer
	Rounding       string               `json:",omitempty"`                      // of weights, those of Config.Weights too, see quant.ParseRounding
}

// Schemes are what Quantization.Activations may be.
func Schemes() []string {
	return []string{"symmetric", "asymmetric", "symmetric:u8", "asymmetric:u8", "symmetric:token", "asymmetric:token", "symmetric:auto", "asymmetric:auto"}
}

// WeightRanges are the kinds of Quantization.WeightRanges.
func WeightRanges() []string { return quant.WeightRanges() }

// BiasCorrections are what Quantization.BiasCorrection may be.
func BiasCorrections() []quant.BiasCorrection { return quant.BiasCorrections() }

// Equalizations are the kinds of Quantization.Equalization.
func Equalizations() []string { return quant.Equalizers() }

// Roundings are the kinds of Quantization.Rounding.
func Roundings() []string { return quant.Roundings() }

// FewBits are the kinds of Config.Weights, none first.
func FewBits() []string { return append([]string{""}, quant.FewBitsKinds()...) }

// FewBitsKind returns the kind of a Config.Weights, whatever its groups.
func FewBitsKind(weights string) string {
	f, _ := quant.ParseFewBits(weights) // a build says what is wrong with another
	return f.Kind()
}

// WeightScales are what Quantization.WeightScales may be.
func WeightScales() []string { return []string{"channel", "tensor"} }

// DefaultQuantization returns how is quantised where nothing else was chosen; docs/rationale/quantisation.md says why.
func DefaultQuantization() Quantization {
	return Quantization{Activations: "asymmetric:auto", WeightScales: "channel", WeightRanges: "minmax", BiasCorrection: quant.CorrectExact, Equalization: "auto", Rounding: "auto"}
}

// ParseScheme returns the scheme that a text names: symmetric or asymmetric, with :i8, which is the default, or :u8 behind it, or :token,
// by which products of rows find a range for each of these as it comes; by :auto trials say whether they do, and the scheme is that of one range.
func ParseScheme(text string) (s quant.Scheme, err error) {
	form, typ, typed := strings.Cut(text, ":")
	switch form {
	case "symmetric":
	case "asymmetric":
		s.Asymmetric = true
	case "dynamic":
		return s, fmt.Errorf("activations %q: symmetric:token or asymmetric:token find ranges as tokens come, one for each", text)
	default:
		return s, fmt.Errorf("activations %q: want %s", text, strings.Join(Schemes(), ", "))
	}
	switch {
	case !typed || typ == "i8" || typ == "auto":
	case typ == "u8":
		s.Type = numeric.U8
	case typ == "token":
		s.ByToken = true
	case typ == "i16" || typ == "u16":
		return s, fmt.Errorf("activations %q: the type is i8 or u8; layers that need more bits are computed in fp16 or fp32", text)
	default:
		return s, fmt.Errorf("activations %q: behind the colon is i8, u8, token or auto", text)
	}
	return s, nil
}

// LegacyQuantization returns how programs quantised of whose time a configuration says nothing of it.
func LegacyQuantization() Quantization {
	return Quantization{Activations: "symmetric", WeightScales: "channel", WeightRanges: "minmax", BiasCorrection: quant.CorrectOff, Equalization: "off", Rounding: "nearest"}
}

// Saturates reports whether two products of bytes may exceed 16 bits together, in which other programs add them on processors without
// VNNI: activations are written without sign (quant.Unsigned), and weights take all 8 bits.
func (q Quantization) Saturates() bool {
	q = q.Full()
	s := q.Scheme()
	r, _ := quant.ParseWeightRange(q.WeightRanges)
	return (s.Asymmetric || s.Type == numeric.U8) && !r.Reduced()
}

// Scheme returns the form of the ranges of activations; the zero Scheme where Check finds an error.
func (q Quantization) Scheme() quant.Scheme {
	s, _ := ParseScheme(q.Full().Activations)
	return s
}

// IsZero reports whether q says nothing.
func (q Quantization) IsZero() bool { return reflect.ValueOf(q).IsZero() }

// Clone returns a copy that shares nothing with q.
func (q Quantization) Clone() Quantization {
	q.Keep = slices.Clone(q.Keep)
	q.Ranges = someOf(q.Ranges, slices.Clone[[]float64])
	return q
}

// Full returns q with what it leaves open as it is by default, in one form for all that quantise alike.
func (q Quantization) Full() Quantization {
	def := DefaultQuantization()
	q.Activations = cmp.Or(q.Activations, def.Activations)
	if s, err := ParseScheme(q.Activations); err == nil && !ChoosesRows(q) {
		q.Activations = schemeName(s)
	}
	q.WeightScales = cmp.Or(q.WeightScales, def.WeightScales)
	q.WeightRanges = cmp.Or(q.WeightRanges, def.WeightRanges)
	if r, err := quant.ParseWeightRange(q.WeightRanges); err == nil {
		q.WeightRanges = r.String()
	}
	q.Keep = sorted(q.Keep)
	q.Ranges = someOf(q.Ranges, func(r []float64) []float64 { return r })
	q.BiasCorrection = cmp.Or(q.BiasCorrection, def.BiasCorrection)
	q.Equalization = cmp.Or(q.Equalization, def.Equalization)
	if e, err := quant.ParseEqualizer(q.Equalization); err == nil {
		q.Equalization = e.String()
	}
	q.Rounding = cmp.Or(q.Rounding, def.Rounding)
	if r, err := quant.ParseRounding(q.Rounding); err == nil {
		q.Rounding = r.String()
	}
	return q
}

// ChoosesRows reports whether it is found by trial whether products have ranges by token.
func ChoosesRows(q Quantization) bool {
	return strings.HasSuffix(cmp.Or(q.Activations, DefaultQuantization().Activations), ":auto")
}

// WithRows returns the scheme of activations with ranges by token, or with one range.
func (q Quantization) WithRows(byToken bool) string {
	s := q.Scheme()
	if s.ByToken = byToken; byToken {
		s.Type = numeric.Invalid
	}
	return schemeName(s)
}

// schemeName writes a scheme as ParseScheme reads it.
func schemeName(s quant.Scheme) string {
	name := "symmetric"
	if s.Asymmetric {
		name = "asymmetric"
	}
	switch {
	case s.ByToken:
		name += ":token"
	case s.DataType() == numeric.U8:
		name += ":u8"
	}
	return name
}

// ByCollected returns q with what can be had of one run over the data, that in which ranges are found: weights become the nearest
// integers, channels stay as they are, tensors have one range unless more is asked for, and biases are corrected by the means of what is read, if at all.
func (q Quantization) ByCollected() Quantization {
	q.Rounding, q.Equalization = "nearest", "off"
	if ChoosesRows(q) {
		q.Activations = q.WithRows(false)
	}
	if q.Full().BiasCorrection == quant.CorrectExact {
		q.BiasCorrection = quant.CorrectFast
	}
	return q
}

// Effective returns q in one form for all that quantise alike: what is as by default is empty.
func (q Quantization) Effective() Quantization {
	q = q.Full()
	def := DefaultQuantization()
	for _, c := range []struct{ to, def *string }{{&q.Activations, &def.Activations}, {&q.WeightScales, &def.WeightScales}, {&q.WeightRanges, &def.WeightRanges}, {&q.Equalization, &def.Equalization}, {&q.Rounding, &def.Rounding}} {
		if *c.to == *c.def {
			*c.to = ""
		}
	}
	if q.BiasCorrection == def.BiasCorrection {
		q.BiasCorrection = ""
	}
	return q
}

// Check returns an error for what no network can be quantised with, by the names that files have for it.
func (q Quantization) Check() error {
	if _, err := ParseScheme(q.Full().Activations); err != nil {
		return err
	}
	if q.WeightScales != "" && !slices.Contains(WeightScales(), q.WeightScales) {
		return fmt.Errorf("weight_scales %q: want channel or tensor", q.WeightScales)
	}
	if q.WeightRanges != "" {
		if _, err := quant.ParseWeightRange(q.WeightRanges); err != nil {
			return fmt.Errorf("weight_ranges: %w", err)
		}
	}
	for _, k := range q.Keep {
		if _, err := parseKeep(k); err != nil {
			return err
		}
	}
	if q.BiasCorrection != "" && !slices.Contains(quant.BiasCorrections(), q.BiasCorrection) {
		return fmt.Errorf("bias_correction %q: want off, fast or exact", q.BiasCorrection)
	}
	if q.Equalization != "" {
		if _, err := quant.ParseEqualizer(q.Equalization); err != nil {
			return err
		}
	}
	if q.Rounding != "" {
		if _, err := quant.ParseRounding(q.Rounding); err != nil {
			return err
		}
	}
	if full := q.Full(); full.Rounder().Compensates() && full.BiasCorrection != quant.CorrectExact {
		return fmt.Errorf("rounding compensated is done with bias_correction exact, and bias_correction is %s: set that to exact, or rounding to gptq", full.BiasCorrection)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Ranges)) {
		r := q.Ranges[name]
		if err := CheckRange(r); err != nil {
			return fmt.Errorf("ranges: %s: %w", name, err)
		}
		if r[1]-r[0] < leastRange {
			return fmt.Errorf("ranges: %s: %v is too narrow for 8 bits: its steps would be no normal numbers of float32; want %.2g at least from end to end", name, r, leastRange)
		}
	}
	return nil
}

// leastRange is the width of a range whose 256 steps are the least normal float32.
const leastRange = 256 * 0x1p-126

// CheckRange returns an error for what is no least and largest value.
func CheckRange(r []float64) error {
	if len(r) != 2 || !(r[0] <= 0 && r[1] >= 0 && r[0] < r[1]) || r[0] < -math.MaxFloat32 || r[1] > math.MaxFloat32 {
		return fmt.Errorf("%v: want the least and the largest value, which have zero between them", r)
	}
	return nil
}

// parseKeep returns the op that a word of Keep names; none for first and last.
func parseKeep(word string) (*graph.Op, error) {
	if word == "first" || word == "last" || word == "residuals" {
		return nil, nil
	}
	ops := graph.Ops()
	if op := ops.Named(word); op != nil {
		return op, nil
	}
	names := []string{"first", "last", "residuals"}
	for _, op := range ops.All() {
		names = append(names, op.Name)
	}
	return nil, fmt.Errorf("keep %s: want first, last, residuals or the name of an op%s", Quoted(word), DidYouMean(word, names))
}

// Policy returns what the quantiser is told beside the layers' precisions.
func (q Quantization) Policy() (quant.Policy, error) {
	if err := q.Check(); err != nil {
		return quant.Policy{}, err
	}
	q = q.Full()
	p := quant.Policy{Scheme: q.Scheme(), PerTensor: q.WeightScales == "tensor"}
	p.Weights, _ = quant.ParseWeightRange(q.WeightRanges)
	for _, k := range q.Keep {
		switch op, _ := parseKeep(k); {
		case op != nil:
			p.KeepOps = append(p.KeepOps, op.Name)
		case k == "first":
			p.KeepFirst = true
		case k == "residuals":
			p.KeepResiduals = true
		default:
			p.KeepLast = true
		}
	}
	return p, nil
}

// Equalizer returns how channels are equalised; off where Check finds an error.
func (q Quantization) Equalizer() quant.Equalizer {
	e, _ := quant.ParseEqualizer(q.Full().Equalization)
	return e
}

// Rounder returns how weights are rounded; to the nearest where Check finds an error.
func (q Quantization) Rounder() quant.Rounding {
	r, _ := quant.ParseRounding(q.Full().Rounding)
	return r
}

// Given returns the ranges that were given by hand.
func (q Quantization) Given() map[string]numeric.Range {
	s, given := q.Scheme(), map[string]numeric.Range{}
	for name, r := range q.Ranges {
		given[name] = s.Range(r[0], r[1])
	}
	return given
}
