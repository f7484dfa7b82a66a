package poolings

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/quantised"
	"github.com/trtui/trtui/kernels/cpu/windows"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// PoolInt8 is a pooling of NCHWc16 bytes, ready to run.
//
// The maximum keeps scale and zero point. An average is the real value of the exact sum divided by the
// count: f = float32(sum of (q - zero)) * float32(scale/count), then the epilogue's residual, clamp and
// quantisation.
type PoolInt8 struct {
	window windows.FieldInt8
	mode   PoolMode
	kernel asm.QPoolKernel
	steps  []int32
	zero   int32
	counts []int32                        // [oh][ow] elements that a window divides by
	scales map[int32]*[work.Lanes]float32 // by count
	bias   [work.Lanes]float32
	start  [work.Lanes]int32
	job    *work.Job[poolInt8Run]
}

// NewPoolInt8 plans a pooling of input bytes of scale and zero for up to workers goroutines.
func NewPoolInt8(p PoolShape, mode PoolMode, scale float32, zero int32, features asm.Features, workers int) (*PoolInt8, error) {
	if p.ExtraBottom < 0 || p.ExtraRight < 0 {
		return nil, fmt.Errorf("negative extra rows or columns %d %d", p.ExtraBottom, p.ExtraRight)
	}
	s := windows.Shape{Batch: p.Batch, Channels: p.Channels, Height: p.Height, Width: p.Width, Filters: p.Channels, Groups: p.Channels,
		KernelH: p.KernelH, KernelW: p.KernelW, StrideH: p.StrideH, StrideW: p.StrideW, DilationH: p.DilationH, DilationW: p.DilationW,
		PadTop: p.PadTop, PadLeft: p.PadLeft, PadBottom: p.PadBottom + p.ExtraBottom, PadRight: p.PadRight + p.ExtraRight}
	if err := s.CheckTaps(windows.MaxPoolTaps); err != nil {
		return nil, err
	}
	if zero < 0 || zero > 255 {
		return nil, fmt.Errorf("input zero point %d, want 0 to 255", zero)
	}
	l := &PoolInt8{mode: mode, zero: zero}
	for _, k := range asm.QPoolKernels() {
		if features.Has(k.Needs) {
			l.kernel = k
			break
		}
	}
	pad := byte(zero)
	if mode == MaxPool {
		pad = 0 // below everything
	}
	if err := l.window.Init(s, pad, workers); err != nil {
		return nil, err
	}
	l.steps = l.window.Taps()
	for i := range l.start {
		l.start[i] = -zero * int32(len(l.steps))
	}
	if mode != MaxPool {
		l.tabulate(&p, scale)
	}
	l.job = work.NewJob((*poolInt8Run).do)
	return l, nil
}

// tabulate counts the elements of every window.
func (l *PoolInt8) tabulate(p *PoolShape, scale float32) {
	h, w, top, left := p.Height, p.Width, 0, 0
	if l.mode == AveragePoolIncludingPad {
		h, w, top, left = h+p.PadTop+p.PadBottom, w+p.PadLeft+p.PadRight, p.PadTop, p.PadLeft
	}
	s := &l.window.Shape
	l.scales = map[int32]*[work.Lanes]float32{}
	for y := range s.OutHeight() {
		rows := inRange(y*s.StrideH-p.PadTop+top, s.KernelH, s.DilationH, h)
		for x := range s.OutWidth() {
			n := int32(max(1, rows*inRange(x*s.StrideW-p.PadLeft+left, s.KernelW, s.DilationW, w)))
			l.counts = append(l.counts, n)
			if l.scales[n] == nil {
				l.scales[n] = new([work.Lanes]float32)
				for i := range l.scales[n] {
					l.scales[n][i] = scale / float32(n)
				}
			}
		}
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
func (l *PoolInt8) Workspace() int { return l.window.Workers * l.window.Scratch }

// poolInt8Run is the state of one Run.
type poolInt8Run struct {
	pool *PoolInt8
	call quantised.Call
}

// Run pools; of the epilogue, the maximum uses Out alone. Several runs may go on at the same time.
func (l *PoolInt8) Run(parallel work.Parallel, call *quantised.Call) {
	l.job.Run(parallel, l.window.Workers, l.window.Units(), poolInt8Run{l, *call})
}

func (r *poolInt8Run) do(u, worker int) {
	l, w := r.pool, &r.pool.window
	scratch := r.call.Workspace[worker*w.Scratch:][:w.Scratch]
	image, block, first, last := w.Load(scratch, r.call.In, u)
	width := w.Shape.OutWidth()
	pixels := w.Pixels[:(last-first)*width]
	if l.mode == MaxPool {
		requant := r.call.Epilogue.Requant(image, block, first*width, work.Lanes)
		call := asm.QConvCall{In: scratch, Steps: l.steps, Requant: &requant}
		for most := quantised.PieceOf(len(l.steps), 1, 8); len(pixels) > 0; {
			n := min(most, len(pixels))
			call.Pixels, pixels = pixels[:n], pixels[n:]
			l.kernel.Max(&call)
			requant = quantised.After(requant, n)
		}
		return
	}
	counts := l.counts[first*width:][:len(pixels)]
	for from, to := 0, 0; from < len(pixels); from = to { // runs of windows with the same count
		for to < len(pixels) && counts[to] == counts[from] {
			to++
		}
		requant := r.call.Epilogue.Requant(image, block, first*width+from, work.Lanes)
		requant.Scale, requant.Bias = l.scales[counts[from]][:], l.bias[:]
		call := asm.QConvCall{In: scratch, Steps: l.steps, Start: l.start[:], Requant: &requant}
		pixels := pixels[from:to]
		for most := quantised.PieceOf(len(l.steps), 1, 8); len(pixels) > 0; {
			n := min(most, len(pixels))
			call.Pixels, pixels = pixels[:n], pixels[n:]
			l.kernel.Average(&call)
			requant = quantised.After(requant, n)
		}
	}
}
