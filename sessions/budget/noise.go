package budget

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Rounds is in how many rounds times are measured: enough that a tenth more is told from a twentieth on a machine that others
// use, too.
const Rounds = 45

// miss is the chance that an interval leaves the true median out, of all looks at a measurement that goes on together.
const miss = 0.01

// decision is what the rounds of a measurement say of a limit.
type decision struct {
	Value, Low, High float64
	known            bool // there were enough rounds for an interval
	verdict          report.Verdict
}

// decide says whether times are over a limit, by the interval in which what they are lies with 99 % confidence: they are where even
// its lower end is, so that of an engine at its limit one run in two hundred is. A value over the limit whose interval reaches below it
// is noise. With so few rounds that there is no interval the value decides. Times by themselves are held to the limit by their median
// and the interval of the sign test, which supposes nothing of how they are distributed but that rounds are independent; ratios to what
// was measured in turns by that of the signed-rank test, which needs half as many.
func decide(values []float64, limit float64, looks int, interval func(values []float64, chance float64) (value, low, high float64)) decision {
	d := decision{verdict: report.CheckOK}
	d.Value, d.Low, d.High = interval(values, miss/float64(max(1, looks)))
	d.known = d.Low > 0 && d.High > 0
	switch {
	case d.known && d.Low > limit, !d.known && d.Value > limit:
		d.verdict = report.CheckFailed
	case d.Value > limit:
		d.verdict = report.CheckNoise
	}
	return d
}

// open reports whether the interval has the limit in it, so that more rounds may tell on which side the median is.
func (d *decision) open(limit float64) bool { return d.known && d.Low <= limit && limit < d.High }

// mostRounds is how many rounds are worth waiting for.
const mostRounds = 100000

// telling returns how many rounds would tell a median from the limit, if it stays where it is and as far as it varies: an interval
// shrinks with the square root of their number. 0: more than anybody would wait for.
func (d *decision) telling(limit float64, rounds int) int {
	half, off := d.Value-d.Low, d.Value-limit
	if off < 0 {
		half, off = d.High-d.Value, -off
	}
	if n := float64(rounds) * (half / off) * (half / off); n <= mostRounds {
		return max(int(n)+1, rounds+1)
	}
	return 0
}

// Looks returns how often a measurement is looked at that begins with one time and goes on, doubling what there is, to another.
func Looks(first, longest time.Duration) int {
	looks := 1
	for t := first; t > 0 && t < longest; t *= 2 {
		looks++
	}
	return looks
}

// More returns in how many rounds more times are to be measured: as many as there are, or what is left of the longest time, so long
// as rounds do not tell on which side of a limit a time is.
func (b *Budget) More(m, baseline *Measured, took, longest time.Duration) int {
	n := len(m.rounds())
	if n == 0 || took <= 0 || took >= longest {
		return 0
	}
	for _, l := range b.limits {
		if l.metric.rounds == nil {
			continue
		}
		row := l.check(m, baseline, b.beside(m, baseline), b.Looks)
		if row.Low != nil && *row.Low <= row.Limit && row.Limit < *row.High {
			return min(n, int(float64(n)*(float64(longest)/float64(took)-1)))
		}
	}
	return 0
}
