package quant

import (
	"cmp"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Outliers are few channels that reach so much further than the others of their tensor that these lose a bit or more to one range for all.
type Outliers struct {
	Channels []int   // the furthest first
	Reach    float64 // the largest magnitude
	Rest     float64 // of the other channels
}

// Bits returns how many bits the other channels lose; 0 without outliers.
func (o Outliers) Bits() float64 {
	if len(o.Channels) == 0 || o.Rest <= 0 {
		return 0
	}
	return math.Log2(o.Reach / o.Rest)
}

// Channels are outliers only where they are at most one in so many, and reach at least twice as far as any other.
const (
	outlierShare = 16
	outlierReach = 2
)

// FindOutliers finds the outliers among channels that reach so far: at most one in sixteen, at least one, cut where the step down to
// the next channel is the largest.
func FindOutliers(reach []float64) Outliers {
	order := make([]int, len(reach))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(reach[b], reach[a]) })
	if len(order) < 3 || !(reach[order[0]] <= math.MaxFloat64) {
		return Outliers{}
	}
	at, step := 0, float64(outlierReach)
	for k := 1; k <= max(1, len(order)/outlierShare); k++ {
		if next := reach[order[k]]; next > 0 && reach[order[k-1]]/next >= step {
			at, step = k, reach[order[k-1]]/next
		}
	}
	if at == 0 {
		return Outliers{Reach: reach[order[0]], Rest: reach[order[0]]}
	}
	return Outliers{Channels: order[:at:at], Reach: reach[order[0]], Rest: reach[order[at]]}
}

// Outliers finds those among the channels.
func (c ChannelSpread) Outliers() Outliers {
	reach := make([]float64, len(c.Low))
	for i := range reach {
		reach[i] = c.AMax(i)
	}
	return FindOutliers(reach)
}

// ScaleWithout returns the scale that a tensor of range r would have if the given channels did not count: that with which a range of
// r's form reaches as far as the others do, at most r's own. They lose the bits between the two, which are fewer than [Outliers.Bits]
// where r clips the given channels.
func (c ChannelSpread) ScaleWithout(channels []int, r numeric.Range, t numeric.DataType) float64 {
	var lo, hi float64
	for i := range c.Low {
		if !slices.Contains(channels, i) {
			lo, hi = min(lo, c.Low[i]), max(hi, c.High[i])
		}
	}
	s := Scheme{Type: t}
	s.Asymmetric = r.ZeroAt(0) != s.Range(-1, 1).ZeroAt(0)
	return min(float64(s.Range(lo, hi).ScaleAt(0)), float64(r.ScaleAt(0)))
}
