package quant

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// WeightQuality says what 8 bits make of a layer's constant weights, with one scale for each output channel and with one
// scale for all. Ratios are of signal to quantisation noise over the weights, from -MaxDB to MaxDB.
type WeightQuality struct {
	Axis         int             // of the output channels; -1 where all weights share a scale
	Channels     []WeightChannel // by index of the axis
	PerChannelDB float64
	PerTensorDB  float64
	Given        bool // the model brings them in integers, which are used as they are: nothing is lost
}

// WeightChannel is one output channel.
type WeightChannel struct {
	AMax     float32 // of the finite weights; the scale is a 127th of it
	OwnDB    float64 // with the channel's own scale
	SharedDB float64 // with the scale of the whole tensor
}

// AssessWeights returns the quality of the weights, input 1, of a layer that multiplies by constants; ok is false for
// other layers.
func AssessWeights(l *graph.Layer) (q WeightQuality, ok bool) {
	if kindOf(l) != weighted || len(l.Inputs) < 2 || l.Inputs[1] == nil {
		return q, false
	}
	t := l.Inputs[1]
	v, ok := t.Const()
	if !ok && isDequantized(t) {
		if v, ok = t.Producer.Inputs[0].Const(); ok {
			v = numeric.ToReal(v, t.Producer.Attrs.(graph.QuantAttrs).Range)
			q.Given = true
		}
	}
	if !ok || !v.Type.IsFloat() || v.Len() == 0 {
		return q, false
	}
	q.Axis = weightAxis(l, false)
	channels, inner := 1, v.Len()
	if q.Axis >= 0 {
		channels, inner = v.Dims[q.Axis], numeric.Count(v.Dims[q.Axis+1:])
	}
	q.assess(v.Floats(), channels, inner)
	return q, true
}

// assess measures weights of which inner neighbours, and every channels*inner-th such run, are of one channel.
func (q *WeightQuality) assess(x []float32, channels, inner int) {
	q.Channels = make([]WeightChannel, channels)
	runs := func(visit func(c int, run []float32)) {
		for i := 0; i < len(x); i += inner {
			visit(i/inner%channels, x[i:i+inner])
		}
	}
	var top float32
	runs(func(c int, run []float32) {
		for _, w := range run {
			if a := max(w, -w); a > q.Channels[c].AMax && a <= math.MaxFloat32 {
				q.Channels[c].AMax = a
			}
		}
		top = max(top, q.Channels[c].AMax)
	})
	type power struct{ signal, own, shared float64 }
	powers := make([]power, channels)
	shared := weightScale(top)
	runs(func(c int, run []float32) {
		own, p := weightScale(q.Channels[c].AMax), &powers[c]
		for _, w := range run {
			if !(max(w, -w) <= math.MaxFloat32) {
				continue
			}
			p.signal += float64(w) * float64(w)
			if !q.Given {
				p.own += squaredRounding(w, own)
				p.shared += squaredRounding(w, shared)
			}
		}
	})
	var all power
	for c, p := range powers {
		q.Channels[c].OwnDB, q.Channels[c].SharedDB = decibels(p.signal, p.own), decibels(p.signal, p.shared)
		all.signal, all.own, all.shared = all.signal+p.signal, all.own+p.own, all.shared+p.shared
	}
	q.PerChannelDB, q.PerTensorDB = decibels(all.signal, all.own), decibels(all.signal, all.shared)
}

// weightScale returns the scale that QuantizeWeights gives weights up to amax.
func weightScale(amax float32) float32 { return Scheme{}.Range(-float64(amax), float64(amax)).Scale[0] }

// squaredRounding returns the squared error of w in steps of scale.
func squaredRounding(w, scale float32) float64 {
	e := float64(w) - math.RoundToEven(float64(w/scale))*float64(scale) // as numeric.Range.Quantize rounds
	return e * e
}

// nearlyDead is the part of the median channel's amax under which a channel hardly does anything.
const nearlyDead = 0.01

// Spread returns how many times the median channel's amax the largest is, and which channels are nearly dead: those
// under a hundredth of the median.
func (q *WeightQuality) Spread() (ratio float64, dead []int) {
	if len(q.Channels) == 0 {
		return 0, nil
	}
	amax := make([]float64, len(q.Channels))
	for c := range q.Channels {
		amax[c] = float64(q.Channels[c].AMax)
	}
	slices.Sort(amax)
	median, top := amax[(len(amax)-1)/2], amax[len(amax)-1]
	for c := range q.Channels {
		if a := float64(q.Channels[c].AMax); a < nearlyDead*median || a == 0 {
			dead = append(dead, c)
		}
	}
	if median == 0 {
		return 0, dead
	}
	return top / median, dead
}
