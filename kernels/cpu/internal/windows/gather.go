package windows

import (
	"slices"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Order is the order in which a Gather stores what it copies.
type Order int

const (
	// TapRuns is, of each plane of vectors, [kw][phase of StrideH][row][OW][16]: column x of copy kw holds input
	// column x*StrideW + kw*DilationW - PadLeft, and the rows are divided by the phases of StrideH that the
	// kernel's rows fall into. So the input of tap (plane, kh, kw) for the block's output pixels, rows running
	// on into each other, is a contiguous run of vectors: any number of consecutive pixels makes a tile,
	// however small the map.
	TapRuns Order = iota
	// RowRuns is, of each plane, [phase of StrideW][row][column]: the input of a tap is a contiguous run within
	// one output row.
	RowRuns
)

// Gather copies the input rows that a block of output rows reads into a scratch area, in an order in
// which each tap of the kernel is one constant offset. What lies in the padding is stored as the padding
// value, so that the inner kernels have no edges.
type Gather struct {
	shape  *Shape
	order  Order
	pixel  int     // elements of a pixel: 16 in NCHWc16, 1 in NCHW
	pad    float32 // the padding value
	phases []int   // phases of the strided dimension that occur
	height int     // rows stored of each plane and phase
	width  int     // columns stored of a row
	Kernel asm.LayoutKernel
}

// NewGather plans the copy for blocks of up to rows output rows.
func NewGather(s *Shape, order Order, pixel, rows int, kernel asm.LayoutKernel) *Gather {
	g := &Gather{shape: s, order: order, pixel: pixel, Kernel: kernel}
	taps, stride, dilation := s.KernelH, s.StrideH, s.DilationH
	g.height = rows + (taps-1)*dilation/stride
	g.width = s.OutWidth()
	if order == RowRuns {
		taps, stride, dilation = s.KernelW, s.StrideW, s.DilationW
		g.height = (rows-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
		g.width += (taps - 1) * dilation / stride
	}
	for k := range taps {
		if phase := k * dilation % stride; !slices.Contains(g.phases, phase) {
			g.phases = append(g.phases, phase)
		}
	}
	return g
}

// index returns the place of a phase among those that are stored.
func (g *Gather) index(phase int) int { return slices.Index(g.phases, phase) }

// Row returns the elements of a stored row.
func (g *Gather) Row() int { return g.width * g.pixel }

// Size returns the elements of the copy of a number of planes.
func (g *Gather) Size(planes int) int {
	n := planes * len(g.phases) * g.height * g.Row()
	if g.order == TapRuns {
		n *= g.shape.KernelW
	}
	return n
}

// RowStep returns the distance of the input of successive output rows in order RowRuns.
func (g *Gather) RowStep() int { return g.shape.StrideH * g.Row() }

// Offset returns where the input of a tap begins.
func (g *Gather) Offset(plane, kh, kw int) int {
	s := g.shape
	if g.order == RowRuns {
		phase, column := kw*s.DilationW%s.StrideW, kw*s.DilationW/s.StrideW
		return ((plane*len(g.phases)+g.index(phase))*g.height+kh*s.DilationH)*g.Row() + column*g.pixel
	}
	phase, row := kh*s.DilationH%s.StrideH, kh*s.DilationH/s.StrideH
	return (((plane*s.KernelW+kw)*len(g.phases)+g.index(phase))*g.height + row) * g.Row()
}

// Copy stores what output rows [first, last) read of planes [p0, p1) of an image.
func (g *Gather) Copy(dst, image []float32, planeStride, p0, p1, first, last int) {
	for p := p0; p < p1; p++ {
		plane := image[p*planeStride:]
		if g.order == RowRuns {
			dst = g.copyRows(dst, plane, first, last)
		} else {
			dst = g.copyTaps(dst, plane, first, last)
		}
	}
}

func (g *Gather) copyTaps(dst, plane []float32, first, last int) []float32 {
	s := g.shape
	used := last - first + (s.KernelH-1)*s.DilationH/s.StrideH
	for kw := range s.KernelW {
		for _, phase := range g.phases {
			g.lines(dst, plane, used, first*s.StrideH+phase-s.PadTop, s.StrideH, kw*s.DilationW-s.PadLeft)
			dst = dst[g.height*g.Row():]
		}
	}
	return dst
}

func (g *Gather) copyRows(dst, plane []float32, first, last int) []float32 {
	s := g.shape
	used := (last-1-first)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
	for _, phase := range g.phases {
		g.lines(dst, plane, used, first*s.StrideH-s.PadTop, 1, phase-s.PadLeft)
		dst = dst[g.height*g.Row():]
	}
	return dst
}

// lines stores n rows: row i is row y + i*step of the input, its pixel x column start + x*StrideW, the padding
// value outside.
func (g *Gather) lines(dst, plane []float32, n, y, step, start int) {
	s := g.shape
	top, bottom := Inside(y, step, n, s.Height)
	low, high := Inside(start, s.StrideW, g.width, s.Width)
	if low == high {
		bottom = top
	}
	g.border(dst[:top*g.Row()])
	g.border(dst[bottom*g.Row() : n*g.Row()])
	if top == bottom {
		return
	}
	src := plane[((y+top*step)*s.Width+start+low*s.StrideW)*g.pixel:]
	dst = dst[top*g.Row():]
	if g.pixel == work.Lanes {
		g.Kernel.Gather(asm.GatherCall{Dst: dst, DstRow: g.Row(), Src: src, SrcRow: step * s.Width * work.Lanes, Rows: bottom - top,
			Left: low, N: high - low, Right: g.width - high, Step: s.StrideW * work.Lanes, Pad: g.pad})
		return
	}
	for i := range bottom - top {
		g.scalars(dst[i*g.width:(i+1)*g.width], src[i*step*s.Width:], low, high)
	}
}

// border sets vectors or scalars to the padding value.
func (g *Gather) border(dst []float32) {
	if g.pad == 0 {
		clear(dst)
		return
	}
	for i := range dst {
		dst[i] = g.pad
	}
}

// scalars sets dst[low:high] to elements of src StrideW apart, the rest to the padding value.
func (g *Gather) scalars(dst, src []float32, low, high int) {
	g.border(dst[:low])
	g.border(dst[high:])
	dst = dst[low:high]
	switch stride := g.shape.StrideW; stride {
	case 1:
		copy(dst, src)
	case 2:
		g.Kernel.Evens(dst, src)
	default:
		for x := range dst {
			dst[x] = src[x*stride]
		}
	}
}

// Inside returns the range of x in [0, n) for which start + x*stride lies in [0, size).
func Inside(start, stride, n, size int) (low, high int) {
	if start < 0 {
		low = (-start + stride - 1) / stride
	}
	low = min(low, n)
	if size > start {
		high = (size - start + stride - 1) / stride
	}
	return low, max(low, min(high, n))
}
