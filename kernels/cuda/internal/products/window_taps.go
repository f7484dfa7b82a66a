package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// windowTaps are the taps of windows over any number of spatial axes, for kernels in which each thread computes one place of
// the output. Of a transposed convolution the windows stand on the output, at the input's places.
type windowTaps struct {
	windows    []graph.Window
	in, out    []int // spatial extents
	transposed bool
}

// fits returns an error where a place under a window, counted from the begin of the padding, does not fit 31 bits.
func (t *windowTaps) fits() error {
	for i, w := range t.windows {
		places := t.out[i]
		if t.transposed {
			places = t.in[i]
		}
		reach := float64(max(1, places))*float64(w.Stride) + float64(w.Kernel)*float64(w.Dilation) + float64(w.PadBegin)
		if reach > emit.MaxElements || w.PadBegin < 0 || w.PadEnd < 0 {
			return fmt.Errorf("along spatial axis %d, %d windows %d apart with pads of %d and %d: no such pads, or more than %d places",
				i, places, w.Stride, w.PadBegin, w.PadEnd, emit.MaxElements)
		}
	}
	return nil
}

// count returns the taps of a window.
func (t *windowTaps) count() int {
	n := 1
	for _, w := range t.windows {
		n *= w.Kernel
	}
	return n
}

// places splits a place of the output into one for each axis.
func (t *windowTaps) places(k *ptx.K, place ptx.Uint) []ptx.Uint {
	list := make([]ptx.Uint, len(t.out))
	for i := len(t.out) - 1; i >= 0; i-- {
		if list[i] = place; i > 0 {
			place, list[i] = k.DivRem(place, t.out[i])
		}
	}
	return list
}

// each runs body for the taps that meet the input: the tap, and the place of the input under it.
func (t *windowTaps) each(k *ptx.K, places []ptx.Uint, body func(tap, at ptx.Uint)) {
	t.along(k, 0, places, ptx.U(0), ptx.U(0), body)
}

// along is each from an axis on.
func (t *windowTaps) along(k *ptx.K, i int, places []ptx.Uint, tap, at ptx.Uint, body func(tap, at ptx.Uint)) {
	if i == len(t.windows) {
		body(tap, at)
		return
	}
	w := t.windows[i]
	k.For(ptx.U(0), ptx.U(w.Kernel), ptx.U(1), func(j ptx.Uint) {
		reach := k.Mul(j, ptx.U(w.Dilation))
		var under ptx.Uint
		var inside ptx.Cond
		if t.transposed {
			place := k.Add(places[i], ptx.U(w.PadBegin))
			var rest ptx.Uint
			under, rest = k.DivRem(k.Sub(place, reach), w.Stride)
			inside = k.Both(k.Le(reach, place), k.Lt(under, ptx.U(t.in[i])))
			if w.Stride > 1 {
				inside = k.Both(inside, k.Eq(rest, ptx.U(0)))
			}
		} else {
			under = k.Sub(k.Mad(places[i], ptx.U(w.Stride), reach), ptx.U(w.PadBegin))
			inside = k.Lt(under, ptx.U(t.in[i]))
		}
		k.If(inside, func() {
			t.along(k, i+1, places, k.Mad(tap, ptx.U(w.Kernel), j), k.Mad(at, ptx.U(t.in[i]), under), body)
		})
	})
}
