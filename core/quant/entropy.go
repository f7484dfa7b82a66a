package quant

import (
	"math"
	"slices"
	"strconv"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Entropy clips where the distribution of the quantised values is nearest to the real one in the sense of Kullback and
// Leibler: TensorRT's IInt8EntropyCalibrator2, as described in S. Migacz, "8-bit inference with TensorRT" (GTC 2017),
// with the details of NVIDIA's pytorch-quantization (calib/histogram.py). For each threshold of i bins, from the number
// of levels (128) to all bins:
//
//	P = the counts below the threshold, what lies above it added to the last bin
//	Q = the counts below the threshold, merged into 128 levels of equal width, each spread evenly over those of its
//	    bins that are not empty
//	divergence = sum of P ln(P/Q) + sum of Q - sum of P, both divided by the sum of P
//
// and the least divergence wins, the largest threshold where several are equal. Exact zeros take no part, and the first
// bin counts as much as the second, so that the spike at zero that activations leave does not decide. The sources go
// astray on data that is sparse, constant in places or far from zero; what is different here is for these:
//
//   - Q is not normalised, so that what is clipped is missing in it. The difference is of second order in the share
//     that is clipped; but with Q normalised, a threshold below nearly all values looks perfect.
//   - A bin counts at most 8 times the median of its neighbours that are not empty: a value that occurs often by
//     itself, as the padding or background behind a convolution does, is no finer structure that quantisation loses.
//   - What lies above the threshold goes to the last bin that is not empty, so that the divergence is finite.
//   - Thresholds that clip more than a hundredth of the values are not tried: the divergence counts how many values are
//     clipped, but not how far they are moved.
//   - Bins are joined until they hold 4 values on average; below that, the divergence measures chance.
//
// An asymmetric range is clipped at the same magnitude at both ends; values of one sign then have 256 levels.
type Entropy struct {
	Scheme Scheme
	Bins   int // neighbouring bins are joined until magnitudes have no more; 0: all that a histogram has, up to 2048
}

func (c Entropy) String() string {
	if c.Bins == 0 {
		return "entropy"
	}
	return "entropy:bins=" + strconv.Itoa(c.Bins)
}

// Range tries every threshold; it takes a few milliseconds.
func (c Entropy) Range(h *Histogram) numeric.Range {
	if h.Count() == 0 {
		return numeric.Range{}
	}
	d := newDivergence(h, c.Scheme.levels(h), c.Bins)
	best, threshold := math.Inf(1), float64(h.AMax())
	for i := d.levels; i <= len(d.counts); i++ {
		if d.above[i] > maxClipped*d.above[0] {
			continue
		}
		if kl := d.at(i); kl <= best {
			best = kl
			threshold = min(float64(i)*d.width, float64(h.AMax()))
		}
	}
	return c.Scheme.clipped(h, threshold)
}

// maxClipped is the largest share of the values that a threshold may clip.
const maxClipped = 0.01

// divergence computes the divergence for thresholds of any number of bins in time that depends on the levels alone,
// from sums over the bins before each bin.
type divergence struct {
	levels int
	width  float64   // of a bin
	counts []float64 // of magnitudes, spikes limited
	total  []float64 // sums of counts
	filled []float64 // bins that are not empty
	logs   []float64 // sums of count * ln(count)
	last   []int     // the last bin that is not empty
	above  []float64 // values in the bins from here on, spikes included
}

func newDivergence(h *Histogram, levels, bins int) *divergence {
	raw, width := coarsen(h.magnitudes(), h.Width(), levels, bins)
	n := len(raw)
	d := &divergence{levels: levels, width: width, counts: limitSpikes(raw), total: make([]float64, n+1),
		filled: make([]float64, n+1), logs: make([]float64, n+1), last: make([]int, n+1), above: make([]float64, n+1)}
	for i, c := range d.counts {
		d.total[i+1], d.filled[i+1], d.logs[i+1], d.last[i+1] = d.total[i]+c, d.filled[i], d.logs[i]+xlogx(c), d.last[i]
		if c > 0 {
			d.filled[i+1]++
			d.last[i+1] = i
		}
	}
	for i := n - 1; i >= 0; i-- {
		d.above[i] = d.above[i+1] + float64(raw[i])
	}
	return d
}

// coarsen joins neighbouring bins until they hold 4 values on average or there are fewer than the levels, and until there are no
// more than most, if that is not 0.
func coarsen(counts []uint64, width float64, levels, most int) ([]uint64, float64) {
	var n uint64
	for _, c := range counts {
		n += c
	}
	for len(counts) > levels && n < 4*uint64(len(counts)) || most > 0 && len(counts) > most {
		half := make([]uint64, (len(counts)+1)/2)
		for i, c := range counts {
			half[i/2] += c
		}
		counts, width = half, 2*width
	}
	return counts, width
}

// limitSpikes returns the counts with each at most 8 times the median of its neighbours, up to 16 on either side, that
// are not empty, if there are at least 4; and the first as the second.
func limitSpikes(counts []uint64) []float64 {
	const reach, fewest, times = 16, 4, 8
	limited := make([]float64, len(counts))
	var near [2 * reach]uint64
	for i, c := range counts {
		limited[i] = float64(c)
		if c <= times {
			continue
		}
		list := near[:0]
		for j := max(0, i-reach); j < min(len(counts), i+reach+1); j++ {
			if j != i && counts[j] > 0 {
				list = append(list, counts[j])
			}
		}
		if len(list) >= fewest {
			slices.Sort(list)
			limited[i] = min(limited[i], times*float64(list[len(list)/2]))
		}
	}
	if len(limited) > 1 {
		limited[0] = limited[1]
	}
	return limited
}

// at returns the divergence for a threshold of i bins; +Inf where nothing lies below it.
func (d *divergence) at(i int) float64 {
	if d.total[i] == 0 {
		return math.Inf(1)
	}
	clipped := d.above[i]
	last := d.last[i]
	p := d.logs[i] - xlogx(d.counts[last]) + xlogx(d.counts[last]+clipped) // sum of P ln P
	var q float64                                                          // sum of P ln Q
	for level, begin := 0, 0; level < d.levels; level++ {
		end := ((level+1)*i + d.levels - 1) / d.levels
		if s := d.total[end] - d.total[begin]; s > 0 {
			ln := math.Log(s / (d.filled[end] - d.filled[begin]))
			q += s * ln
			if last >= begin && last < end {
				q += clipped * ln
			}
		}
		begin = end
	}
	return max(0, (p-q-clipped)/(d.total[i]+clipped))
}

func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}
