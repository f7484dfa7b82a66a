package budget

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// limit is what a metric may be at most or, where more is better, at least.
type limit struct {
	metric   *metric
	line     int
	asked    string
	relative bool    // to the baseline's
	value    float64 // in the metric's unit; of a relative one what is added
	share    float64 // of the baseline's that is added
}

// leastTolerance is how far a latency's limit is from the baseline at least: engines with the same kernels differ by up to 1.4 %,
// whatever the number of rounds, with where their tensors happen to lie.
const leastTolerance = 0.02

// written is how limits are written: "2.5 ms", "97 %", "baseline", "baseline + 5 %", "baseline - 0.5 dB".
var written = regexp.MustCompile(`^(?:(baseline)\s*(?:([+-])\s*([0-9.]+)\s*([a-zA-Z%]*))?|([0-9.]+)\s*([a-zA-Z%]*))$`)

// factors are the units in which limits of a unit may be written, as multiples of it.
var factors = map[string]map[string]float64{
	"ms":    {"ms": 1, "us": 1e-3, "µs": 1e-3, "s": 1e3},
	"share": {"": 1, "%": 0.01},
	"db":    {"": 1, "db": 1},
	"bytes": {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 1e3, "mb": 1e6, "gb": 1e9},
	"ratio": {"": 1},
	"":      {"": 1},
}

// parseLimit reads a limit of a metric.
func parseLimit(m *metric, text string) (l limit, err error) {
	l = limit{metric: m, asked: text}
	parts := written.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return l, fmt.Errorf("%q is no limit: want %s, or baseline with + or - a share or such a figure", text, example(m))
	}
	if parts[1] == "" {
		l.value, err = figure(m, parts[5], parts[6])
		return l, err
	}
	l.relative = true
	if parts[2] == "" {
		return l, l.tolerant()
	}
	if parts[4] == "%" && m.unit != "share" {
		l.share, err = number(parts[3])
		l.share /= 100
	} else {
		l.value, err = figure(m, parts[3], parts[4])
	}
	if parts[2] == "-" {
		l.share, l.value = -l.share, -l.value
	}
	if err == nil {
		err = l.tolerant()
	}
	return l, err
}

// tolerant refuses a limit on times that is nearer to the baseline's than measurements can tell.
func (l limit) tolerant() error {
	if l.metric.rounds == nil || l.share >= leastTolerance || l.value > 0 {
		return nil
	}
	return fmt.Errorf("%q: of latencies nothing under baseline + %g %% can be told from what memory's layout does", l.asked, 100*leastTolerance)
}

// figure reads a number with a unit.
func figure(m *metric, text, unit string) (float64, error) {
	f, ok := factors[m.unit][strings.ToLower(unit)]
	if !ok {
		return 0, fmt.Errorf("%q is no unit of %s: want %s", unit, m.name, example(m))
	}
	v, err := number(text)
	if err == nil && m.unit == "share" && v*f > 1 {
		return 0, fmt.Errorf("%s is more than all: want %s", strings.TrimSpace(text+" "+unit), example(m))
	}
	return v * f, err
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return v, nil
}

// example is how a limit of a metric may be written.
func example(m *metric) string {
	return map[string]string{"ms": "2.5 ms", "share": "97 % or 0.97", "db": "30 dB", "bytes": "12 MiB", "ratio": "a figure", "": "a count"}[m.unit]
}

// at returns the limit in the metric's unit, given the baseline's figure.
func (l limit) at(baseline float64) float64 {
	if !l.relative {
		return l.value
	}
	return baseline*(1+l.share) + l.value
}
