package quant

import (
	"math"

	"github.com/trtui/trtui/core/graph"
)

// Entropy clips where the distribution of the quantised values is nearest to the real one in the sense of Kullback and
// Leibler: TensorRT's IInt8EntropyCalibrator2, as described in S. Migacz, "8-bit inference with TensorRT" (GTC 2017),
// with the details of NVIDIA's pytorch-quantization (calib/histogram.py). For each threshold of i bins, from the number
// of levels (128) to all bins:
//
//	P = the counts below the threshold, what lies above it added to the last bin
//	Q = the counts below the threshold, merged into 128 levels of equal width, each spread evenly over those of its
//	    bins that are not empty
//	KL(P, Q) = sum of P ln(P/Q), both normalised
//
// and the least divergence wins, the largest threshold where several are equal. Exact zeros take no part, and the first
// bin counts as much as the second, so that the spike at zero that activations leave does not decide. Unlike in the
// sources, what lies above the threshold goes to the last bin that is not empty, so that the divergence is finite for
// sparse data too, and the values of a tensor that saturates (ReLU6, white pixels) count as what they are: a spike at the
// largest value, which the largest threshold represents exactly. Without that, the cost of spreading the spike over its
// level drives the threshold far below it, and a seventh of the values with it. For the same reason thresholds that clip
// more than a hundredth of the values are not tried: the divergence counts how many values are clipped, but not how far
// they are moved, and distributions with several spikes (grey levels of pictures) would lose half their range.
//
// An asymmetric range is clipped at the same magnitude at both ends; values of one sign then have 256 levels.
type Entropy struct{ Scheme Scheme }

func (c Entropy) String() string { return "entropy" }

// Range tries every threshold; it takes a few milliseconds.
func (c Entropy) Range(h *Histogram) graph.Range {
	if h.Count() == 0 {
		return graph.Range{}
	}
	d := newDivergence(h.magnitudes(), c.Scheme.levels(h))
	n := len(d.total) - 1
	best, threshold := math.Inf(1), float64(h.AMax())
	for i := d.levels; i <= n; i++ {
		if i < n && d.total[n]-d.total[i] > maxClipped*d.total[n] {
			continue
		}
		if kl := d.at(i); kl <= best {
			best = kl
			threshold = min(float64(i)*h.Width(), float64(h.AMax()))
		}
	}
	return c.Scheme.clipped(h, threshold)
}

// maxClipped is the largest share of the values that a threshold may clip.
const maxClipped = 0.01

// divergence computes KL(P, Q) for thresholds of any number of bins in time that depends on the levels alone, from
// sums over the bins before each bin.
type divergence struct {
	levels int
	spike  float64   // values in the last bin, where they stand out from their level: 0 where they do not
	total  []float64 // counts
	filled []float64 // bins that are not empty
	logs   []float64 // count * ln(count)
	last   []int     // the last bin that is not empty
	counts []float64
}

func newDivergence(counts []uint64, levels int) *divergence {
	n := len(counts)
	d := &divergence{levels: levels, counts: make([]float64, n), total: make([]float64, n+1), filled: make([]float64, n+1),
		logs: make([]float64, n+1), last: make([]int, n+1)}
	for i, c := range counts {
		if i == 0 && n > 1 {
			c = counts[1]
		}
		d.counts[i] = float64(c)
		d.total[i+1], d.filled[i+1], d.logs[i+1], d.last[i+1] = d.total[i]+float64(c), d.filled[i], d.logs[i], d.last[i]
		if c > 0 {
			d.filled[i+1]++
			d.logs[i+1] += xlogx(float64(c))
			d.last[i+1] = i
		}
	}
	d.spike = d.saturated()
	return d
}

// spikeRatio is how many times as full as the bins of its level the last bin must be to count as saturation.
const spikeRatio = 4

// saturated returns the count of the last bin where it is a spike.
func (d *divergence) saturated() float64 {
	n := len(d.counts)
	begin := ((d.levels-1)*n + d.levels - 1) / d.levels
	if n <= d.levels || n-1 <= begin {
		return 0
	}
	rest := d.total[n-1] - d.total[begin]
	if last := d.counts[n-1]; last > spikeRatio*rest/float64(n-1-begin) {
		return last
	}
	return 0
}

// at returns the divergence for a threshold of i bins; +Inf where nothing lies below it.
func (d *divergence) at(i int) float64 {
	all, inside := d.total[len(d.total)-1], d.total[i]
	if inside == 0 {
		return math.Inf(1)
	}
	outside := all - inside
	last := d.last[i]
	p := d.logs[i] - xlogx(d.counts[last]) + xlogx(d.counts[last]+outside) // sum of P ln P, unnormalised
	var q float64                                                          // sum of P ln Q
	for level, begin := 0, 0; level < d.levels; level++ {
		end := ((level+1)*i + d.levels - 1) / d.levels
		s, filled := d.total[end]-d.total[begin], d.filled[end]-d.filled[begin]
		if end == len(d.counts) && d.spike > 0 {
			q += xlogx(d.spike) // a level of its own
			s, filled = s-d.spike, filled-1
		}
		if s > 0 {
			ln := math.Log(s / filled)
			q += s * ln
			if last >= begin && last < end {
				q += outside * ln
			}
		}
		begin = end
	}
	return max(0, (p-q)/all-math.Log(all)+math.Log(inside))
}

func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}
