package quant

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// mostOctaves bounds how much more often a value of one channel counts than one of another: 2^mostOctaves times.
const mostOctaves = 20

// Weighed is a histogram of a tensor whose channels do not count alike: each value counts in proportion to the power of the weights that
// products multiply its channel by, rounded to a power of two. What a calibrator makes least on the values is then least behind the
// products. Channels that were divided so that they reach as far as the others meet weights that are larger by as much, and count by the square
// of that.
type Weighed struct {
	axis    int
	octaves []int              // by channel; a value counts 2^octave times
	counted map[int]*Histogram // by octave
	values  map[int][]float32  // that wait, by octave
}

// NewWeighed returns an empty histogram of t; nil where no product by constant weights reads it, or where all channels count alike.
func NewWeighed(t *graph.Tensor) *Weighed {
	w := &Weighed{counted: map[int]*Histogram{}, values: map[int][]float32{}}
	var power []float64
	for _, l := range t.Users {
		p := WeightPower(l)
		if p == nil || l.Inputs[0] != t || power != nil && (len(p) != len(power) || ChannelAxis(l) != w.axis) {
			continue
		}
		if w.axis = ChannelAxis(l); power == nil {
			power = make([]float64, len(p))
		}
		for c, v := range p {
			power[c] += v
		}
	}
	if len(power) == 0 || !(slices.Max(power) > 0) {
		return nil
	}
	most, least := slices.Max(power), math.Inf(1)
	for _, v := range power {
		if v > 0 {
			least = min(least, v)
		}
	}
	least = max(least, math.Ldexp(most, -mostOctaves))
	for _, v := range power {
		w.octaves = append(w.octaves, int(math.Round(math.Log2(max(v, least)/least))))
	}
	if slices.Max(w.octaves) == 0 {
		return nil
	}
	return w
}

// AddValue adds the real numbers of the tensor; integers need r to be set. Where it has other channels, all of them count once.
func (w *Weighed) AddValue(v numeric.Value, r numeric.Range) {
	if w.axis < 0 || w.axis >= len(v.Dims) || v.Dims[w.axis] != len(w.octaves) {
		w.of(0).AddValue(v, r)
		return
	}
	real := numeric.ToReal(v, r)
	x, inner := real.Floats(), numeric.Count(v.Dims[w.axis+1:])
	for c := 0; inner > 0 && len(x) >= inner; c = (c + 1) % len(w.octaves) {
		o := w.octaves[c]
		w.values[o] = append(w.values[o], x[:inner]...)
		x = x[inner:]
		if len(w.values[o]) >= chunk {
			w.flush(o)
		}
	}
	for o := range w.values {
		w.flush(o)
	}
}

func (w *Weighed) flush(octave int) {
	w.of(octave).Add(w.values[octave])
	w.values[octave] = w.values[octave][:0]
}

func (w *Weighed) of(octave int) *Histogram {
	if w.counted[octave] == nil {
		w.counted[octave] = &Histogram{}
	}
	return w.counted[octave]
}

// Histogram returns what was counted.
func (w *Weighed) Histogram() *Histogram {
	all := &Histogram{}
	for octave, h := range w.counted {
		times := h.clone()
		for range octave {
			times.Merge(times.clone())
		}
		all.Merge(times)
	}
	return all
}
