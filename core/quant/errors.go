package quant

import (
	"errors"
	"fmt"
	"math"
)

// Errors measures how far a tensor is from its reference; the names are those of Polygraphy and trtexec. Pairs in which
// a number is not finite, unless both are the same infinity, count in NotFinite and differ beyond all measure: they are
// in L0, Cosine is 0 then, and SQNRdB and PSNRdB are -MaxDB. The other measures are of the other pairs.
type Errors struct {
	Count     uint64  // finite pairs, and pairs of the same infinity
	NotFinite uint64  // pairs of which one or both are not finite, but those
	MaxAbs    float64 // of |got - ref|: trtexec's lInf
	MeanAbs   float64
	Bias      float64 // the mean of got - ref, with its sign
	MedianAbs float64 // within 1.6 %; see ErrorAccumulator
	MaxRel    float64 // of |got - ref| / |ref|, where |ref| is at least a thousandth of its largest; 0 if nowhere
	MeanRel   float64 // of these
	L0        uint64  // pairs that differ
	L1        float64 // sum of |got - ref|
	L2        float64 // root of the sum of squares of got - ref
	RMSE      float64
	Cosine    float64 // similarity of the two as vectors; 0 if one of them is zero, 1 if both are
	SQNRdB    float64 // 10 log10(sum ref^2 / sum (got - ref)^2), from -MaxDB to MaxDB
	PSNRdB    float64 // 20 log10((max ref - min ref) / RMSE), from -MaxDB to MaxDB
}

// ErrorAccumulator measures errors over any number of batches in bounded memory. Sums are in float64; the median comes
// from a histogram over the logarithm of the error with 32 bins an octave. The zero value is ready for use.
type ErrorAccumulator struct {
	finite, count                  uint64 // pairs of numbers; these and pairs of the same infinity
	notFinite, differ              uint64
	maxAbs, sumAbs, sum            float64 // of |got - ref|, and of got - ref
	noise, refPower, gotPower, dot float64 // sums of squares and of products
	refLeast, refLargest           float64
	abs                            logHistogram
	rel                            relatives
}

var errLength = errors.New("tensors of different sizes cannot be compared")

// Add compares two tensors element by element. Their lengths must be equal.
func (a *ErrorAccumulator) Add(ref, got []float32) error {
	if len(ref) != len(got) {
		return fmt.Errorf("%w: reference has %d elements, the other %d", errLength, len(ref), len(got))
	}
	for i, r := range ref {
		a.pair(float64(r), float64(got[i]))
	}
	return nil
}

// AddWide is Add for elements that F32 does not hold: those of F64, and integers.
func (a *ErrorAccumulator) AddWide(ref, got []float64) error {
	if len(ref) != len(got) {
		return fmt.Errorf("%w: reference has %d elements, the other %d", errLength, len(ref), len(got))
	}
	for i, r := range ref {
		a.pair(r, got[i])
	}
	return nil
}

func (a *ErrorAccumulator) pair(r, g float64) {
	e := math.Abs(g - r)
	if !(e <= math.MaxFloat64) {
		if r == g {
			a.count++
			a.abs.add(0)
		} else {
			a.notFinite++
		}
		return
	}
	if a.finite == 0 {
		a.refLeast, a.refLargest = r, r
	}
	a.refLeast, a.refLargest = min(a.refLeast, r), max(a.refLargest, r)
	a.finite++
	a.count++
	if e != 0 {
		a.differ++
	}
	a.maxAbs = max(a.maxAbs, e)
	a.sumAbs += e
	a.sum += g - r
	a.noise += e * e
	a.refPower += r * r
	a.gotPower += g * g
	a.dot += r * g
	a.abs.add(e)
	a.rel.add(e, math.Abs(r))
}

// Errors returns the measures of all that was added; the zero Errors if nothing was.
func (a *ErrorAccumulator) Errors() Errors {
	e := Errors{Count: a.count, NotFinite: a.notFinite, L0: a.notFinite}
	if a.notFinite > 0 {
		e.SQNRdB, e.PSNRdB = -MaxDB, -MaxDB
	}
	if a.count == 0 {
		return e
	}
	n := float64(a.count)
	e.MaxAbs, e.MeanAbs, e.Bias, e.MedianAbs = a.maxAbs, a.sumAbs/n, a.sum/n, a.AbsQuantile(0.5)
	e.MaxRel, e.MeanRel = a.rel.over(relativeFloor * max(math.Abs(a.refLeast), math.Abs(a.refLargest)))
	e.L0, e.L1, e.L2, e.RMSE = a.differ+a.notFinite, a.sumAbs, math.Sqrt(a.noise), math.Sqrt(a.noise/n)
	switch {
	case a.notFinite > 0:
		return e
	case a.noise == 0:
		e.Cosine = 1
	case a.refPower > 0 && a.gotPower > 0:
		e.Cosine = max(-1, min(1, a.dot/(math.Sqrt(a.refPower)*math.Sqrt(a.gotPower))))
	}
	e.SQNRdB = decibels(a.refPower, a.noise)
	span := a.refLargest - a.refLeast
	e.PSNRdB = decibels(span*span, a.noise/n)
	return e
}

// AbsQuantile returns the absolute difference that a share q, from 0 to 1, of the pairs stay below, within 1.6 %.
func (a *ErrorAccumulator) AbsQuantile(q float64) float64 {
	if q >= 1 {
		return a.maxAbs
	}
	return min(a.maxAbs, a.abs.quantile(q))
}

// Above returns how many of the pairs differ by more than a limit, or are not finite. Differences are counted in bins, so
// the limit is raised to the next bound between bins, by less than a 32nd, and returned as what it was counted by; a limit of 0 stays 0.
func (a *ErrorAccumulator) Above(limit float64) (raised float64, n uint64) {
	raised, n = a.abs.above(limit)
	return raised, n + a.notFinite
}

// Compare measures how far got is from ref.
func Compare(ref, got []float32) (Errors, error) {
	var a ErrorAccumulator
	if err := a.Add(ref, got); err != nil {
		return Errors{}, err
	}
	return a.Errors(), nil
}

// logHistogram counts numbers that are not negative by exponent and the five highest bits of their mantissa, over the
// exponents of float32 and beyond: from 2^-160 to 2^192, with what is below counted as zero.
type logHistogram struct {
	zeros  uint64
	counts []uint64
}

const (
	logBits  = 5
	logLeast = -160
	logMost  = 192
)

func (h *logHistogram) add(v float64) {
	b := int(math.Float64bits(v)>>(52-logBits)) - (1023+logLeast)<<logBits
	if b < 0 {
		h.zeros++
		return
	}
	if h.counts == nil {
		h.counts = make([]uint64, (logMost-logLeast)<<logBits)
	}
	h.counts[min(b, len(h.counts)-1)]++
}

// above returns the least bound of bins that is not below the limit, and how many numbers there are from that bound on.
func (h *logHistogram) above(limit float64) (bound float64, n uint64) {
	b := 0 // the first bin that counts
	if bound = limit; limit > 0 {
		b = max(0, int(math.Float64bits(limit)>>(52-logBits))-(1023+logLeast)<<logBits)
		if lowerBound(b) < limit {
			b++
		}
		bound = lowerBound(b)
	}
	for _, c := range h.counts[min(b, len(h.counts)):] {
		n += c
	}
	return bound, n
}

// lowerBound returns the smallest number in a bin.
func lowerBound(b int) float64 {
	return math.Ldexp(1+float64(b&(1<<logBits-1))/(1<<logBits), b>>logBits+logLeast)
}

// quantile returns the middle of the bin that holds the number below which a share q of the others are, the lower one of two:
// within half of a 32nd of it.
func (h *logHistogram) quantile(q float64) float64 {
	n := h.zeros
	for _, c := range h.counts {
		n += c
	}
	rank := h.zeros
	if n == 0 {
		return 0
	}
	at := uint64(q * float64(n-1))
	if at < rank {
		return 0
	}
	for b, c := range h.counts {
		if rank += c; at < rank {
			mantissa := float64(b&(1<<logBits-1)) + 0.5
			return math.Ldexp(1+mantissa/(1<<logBits), b>>logBits+logLeast)
		}
	}
	return 0
}
