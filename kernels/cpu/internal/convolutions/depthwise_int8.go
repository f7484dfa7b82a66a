package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// DepthwiseInt8 is a depthwise convolution of NCHWc16 bytes, one filter a channel, ready to run.
type DepthwiseInt8 struct {
	window  windows.FieldInt8
	column  *asm.QColumnKernel // nil where none has this shape
	kernel  asm.QDepthwiseKernel
	steps   [][]int32 // of each channel block
	weights [][]int8  // [step][16][4]
	start   []int32
	scale   []float32
	bias    []float32
	job     *work.Job[depthwiseInt8Run]
}

// NewDepthwiseInt8 packs weights [Channels][1][KernelH][KernelW]; the arguments are those of NewDirectInt8.
// Channels, Filters and Groups of the shape must be equal.
func NewDepthwiseInt8(s windows.Shape, weights []int16, scale, bias []float32, cfg ConfigInt8) (*DepthwiseInt8, error) {
	d, err := planDepthwiseInt8(s, cfg)
	if err != nil {
		return nil, err
	}
	if err := quantised.Check(s.Filters, s.Channels*s.KernelH*s.KernelW, weights, scale, bias, cfg.InZero); err != nil {
		return nil, err
	}
	for _, k := range asm.QDepthwiseKernels() {
		if cfg.Features.Has(k.Needs) {
			d.kernel = k
			break
		}
	}
	d.start, d.scale, d.bias = quantised.Constants(s.Filters, weights, scale, bias, cfg.InZero)
	d.column = columnKernel(&s, weights, d.kernel.Needs)
	for block := range d.window.Blocks {
		d.pack(weights, block)
	}
	d.job = work.NewJob((*depthwiseInt8Run).do)
	return d, nil
}

// planDepthwiseInt8 returns a convolution without weights: what its workspace follows from.
func planDepthwiseInt8(s windows.Shape, cfg ConfigInt8) (*DepthwiseInt8, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Groups != s.Channels || s.Filters != s.Channels {
		return nil, fmt.Errorf("%d channels to %d in %d groups is not depthwise with one filter a channel", s.Channels, s.Filters, s.Groups)
	}
	d := &DepthwiseInt8{}
	return d, d.window.Init(s, byte(cfg.InZero), cfg.Workers)
}

// columnKernel returns the kernel of an instruction set that computes whole columns, if there is one for the shape; it
// takes signed bytes alone.
func columnKernel(s *windows.Shape, weights []int16, isa asm.Features) *asm.QColumnKernel {
	for _, w := range weights {
		if w != int16(int8(w)) {
			return nil
		}
	}
	kernels := asm.QColumnKernels()
	for i := range kernels {
		k := &kernels[i]
		if k.Needs == isa && s.KernelH == k.KernelRows && s.StrideH == k.StrideRows && s.DilationH == 1 &&
			((s.KernelW-1)*s.DilationW+4)/4 == k.Chunks {
			return k
		}
	}
	return nil
}

// pack lays out the weights of a channel block: a step is four neighbours in a row of the kernel as it is
// with its dilation, absent ones having zero weights. Weights beyond a signed byte take further steps. Steps
// without weights are left out, but for a column kernel.
func (d *DepthwiseInt8) pack(weights []int16, block int) {
	s := &d.window.Shape
	var steps []int32
	var packed []int8
	for kh := range s.KernelH {
		for column := 0; column <= (s.KernelW-1)*s.DilationW; column += 4 {
			var rest [64]int16
			for i := range rest {
				c, at := block*work.Lanes+i/4, column+i%4
				if kw := at / s.DilationW; c < s.Channels && at%s.DilationW == 0 && kw < s.KernelW {
					rest[i] = weights[(c*s.KernelH+kh)*s.KernelW+kw]
				}
			}
			for more := d.column != nil || rest != [64]int16{}; more; more = rest != [64]int16{} {
				for i, w := range rest {
					low := max(-128, min(127, w))
					packed = append(packed, int8(low))
					rest[i] -= low
				}
				steps = append(steps, int32((kh*s.DilationH*d.window.Area.Width+column)*work.Lanes))
			}
		}
	}
	if len(steps) == 0 { // all weights are zero
		steps, packed = []int32{0}, make([]int8, 64)
	}
	d.steps, d.weights = append(d.steps, steps), append(d.weights, packed)
}

// Workspace returns the bytes that Run needs.
func (d *DepthwiseInt8) Workspace() int { return d.window.Workers * d.window.Scratch }

// depthwiseInt8Run is the state of one Run.
type depthwiseInt8Run struct {
	conv *DepthwiseInt8
	call quantised.Call
}

// Run computes the convolution. Several runs of one DepthwiseInt8 may go on at the same time.
func (d *DepthwiseInt8) Run(parallel work.Parallel, call *quantised.Call) {
	d.job.Run(parallel, d.window.Workers, d.window.Units(), depthwiseInt8Run{d, *call})
}

func (r *depthwiseInt8Run) do(u, worker int) {
	d, w := r.conv, &r.conv.window
	scratch := r.call.Workspace[worker*w.Scratch:][:w.Scratch]
	image, block, first, last := w.Load(scratch, r.call.In, u)
	width := w.Shape.OutWidth()
	requant := r.call.Epilogue.Requant(image, block, first*width, work.Lanes)
	requant.Scale, requant.Bias = d.scale[block*work.Lanes:], d.bias[block*work.Lanes:]
	if d.column != nil {
		d.columns(scratch, block, last-first, requant)
		return
	}
	call := asm.QConvCall{In: scratch, Steps: d.steps[block], Weights: d.weights[block], Start: d.start[block*work.Lanes:], Requant: &requant}
	pixels := w.Pixels[:(last-first)*width]
	for most := quantised.PieceOf(len(call.Steps), 1, d.kernel.Pixels); len(pixels) > 0; {
		n := min(most, len(pixels))
		call.Pixels, pixels = pixels[:n], pixels[n:]
		d.kernel.Run(&call)
		requant = quantised.After(requant, n)
	}
}

// columns computes rows of a channel block in bands of nearly equal height.
func (d *DepthwiseInt8) columns(scratch []byte, block, rows int, requant asm.Requant) {
	s, a := &d.window.Shape, &d.window.Area
	requant.OutPixel, requant.ResidualPixel = s.OutWidth()*work.Lanes, s.OutWidth()*work.Lanes
	call := asm.QColumnCall{InRow: a.Width * work.Lanes, InColumn: s.StrideW * work.Lanes, Columns: s.OutWidth(),
		Weights: d.weights[block], Start: d.start[block*work.Lanes:], Requant: &requant}
	bands := (rows + d.column.Rows - 1) / d.column.Rows
	for band := range bands {
		first, last := band*rows/bands, (band+1)*rows/bands
		call.In, call.Rows = scratch[first*s.StrideH*call.InRow:], last-first
		d.column.Run(&call)
		requant = quantised.After(requant, last-first)
	}
}
