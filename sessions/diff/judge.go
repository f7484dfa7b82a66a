package diff

import (
	"math"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// judge says of groups whether their changes are more than noise.
type judge struct {
	groups []report.LayerChange
	known  []*evidence // by group; nil of one that a side lacks, or where it takes no time
	occasions
}

func newJudge(groups []report.LayerChange, known []*evidence, alike, inTurns bool) *judge {
	var same []evidence
	for i := range groups {
		if groups[i].Kind == report.KindSame && known[i] != nil {
			same = append(same, *known[i])
		}
	}
	return &judge{groups, known, *newOccasions(same, alike, inTurns)}
}

// verdicts judges each group, and reports whether any was tested; exact: the times are estimates, which do not vary.
func (j *judge) verdicts(exact bool) bool {
	var p []float64
	var at []int
	for i := range j.groups {
		switch c := &j.groups[i]; {
		case c.Kind == report.KindAdded || c.Kind == report.KindRemoved:
		case exact:
			c.P, c.Q, c.Significant = nil, nil, c.Delta != 0
		case c.P != nil:
			if j.known[i] != nil { // it is to be more than both explain: rounds, and occasions
				*c.P = max(*c.P, j.chance(j.known[i]))
			}
			p, at = append(p, *c.P), append(at, i)
		}
	}
	for k, q := range falseDiscoveries(p) {
		c := &j.groups[at[k]]
		c.Q = &q
		c.Significant = q <= Discoveries && abs(c.Delta) >= max(report.LeastDelta, c.Least) && max(c.Ratio, 1/c.Ratio) >= report.LeastRatio
		c.Slight = q <= Discoveries && !c.Significant && c.Delta != 0
		if e := j.known[at[k]]; e != nil {
			counts := 1 + float64(max(report.LeastDelta, c.Least))/e.time
			c.Told = max(j.occasions.told(e, Discoveries/float64(len(p))), counts, report.LeastRatio)
		}
	}
	return len(p) > 0
}

// told returns from which ratios on those groups are told that take a hundredth of so much.
func (j *judge) told(of time.Duration) *report.ToldRange {
	var r *report.ToldRange
	for i := range j.groups {
		switch c := &j.groups[i]; {
		case c.Told == 0 || j.known[i].time < float64(of)/100:
		case r == nil:
			r = &report.ToldRange{Least: c.Told, Most: c.Told}
		default:
			r.Least, r.Most = min(r.Least, c.Told), max(r.Most, c.Told)
		}
	}
	return r
}

// common returns what layers with the same kernels have in common; nil where there are few of them.
func (j *judge) common() *report.CommonChange {
	const few, half = 3, 2
	var ratios []float64
	for _, c := range j.groups {
		if c.Kind == report.KindSame && c.Ratio > 0 {
			ratios = append(ratios, c.Ratio)
		}
	}
	if len(ratios) < few {
		return nil
	}
	c := &report.CommonChange{Layers: len(ratios), Ratio: median(ratios)}
	if len(j.points) >= leastNear {
		c.Spread = math.Expm1(median(each(j.points, func(e evidence) float64 { return math.Abs(e.logs[half]) })))
	}
	return c
}
