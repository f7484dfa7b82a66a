//go:build amd64 && !noasm

package asm

// QuantKernels returns the kernels compiled in, the assembly first; HostFeatures says which of them run.
func QuantKernels() []QuantKernel {
	return []QuantKernel{
		quantAssembly(avx512).kernel("quant_avx512", AVX512),
		quantAssembly(avx2).kernel("quant_avx2", AVX2),
		quantKernelGeneric(),
	}
}

// quantAssembly is the functions of an instruction set, called by name: their arguments stay on the stack.
type quantAssembly level

func (k quantAssembly) kernel(name string, needs Features) QuantKernel {
	return QuantKernel{
		Name: name, Needs: needs,
		Quantize:        k.quantize,
		Dequantize:      k.dequantize,
		Requantize:      k.requantize,
		Add:             k.add,
		Map:             k.mapBytes,
		QuantizePixels:  k.quantizePixels,
		Pixels:          k.pixels,
		QuantizeBlock:   k.quantizeBlock,
		DequantizeBlock: k.dequantizeBlock,
	}
}

// quantArgs is what the assembly of this family reads: at most two sources, a clamp, a destination.
// flips hold the byte to exclusive-or in each 32-bit lane.
type quantArgs struct {
	scaleA, zeroA, scaleB, zeroB float32
	low, high                    float32
	scale                        float32
	zero                         int32
	flipA, flipB, flip           uint32
	inverse                      inverse
}

// whole returns how many of n elements are quantised in assembly: those of whole vectors.
func whole(n int, to Quantization) int {
	if inverseOf(to.Scale) == (inverse{}) {
		return 0
	}
	return n &^ 15
}

func (a *quantArgs) from(q Quantization) {
	a.scaleA, a.zeroA, a.flipA = q.Scale, float32(q.unsigned().Zero), uint32(q.flip())
}

func (a *quantArgs) fromB(q Quantization) {
	a.scaleB, a.zeroB, a.flipB = q.Scale, float32(q.unsigned().Zero), uint32(q.flip())
}

func (a *quantArgs) to(q Quantization, limits [2]float32) {
	a.scale, a.inverse, a.zero, a.flip = q.Scale, inverseOf(q.Scale), q.unsigned().Zero, uint32(q.flip())
	limits = within(limits, a.scale, a.zero)
	a.low, a.high = limits[0], limits[1]
}

var unlimited = [2]float32{negInf, posInf}

// quantize runs whole vectors in assembly and the rest in Go; so do all below.
func (k quantAssembly) quantize(dst []byte, src []float32, to Quantization) {
	n := whole(len(src), to)
	if n > 0 {
		var a quantArgs
		a.to(to, unlimited)
		if level(k) == avx512 {
			quantizeAVX512(&dst[:n][0], &src[0], n, &a.scaleA)
		} else {
			quantizeAVX2(&dst[:n][0], &src[0], n, &a.scaleA)
		}
	}
	quantizeGeneric(dst[n:], src[n:], to)
}

func (k quantAssembly) dequantize(dst []float32, src []byte, from Quantization) {
	n := len(src) &^ 15
	if n > 0 {
		var a quantArgs
		a.from(from)
		if level(k) == avx512 {
			dequantizeAVX512(&dst[:n][0], &src[0], n, &a.scaleA)
		} else {
			dequantizeAVX2(&dst[:n][0], &src[0], n, &a.scaleA)
		}
	}
	dequantizeGeneric(dst[n:], src[n:], from)
}

func (k quantAssembly) requantize(dst, src []byte, from Quantization, limits [2]float32, to Quantization) {
	n := whole(len(src), to)
	if n > 0 {
		var a quantArgs
		a.from(from)
		a.to(to, limits)
		if level(k) == avx512 {
			requantizeAVX512(&dst[:n][0], &src[0], n, &a.scaleA)
		} else {
			requantizeAVX2(&dst[:n][0], &src[0], n, &a.scaleA)
		}
	}
	requantizeGeneric(dst[n:], src[n:], from, limits, to)
}

func (k quantAssembly) add(dst, a, b []byte, fromA, fromB Quantization, limits [2]float32, to Quantization) {
	n := whole(len(a), to)
	if n > 0 {
		var q quantArgs
		q.from(fromA)
		q.fromB(fromB)
		q.to(to, limits)
		if level(k) == avx512 {
			addBytesAVX512(&dst[:n][0], &a[0], &b[:n][0], n, &q.scaleA)
		} else {
			addBytesAVX2(&dst[:n][0], &a[0], &b[:n][0], n, &q.scaleA)
		}
	}
	addBytesGeneric(dst[n:], a[n:], b[n:], fromA, fromB, limits, to)
}

func (k quantAssembly) mapBytes(dst, src []byte, table *[256]byte) {
	n := len(src) &^ 63
	if n > 0 {
		if level(k) == avx512 {
			mapBytesAVX512(&dst[:n][0], &src[0], n, &table[0])
		} else {
			mapBytesAVX2(&dst[:n][0], &src[0], n, &table[0])
		}
	}
	mapBytesGeneric(dst[n:], src[n:], table)
}

func (k quantAssembly) quantizePixels(dst []byte, src []float32, plane, channels int, to Quantization) {
	pixels := len(dst) / 4
	n := whole(pixels, to)
	if n > 0 && channels > 0 {
		_ = src[(channels-1)*plane+n-1]
		var a quantArgs
		a.to(to, unlimited)
		if level(k) == avx512 {
			quantizePixelsAVX512(&dst[0], &src[0], plane, channels, n, &a.scaleA)
		} else {
			quantizePixelsAVX2(&dst[0], &src[0], plane, channels, n, &a.scaleA)
		}
	}
	if n < pixels {
		quantizePixelsGeneric(dst[4*n:], src[n:], plane, channels, to)
	}
}

func (k quantAssembly) pixels(dst, src []byte, plane, channels int, flip byte) {
	pixels := len(dst) / 4
	n := pixels &^ 15
	if n > 0 && channels > 0 {
		_ = src[(channels-1)*plane+n-1]
		if flips := uint32(flip) * 0x01010101; level(k) == avx512 {
			joinPixelsAVX512(&dst[0], &src[0], plane, channels, n, flips)
		} else {
			joinPixelsAVX2(&dst[0], &src[0], plane, channels, n, flips)
		}
	}
	if n < pixels {
		pixelsGeneric(dst[4*n:], src[n:], plane, channels, flip)
	}
}

func (k quantAssembly) quantizeBlock(dst []byte, src []float32, plane, channels int, to Quantization) {
	pixels := len(dst) / 16
	n := whole(pixels, to)
	if n > 0 {
		_ = src[(channels-1)*plane+n-1]
		var a quantArgs
		a.to(to, unlimited)
		if level(k) == avx512 {
			quantizeBlockAVX512(&dst[0], &src[0], plane, channels, n, &a.scaleA)
		} else {
			quantizeBlockAVX2(&dst[0], &src[0], plane, channels, n, &a.scaleA)
		}
	}
	if n < pixels {
		quantizeBlockGeneric(dst[16*n:], src[n:], plane, channels, to)
	}
}

func (k quantAssembly) dequantizeBlock(dst []float32, src []byte, plane, channels int, from Quantization) {
	pixels := len(src) / 16
	n := pixels &^ 15
	if n > 0 {
		_ = dst[(channels-1)*plane+n-1]
		var a quantArgs
		a.from(from)
		if level(k) == avx512 {
			dequantizeBlockAVX512(&dst[0], &src[0], plane, channels, n, &a.scaleA)
		} else {
			dequantizeBlockAVX2(&dst[0], &src[0], plane, channels, n, &a.scaleA)
		}
	}
	if n < pixels {
		dequantizeBlockGeneric(dst[n:], src[16*n:], plane, channels, from)
	}
}
