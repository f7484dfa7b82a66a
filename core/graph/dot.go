package graph

// dot is one sum of products of a convolution or matrix product, over float64 for real operands and over int64 for
// integers: quantised ones, where channel c of the weights may have a scale and zero point of its own, or plain ones.
type dot struct {
	x, w   []float32
	xq, wq []int64
	xr, wr Range
	zx, zw int64
	sum    float64
	acc    int64
}

// newDot prepares sums over x and w, the values of l's inputs 0 and 1; x is quantised per tensor.
func newDot(l *Layer, x, w Value) *dot {
	xt, wt := l.Inputs[0], l.Inputs[1]
	if xt.Quantized() && wt.Quantized() {
		return &dot{xq: x.Ints(), wq: w.Ints(), xr: xt.Range, wr: wt.Range, zx: int64(xt.Range.ZeroAt(0))}
	}
	if x.Type.IsInteger() && w.Type.IsInteger() && !xt.Quantized() && !wt.Quantized() {
		return &dot{xq: x.Ints(), wq: w.Ints()}
	}
	return &dot{x: ToReal(x, xt.Range).F32(), w: ToReal(w, wt.Range).F32()}
}

func (d *dot) reset(channel int) {
	d.sum, d.acc = 0, 0
	if d.xq != nil {
		d.zw = int64(d.wr.ZeroAt(channel))
	}
}

func (d *dot) add(i, j int) {
	if d.xq != nil {
		d.acc += (d.xq[i] - d.zx) * (d.wq[j] - d.zw)
		return
	}
	d.sum += float64(d.x[i]) * float64(d.w[j])
}

// addEach adds the products of elements i+is[k] of x and j+js[k] of w.
func (d *dot) addEach(i int, is []int, j int, js []int) {
	if len(is) == 0 {
		return
	}
	js = js[:len(is)]
	if d.xq != nil {
		xq, wq := d.xq[i:], d.wq[j:]
		for k, off := range is {
			d.acc += (xq[off] - d.zx) * (wq[js[k]] - d.zw)
		}
		return
	}
	x, w, sum := d.x[i:], d.w[j:], d.sum
	for k, off := range is {
		sum += float64(x[off]) * float64(w[js[k]])
	}
	d.sum = sum
}

func (d *dot) result(channel int) float32 {
	if d.xq != nil {
		return float32(d.acc) * (d.xr.ScaleAt(0) * d.wr.ScaleAt(channel))
	}
	return float32(d.sum)
}

// store puts the sum into an F32 or integer value.
func (d *dot) store(v Value, at, channel int) {
	if v.Type == F32 {
		v.F32()[at] = d.result(channel)
	} else {
		storeInt(v, at, d.acc)
	}
}
