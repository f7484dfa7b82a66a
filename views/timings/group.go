package timings

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// groupLayers sums layers up by what they have in common. Medians and percentiles of a sum are not sums of theirs, but
// for layers that run one after the other they come close.
func groupLayers(layers []report.LayerTiming, by string) ([]report.LayerTiming, []int) {
	count := make([]int, 0, len(layers))
	if by == "layer" {
		for range layers {
			count = append(count, 1)
		}
		return layers, count
	}
	var rows []report.LayerTiming
	for _, l := range layers {
		name := map[string]string{"type": l.Op, "precision": l.Precision, "tactic": l.Tactic}[by]
		if l.Reformat && by == "type" {
			name = "Reformat"
		}
		i := slices.IndexFunc(rows, func(r report.LayerTiming) bool { return r.Name == name })
		if i < 0 {
			i = len(rows)
			rows = append(rows, report.LayerTiming{Name: name, Precision: l.Precision, Op: l.Op, Tactic: l.Tactic})
			count = append(count, 0)
		}
		addTiming(&rows[i], &l)
		count[i]++
	}
	for i := range rows {
		r := &rows[i]
		if r.Median > 0 {
			r.GFLOPS = float64(r.FLOPs) / float64(r.Median)
		}
		if r.Roof != nil && r.Bytes > 0 {
			r.Roof.Intensity = float64(r.Roof.Operations) / float64(r.Bytes)
		}
		r.Name = fmt.Sprintf("%s (%d)", r.Name, count[i])
	}
	return rows, count
}

// addTiming adds the times of l to those of r.
func addTiming(r, l *report.LayerTiming) {
	// The variance of a sum of independent times is the sum of the variances.
	variance := math.Pow(r.CV*float64(r.Mean), 2) + math.Pow(l.CV*float64(l.Mean), 2)
	r.Mean += l.Mean
	r.Median += l.Median
	r.Min += l.Min
	r.Max += l.Max
	r.P90 += l.P90
	r.P95 += l.P95
	r.P99 += l.P99
	r.Share += l.Share
	sumRoof(r, l)
	r.FLOPs += l.FLOPs
	r.Bytes += l.Bytes
	r.Count = l.Count
	if r.Mean > 0 {
		r.CV = math.Sqrt(variance) / float64(r.Mean)
	}
	for i, d := range l.Recent {
		if i == len(r.Recent) {
			r.Recent = append(r.Recent, 0)
		}
		r.Recent[i] += d
	}
	if r.Precision != l.Precision {
		r.Precision = "mixed"
	}
	if r.Op != l.Op {
		r.Op = "·"
	}
	if r.Tactic != l.Tactic {
		r.Tactic = "·"
	}
}

// sumRoof adds where l stands to where the sum r stands, of which so much time is under ceilings.
func sumRoof(r, l *report.LayerTiming) {
	if l.Roof == nil {
		return
	}
	if r.Roof == nil {
		sum := *l.Roof
		r.Roof = &sum
		return
	}
	a, b := r.Roof, l.Roof
	took := float64(a.Floor)/a.OfPeak + float64(b.Floor)/b.OfPeak
	a.Floor += b.Floor
	a.Operations += b.Operations
	a.OfPeak = float64(a.Floor) / took
	a.Reached, a.Ceiling = float64(a.Operations)/took, float64(a.Operations)/float64(max(a.Floor, time.Nanosecond))
	if a.Bound != b.Bound {
		a.Bound = "·"
	}
}
