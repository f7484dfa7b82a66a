package cpu

import (
	"encoding/binary"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// int8Area is where the inner kernel finds the input of a block of output rows: [plane][row][column][pixel
// bytes], either a padded copy or, without padding, the input tensor itself.
type int8Area struct {
	shape  *ConvShape
	zero   byte
	signed bool // a stem's bytes are two's complement
	copied bool
	pixel  int // bytes of a pixel: 16, or 4 in a stem
	width  int // columns of a row
	height int // rows of a plane of a copy
	plane  int // bytes of a plane
	quant  asm.QuantKernel
}

// overread is the number of bytes that the last steps of a row may read beyond it, weights being zero there.
const overread = 64

func newInt8Area(s *ConvShape, cfg ConvInt8Config) int8Area {
	a := int8Area{shape: s, zero: byte(cfg.InZero), signed: cfg.Signed, pixel: work.Lanes, width: s.Width, height: s.Height, plane: s.Height * s.Width * work.Lanes}
	if cfg.InPlane > 0 {
		a.plane = cfg.InPlane
	}
	if cfg.Stem {
		a.pixel = 4
	}
	a.quant = work.QuantKernel(cfg.Features)
	a.copied = cfg.Stem || s.PadTop+s.PadLeft+s.PadBottom+s.PadRight > 0
	return a
}

// fit sizes the copy for blocks of up to rows output rows.
func (a *int8Area) fit(rows int) {
	if !a.copied {
		return
	}
	s := a.shape
	a.height = (rows-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
	a.width = (s.OutWidth()-1)*s.StrideW + (s.KernelW-1)*s.DilationW + 1
	a.plane = a.height * a.width * a.pixel
}

// window returns the offset of output pixel (row, column) of a block.
func (a *int8Area) window(row, column int) int {
	return (row*a.shape.StrideH*a.width + column*a.shape.StrideW) * a.pixel
}

// offset returns the offset of a tap from a window.
func (a *int8Area) offset(plane, kh, kw int) int {
	return plane*a.plane + (kh*a.shape.DilationH*a.width+kw*a.shape.DilationW)*a.pixel
}

// eachRow calls f for each row of the copy for output rows [first, last): y is its input row, or -1 in the
// padding.
func (a *int8Area) eachRow(first, last int, f func(row, y int)) {
	s := a.shape
	used := (last-first-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
	for j := range used {
		y := first*s.StrideH + j - s.PadTop
		if y >= s.Height {
			y = -1
		}
		f(j, max(y, -1))
	}
}

// columns returns the columns of the copy that lie inside the input.
func (a *int8Area) columns() (low, high int) {
	low = max(0, min(a.shape.PadLeft, a.width))
	return low, max(low, min(a.width, a.shape.PadLeft+a.shape.Width))
}

// gather copies channel blocks [b0, b1) of an NCHWc16 image.
func (a *int8Area) gather(dst, image []byte, planeStride, b0, b1, first, last int) {
	low, high := a.columns()
	from := max(0, -a.shape.PadLeft) // the first column of the input, which that of a transposed convolution's window may be behind
	for b := b0; b < b1; b++ {
		plane := image[b*planeStride:]
		a.eachRow(first, last, func(row, y int) {
			to := dst[((b-b0)*a.height+row)*a.width*work.Lanes:][:a.width*work.Lanes]
			if y < 0 {
				fillBytes(to, a.zero)
				return
			}
			fillBytes(to[:low*work.Lanes], a.zero)
			copy(to[low*work.Lanes:high*work.Lanes], plane[(y*a.shape.Width+from)*work.Lanes:])
			fillBytes(to[high*work.Lanes:], a.zero)
		})
	}
}

// gatherStem interleaves the channels of an NCHW image, four bytes a pixel.
func (a *int8Area) gatherStem(dst, image []byte, planeStride, first, last int) {
	low, high := a.columns()
	var flip byte
	if a.signed {
		flip = 0x80
	}
	a.eachRow(first, last, func(row, y int) {
		to := a.stemRow(dst, row, y, low, high)
		if y >= 0 {
			a.quant.Pixels(to, image[y*a.shape.Width:], planeStride, a.shape.Channels, flip)
		}
	})
}

// quantiseStem quantises an NCHW image on the way.
func (a *int8Area) quantiseStem(dst []byte, image []float32, planeStride, first, last int, scale float32) {
	low, high := a.columns()
	to8 := asm.Quantization{Scale: scale, Zero: int32(a.zero)}
	a.eachRow(first, last, func(row, y int) {
		to := a.stemRow(dst, row, y, low, high)
		if y >= 0 {
			a.quant.QuantizePixels(to, image[y*a.shape.Width:], planeStride, a.shape.Channels, to8)
		}
	})
}

// stemRow fills the padding of a row and returns the part that holds input columns.
func (a *int8Area) stemRow(dst []byte, row, y, low, high int) []byte {
	to := dst[row*a.width*4:][:a.width*4]
	if y < 0 {
		fillBytes(to, a.zero)
		return nil
	}
	fillBytes(to[:low*4], a.zero)
	fillBytes(to[high*4:], a.zero)
	return to[low*4 : high*4]
}

// fillBytes sets every byte of s to v, eight at a time.
func fillBytes(s []byte, v byte) {
	word := uint64(v) * 0x0101010101010101
	for len(s) >= 8 {
		binary.LittleEndian.PutUint64(s, word)
		s = s[8:]
	}
	for i := range s {
		s[i] = v
	}
}
