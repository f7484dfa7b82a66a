package compare

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
)

// Metric is a measure by which a whole tensor of a batch is judged, as Polygraphy's comparison functions have them.
type Metric struct {
	Name  string
	Doc   string
	Usual float64 // the limit where none is given
	Least bool    // it is to be at least the limit, not at most
	dB    bool
	of    func(a, b []float64, dims []int, limit float64) float64
}

// Metrics are all there are.
func Metrics() []Metric {
	return []Metric{
		{"l2", "the Euclidean distance |a - b|", 1e-5, false, false, l2},
		{"cosine_similarity", "the cosine between a and b", 0.997, true, false, cosine},
		{"psnr", "the highest element of a over the RMS of a - b, in dB", 30, true, true, psnr},
		{"snr", "a over a - b, in dB", 20, true, true, snr},
		{"indices", "how many places an index of a stands from its place in b, along the last axis", 0, false, false, places},
	}
}

// limited is a metric with its limit, and the worst value of all batches.
type limited struct {
	Metric
	limit, worst float64
	any          bool
}

// add measures a batch. What is no number is worse than any.
func (l *limited) add(a, b []float64, dims []int) {
	v := l.of(a, b, dims, l.limit)
	if worse := v != v || l.Least == (v < l.worst) && v != l.worst; !l.any || worse && l.worst == l.worst {
		l.worst, l.any = v, true
	}
}

// report says what was found. Decibels end where reports' do, and what is no number fails as 0 dB or as an endless distance do.
func (l *limited) report() report.MetricValue {
	v := report.MetricValue{Name: l.Name, Limit: l.limit, Least: l.Least, Value: l.worst, Passed: l.worst <= l.limit}
	if l.Least {
		v.Passed = l.worst >= l.limit
	}
	switch {
	case l.worst != l.worst && l.Least:
		v.Value = 0
	case l.worst != l.worst || math.IsInf(l.worst, 1) && !l.dB:
		v.Value = math.MaxFloat64
	case l.dB:
		v.Value = min(max(l.worst, -report.MaxDB), report.MaxDB)
	}
	return v
}

func l2(a, b []float64, _ []int, _ float64) float64 { return math.Sqrt(squared(a, b)) }

// squared sums the squares of a - b.
func squared(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}

// cosine is 1 between zeros, and 0 between them and anything else.
func cosine(a, b []float64, _ []int, _ float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for i, x := range a {
		dot, aa, bb = dot+x*b[i], aa+x*x, bb+b[i]*b[i]
	}
	switch {
	case aa == 0 && bb == 0:
		return 1
	case aa == 0 || bb == 0:
		return 0
	}
	return min(max(dot/math.Sqrt(aa)/math.Sqrt(bb), -1), 1)
}

// psnr takes a peak that is not positive for 1.
func psnr(a, b []float64, _ []int, _ float64) float64 {
	mean := squared(a, b) / float64(max(len(a), 1))
	if mean == 0 {
		return math.Inf(1)
	}
	peak := slices.Max(a)
	if peak <= 0 {
		peak = 1
	}
	return 20*math.Log10(peak) - 10*math.Log10(mean)
}

func snr(a, b []float64, _ []int, _ float64) float64 {
	signal, noise := 0.0, squared(a, b)
	for _, x := range a {
		signal += x * x
	}
	if noise == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(signal/noise)
}

// places returns how far an element of a row of a stands at most from its first place in that of b, and the length of a row for one
// that is not there. As many as the limit at the end of a row are left out: what is there may stand behind b's end.
func places(a, b []float64, dims []int, limit float64) (most float64) {
	if len(dims) == 0 || dims[len(dims)-1] == 0 {
		dims = []int{max(len(a), 1)}
	}
	n := dims[len(dims)-1]
	for from := 0; from+n <= len(a); from += n {
		row, other := a[from:from+n], b[from:from+n]
		for i, x := range row[:max(n-int(limit), 0)] {
			if x == other[i] {
				continue
			}
			at := slices.Index(other, x)
			if at < 0 {
				return float64(n)
			}
			most = max(most, math.Abs(float64(at-i)))
		}
	}
	return most
}

// Top are the places of the highest elements along an axis of an output, which are compared in place of it.
type Top struct{ K, Axis int }

// of returns the places of the highest elements, the highest first, the lower place first among equals.
func (t Top) of(v numeric.Value) (numeric.Value, bool) {
	axis := t.Axis
	if axis < 0 {
		axis += len(v.Dims)
	}
	if axis < 0 || axis >= len(v.Dims) || v.Type == numeric.Str {
		return v, false
	}
	n := v.Dims[axis]
	dims := slices.Clone(v.Dims)
	dims[axis] = min(t.K, n)
	out := numeric.NewValue(numeric.I64, dims...)
	x, inner := v.Float64s(), numeric.Count(v.Dims[axis+1:])
	order := make([]int, n)
	for row := range numeric.Count(v.Dims[:axis]) {
		for col := range inner {
			at := func(i int) float64 { return x[(row*n+i)*inner+col] }
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(i, j int) int {
				switch a, b := at(i), at(j); {
				case a > b || b != b && a == a:
					return -1
				case a < b || a != a && b == b:
					return 1
				}
				return 0
			})
			for i := range dims[axis] {
				out.I64()[(row*dims[axis]+i)*inner+col] = int64(order[i])
			}
		}
	}
	return out, true
}
