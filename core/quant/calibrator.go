package quant

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Calibrator chooses the range of a tensor from the histogram of its values: TensorRT's IInt8Calibrator without the
// running. The range is unset where the histogram has no finite value. A calibrator is a comparable value, and its
// String is the text from which [Methods.Parse] makes it.
type Calibrator interface {
	Range(h *Histogram) numeric.Range
	String() string
}

// Method describes a kind of calibrator, for menus and help.
type Method struct {
	Name  string
	Doc   string
	Param string  // the name of its parameter, which may stand before it, as in "entropy:bins=512"; empty if it has none
	Whole bool    // the parameter is an integer
	Value float64 // the parameter's default
	Min   float64 // and bounds
	Max   float64
	New   func(param float64, s Scheme) Calibrator
}

// Methods are kinds of calibrator that one may choose from.
type Methods []Method

// Calibrators returns the kinds of calibrator that there are.
func Calibrators() Methods {
	return Methods{
		{Name: "minmax", Doc: "the least and largest value seen: nothing is clipped",
			New: func(_ float64, s Scheme) Calibrator { return MinMax{s} }},
		{Name: "entropy", Doc: "least Kullback-Leibler divergence of the quantised distribution from the real one", Param: "bins", Whole: true, Value: binsPerSide, Min: 128, Max: binsPerSide,
			New: func(bins float64, s Scheme) Calibrator { return Entropy{Scheme: s, Bins: int(bins) % binsPerSide} }},
		{Name: "percentile", Doc: "the given percentage of the values is inside", Param: "percent", Value: 99.99, Min: 50, Max: 100,
			New: func(p float64, s Scheme) Calibrator { return Percentile{p, s} }},
		{Name: "mse", Doc: "least mean squared error of the quantised values",
			New: func(_ float64, s Scheme) Calibrator { return MSE{s} }},
	}
}

// Plus returns the methods and further ones. The error names one that cannot be chosen by its name: it has none, or that of
// another one, or what it makes is not called so.
func (all Methods) Plus(more ...Method) (Methods, error) {
	all = slices.Clone(all)
	for _, m := range more {
		switch {
		case m.Name == "" || strings.ContainsAny(m.Name, ":, "):
			return nil, fmt.Errorf("calibrator %q: want a name of one word", m.Name)
		case m.New == nil:
			return nil, fmt.Errorf("calibrator %s has no New", m.Name)
		case slices.Contains(all.Names(), m.Name):
			return nil, fmt.Errorf("the calibrator %s stands twice in a list of calibrators", m.Name)
		}
		all = append(all, m)
		text := m.New(m.Value, Scheme{}).String()
		if c, err := all.Parse(text, Scheme{}); err != nil || c.String() != text || !strings.HasPrefix(text+":", m.Name+":") {
			return nil, fmt.Errorf("calibrator %s calls itself %q, by which it is not found", m.Name, text)
		}
	}
	return all, nil
}

// Names returns the names of the methods.
func (all Methods) Names() []string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return names
}

// ParseCalibrator returns the calibrator that a text such as "entropy" or "percentile:99.9" names.
func ParseCalibrator(text string, s Scheme) (Calibrator, error) { return Calibrators().Parse(text, s) }

// Parse returns the calibrator that a text names.
func (all Methods) Parse(text string, s Scheme) (Calibrator, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	name, param, hasParam := strings.Cut(text, ":")
	for _, m := range all {
		if m.Name != name {
			continue
		}
		value := m.Value
		if hasParam {
			if m.Param == "" {
				return nil, fmt.Errorf("calibrator %s takes no parameter, got %q", name, param)
			}
			v, err := strconv.ParseFloat(strings.TrimPrefix(param, m.Param+"="), 64)
			if err != nil || !(v >= m.Min && v <= m.Max) || m.Whole && v != math.Trunc(v) {
				kind := "a number"
				if m.Whole {
					kind = "an integer"
				}
				return nil, fmt.Errorf("calibrator %s: %s must be %s from %g to %g, got %q", name, m.Param, kind, m.Min, m.Max, param)
			}
			value = v
		}
		return m.New(value, s), nil
	}
	return nil, fmt.Errorf("calibrator %q is unknown; there are %s", text, strings.Join(all.Names(), ", "))
}

// MinMax clips nothing: TensorRT's IInt8MinMaxCalibrator.
type MinMax struct{ Scheme Scheme }

func (c MinMax) String() string { return "minmax" }

// Range spans the least and the largest value.
func (c MinMax) Range(h *Histogram) numeric.Range {
	if h.Count() == 0 {
		return numeric.Range{}
	}
	return c.Scheme.Range(float64(h.Min()), float64(h.Max()))
}

// Percentile clips the largest magnitudes: of a symmetric range, Percent % of all values (zeros count) are inside. An
// asymmetric range loses half of the rest at either end, or all of it at the one end where the values have one sign.
// Where more values than Percent are zero, nothing is clipped, since a threshold of zero would lose all there is.
type Percentile struct {
	Percent float64
	Scheme  Scheme
}

func (c Percentile) String() string {
	return "percentile:" + strconv.FormatFloat(c.Percent, 'g', -1, 64)
}

// Range interpolates within a bin.
func (c Percentile) Range(h *Histogram) numeric.Range {
	if h.Count() == 0 {
		return numeric.Range{}
	}
	lo, hi, w := float64(h.Min()), float64(h.Max()), h.Width()
	outside := (100 - c.Percent) / 100 * float64(h.Count())
	switch {
	case w == 0:
	case !c.Scheme.Asymmetric:
		hi = tail(h.magnitudes(), w, float64(h.AMax()), outside)
		lo = -hi
	case lo >= 0:
		hi = tail(h.side(false), w, hi, outside)
	case hi <= 0:
		lo = -tail(h.side(true), w, -lo, outside)
	default:
		hi = tail(h.side(false), w, hi, outside/2)
		lo = -tail(h.side(true), w, -lo, outside/2)
	}
	return c.Scheme.Range(lo, hi)
}

// tail returns the threshold that leaves a number of values above it, given the counts of bins of width w of which
// the last ends at end; end itself where the threshold would be zero.
func tail(counts []uint64, w, end, outside float64) float64 {
	top := end
	for i := len(counts) - 1; i >= 0; i-- {
		bottom, n := float64(i)*w, float64(counts[i])
		if n > outside {
			return top - (top-bottom)*outside/n
		}
		outside -= n
		top = bottom
	}
	return end
}

// side returns the counts of the positive or the negative values by magnitude, up to the last bin that is not empty.
func (h *Histogram) side(negative bool) []uint64 {
	if h.lanes == nil {
		return nil
	}
	counts := make([]uint64, binsPerSide)
	n := 0
	for i := range counts {
		if counts[i] = h.at(slot(i, negative)); counts[i] > 0 {
			n = i + 1
		}
	}
	return counts[:n]
}

// clipped returns the range with magnitudes limited to t: [-t, t] cut to the least and largest value.
func (s Scheme) clipped(h *Histogram, t float64) numeric.Range {
	return s.Range(max(float64(h.Min()), -t), min(float64(h.Max()), t))
}

// levels returns how many integers represent the larger side of h's values: 128 where both sides are equal, 256 where
// there is one side only.
func (s Scheme) levels(h *Histogram) int {
	lo, hi := min(0, float64(h.Min())), max(0, float64(h.Max()))
	if !s.Asymmetric || lo == hi {
		return 128
	}
	return int(math.Round(256 * max(hi, -lo) / (hi - lo)))
}

// decibels returns the ratio of two powers in dB, at most [MaxDB].
func decibels(signal, noise float64) float64 {
	if noise <= 0 || signal <= 0 {
		if noise <= 0 {
			return MaxDB
		}
		return -MaxDB
	}
	return max(-MaxDB, min(MaxDB, 10*math.Log10(signal/noise)))
}

// MaxDB stands for a ratio without noise, so that every ratio is a finite number: float32 itself does not reach it.
const MaxDB = 200
