//go:build amd64 && !noasm

package asm

// AttendKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func AttendKernels() []AttendKernel {
	return append([]AttendKernel{
		attendAVX512.kernel("attend_f32_avx512", AVX512),
		attendAVX2.kernel("attend_f32_avx2", AVX2),
	}, attendGenericKernels()...)
}

// rowsFunc is the signature of the generated products of few rows.
type rowsFunc func(out *float32, outStride int, in *float32, inStride int, keys *float32, keyStride, n, columns int)

// attendAssembly is the generated functions of an instruction set.
type attendAssembly struct {
	softmax  func(scores *float32, stride, rows, width, visible, grow int, scale, gain float32, high, sum, factor *float32)
	masked   func(scores *float32, stride, rows, width, visible, grow int, scale, gain float32, mask *float32, maskStride int, high, sum, factor *float32)
	bytes    func(scores *float32, stride, rows, width, visible, grow int, scale, gain float32, out *byte, outStride int, high, sum, factor *float32)
	both     func(scores *float32, stride, rows, width, visible, grow int, scale, gain float32, mask *float32, maskStride int, out *byte, outStride int, high, sum, factor *float32)
	finish   func(out *float32, outStride int, x *float32, stride, columns int, factors *float32, rows int, bias, low, high float32)
	quantise func(out *byte, outStride int, x *float32, stride, columns int, factors *float32, rows int, bias, low, high float32)
	scale    func(x *float32, stride, columns int, factors *float32, rows int)
	mask     func(dst *float32, src *byte, n int)
	dot      []rowsFunc    // by the number of rows less one
	mix      [2][]rowsFunc // of a register's columns, or fewer, and of four registers'
	register int           // elements
}

var attendAVX512 = attendAssembly{attendSoftmaxAVX512, attendSoftmaxMaskedAVX512, attendSharesAVX512, attendSharesMaskedAVX512, attendFinishAVX512, attendFinishBytesAVX512,
	attendScaleAVX512, attendMaskAVX512,
	[]rowsFunc{attendDot1AVX512, attendDot2AVX512, attendDot3AVX512, attendDot4AVX512},
	[2][]rowsFunc{
		{attendMix1x16AVX512, attendMix2x16AVX512, attendMix3x16AVX512, attendMix4x16AVX512},
		{attendMix1x64AVX512, attendMix2x64AVX512, attendMix3x64AVX512, attendMix4x64AVX512},
	}, 16}

var attendAVX2 = attendAssembly{attendSoftmaxAVX2, attendSoftmaxMaskedAVX2, attendSharesAVX2, attendSharesMaskedAVX2, attendFinishAVX2, attendFinishBytesAVX2,
	attendScaleAVX2, attendMaskAVX2,
	[]rowsFunc{attendDot1AVX2, attendDot2AVX2},
	[2][]rowsFunc{{attendMix1x8AVX2, attendMix2x8AVX2}, {attendMix1x32AVX2, attendMix2x32AVX2}}, 8}

// kernel is the table's entry.
func (a *attendAssembly) kernel(name string, needs Features) AttendKernel {
	return AttendKernel{Name: name, Needs: needs, Rows: len(a.dot),
		Softmax: a.runSoftmax, Scale: a.runScale, Finish: a.runFinish, Mask: a.runMask, Dot: a.runDot, Mix: a.runMix}
}

// attendCall is about how many elements one call of the assembly computes.
const attendCall = 1 << 17

func (a *attendAssembly) runSoftmax(c AttendCall) {
	step := max(1, attendCall/max(1, c.Width))
	for r := 0; r < c.Rows; r += step {
		rows, visible, gain := min(step, c.Rows-r), c.Visible+r*c.Grow, c.Gain*log2E
		scores, high, sum, factor := &c.Scores[r*c.Stride], &c.High[r], &c.Sum[r], &c.Factor[r]
		switch {
		case c.Mask == nil && c.Bytes == nil:
			a.softmax(scores, c.Stride, rows, c.Width, visible, c.Grow, c.Scale, gain, high, sum, factor)
		case c.Bytes == nil:
			a.masked(scores, c.Stride, rows, c.Width, visible, c.Grow, c.Scale, gain, &c.Mask[r*c.MaskStride], c.MaskStride, high, sum, factor)
		case c.Mask == nil:
			a.bytes(scores, c.Stride, rows, c.Width, visible, c.Grow, c.Scale, gain, &c.Bytes[r*c.BytesStride], c.BytesStride, high, sum, factor)
		default:
			a.both(scores, c.Stride, rows, c.Width, visible, c.Grow, c.Scale, gain, &c.Mask[r*c.MaskStride], c.MaskStride,
				&c.Bytes[r*c.BytesStride], c.BytesStride, high, sum, factor)
		}
	}
	if c.Bytes != nil {
		c.clearUnseen()
	}
}

// runFinish leaves the columns behind the last whole vector to plain Go.
func (a *attendAssembly) runFinish(c FinishCall) {
	whole := c.Columns &^ 15
	if step := max(1, attendCall/max(1, whole)); whole > 0 {
		for r := 0; r < c.Rows; r += step {
			rows, x, factors := min(step, c.Rows-r), &c.X[r*c.Stride], &c.Factors[r]
			if c.Bytes == nil {
				a.finish(&c.Out[r*c.OutStride:][:whole][0], 4*c.OutStride, x, 4*c.Stride, whole, factors, rows, c.Bias, c.Low, c.High)
			} else {
				a.quantise(&c.Bytes[r*c.OutStride:][:whole][0], c.OutStride, x, 4*c.Stride, whole, factors, rows, c.Bias, c.Low, c.High)
			}
		}
	}
	if whole < c.Columns {
		attendFinishGeneric(c, whole)
	}
}

func (a *attendAssembly) runScale(x []float32, stride, columns int, factors []float32) {
	step := max(1, attendCall/columns)
	for r := 0; r < len(factors); r += step {
		a.scale(&x[r*stride], stride, columns, &factors[r], min(step, len(factors)-r))
	}
}

func (a *attendAssembly) runMask(dst []float32, src []byte) {
	whole := len(src) &^ 15
	for i := 0; i < whole; i += attendCall {
		a.mask(&dst[i], &src[i], min(attendCall, whole-i))
	}
	attendMaskGeneric(dst[whole:], src[whole:])
}

func (a *attendAssembly) runDot(c RowsCall) {
	step := max(1, attendCall/c.Columns)
	f := a.dot[c.Rows-1]
	for j := 0; j < c.N; j += step {
		f(&c.Out[j], c.OutStride, &c.In[0], c.InStride, &c.Keys[j*c.KeyStride], c.KeyStride, min(step, c.N-j), c.Columns)
	}
}

// runMix relies on no call having so many keys that one over 64 columns takes long.
func (a *attendAssembly) runMix(c RowsCall) {
	for i := 0; i < c.Columns; {
		f, n := a.mix[1][c.Rows-1], 4*a.register
		if c.Columns-i < n {
			f, n = a.mix[0][c.Rows-1], min(a.register, c.Columns-i)
		}
		f(&c.Out[i], c.OutStride, &c.In[0], c.InStride, &c.Keys[i], c.KeyStride, c.N, n)
		i += n
	}
}
