package graph

import "github.com/trtui/trtui/core/graph/numeric"

// dot is one sum of products of a convolution or matrix product, over float64 for real operands, of F32 or F64, and over int64 for
// integers: quantised ones, where channel c of the weights may have a scale and zero point of its own, or plain ones.
type dot struct {
	x, w   []float32
	xd, wd []float64
	xq, wq []int64
	xr, wr numeric.Range
	zx     int64
	sum    float64
	acc    int64
	left   []float64 // scratch: what of x the sums at hand have
	leftQ  []int64
}

// newDot prepares sums over x and w, the values of l's inputs 0 and 1; x is quantised per tensor.
func newDot(l *Layer, x, w numeric.Value) *dot {
	xt, wt := l.Inputs[0], l.Inputs[1]
	if x.Type == numeric.F64 {
		return &dot{xd: x.Float64s(), wd: w.Float64s()}
	}
	if xt.Quantized() && wt.Quantized() {
		return &dot{xq: x.Ints(), wq: w.Ints(), xr: xt.Range, wr: wt.Range, zx: int64(xt.Range.ZeroAt(0))}
	}
	if x.Type.IsInteger() && w.Type.IsInteger() && !xt.Quantized() && !wt.Quantized() {
		return &dot{xq: x.Ints(), wq: w.Ints()}
	}
	return &dot{x: numeric.ToReal(x, xt.Range).F32(), w: numeric.ToReal(w, wt.Range).F32()}
}

// weightsAt is where the weights of the sums of some channels lie: those of channel first+n at begin+n*step, with offsets to
// each that are the same for all.
type weightsAt struct{ begin, step, first, channels int }

// each calls store for the channels of at, in order, when d holds the sum of the products of elements i+is[k] of x and the
// channel's weights at js[k].
func (d *dot) each(i int, is []int, at weightsAt, js []int, store func(channel int)) {
	switch {
	case len(is) == 0:
		for n := range at.channels {
			d.sum, d.acc = 0, 0
			store(at.first + n)
		}
	case d.xq != nil:
		d.integers(i, is, at, js, store)
	case d.xd != nil:
		reals(d, d.xd, d.wd, i, is, at, js, store)
	default:
		reals(d, d.x, d.w, i, is, at, js, store)
	}
}

// integers is each of integers: four channels side by side, as reals, so that each element of x and its offset are read once
// for them. A zero point of the weights is taken off the sum, not off each weight.
func (d *dot) integers(i int, is []int, at weightsAt, js []int, store func(channel int)) {
	d.leftQ = d.leftQ[:0]
	var total int64
	for _, off := range is {
		x := d.xq[i+off] - d.zx
		d.leftQ, total = append(d.leftQ, x), total+x
	}
	left := d.leftQ
	js = js[:len(left)]
	put := func(n int, sum int64) {
		d.acc = sum - total*int64(d.wr.ZeroAt(at.first+n))
		store(at.first + n)
	}
	n := 0
	for ; n+4 <= at.channels; n += 4 {
		j := at.begin + n*at.step
		w0, w1, w2, w3 := d.wq[j:], d.wq[j+at.step:], d.wq[j+2*at.step:], d.wq[j+3*at.step:]
		var s0, s1, s2, s3 int64
		for k, x := range left {
			off := js[k]
			s0 += x * w0[off]
			s1 += x * w1[off]
			s2 += x * w2[off]
			s3 += x * w3[off]
		}
		for c, s := range [4]int64{s0, s1, s2, s3} {
			put(n+c, s)
		}
	}
	for ; n < at.channels; n++ {
		w, sum := d.wq[at.begin+n*at.step:], int64(0)
		for k, x := range left {
			sum += x * w[js[k]]
		}
		put(n, sum)
	}
}

// reals is each of real numbers. The additions of a sum wait for each other, so that four channels' are taken side by side.
func reals[T float32 | float64](d *dot, x, weights []T, i int, is []int, at weightsAt, js []int, store func(channel int)) {
	d.left = d.left[:0]
	for _, off := range is {
		d.left = append(d.left, float64(x[i+off]))
	}
	left := d.left
	js = js[:len(left)]
	n := 0
	for ; n+4 <= at.channels; n += 4 {
		j := at.begin + n*at.step
		w0, w1, w2, w3 := weights[j:], weights[j+at.step:], weights[j+2*at.step:], weights[j+3*at.step:]
		var s0, s1, s2, s3 float64
		for k, a := range left {
			off := js[k]
			s0 += a * float64(w0[off])
			s1 += a * float64(w1[off])
			s2 += a * float64(w2[off])
			s3 += a * float64(w3[off])
		}
		for c, s := range [4]float64{s0, s1, s2, s3} {
			d.sum = s
			store(at.first + n + c)
		}
	}
	for ; n < at.channels; n++ {
		w, sum := weights[at.begin+n*at.step:], 0.0
		for k, a := range left {
			sum += a * float64(w[js[k]])
		}
		d.sum = sum
		store(at.first + n)
	}
}

func (d *dot) result(channel int) float32 {
	if d.xq != nil {
		return float32(d.acc) * (d.xr.ScaleAt(0) * d.wr.ScaleAt(channel))
	}
	return float32(d.sum)
}

// store puts the sum into a value of real numbers or integers.
func (d *dot) store(v numeric.Value, at, channel int) {
	switch v.Type {
	case numeric.F32:
		v.F32()[at] = d.result(channel)
	case numeric.F64:
		numeric.View[float64](v.Data)[at] = d.sum
	default:
		storeInt(v, at, d.acc)
	}
}
