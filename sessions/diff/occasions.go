package diff

import (
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// What is measured on one occasion tells nothing of what differs from one occasion to the next: what else the machine does, where in
// memory tensors come to lie. What layers with the same kernels differ by does tell of that, beyond the factor that all have in common.
//
// A machine that is busy has two paces, with a core for each worker and without, and how often it has which differs from occasion to
// occasion, and from layer to layer. A single percentile of a layer's samples jumps from the one pace to the other where that share
// passes it: of the same thing measured twice medians were 1.5 times as long. But of a layer that takes longer all percentiles move,
// and by as much. So what counts is the least by which any of them moved, where all moved the same way.

// percentiles are those by which layers are compared: 10, 25, 50 and 75 %.
type percentiles [4]float64

const (
	neighbours = 30                    // with the same kernels, nearest in time, that tell how a layer may differ
	leastNear  = 5                     // fewer tell nothing
	presumed   = 0.015                 // the spread of logarithms of ratios where nothing tells, as of layers of one engine that is loaded twice
	leastKnown = 0.003                 // and the least that layers tell
	farthest   = 8                     // times as long or as short as a layer: others are not like it
	mostKnown  = 0.4                   // what scatters by more, and by more than twice what rounds do, reads what another kernel has left in a cache
	disturbed  = 100 * time.Nanosecond // by which a layer may be off, however short it is: cold code, a timer's steps
)

// evidence is what is known of a group beside its change.
type evidence struct {
	time    float64     // nanoseconds, the geometric mean of both sides
	logs    percentiles // of logarithms of ratios
	scatter float64     // of logarithms of rounds, of both sides together
	rounds  int         // of the side that has fewer

	control   bool // it has the same kernel on both sides
	displaced bool // and the step before it is another one: caches are not as they were
}

// occasions is how layers differ that are the same.
type occasions struct {
	shift  percentiles // that all have in common
	points []evidence  // of the same kernels, by time, less the shift
	most   float64     // that a spread can be

	inTurns bool // both sides were measured in the same rounds: the machine was the same to them
}

// newOccasions looks at what is known of groups with the same kernels. What they have in common is the machine's only where nothing
// else differs that all layers depend on.
func newOccasions(same []evidence, alike, inTurns bool) *occasions {
	o := &occasions{points: slices.Clone(same), inTurns: inTurns}
	slices.SortStableFunc(o.points, func(a, b evidence) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	if alike && len(same) >= leastNear {
		for q := range o.shift {
			o.shift[q] = median(each(same, func(e evidence) float64 { return e.logs[q] }))
		}
	}
	for i := range o.points {
		for q := range o.shift {
			o.points[i].logs[q] -= o.shift[q]
		}
	}
	if len(same) > 0 {
		o.most = max(mostKnown, 2*median(each(same, func(e evidence) float64 { return e.scatter })))
	}
	return o
}

func each(list []evidence, of func(evidence) float64) []float64 {
	values := make([]float64, len(list))
	for i, e := range list {
		values[i] = of(e)
	}
	return values
}

// beyond returns the least by which a group's percentiles are off what all have in common, 0 where they are not all off to the same
// side. A change that goes the way all go, and less far, is theirs as a whole.
func (o *occasions) beyond(e *evidence) float64 {
	least := math.Inf(1)
	for q, change := range e.logs {
		off := change - o.shift[q]
		if change*off <= 0 || off*(e.logs[0]-o.shift[0]) < 0 {
			return 0
		}
		least = min(least, math.Abs(off))
	}
	return least
}

// chance returns the probability that a layer differs as much from one occasion to another: Student's t.
func (o *occasions) chance(e *evidence) float64 {
	spread, degrees := o.spread(e)
	return student(o.beyond(e)/spread, degrees)
}

// told returns from which ratio on a layer's change has a probability within chance, by occasions and by its rounds, of whose median
// the standard error is 1.25 times that of their mean.
func (o *occasions) told(e *evidence, chance float64) float64 {
	spread, degrees := o.spread(e)
	within := 1.2533 * e.scatter / math.Sqrt(float64(max(e.rounds, 1)))
	return math.Exp(max(spread*studentAt(chance, degrees), within*studentAt(chance, max(2*e.rounds-2, 2))))
}

// spread returns by how much the layers nearest in time to a group scatter, itself left out, and the degrees of freedom of that: a
// median of deviations is 37 % as efficient as a standard deviation, and four percentiles tell as much as one and a half that are
// independent. Where too few are near, rounds tell how the machine changes from one to the next, unless it was the same to both.
func (o *occasions) spread(e *evidence) (spread float64, degrees int) {
	short := float64(disturbed) / e.time
	at, _ := slices.BinarySearchFunc(o.points, e.time, func(p evidence, t float64) int { return int(math.Copysign(1, p.time-t)) })
	from, to, skipped := at, at, false
	var off []float64
	for len(off) < neighbours*len(e.logs) && (from > 0 || to < len(o.points)) {
		i := to
		if to == len(o.points) || from > 0 && e.time/o.points[from-1].time < o.points[to].time/e.time {
			from--
			i = from
		} else {
			to++
		}
		p := &o.points[i]
		if ratio := p.time / e.time; ratio > farthest || ratio < 1.0/farthest {
			break
		}
		if e.control && p.displaced != e.displaced {
			continue
		}
		if !skipped && o.is(p, e) {
			skipped = true
			continue
		}
		for _, v := range p.logs {
			off = append(off, math.Abs(v))
		}
	}
	near := len(off) / len(e.logs)
	if near < leastNear {
		spread := math.Hypot(presumed, short)
		if e.displaced {
			spread = math.Hypot(mostKnown, short)
		}
		if o.inTurns {
			return spread, leastNear
		}
		return math.Hypot(spread, e.scatter), leastNear
	}
	const normal, efficiency, independent = 1.4826, 0.37, 1.5
	return math.Hypot(short, min(max(normal*median(off), leastKnown), o.most)), max(int(efficiency*independent*float64(near)), 2)
}

// is reports whether a point is that of a group.
func (o *occasions) is(p, e *evidence) bool {
	if p.time != e.time {
		return false
	}
	for q := range p.logs {
		if p.logs[q] != e.logs[q]-o.shift[q] {
			return false
		}
	}
	return true
}

// evidenceOf returns what is known of steps of two sides beside their change; nil where one takes no time.
func evidenceOf(a, b []*report.LayerTiming) *evidence {
	ra, rb := rounds(a), rounds(b)
	ta, tb := taken(a), taken(b)
	if ta[0] == 0 || tb[0] == 0 {
		ta, tb = ofRounds(ra), ofRounds(rb)
	}
	e := &evidence{scatter: math.Hypot(scatter(ra), scatter(rb)), rounds: min(len(ra), len(rb))}
	for q := range e.logs {
		if ta[q] <= 0 || tb[q] <= 0 {
			return nil
		}
		e.logs[q] = math.Log(tb[q] / ta[q])
	}
	const half = 2 // of the percentiles
	e.time = math.Sqrt(ta[half] * tb[half])
	return e
}

// taken returns the percentiles of what steps take, in nanoseconds: sums of theirs. Where one of them has none, as in recordings of
// older programs, all are 0.
func taken(steps []*report.LayerTiming) (sum percentiles) {
	for _, l := range steps {
		if l.P10 == 0 {
			return percentiles{}
		}
		for q, d := range []time.Duration{l.P10, l.P25, l.Median, l.P75} {
			sum[q] += float64(d)
		}
	}
	return sum
}

// ofRounds returns the percentiles of medians of rounds, which are less apart than those of samples.
func ofRounds(rounds []time.Duration) (p percentiles) {
	sorted := slices.Sorted(slices.Values(rounds))
	for q, share := range []float64{0.1, 0.25, 0.5, 0.75} {
		if len(sorted) > 0 {
			p[q] = float64(sorted[int(share*float64(len(sorted)-1)+0.5)])
		}
	}
	return p
}

// scatter returns the spread of the logarithms of times, by the median of their deviations; 0 of none.
func scatter(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	logs := make([]float64, len(times))
	for i, d := range times {
		logs[i] = math.Log(float64(max(d, 1)))
	}
	half := median(logs)
	for i := range logs {
		logs[i] = math.Abs(logs[i] - half)
	}
	return 1.4826 * median(logs)
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

// studentAt returns the t that is reached with a probability: student's inverse, for those above 1e-9.
func studentAt(chance float64, n int) float64 {
	low, high := 0.0, 1.0
	for student(high, n) > chance && high < 1e6 {
		low, high = high, 2*high
	}
	for range 50 {
		if half := (low + high) / 2; student(half, n) > chance {
			low = half
		} else {
			high = half
		}
	}
	return high
}
