package asm

import "math"

// AttendCall is one block of keys of a softmax that sees its keys block by block. Row r of Rows sees the first
//
//	n = min(Width, Visible + r*Grow)
//
// keys of the block, none where that is negative. With x[j] = Scores[r*Stride+j] or, where there is a mask,
// Scores[r*Stride+j]*Scale + Mask[r*MaskStride+j], for j < n, it raises High[r] to the largest of them and stores
//
//	Scores[r*Stride+j] = exp((x[j] - High[r]) * Gain) for j < n, 0 for n <= j < Width
//	Factor[r] = exp((what High[r] was - High[r]) * Gain)
//	Sum[r] = Sum[r]*Factor[r] + the sum of what is stored
//
// Gain is not negative. A row that has seen nothing has High -Inf and Sum 0; 0 is then subtracted.
//
// Where there are Bytes, 255 times what would be stored, rounded, is stored there, rows of Width rounded up to 16 bytes that lie
// BytesStride apart, and summed; scores are left with anything.
type AttendCall struct {
	Scores            []float32
	Stride            int
	Bytes             []byte
	BytesStride       int
	Rows, Width       int
	Visible, Grow     int
	Gain              float32
	Scale             float32   // of scores that a mask is added to
	Mask              []float32 // nil for none
	MaskStride        int       // 0: one row for all
	High, Sum, Factor []float32
}

// RowsCall is Rows rows that are vectors of small matrices: of queries or of probabilities, N keys, or values, Stride
// elements apart, and Columns elements of each.
type RowsCall struct {
	Out       []float32
	OutStride int
	Rows      int
	In        []float32
	InStride  int
	Keys      []float32
	KeyStride int
	N         int
	Columns   int
}

// FinishCall is Rows rows of sums, X, Stride elements apart, of Columns elements each. With f = X*Factors[row] + Bias, in one
// rounding or two, it stores f in Out or, where there are Bytes, the low byte of f clamped to Low and High and rounded to even;
// either has rows OutStride elements apart.
type FinishCall struct {
	X               []float32
	Stride          int
	Rows, Columns   int
	Factors         []float32
	Bias, Low, High float32
	Out             []float32
	Bytes           []byte
	OutStride       int
}

// AttendKernel is one implementation of what attention does between and instead of matrix products.
type AttendKernel struct {
	Name  string
	Needs Features
	Rows  int // the most of Dot and Mix

	Softmax func(c AttendCall)
	// Scale multiplies the first columns elements of rows, stride apart, by a factor each.
	Scale  func(x []float32, stride, columns int, factors []float32)
	Finish func(c FinishCall)
	// Mask sets dst to 0 where src is not 0, else to -Inf.
	Mask func(dst []float32, src []byte)
	// Dot sets Out[r*OutStride+j] to the product of row r of In and row j of Keys, for j < N.
	Dot func(c RowsCall)
	// Mix sets Out[r*OutStride+c], for c < Columns, to the sum over j < N of In[r*InStride+j] * Keys[j*KeyStride+c].
	Mix func(c RowsCall)
}

func attendGenericKernels() []AttendKernel {
	return []AttendKernel{{Name: "attend_f32_generic", Rows: 4,
		Softmax: attendSoftmaxGeneric, Scale: attendScaleGeneric,
		Finish: func(c FinishCall) { attendFinishGeneric(c, 0) }, Mask: attendMaskGeneric, Dot: attendDotGeneric, Mix: attendMixGeneric}}
}

const log2E = 1.44269504088896341

func attendSoftmaxGeneric(c AttendCall) {
	gain := float32(c.Gain * log2E)
	for r := range c.Rows {
		row := c.Scores[r*c.Stride:][:c.Width]
		n := max(0, min(c.Width, c.Visible+r*c.Grow))
		high := c.High[r]
		for j, x := range row[:n] {
			if c.Mask != nil {
				x = float32(x*c.Scale) + c.Mask[r*c.MaskStride+j]
				row[j] = x
			}
			if x > high {
				high = x
			}
		}
		less := high
		if high == negInf {
			less = 0
		}
		var lanes [16]float32
		for j, x := range row[:n] {
			e := exp2Below(float32(x-less) * gain)
			if c.Bytes != nil {
				e = float32(math.RoundToEven(float64(float32(255 * e))))
				c.Bytes[r*c.BytesStride+j] = byte(int32(e))
			}
			row[j] = e
			lanes[j%16] += e
		}
		factor := exp2Below(float32(c.High[r]-less) * gain)
		c.Sum[r] = float32(c.Sum[r]*factor) + addLanes(&lanes)
		c.High[r], c.Factor[r] = high, factor
		clear(row[n:])
	}
	if c.Bytes != nil {
		c.clearUnseen()
	}
}

// clearUnseen sets the bytes of the keys that rows do not see, and those that fill the last 16, to 0.
func (c *AttendCall) clearUnseen() {
	width := (c.Width + 15) &^ 15
	for r := range c.Rows {
		if n := max(0, min(c.Width, c.Visible+r*c.Grow)); n < width {
			clear(c.Bytes[r*c.BytesStride:][n:width])
		}
	}
}

// attendFinishGeneric finishes the columns from one on.
func attendFinishGeneric(c FinishCall, from int) {
	for r := range c.Rows {
		for i, x := range c.X[r*c.Stride:][from:c.Columns] {
			f := float32(x*c.Factors[r]) + c.Bias
			if at := r*c.OutStride + from + i; c.Bytes == nil {
				c.Out[at] = f
			} else {
				c.Bytes[at] = byte(int32(math.RoundToEven(float64(clamp(f, [2]float32{c.Low, c.High})))))
			}
		}
	}
}

// exp2Below is 2^x for x <= 0.
func exp2Below(x float32) float32 {
	if x < -150 {
		x = -150
	}
	n := float32(math.RoundToEven(float64(x)))
	return scale32(horner(x-n, 1, 0.69314724, 0.24022652, 0.055503104, 0.009617693, 0.0013406643, 0.00015594681), n)
}

func attendScaleGeneric(x []float32, stride, columns int, factors []float32) {
	for r, f := range factors {
		row := x[r*stride:][:columns]
		for i := range row {
			row[i] *= f
		}
	}
}

func attendMaskGeneric(dst []float32, src []byte) {
	for i, b := range src {
		dst[i] = 0
		if b == 0 {
			dst[i] = float32(math.Inf(-1))
		}
	}
}

func attendDotGeneric(c RowsCall) {
	for r := range c.Rows {
		q := c.In[r*c.InStride:][:c.Columns]
		for j := range c.N {
			var lanes [16]float32
			for i, k := range c.Keys[j*c.KeyStride:][:c.Columns] {
				lanes[i%16] += q[i] * k
			}
			c.Out[r*c.OutStride+j] = addLanes(&lanes)
		}
	}
}

func attendMixGeneric(c RowsCall) {
	for r := range c.Rows {
		out := c.Out[r*c.OutStride:][:c.Columns]
		clear(out)
		for j, p := range c.In[r*c.InStride:][:c.N] {
			for i, v := range c.Keys[j*c.KeyStride:][:c.Columns] {
				out[i] += p * v
			}
		}
	}
}
