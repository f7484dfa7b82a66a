package cpu

import (
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// gatherOrder is the order in which a windowGather stores what it copies.
type gatherOrder int

const (
	// tapRuns is, of each plane of vectors, [kw][phase of StrideH][row][OW][16]: column x of copy kw holds input
	// column x*StrideW + kw*DilationW - PadLeft, and the rows are divided by the phases of StrideH that the
	// kernel's rows fall into. So the input of tap (plane, kh, kw) for the block's output pixels, rows running
	// on into each other, is a contiguous run of vectors: any number of consecutive pixels makes a tile,
	// however small the map.
	tapRuns gatherOrder = iota
	// rowRuns is, of each plane, [phase of StrideW][row][column]: the input of a tap is a contiguous run within
	// one output row.
	rowRuns
)

// windowGather copies the input rows that a block of output rows reads into a scratch area, in an order in
// which each tap of the kernel is one constant offset. What lies in the padding is stored as the padding
// value, so that the inner kernels have no edges.
type windowGather struct {
	shape  *ConvShape
	order  gatherOrder
	pixel  int     // elements of a pixel: 16 in NCHWc16, 1 in NCHW
	pad    float32 // the padding value
	phases []int   // phases of the strided dimension that occur
	index  []int   // phase -> its position in phases
	height int     // rows stored of each plane and phase
	width  int     // columns stored of a row
	kernel asm.LayoutKernel
}

// newWindowGather plans the copy for blocks of up to rows output rows.
func newWindowGather(s *ConvShape, order gatherOrder, pixel, rows int, kernel asm.LayoutKernel) *windowGather {
	g := &windowGather{shape: s, order: order, pixel: pixel, kernel: kernel}
	taps, stride, dilation := s.KernelH, s.StrideH, s.DilationH
	g.height = rows + (taps-1)*dilation/stride
	g.width = s.OutWidth()
	if order == rowRuns {
		taps, stride, dilation = s.KernelW, s.StrideW, s.DilationW
		g.height = (rows-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
		g.width += (taps - 1) * dilation / stride
	}
	g.index = make([]int, stride)
	seen := make([]bool, stride)
	for k := range taps {
		phase := k * dilation % stride
		if !seen[phase] {
			seen[phase], g.index[phase] = true, len(g.phases)
			g.phases = append(g.phases, phase)
		}
	}
	return g
}

// row returns the elements of a stored row.
func (g *windowGather) row() int { return g.width * g.pixel }

// size returns the elements of the copy of a number of planes.
func (g *windowGather) size(planes int) int {
	n := planes * len(g.phases) * g.height * g.row()
	if g.order == tapRuns {
		n *= g.shape.KernelW
	}
	return n
}

// rowStep returns the distance of the input of successive output rows in order rowRuns.
func (g *windowGather) rowStep() int { return g.shape.StrideH * g.row() }

// offset returns where the input of a tap begins.
func (g *windowGather) offset(plane, kh, kw int) int {
	s := g.shape
	if g.order == rowRuns {
		phase, column := kw*s.DilationW%s.StrideW, kw*s.DilationW/s.StrideW
		return ((plane*len(g.phases)+g.index[phase])*g.height+kh*s.DilationH)*g.row() + column*g.pixel
	}
	phase, row := kh*s.DilationH%s.StrideH, kh*s.DilationH/s.StrideH
	return (((plane*s.KernelW+kw)*len(g.phases)+g.index[phase])*g.height + row) * g.row()
}

// copy stores what output rows [first, last) read of planes [p0, p1) of an image.
func (g *windowGather) copy(dst, image []float32, planeStride, p0, p1, first, last int) {
	for p := p0; p < p1; p++ {
		plane := image[p*planeStride:]
		if g.order == rowRuns {
			dst = g.copyRows(dst, plane, first, last)
		} else {
			dst = g.copyTaps(dst, plane, first, last)
		}
	}
}

func (g *windowGather) copyTaps(dst, plane []float32, first, last int) []float32 {
	s := g.shape
	used := last - first + (s.KernelH-1)*s.DilationH/s.StrideH
	for kw := range s.KernelW {
		for _, phase := range g.phases {
			g.lines(dst, plane, used, first*s.StrideH+phase-s.PadTop, s.StrideH, kw*s.DilationW-s.PadLeft)
			dst = dst[g.height*g.row():]
		}
	}
	return dst
}

func (g *windowGather) copyRows(dst, plane []float32, first, last int) []float32 {
	s := g.shape
	used := (last-1-first)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
	for _, phase := range g.phases {
		g.lines(dst, plane, used, first*s.StrideH-s.PadTop, 1, phase-s.PadLeft)
		dst = dst[g.height*g.row():]
	}
	return dst
}

// lines stores n rows: row i is row y + i*step of the input, its pixel x column start + x*StrideW, the padding
// value outside.
func (g *windowGather) lines(dst, plane []float32, n, y, step, start int) {
	s := g.shape
	top, bottom := inside(y, step, n, s.Height)
	low, high := inside(start, s.StrideW, g.width, s.Width)
	if low == high {
		bottom = top
	}
	g.border(dst[:top*g.row()])
	g.border(dst[bottom*g.row() : n*g.row()])
	if top == bottom {
		return
	}
	src := plane[((y+top*step)*s.Width+start+low*s.StrideW)*g.pixel:]
	dst = dst[top*g.row():]
	if g.pixel == work.Lanes {
		g.kernel.Gather(asm.GatherCall{Dst: dst, DstRow: g.row(), Src: src, SrcRow: step * s.Width * work.Lanes, Rows: bottom - top,
			Left: low, N: high - low, Right: g.width - high, Step: s.StrideW * work.Lanes, Pad: g.pad})
		return
	}
	for i := range bottom - top {
		g.scalars(dst[i*g.width:(i+1)*g.width], src[i*step*s.Width:], low, high)
	}
}

// border sets vectors or scalars to the padding value.
func (g *windowGather) border(dst []float32) {
	if g.pad == 0 {
		clear(dst)
		return
	}
	for i := range dst {
		dst[i] = g.pad
	}
}

// scalars sets dst[low:high] to elements of src StrideW apart, the rest to the padding value.
func (g *windowGather) scalars(dst, src []float32, low, high int) {
	g.border(dst[:low])
	g.border(dst[high:])
	dst = dst[low:high]
	switch stride := g.shape.StrideW; stride {
	case 1:
		copy(dst, src)
	case 2:
		g.kernel.Evens(dst, src)
	default:
		for x := range dst {
			dst[x] = src[x*stride]
		}
	}
}

// inside returns the range of x in [0, n) for which start + x*stride lies in [0, size).
func inside(start, stride, n, size int) (low, high int) {
	if start < 0 {
		low = (-start + stride - 1) / stride
	}
	low = min(low, n)
	if size > start {
		high = (size - start + stride - 1) / stride
	}
	return low, max(low, min(high, n))
}
