package quant

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// WeightRange says how far the symmetric range of a channel's weights, or of all weights of a layer, reaches, and into how many
// steps it is divided. The zero value is minmax: to the largest magnitude, in steps of a 127th.
type WeightRange struct {
	kind    string  // "", "mse" or "percentile"
	percent float64 // of the latter
	reduced bool    // to steps of a 64th
}

// reducedRange is what stands behind a kind of range whose integers reach from -64 to 64. Two products of such weights and of
// unsigned bytes fit 16 bits, in which some programs add them on processors with AVX2 and no VNNI, where sums of larger ones
// saturate.
const reducedRange = "/7bit"

// WeightRanges returns the names of the kinds of range that weights may have.
func WeightRanges() []string { return []string{"minmax", "mse", "percentile"} }

// ParseWeightRange reads what String writes: one of WeightRanges, then "/7bit" where the integers reach from -64 to 64 alone;
// "percentile" alone is of 99.9 %.
func ParseWeightRange(text string) (WeightRange, error) {
	kind, reduced := strings.CutSuffix(text, reducedRange)
	name, param, has := strings.Cut(kind, ":")
	switch {
	case name == "minmax" && !has:
		return WeightRange{reduced: reduced}, nil
	case name == "mse" && !has:
		return WeightRange{kind: name, reduced: reduced}, nil
	case name == "percentile":
		r := WeightRange{name, 99.9, reduced}
		if has {
			p, err := strconv.ParseFloat(param, 64)
			if err != nil || !(p >= 50 && p <= 100) {
				return r, fmt.Errorf("percentile of weights: percent must be a number from 50 to 100, got %q", param)
			}
			r.percent = p
		}
		return r, nil
	}
	return WeightRange{}, fmt.Errorf("range of weights %q: want %s, with %s behind it for integers of -64 to 64", text, strings.Join(WeightRanges(), ", "), reducedRange)
}

func (r WeightRange) String() string {
	text := cmp.Or(r.kind, "minmax")
	if r.kind == "percentile" {
		text += ":" + strconv.FormatFloat(r.percent, 'g', -1, 64)
	}
	if r.reduced {
		text += reducedRange
	}
	return text
}

// Reduced reports whether the integers reach from -64 to 64, not to 127.
func (r WeightRange) Reduced() bool { return r.reduced }

// Reduce returns the range with integers from -64 to 64, or with all of them.
func (r WeightRange) Reduce(reduced bool) WeightRange {
	r.reduced = reduced
	return r
}

// largest returns the integer at the end of the range.
func (r WeightRange) largest() int8 {
	if r.reduced {
		return 64
	}
	return 127
}

// scale returns the step of a range that reaches to amax.
func (r WeightRange) scale(amax float64) float32 {
	if r.reduced {
		amax *= 127. / 64
	}
	return Scheme{}.Range(-amax, amax).Scale[0]
}

// of returns how far the range of weights reaches, given by their finite magnitudes, which it may sort.
func (r WeightRange) of(magnitudes []float32) float64 {
	if len(magnitudes) == 0 {
		return 0
	}
	top := float64(slices.Max(magnitudes))
	switch r.kind {
	case "mse":
		return r.leastError(magnitudes, top)
	case "percentile":
		slices.Sort(magnitudes)
		at := r.percent / 100 * float64(len(magnitudes)-1)
		low := int(at)
		a, b := float64(magnitudes[low]), float64(magnitudes[min(low+1, len(magnitudes)-1)])
		if t := a + (b-a)*(at-float64(low)); t > 0 {
			return t
		}
	}
	return top
}

// leastError returns the threshold at which the squared error of weights is least: the best of a grid down to a third of
// the largest magnitude, below which clipping costs more than rounding can gain.
func (r WeightRange) leastError(magnitudes []float32, top float64) float64 {
	const steps = 40
	best, least := top, math.Inf(1)
	for k := range steps {
		t := top * (1 - float64(k)/steps*2/3)
		scale := r.scale(t)
		inv := 1 / scale
		var sum float64
		for _, w := range magnitudes {
			q := min(math.RoundToEven(float64(w*inv)), float64(r.largest()))
			e := float64(w) - q*float64(scale)
			sum += e * e
		}
		if sum < least {
			best, least = t, sum
		}
	}
	return best
}
