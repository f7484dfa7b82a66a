package diff

import (
	"math"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// The rounds of one side are of one occasion: they know nothing of what differs from one start of a program to the next, such as
// where in memory tensors come to lie. What layers with the same kernels differ by tells of that: by how much those that take about
// as long scatter around what all have in common.
const (
	neighbours = 50   // with the same kernels, nearest in time, that tell how a layer may differ
	leastNear  = 5    // fewer tell nothing
	presumed   = 0.01 // the spread of logarithms of ratios where nothing tells, as between runs of one engine
	leastKnown = 0.003
	farthest   = 8    // times as long or as short as a layer: others are not like it
	mostKnown  = 0.25 // what scatters by more was disturbed, or reads what another kernel has left in a cache: rounds tell of that
)

// occasions is how layers differ that are the same.
type occasions struct {
	shift float64 // of logarithms of ratios, that all have in common
	times []float64
	logs  []float64 // by time, less the shift
}

// newOccasions looks at the groups with the same kernels. What they have in common is the machine's only where nothing else
// differs that all layers depend on.
func newOccasions(groups []report.LayerChange, alike bool) *occasions {
	o := &occasions{}
	type point struct{ time, log float64 }
	var points []point
	for i := range groups {
		if c := &groups[i]; c.Kind == report.KindSame && c.Ratio > 0 {
			points = append(points, point{timeOf(c), math.Log(c.Ratio)})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	for _, p := range points {
		o.times, o.logs = append(o.times, p.time), append(o.logs, p.log)
	}
	if alike && len(points) >= leastNear {
		o.shift = median(o.logs)
	}
	for i := range o.logs {
		o.logs[i] -= o.shift
	}
	return o
}

// chance returns the probability that a layer differs as much from one occasion to another: Student's t, whose degrees of freedom
// are those of a median of deviations, which is 37 % as efficient as a standard deviation. A change that goes the way all go, and
// less far, is theirs as a whole.
func (o *occasions) chance(c *report.LayerChange) float64 {
	change := math.Log(c.Ratio)
	if change*(change-o.shift) <= 0 {
		return 1
	}
	spread, degrees := o.spread(c)
	return student((change-o.shift)/spread, degrees)
}

// spread returns by how much the layers nearest in time to a group scatter, itself left out, and the degrees of freedom of that.
func (o *occasions) spread(c *report.LayerChange) (spread float64, degrees int) {
	time, own := timeOf(c), math.Log(max(c.Ratio, 1e-300))-o.shift
	at, _ := slices.BinarySearch(o.times, time)
	from, to, skipped := at, at, c.Kind != report.KindSame
	var near []float64
	for len(near) < neighbours && (from > 0 || to < len(o.times)) {
		i := to
		if to == len(o.times) || from > 0 && time/o.times[from-1] < o.times[to]/time {
			from--
			i = from
		} else {
			to++
		}
		if ratio := o.times[i] / time; ratio > farthest || ratio < 1.0/farthest {
			break
		}
		if !skipped && o.times[i] == time && o.logs[i] == own {
			skipped = true
			continue
		}
		near = append(near, math.Abs(o.logs[i]))
	}
	if len(near) < leastNear {
		return presumed, leastNear
	}
	const normal, efficiency = 1.4826, 0.37
	return min(max(normal*median(near), leastKnown), mostKnown), max(int(efficiency*float64(len(near)-1)), 2)
}

// timeOf returns what a group takes in A.
func timeOf(c *report.LayerChange) float64 {
	sum := 0.0
	for _, l := range c.A {
		sum += float64(l.Time)
	}
	return max(sum, 1)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// student returns the probability that Student's t with n degrees of freedom, 2 at least, is as far from 0 as t (Abramowitz and
// Stegun, 26.7.3 and 26.7.4).
func student(t float64, n int) float64 {
	theta := math.Atan(math.Abs(t) / math.Sqrt(float64(n)))
	sin, cos := math.Sincos(theta)
	sum, term, first := 0.0, 1.0, n%2 // terms in powers of the cosine, from the 0th or the 1st on
	if first == 1 {
		term = cos
	}
	for k := first; k <= n-2; k += 2 {
		sum += term
		term *= cos * cos * float64(k+1) / float64(k+2)
	}
	inside := sin * sum
	if first == 1 {
		inside = 2 / math.Pi * (theta + inside)
	}
	return max(1-inside, 0)
}
