package windows

import (
	"encoding/binary"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Area is where the inner kernel finds the input of a block of output rows: [plane][row][column][pixel
// bytes], either a padded copy or, without padding, the input tensor itself.
type Area struct {
	Shape  *Shape
	Zero   byte
	Signed bool // a stem's bytes are two's complement
	Copied bool
	Pixel  int // bytes of a pixel: 16, or 4 in a stem
	Width  int // columns of a row
	Height int // rows of a plane of a copy
	Plane  int // bytes of a plane
	Quant  asm.QuantKernel
}

// Overread is the number of bytes that the last steps of a row may read beyond it, weights being zero there.
const Overread = 64

// Fit sizes the copy for blocks of up to rows output rows.
func (a *Area) Fit(rows int) {
	if !a.Copied {
		return
	}
	s := a.Shape
	a.Height = (rows-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
	a.Width = (s.OutWidth()-1)*s.StrideW + (s.KernelW-1)*s.DilationW + 1
	a.Plane = a.Height * a.Width * a.Pixel
}

// Window returns the offset of output pixel (row, column) of a block.
func (a *Area) Window(row, column int) int {
	return (row*a.Shape.StrideH*a.Width + column*a.Shape.StrideW) * a.Pixel
}

// Offset returns the offset of a tap from a window.
func (a *Area) Offset(plane, kh, kw int) int {
	return plane*a.Plane + (kh*a.Shape.DilationH*a.Width+kw*a.Shape.DilationW)*a.Pixel
}

// eachRow calls f for each row of the copy for output rows [first, last): y is its input row, or -1 in the
// padding.
func (a *Area) eachRow(first, last int, f func(row, y int)) {
	s := a.Shape
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
func (a *Area) columns() (low, high int) {
	low = max(0, min(a.Shape.PadLeft, a.Width))
	return low, max(low, min(a.Width, a.Shape.PadLeft+a.Shape.Width))
}

// Gather copies channel blocks [b0, b1) of an NCHWc16 image.
func (a *Area) Gather(dst, image []byte, planeStride, b0, b1, first, last int) {
	low, high := a.columns()
	from := max(0, -a.Shape.PadLeft) // the first column of the input, which that of a transposed convolution's window may be behind
	for b := b0; b < b1; b++ {
		plane := image[b*planeStride:]
		a.eachRow(first, last, func(row, y int) {
			to := dst[((b-b0)*a.Height+row)*a.Width*work.Lanes:][:a.Width*work.Lanes]
			if y < 0 {
				FillBytes(to, a.Zero)
				return
			}
			FillBytes(to[:low*work.Lanes], a.Zero)
			copy(to[low*work.Lanes:high*work.Lanes], plane[(y*a.Shape.Width+from)*work.Lanes:])
			FillBytes(to[high*work.Lanes:], a.Zero)
		})
	}
}

// GatherStem interleaves the channels of an NCHW image, four bytes a pixel.
func (a *Area) GatherStem(dst, image []byte, planeStride, first, last int) {
	low, high := a.columns()
	var flip byte
	if a.Signed {
		flip = 0x80
	}
	a.eachRow(first, last, func(row, y int) {
		to := a.stemRow(dst, row, y, low, high)
		if y >= 0 {
			a.Quant.Pixels(to, image[y*a.Shape.Width:], planeStride, a.Shape.Channels, flip)
		}
	})
}

// QuantiseStem quantises an NCHW image on the way.
func (a *Area) QuantiseStem(dst []byte, image []float32, planeStride, first, last int, scale float32) {
	low, high := a.columns()
	to8 := asm.Quantization{Scale: scale, Zero: int32(a.Zero)}
	a.eachRow(first, last, func(row, y int) {
		to := a.stemRow(dst, row, y, low, high)
		if y >= 0 {
			a.Quant.QuantizePixels(to, image[y*a.Shape.Width:], planeStride, a.Shape.Channels, to8)
		}
	})
}

// stemRow fills the padding of a row and returns the part that holds input columns.
func (a *Area) stemRow(dst []byte, row, y, low, high int) []byte {
	to := dst[row*a.Width*4:][:a.Width*4]
	if y < 0 {
		FillBytes(to, a.Zero)
		return nil
	}
	FillBytes(to[:low*4], a.Zero)
	FillBytes(to[high*4:], a.Zero)
	return to[low*4 : high*4]
}

// FillBytes sets every byte of s to v, eight at a time.
func FillBytes(s []byte, v byte) {
	word := uint64(v) * 0x0101010101010101
	for len(s) >= 8 {
		binary.LittleEndian.PutUint64(s, word)
		s = s[8:]
	}
	for i := range s {
		s[i] = v
	}
}

// CopyBytes bounds one worker's copy of input rows: it shares the L2 cache with weights and output.
const CopyBytes = 256 << 10

// Pixels returns the offsets of the windows of a block of rows.
func (a *Area) Pixels(rows int) []int32 {
	offsets := make([]int32, 0, rows*a.Shape.OutWidth())
	for y := range rows {
		for x := range a.Shape.OutWidth() {
			offsets = append(offsets, int32(a.Window(y, x)))
		}
	}
	return offsets
}
