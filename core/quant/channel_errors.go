package quant

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// ChannelErrors measures the differences of a tensor from its reference channel by channel: what of them is a shift of means, which
// a bias takes back, and what each channel has of them. The zero value counts along axis 0.
type ChannelErrors struct {
	Axis    int // of the channels
	sums    []channelSums
	skipped bool // a tensor has other channels than the first one
}

type channelSums struct {
	n, shift, noise, signal float64
	low, high               float64 // of the reference, or zero
}

// Add compares two tensors of the given dims. Pairs of which one is not finite are left out, and tensors without the axis, or with
// another number of channels than the first, too.
func (c *ChannelErrors) Add(ref, got []float32, dims []int) error {
	if len(ref) != len(got) || len(ref) != numeric.Count(dims) {
		return fmt.Errorf("%w: reference has %d elements, the other %d", errLength, len(ref), len(got))
	}
	if c.Axis < 0 || c.Axis >= len(dims) || dims[c.Axis] > maxChannels {
		c.skipped = true
		return nil
	}
	channels, inner := dims[c.Axis], numeric.Count(dims[c.Axis+1:])
	if c.sums == nil {
		c.sums = make([]channelSums, channels)
	}
	if len(c.sums) != channels {
		c.skipped = true
		return nil
	}
	for i := 0; i < len(ref); i += inner {
		c.sums[i/inner%channels].add(ref[i:i+inner], got[i:i+inner])
	}
	return nil
}

func (s *channelSums) add(ref, got []float32) {
	for i, r := range ref {
		x := float64(r)
		d := float64(got[i]) - x
		if !(math.Abs(d) <= math.MaxFloat64) {
			continue
		}
		s.n++
		s.shift += d
		s.noise += d * d
		s.signal += x * x
		s.low, s.high = min(s.low, x), max(s.high, x)
	}
}

// Known reports whether all that was added has the same channels.
func (c *ChannelErrors) Known() bool { return len(c.sums) > 0 && !c.skipped }

// Shifted returns the share of the squared error that is gone once each channel's mean is that of the reference: what a bias can take
// back. 0 where there is no error.
func (c *ChannelErrors) Shifted() float64 {
	var of, all float64
	for _, s := range c.sums {
		of += s.shift * s.shift / max(s.n, 1)
		all += s.noise
	}
	if all == 0 {
		return 0
	}
	return min(of/all, 1)
}

// Noise returns the mean square of the error of each channel.
func (c *ChannelErrors) Noise() []float64 {
	list := make([]float64, len(c.sums))
	for i, s := range c.sums {
		list[i] = s.noise / max(s.n, 1)
	}
	return list
}

// Spread returns how far the channels of the reference reach.
func (c *ChannelErrors) Spread() ChannelSpread {
	r := ChannelSpread{Axis: c.Axis}
	for _, s := range c.sums {
		r.Low, r.High, r.Square = append(r.Low, s.low), append(r.High, s.high), append(r.Square, s.signal/max(s.n, 1))
	}
	return r
}

// StorageErrors are what becomes of numbers that are stored as 8-bit integers of a range: sums of squared errors of those beyond it,
// which are clipped, and of the others, which are rounded.
type StorageErrors struct{ Clipped, Rounded float64 }

// Add counts numbers and what the integers stand for that they became. Those that are not finite are left out.
func (e *StorageErrors) Add(x, stored []float32, r numeric.Range, t numeric.DataType) {
	lo, hi := Limits(r, t)
	half := float64(r.ScaleAt(0)) / 2 // so far beyond the limits is rounding
	for i, v := range x {
		d := float64(stored[i]) - float64(v)
		switch w := float64(v); {
		case !(math.Abs(d) <= math.MaxFloat64):
		case w < lo-half || w > hi+half:
			e.Clipped += d * d
		default:
			e.Rounded += d * d
		}
	}
}
