package quant

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Means are the means of a tensor's channels over the other axes and all batches: what a product expects at its input. The
// zero value is empty; it is not safe for concurrent use.
type Means struct {
	axis   int       // of the channels
	sums   []float64 // by channel, of the finite values
	counts []uint64  // of them
	spread []spread  // of them
	uneven bool      // the number of channels differs between batches, so that there are none
}

// spread is how far values of a channel lie from zero.
type spread struct {
	low, high float32 // the least and the largest, or zero
	squares   float64 // sum
}

// maxChannels bounds the channels that have means.
const maxChannels = 1 << 20

// ChannelAxis returns the axis of input 0 of a product along which its elements meet different weights.
func ChannelAxis(l *graph.Layer) int {
	rank := len(l.Inputs[0].Dims)
	if a, ok := l.Attrs.(graph.GemmAttrs); ok && a.TransA {
		return 0
	}
	if l.Op.Class == graph.ClassConvolution {
		return 1
	}
	return rank - 1
}

// NewMeans returns means of channels along an axis.
func NewMeans(axis int) *Means { return &Means{axis: axis} }

// AddValue adds the real numbers of a tensor; integers need r to be set. Values that are not finite are left out.
func (m *Means) AddValue(v numeric.Value, r numeric.Range) {
	if m.uneven || m.axis < 0 || m.axis >= len(v.Dims) {
		m.uneven = true
		return
	}
	channels := v.Dims[m.axis]
	if m.sums == nil && channels <= maxChannels {
		m.sums, m.counts, m.spread = make([]float64, channels), make([]uint64, channels), make([]spread, channels)
	}
	if channels != len(m.sums) {
		m.uneven = true
		return
	}
	real := numeric.ToReal(v, r)
	x := real.Floats()
	inner := numeric.Count(v.Dims[m.axis+1:])
	if inner == 1 {
		m.addRows(x)
		return
	}
	for c := 0; len(x) >= inner && inner > 0; c = (c + 1) % channels {
		m.addChannel(c, x[:inner])
		x = x[inner:]
	}
}

// addChannel adds one or more values of a channel.
func (m *Means) addChannel(c int, x []float32) {
	s := &m.spread[c]
	if all := measure(x); all.magnitude < infBits {
		m.sums[c] += all.sum
		m.counts[c] += uint64(len(x))
		s.merge(spread{all.least, all.largest, all.sumSquares})
		return
	}
	sum := 0.0
	for _, v := range x {
		if v-v == 0 {
			sum += float64(v)
			m.counts[c]++
			s.merge(spread{v, v, float64(v) * float64(v)})
		}
	}
	m.sums[c] += sum
}

// addRows adds values of which neighbours are of different channels.
func (m *Means) addRows(x []float32) {
	for channels := len(m.sums); channels > 0 && len(x) >= channels; x = x[channels:] {
		for c, v := range x[:channels] {
			if d := v - v; d == 0 {
				m.sums[c] += float64(v)
				m.counts[c]++
				s := &m.spread[c]
				s.low, s.high, s.squares = min(s.low, v), max(s.high, v), s.squares+float64(v)*float64(v)
			}
		}
	}
}

// merge counts what o has counted.
func (s *spread) merge(o spread) {
	s.low, s.high, s.squares = min(s.low, o.low), max(s.high, o.high), s.squares+o.squares
}

// Merge adds what o has counted.
func (m *Means) Merge(o *Means) {
	switch {
	case o.uneven || m.axis != o.axis || m.sums != nil && o.sums != nil && len(m.sums) != len(o.sums):
		m.uneven = true
	case o.sums == nil:
	case m.sums == nil:
		m.sums, m.counts = append([]float64(nil), o.sums...), append([]uint64(nil), o.counts...)
		m.spread = append([]spread(nil), o.spread...)
	default:
		for c := range m.sums {
			m.sums[c] += o.sums[c]
			m.counts[c] += o.counts[c]
			if m.spread != nil && o.spread != nil {
				m.spread[c].merge(o.spread[c])
			}
		}
	}
}

// ChannelMeans are the means of a tensor's channels.
type ChannelMeans struct {
	Axis int       // of the channels
	Mean []float64 // of each
}

// MeansOf returns means that are as known.
func MeansOf(c ChannelMeans) *Means {
	m := &Means{axis: c.Axis, sums: append([]float64{}, c.Mean...), counts: make([]uint64, len(c.Mean))}
	for i := range m.counts {
		m.counts[i] = 1
	}
	return m
}

// Of returns the mean of each channel, 0 where no finite value was seen; ok is false where there are no channels, or not always
// as many.
func (m *Means) Of() (c ChannelMeans, ok bool) {
	if m.uneven || m.sums == nil {
		return c, false
	}
	c = ChannelMeans{m.axis, make([]float64, len(m.sums))}
	for i, s := range m.sums {
		c.Mean[i] = s / float64(max(1, m.counts[i]))
	}
	return c, true
}

// ChannelSpread is how far the channels of a tensor reach, over the other axes and all batches.
type ChannelSpread struct {
	Axis      int       // of the channels
	Low, High []float64 // the least and the largest value of each, or zero
	Square    []float64 // the mean square of each
}

// Spread returns how far the channels reach; ok is false where that is not known, as for means that were read from a file.
func (m *Means) Spread() (c ChannelSpread, ok bool) {
	if m.uneven || m.spread == nil {
		return c, false
	}
	c.Axis = m.axis
	for i, s := range m.spread {
		c.Low, c.High = append(c.Low, float64(s.low)), append(c.High, float64(s.high))
		c.Square = append(c.Square, s.squares/float64(max(1, m.counts[i])))
	}
	return c, true
}

// AMax returns the largest magnitude of a channel.
func (c ChannelSpread) AMax(i int) float64 { return max(c.High[i], -c.Low[i]) }
