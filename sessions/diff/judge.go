package diff

import (
	"math"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Layers with the same kernel on both sides, for the same op at the same extents, are the controls of a comparison: nothing of them was
// changed, so that what they are apart by is its noise, of the machine, of where tensors lie, and of what the kernel before has left in
// the caches. The rule for a verdict:
//
//   - A layer differs by what it is apart beyond the controls that take about as long (occasions.spread). Of a control these are the others
//     that are like it: behind the same control on both sides, or displaced.
//   - Controls are judged among themselves, and all others among theirs: the false discoveries that are allowed among many real changes
//     are not to be controls.
//   - A control is displaced where the step before it is another one on the other side: it finds other things in the caches, and takes up
//     to half or twice as long. Where too few like it tell by how much, that is what it has to be beyond.

// judge says of groups whether their changes are more than noise.
type judge struct {
	groups []report.LayerChange
	known  []*evidence // by group; nil of one that a side lacks, or where it takes no time
	occasions
}

func newJudge(groups []report.LayerChange, known []*evidence, alike, inTurns bool) *judge {
	markControls(groups, known)
	var same []evidence
	for _, e := range known {
		if e != nil && e.control {
			same = append(same, *e)
		}
	}
	return &judge{groups, known, *newOccasions(same, alike, inTurns)}
}

// markControls marks what is known of groups with the same kernels, and which of these are displaced.
func markControls(groups []report.LayerChange, known []*evidence) {
	var of [2]map[int]int // the group of each step
	for side := range of {
		of[side] = map[int]int{}
	}
	for i := range groups {
		for side, steps := range [][]report.LayerSide{groups[i].A, groups[i].B} {
			for _, l := range steps {
				of[side][l.Step] = i
			}
		}
	}
	for i := range groups {
		g := &groups[i]
		if g.Kind != report.KindSame || known[i] == nil {
			continue
		}
		a, behindA := of[0][g.A[0].Step-1]
		b, behindB := of[1][g.B[0].Step-1]
		known[i].control = true
		known[i].displaced = behindA != behindB || behindA && (a != b || groups[a].Kind != report.KindSame)
	}
}

// verdicts judges each group, and reports whether any was tested; exact: the times are estimates, which do not vary.
func (j *judge) verdicts(exact bool) bool {
	var controls, others []int
	for i := range j.groups {
		switch c := &j.groups[i]; {
		case c.Kind == report.KindAdded || c.Kind == report.KindRemoved:
		case exact:
			c.P, c.Q, c.Significant = nil, nil, c.Delta != 0
		case c.P != nil:
			if j.known[i] != nil { // it is to be more than both explain: rounds, and occasions
				*c.P = max(*c.P, j.chance(j.known[i]))
			}
			if c.Kind == report.KindSame {
				controls = append(controls, i)
			} else {
				others = append(others, i)
			}
		}
	}
	j.discover(controls)
	j.discover(others)
	return len(controls)+len(others) > 0
}

// discover judges groups among themselves.
func (j *judge) discover(at []int) {
	p := make([]float64, len(at))
	for k, i := range at {
		p[k] = *j.groups[i].P
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
