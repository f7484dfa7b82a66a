package quant

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// WeightRange says how far the symmetric range of a channel's weights, or of all weights of a layer, reaches. The zero value
// is minmax: to the largest magnitude.
type WeightRange struct {
	kind    string  // "", "mse" or "percentile"
	percent float64 // of the latter
}

// WeightRanges returns the names of the kinds of range that weights may have.
func WeightRanges() []string { return []string{"minmax", "mse", "percentile"} }

// ParseWeightRange reads what String writes; "percentile" alone is of 99.9 %.
func ParseWeightRange(text string) (WeightRange, error) {
	name, param, has := strings.Cut(text, ":")
	switch {
	case name == "minmax" && !has:
		return WeightRange{}, nil
	case name == "mse" && !has:
		return WeightRange{kind: name}, nil
	case name == "percentile":
		r := WeightRange{name, 99.9}
		if has {
			p, err := strconv.ParseFloat(param, 64)
			if err != nil || !(p >= 50 && p <= 100) {
				return r, fmt.Errorf("percentile of weights: percent must be a number from 50 to 100, got %q", param)
			}
			r.percent = p
		}
		return r, nil
	}
	return WeightRange{}, fmt.Errorf("range of weights %q: want %s", text, strings.Join(WeightRanges(), ", "))
}

func (r WeightRange) String() string {
	switch r.kind {
	case "":
		return "minmax"
	case "percentile":
		return r.kind + ":" + strconv.FormatFloat(r.percent, 'g', -1, 64)
	}
	return r.kind
}

// of returns how far the range of weights reaches, given by their finite magnitudes, which it may sort.
func (r WeightRange) of(magnitudes []float32) float64 {
	if len(magnitudes) == 0 {
		return 0
	}
	top := float64(slices.Max(magnitudes))
	switch r.kind {
	case "mse":
		return leastWeightError(magnitudes, top)
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

// leastWeightError returns the threshold at which the squared error of weights is least: the best of a grid down to a third of
// the largest magnitude, below which clipping costs more than rounding can gain.
func leastWeightError(magnitudes []float32, top float64) float64 {
	const steps = 40
	best, least := top, math.Inf(1)
	for k := range steps {
		t := top * (1 - float64(k)/steps*2/3)
		scale := Scheme{}.Range(-t, t).Scale[0]
		inv := 1 / scale
		var sum float64
		for _, w := range magnitudes {
			q := min(math.RoundToEven(float64(w*inv)), 127)
			e := float64(w) - q*float64(scale)
			sum += e * e
		}
		if sum < least {
			best, least = t, sum
		}
	}
	return best
}
