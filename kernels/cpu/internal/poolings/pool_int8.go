package poolings

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// PoolInt8 is a pooling of NCHWc16 bytes, ready to run.
//
// The maximum keeps scale and zero point. An average is the real value of the exact sum divided by the
// count: f = float32(sum of (q - zero)) * float32(scale/count), then the epilogue's residual, clamp and
// quantisation.
type PoolInt8 struct {
	window windows.FieldInt8
	depth  windows.Depth
	mode   PoolMode
	kernel asm.QPoolKernel
	steps  []int32
	counts [][]int32                      // of an average: of each output slice [oh][ow] elements that a window divides by
	scales map[int32]*[work.Lanes]float32 // by count
	bias   [work.Lanes]float32
	start  [][work.Lanes]int32 // by the slices of a window that meet the input
	job    *work.Job[poolInt8Run]
}

// NewPoolInt8 plans a pooling of input bytes of scale and zero for up to workers goroutines.
func NewPoolInt8(p PoolShape, mode PoolMode, scale float32, zero int32, features asm.Features, workers int) (*PoolInt8, error) {
	s, depth, err := p.windows()
	if err != nil {
		return nil, err
	}
	if zero < 0 || zero > 255 {
		return nil, fmt.Errorf("input zero point %d, want 0 to 255", zero)
	}
	l := &PoolInt8{depth: depth, mode: mode, kernel: qpoolKernel(features)}
	pad := byte(zero)
	if mode == MaxPool {
		pad = 0 // below everything
	}
	if err := l.window.Init(s, pad, workers); err != nil {
		return nil, err
	}
	if l.window.Scratch > 4*windows.MaxScratch/depth.Kernel {
		return nil, fmt.Errorf("%d slices of %d columns are more than a worker's cache has place for", depth.Kernel, s.Width)
	}
	l.steps = l.window.Taps(depth.Kernel)
	for slices := range depth.Kernel + 1 {
		var start [work.Lanes]int32
		for i := range start {
			start[i] = -zero * int32(slices*s.KernelH*s.KernelW)
		}
		l.start = append(l.start, start)
	}
	if mode != MaxPool {
		l.tabulate(&p, scale)
	}
	l.job = work.NewJob((*poolInt8Run).do)
	return l, nil
}

func qpoolKernel(features asm.Features) asm.QPoolKernel {
	for _, k := range asm.QPoolKernels() {
		if features.Has(k.Needs) {
			return k
		}
	}
	panic("cpu: no pooling kernel of bytes without features")
}

// tabulate counts the elements of every window; slices that count as many share a table.
func (l *PoolInt8) tabulate(p *PoolShape, scale float32) {
	h, w, d, top, left, front := p.Height, p.Width, l.depth.In, 0, 0, 0
	if l.mode == AveragePoolIncludingPad {
		top, left, front = p.PadTop, p.PadLeft, l.depth.PadFront
		h, w, d = h+p.PadTop+p.PadBottom, w+p.PadLeft+p.PadRight, d+front+p.PadBack
	}
	s := &l.window.Shape
	l.scales = map[int32]*[work.Lanes]float32{}
	tables := make([][]int32, l.depth.Kernel+1)
	for z := range l.depth.Out {
		slices := inRange(l.depth.Slice(z, 0)+front, l.depth.Kernel, l.depth.Dilation, d)
		if tables[slices] == nil {
			for y := range s.OutHeight() {
				rows := slices * inRange(y*s.StrideH-p.PadTop+top, s.KernelH, s.DilationH, h)
				for x := range s.OutWidth() {
					n := int32(max(1, rows*inRange(x*s.StrideW-p.PadLeft+left, s.KernelW, s.DilationW, w)))
					tables[slices] = append(tables[slices], n)
					l.share(n, scale)
				}
			}
		}
		l.counts = append(l.counts, tables[slices])
	}
}

// share makes the scales of sums of n elements.
func (l *PoolInt8) share(n int32, scale float32) {
	if l.scales[n] != nil {
		return
	}
	l.scales[n] = new([work.Lanes]float32)
	for i := range l.scales[n] {
		l.scales[n][i] = scale / float32(n)
	}
}

// inRange counts the kernel's taps from start on that lie in [0, size).
func inRange(start, kernel, dilation, size int) (n int) {
	for k := range kernel {
		if at := start + k*dilation; at >= 0 && at < size {
			n++
		}
	}
	return n
}

// Workspace returns the bytes that Run needs.
func (l *PoolInt8) Workspace() int { return l.window.Workers * l.scratch() }

// scratch returns the bytes of one worker's copies of slices.
func (l *PoolInt8) scratch() int { return l.depth.Kernel * l.window.Scratch }

// poolInt8Run is the state of one Run.
type poolInt8Run struct {
	pool *PoolInt8
	call quantised.Call
}

// Run pools; of the epilogue, the maximum uses Out alone. Several runs may go on at the same time.
func (l *PoolInt8) Run(parallel work.Parallel, call *quantised.Call) {
	l.job.Run(parallel, l.window.Workers, l.window.Units(), poolInt8Run{l, *call})
}

// do computes a unit.
func (r *poolInt8Run) do(u, worker int) {
	l, w := r.pool, &r.pool.window
	scratch := r.call.Workspace[worker*l.scratch():][:l.scratch()]
	image, block, first, last := w.Unit(u)
	image, slice := l.depth.Split(image)
	low, high := w.LoadSlices(scratch, r.call.In.Data[image*r.call.In.Image:], r.call.In.Plane, &l.depth, slice, block, first, last)
	plane, width := w.Shape.KernelH*w.Shape.KernelW, w.Shape.OutWidth()
	at := (slice*w.Shape.OutHeight() + first) * width
	pixels := w.Pixels[:(last-first)*width]
	call := asm.QConvCall{In: scratch, Steps: l.steps[low*plane : high*plane], Start: l.start[high-low][:]}
	if l.mode == MaxPool {
		requant := r.call.Epilogue.Requant(image, block, at, work.Lanes)
		l.windows(call, requant, pixels)
		return
	}
	counts := l.counts[slice][first*width:][:len(pixels)]
	for from, to := 0, 0; from < len(pixels); from = to { // runs of windows with the same count
		for to < len(pixels) && counts[to] == counts[from] {
			to++
		}
		requant := r.call.Epilogue.Requant(image, block, at+from, work.Lanes)
		requant.Scale, requant.Bias = l.scales[counts[from]][:], l.bias[:]
		l.windows(call, requant, pixels[from:to])
	}
}

// windows computes those at the given places, some at a time.
func (l *PoolInt8) windows(call asm.QConvCall, requant asm.Requant, pixels []int32) {
	call.Requant = &requant
	for most := quantised.PieceOf(len(call.Steps), 1, 8); len(pixels) > 0; {
		n := min(most, len(pixels))
		call.Pixels, pixels = pixels[:n], pixels[n:]
		if l.mode == MaxPool {
			l.kernel.Max(&call)
		} else {
			l.kernel.Average(&call)
		}
		requant = quantised.After(requant, n)
	}
}
