package cpu

// convGather copies the input rows that a block of output rows reads.
//
// Of a blocked (NCHWc16) input it makes one copy for each kernel column: [plane][kw][phase][row][OW][16],
// where column x of copy kw holds input column x*StrideW + kw*DilationW - PadLeft, and the rows are divided
// by the phases of StrideH that the kernel's rows fall into. So the input of tap (plane, kh, kw) for the
// block's output pixels, rows running on into each other, is a contiguous run of vectors: any number of
// consecutive pixels makes a tile, however small the map.
//
// Of a planar (NCHW) input it makes [plane][phase][row][column], the columns divided by the phases of
// StrideW: a tap is a contiguous run of scalars within one output row.
//
// What lies in the padding is stored as zeros.
type convGather struct {
	shape  *ConvShape
	planar bool
	ow     int
	phases []int // phases of the strided dimension that occur
	index  []int // phase -> its position in phases
	height int   // rows stored of each plane and phase
	width  int   // columns stored of a row
}

// newConvGather plans the copy for blocks of up to rows output rows.
func newConvGather(s *ConvShape, planar bool, rows int) *convGather {
	g := &convGather{shape: s, planar: planar, ow: s.OutWidth()}
	kernel, stride, dilation := s.KernelH, s.StrideH, s.DilationH
	g.height = rows + (kernel-1)*dilation/stride
	g.width = g.ow
	if planar {
		kernel, stride, dilation = s.KernelW, s.StrideW, s.DilationW
		g.height = (rows-1)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
		g.width = g.ow + (kernel-1)*dilation/stride
	}
	g.index = make([]int, stride)
	seen := make([]bool, stride)
	for k := range kernel {
		phase := k * dilation % stride
		if !seen[phase] {
			seen[phase], g.index[phase] = true, len(g.phases)
			g.phases = append(g.phases, phase)
		}
	}
	return g
}

// size returns the float32 elements of the copy of a number of planes.
func (g *convGather) size(planes int) int {
	n := planes * len(g.phases) * g.height * g.width
	if g.planar {
		return n
	}
	return n * g.shape.KernelW * lanes
}

// rowStep returns the distance of the input of successive output rows in a planar copy.
func (g *convGather) rowStep() int { return g.shape.StrideH * g.width }

// offset returns where the input of a tap begins.
func (g *convGather) offset(plane, kh, kw int) int {
	s := g.shape
	if g.planar {
		phase, column := kw*s.DilationW%s.StrideW, kw*s.DilationW/s.StrideW
		return ((plane*len(g.phases)+g.index[phase])*g.height+kh*s.DilationH)*g.width + column
	}
	phase, row := kh*s.DilationH%s.StrideH, kh*s.DilationH/s.StrideH
	return (((plane*s.KernelW+kw)*len(g.phases)+g.index[phase])*g.height + row) * g.width * lanes
}

// rows copies what output rows [first, last) read of planes [p0, p1) of an image.
func (g *convGather) rows(dst, image []float32, planeStride, p0, p1, first, last int) {
	for p := p0; p < p1; p++ {
		plane := image[p*planeStride:]
		if g.planar {
			dst = g.planarPlane(dst, plane, first, last)
		} else {
			dst = g.blockedPlane(dst, plane, first, last)
		}
	}
}

func (g *convGather) blockedPlane(dst, plane []float32, first, last int) []float32 {
	s := g.shape
	row := g.width * lanes
	used := last - first + (s.KernelH-1)*s.DilationH/s.StrideH
	for kw := range s.KernelW {
		for _, phase := range g.phases {
			for j := range used {
				y := (first+j)*s.StrideH + phase - s.PadTop
				if y < 0 || y >= s.Height {
					clear(dst[j*row : (j+1)*row])
					continue
				}
				gatherVectors(dst[j*row:(j+1)*row], plane[y*s.Width*lanes:][:s.Width*lanes], kw*s.DilationW-s.PadLeft, s.StrideW)
			}
			dst = dst[g.height*row:]
		}
	}
	return dst
}

// gatherVectors sets vector x of dst to vector start + x*stride of src, or to zeros beyond its ends.
func gatherVectors(dst, src []float32, start, stride int) {
	low, high := inside(start, stride, len(dst)/lanes, len(src)/lanes)
	clear(dst[:low*lanes])
	clear(dst[high*lanes:])
	if low == high {
		return
	}
	src = src[(start+low*stride)*lanes:]
	if stride == 1 {
		copy(dst[low*lanes:high*lanes], src)
		return
	}
	for x := low; x < high; x++ {
		*(*[lanes]float32)(dst[x*lanes:]) = *(*[lanes]float32)(src[(x-low)*stride*lanes:])
	}
}

func (g *convGather) planarPlane(dst, plane []float32, first, last int) []float32 {
	s := g.shape
	used := (last-1-first)*s.StrideH + (s.KernelH-1)*s.DilationH + 1
	for _, phase := range g.phases {
		for j := range used {
			y := first*s.StrideH + j - s.PadTop
			row := dst[j*g.width : (j+1)*g.width]
			if y < 0 || y >= s.Height {
				clear(row)
				continue
			}
			gatherScalars(row, plane[y*s.Width:][:s.Width], phase-s.PadLeft, s.StrideW)
		}
		dst = dst[g.height*g.width:]
	}
	return dst
}

// gatherScalars is gatherVectors for single elements.
func gatherScalars(dst, src []float32, start, stride int) {
	low, high := inside(start, stride, len(dst), len(src))
	clear(dst[:low])
	clear(dst[high:])
	if low == high {
		return
	}
	src = src[start+low*stride:]
	dst = dst[low:high]
	if stride == 1 {
		copy(dst, src)
		return
	}
	for x := range dst {
		dst[x] = src[x*stride]
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
