package asm

import "encoding/binary"

// Quantization maps bytes to real values: real = (q - Zero) * Scale.
type Quantization struct {
	Scale  float32 // positive, below 2^100
	Zero   int32   // in the range of the bytes
	Signed bool    // bytes are two's complement; otherwise unsigned, offset binary included
}

// flip returns what turns the bytes into unsigned ones, whose zero point is Zero+flip.
func (q Quantization) flip() byte {
	if q.Signed {
		return 0x80
	}
	return 0
}

// unsigned returns the quantization of the flipped bytes.
func (q Quantization) unsigned() Quantization {
	return Quantization{Scale: q.Scale, Zero: q.Zero + int32(q.flip())}
}

// byteOf quantises f: saturate(roundToEven(f/Scale) + Zero), NaN to Zero.
func (q Quantization) byteOf(f float32) byte {
	return quantise(f, q.Scale, q.Zero+int32(q.flip())) ^ q.flip()
}

// real dequantises b.
func (q Quantization) real(b byte) float32 {
	u := q.unsigned()
	return float32(float32(b^q.flip())-float32(u.Zero)) * q.Scale
}

// QuantKernel is one implementation of the conversions between float32 and bytes. Every operation rounds to
// float32 on its own, so that all implementations give the same bits. Slices of one call have the same
// length unless stated, any length. Destinations may be sources, from the same first element on.
//
// Blocks are 16 channels of NCHWc16: 16*n elements for n pixels. Channels of an NCHW tensor are plane
// elements apart; block lanes beyond channels (1 to 16) are left with anything.
type QuantKernel struct {
	Name  string
	Needs Features

	Quantize   func(dst []byte, src []float32, to Quantization)
	Dequantize func(dst []float32, src []byte, from Quantization)
	// Requantize clamps the real value to limits in between.
	Requantize func(dst, src []byte, from Quantization, limits [2]float32, to Quantization)
	// Add is QLinearAdd: the sum of two real values, clamped, quantised.
	Add func(dst, a, b []byte, fromA, fromB Quantization, limits [2]float32, to Quantization)

	// Map sets each byte of dst to what the table has for that of src.
	Map func(dst, src []byte, table *[256]byte)

	// QuantizePixels writes len(dst)/4 pixels of four bytes: byte c of pixel x is src[c*plane+x] quantised.
	// Bytes beyond channels (at most 4) are anything.
	QuantizePixels func(dst []byte, src []float32, plane, channels int, to Quantization)
	// Pixels writes len(dst)/4 pixels of four bytes: byte c of pixel x is src[c*plane+x], its bits flipped by those of flip.
	// Bytes beyond channels (at most 4) are anything.
	Pixels func(dst, src []byte, plane, channels int, flip byte)
	// QuantizeBlock reads up to 16 channels of NCHW and writes len(dst)/16 pixels of a block.
	QuantizeBlock func(dst []byte, src []float32, plane, channels int, to Quantization)
	// DequantizeBlock reads len(src)/16 pixels of a block and writes up to 16 channels of NCHW.
	DequantizeBlock func(dst []float32, src []byte, plane, channels int, from Quantization)
}

// quantKernelGeneric is the pure Go implementation.
func quantKernelGeneric() QuantKernel {
	return QuantKernel{
		Name:            "quant_generic",
		Quantize:        quantizeGeneric,
		Dequantize:      dequantizeGeneric,
		Requantize:      requantizeGeneric,
		Add:             addBytesGeneric,
		Map:             mapBytesGeneric,
		QuantizePixels:  quantizePixelsGeneric,
		Pixels:          pixelsGeneric,
		QuantizeBlock:   quantizeBlockGeneric,
		DequantizeBlock: dequantizeBlockGeneric,
	}
}

func quantizeGeneric(dst []byte, src []float32, to Quantization) {
	for i, f := range src {
		dst[i] = to.byteOf(f)
	}
}

func dequantizeGeneric(dst []float32, src []byte, from Quantization) {
	for i, b := range src {
		dst[i] = from.real(b)
	}
}

func requantizeGeneric(dst, src []byte, from Quantization, limits [2]float32, to Quantization) {
	for i, b := range src {
		dst[i] = to.byteOf(clamp(from.real(b), limits))
	}
}

func addBytesGeneric(dst, a, b []byte, fromA, fromB Quantization, limits [2]float32, to Quantization) {
	for i, x := range a {
		sum := float32(fromA.real(x)) + float32(fromB.real(b[i]))
		dst[i] = to.byteOf(clamp(sum, limits))
	}
}

func mapBytesGeneric(dst, src []byte, table *[256]byte) {
	for i, x := range src {
		dst[i] = table[x]
	}
}

func quantizePixelsGeneric(dst []byte, src []float32, plane, channels int, to Quantization) {
	for x := range len(dst) / 4 {
		for c := range channels {
			dst[4*x+c] = to.byteOf(src[c*plane+x])
		}
	}
}

func pixelsGeneric(dst, src []byte, plane, channels int, flip byte) {
	n, x, flips := len(dst)/4, 0, uint64(flip)*0x0101010101010101
	for ; x+4 <= n; x += 4 { // 4 x 4 bytes transposed, rows 0 and 2 in one word, 1 and 3 in the other
		var r [4]uint64
		for c := range min(4, channels) {
			r[c] = uint64(binary.LittleEndian.Uint32(src[c*plane+x:]))
		}
		a, b := r[0]|r[2]<<32, r[1]|r[3]<<32
		t := (a>>8 ^ b) & 0x00ff00ff00ff00ff
		a, b = a^t<<8, b^t
		binary.LittleEndian.PutUint64(dst[4*x:], (a&0xffff|a>>16&0xffff0000|b<<32&0xffff00000000|b<<16&0xffff000000000000)^flips)
		binary.LittleEndian.PutUint64(dst[4*x+8:], (a>>16&0xffff|a>>32&0xffff0000|b<<16&0xffff00000000|b&0xffff000000000000)^flips)
	}
	for ; x < n; x++ {
		for c := range channels {
			dst[4*x+c] = src[c*plane+x] ^ flip
		}
	}
}

func quantizeBlockGeneric(dst []byte, src []float32, plane, channels int, to Quantization) {
	for x := range len(dst) / 16 {
		for c := range channels {
			dst[16*x+c] = to.byteOf(src[c*plane+x])
		}
	}
}

func dequantizeBlockGeneric(dst []float32, src []byte, plane, channels int, from Quantization) {
	for x := range len(src) / 16 {
		for c := range channels {
			dst[c*plane+x] = from.real(src[16*x+c])
		}
	}
}
