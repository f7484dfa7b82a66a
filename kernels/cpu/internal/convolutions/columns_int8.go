package convolutions

import (
	"cmp"
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// ColumnsInt8 is a convolution of bytes with windows of any size, of images or volumes, ready to run: a product of matrices.
// Input is NCHW, output NCHWc16.
//
// A unit of work is a run of output pixels. What a pixel reads of the channels that a panel of output channels needs is copied
// into a row, zero points where the window lies in the padding:
//
//	row[channel][tap in depth][tap row][tap column]
//
// The inner kernel then takes 16 bytes of the row a step.
type ColumnsInt8 struct {
	shape   windows.Shape
	depth   windows.Depth
	cfg     ConfigInt8
	panels  []columnsPanel
	pixels  []int32 // where the rows of a unit begin
	weights []int8
	start   []int32
	scale   []float32
	bias    []float32
	run     int // pixels of a unit
	row     int // bytes of a row, whole steps
	job     *work.Job[columnsInt8Run]
}

// columnsPanel is a panel with the channels [first, last) that it reads.
type columnsPanel struct {
	quantised.Panel
	first, last int
}

// maxColumn bounds the products that are summed up: int32 holds as many of the largest bytes.
const maxColumn = 1 << 16

// NewColumnsInt8 packs weights [Filters][Channels/Groups][taps in depth][KernelH][KernelW]; the other arguments are those of
// NewDirectInt8. The zero depth is that of images.
func NewColumnsInt8(s windows.Shape, depth windows.Depth, weights []int16, scale, bias []float32, cfg ConfigInt8) (*ColumnsInt8, error) {
	c, err := planColumnsInt8(s, depth, cfg)
	if err != nil {
		return nil, err
	}
	if err := quantised.Check(s.Filters, s.Filters*s.Channels/s.Groups*c.taps(), weights, scale, bias, cfg.InZero); err != nil {
		return nil, err
	}
	c.start, c.scale, c.bias = quantised.Constants(s.Filters, weights, scale, bias, cfg.InZero)
	for i := range c.panels {
		c.pack(&c.panels[i], weights)
	}
	c.job = work.NewJob((*columnsInt8Run).do)
	return c, nil
}

// planColumnsInt8 returns a convolution without weights: what its workspace follows from.
func planColumnsInt8(s windows.Shape, depth windows.Depth, cfg ConfigInt8) (*ColumnsInt8, error) {
	c := &ColumnsInt8{shape: s, depth: depth.OrNone(), cfg: cfg}
	c.cfg.Workers = max(1, cfg.Workers)
	if err := cmp.Or(s.CheckTaps(maxColumn), s.FewTaps(c.depth.Kernel, maxColumn), c.depth.Check()); err != nil {
		return nil, err
	}
	kernel := quantised.ConvKernel
	if cfg.Whole {
		kernel = quantised.WholeKernel
	}
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	if n := inGroup * c.taps(); n > maxColumn {
		return nil, fmt.Errorf("%d channels by %d taps are more than %d products, which int32 may not hold", inGroup, c.taps(), maxColumn)
	}
	for b, blocks := 0, work.BlocksOf(s.Filters); b < blocks; {
		p := columnsPanel{Panel: quantised.Panel{Kernel: kernel(cfg.Features, min(2, blocks-b)), Block: b}}
		b += p.Kernel.Blocks
		p.first = p.Block * work.Lanes / outGroup * inGroup
		p.last = ((min(b*work.Lanes, s.Filters)-1)/outGroup + 1) * inGroup
		c.row = max(c.row, ((p.last-p.first)*c.taps()+15)&^15)
		c.panels = append(c.panels, p)
	}
	if c.row > math.MaxInt32/2 {
		return nil, fmt.Errorf("a row of %d bytes is beyond 1 GiB", c.row)
	}
	c.run = min(c.count(), max(1, windows.CopyBytes/c.row))
	for c.cfg.Workers > 1 && c.run > 16 && s.Batch*c.runs() < 4*c.cfg.Workers {
		c.run = (c.run + 1) / 2
	}
	for i := range c.run {
		c.pixels = append(c.pixels, int32(i*c.row))
	}
	return c, nil
}

// taps returns the taps of a window.
func (c *ColumnsInt8) taps() int { return c.depth.Kernel * c.shape.KernelH * c.shape.KernelW }

// count returns the output pixels of an image.
func (c *ColumnsInt8) count() int { return c.depth.Out * c.shape.OutHeight() * c.shape.OutWidth() }

// runs returns the units of an image.
func (c *ColumnsInt8) runs() int { return work.CeilDiv(c.count(), c.run) }

// pack lays out the weights of a panel: those between channels of different groups are zero.
func (c *ColumnsInt8) pack(p *columnsPanel, weights []int16) {
	inGroup, outGroup, taps := c.shape.Channels/c.shape.Groups, c.shape.Filters/c.shape.Groups, c.taps()
	size := (p.last - p.first) * taps
	var steps []quantised.Step
	for at := 0; at < size; at += 16 {
		steps = append(steps, quantised.Step{Offset: int32(at), Weight: func(f, i int) int16 {
			channel := p.first + (at+i)/taps - f/outGroup*inGroup
			if at+i >= size || channel < 0 || channel >= inGroup {
				return 0
			}
			return weights[(f*inGroup+channel)*taps+(at+i)%taps]
		}})
	}
	c.weights = p.Pack(c.weights, steps, c.shape.Filters)
}

// Workspace returns the bytes that Run needs.
func (c *ColumnsInt8) Workspace() int { return c.cfg.Workers * c.run * c.row }

// columnsInt8Run is the state of one Run.
type columnsInt8Run struct {
	conv *ColumnsInt8
	call quantised.Call
}

// Run computes the convolution. Several runs of one ColumnsInt8 may go on at the same time.
func (c *ColumnsInt8) Run(parallel work.Parallel, call *quantised.Call) {
	c.job.Run(parallel, c.cfg.Workers, c.shape.Batch*c.runs(), columnsInt8Run{c, *call})
}

// do computes a unit.
func (r *columnsInt8Run) do(u, worker int) {
	c := r.conv
	scratch := r.call.Workspace[worker*c.run*c.row:][:c.run*c.row]
	image, from := u/c.runs(), u%c.runs()*c.run
	n := min(c.run, c.count()-from)
	pad := byte(c.cfg.InZero)
	if c.cfg.Signed {
		pad ^= 0x80
	}
	first, last := -1, -1 // the channels that the rows have
	for i := range c.panels {
		p := &c.panels[i]
		if p.first != first || p.last != last {
			first, last = p.first, p.last
			for k := range n {
				c.fill(scratch[k*c.row:][:c.row], r.call.In.Data[image*r.call.In.Image:], r.call.In.Plane, pad, first, last, from+k)
			}
		}
		requant := r.call.Epilogue.Requant(image, p.Block, from, work.Lanes)
		o := p.Block * work.Lanes
		requant.Scale, requant.Bias = c.scale[o:], c.bias[o:]
		call := asm.QConvCall{In: scratch, Steps: p.Steps, Weights: c.weights[p.Weights:], Start: c.start[o:]}
		p.Strip(call, c.pixels[:n], requant)
	}
}

// fill copies what an output pixel reads of channels [first, last); pad, a byte as the image's are, is what lies in the padding.
func (c *ColumnsInt8) fill(row, image []byte, plane int, pad byte, first, last, pixel int) {
	s, d := &c.shape, &c.depth
	x, y, z := pixel%s.OutWidth(), pixel/s.OutWidth()%s.OutHeight(), pixel/s.OutWidth()/s.OutHeight()
	column := x*s.StrideW - s.PadLeft
	low, high := windows.Inside(column, s.DilationW, s.KernelW, s.Width)
	at := 0
	for channel := first; channel < last; channel++ {
		for k := range d.Kernel {
			slice := d.Slice(z, k)
			for kh := range s.KernelH {
				to := row[at:][:s.KernelW]
				at += s.KernelW
				line := y*s.StrideH + kh*s.DilationH - s.PadTop
				if low == high || slice < 0 || slice >= d.In || line < 0 || line >= s.Height {
					windows.FillBytes(to, pad)
					continue
				}
				windows.FillBytes(to[:low], pad)
				windows.FillBytes(to[high:], pad)
				from := image[channel*plane+(slice*s.Height+line)*s.Width:]
				if s.DilationW == 1 {
					copy(to[low:high], from[column+low:])
					continue
				}
				for kw := low; kw < high; kw++ {
					to[kw] = from[column+kw*s.DilationW]
				}
			}
		}
	}
	clear(row[at:])
	if c.cfg.Signed {
		quantised.FlipSigns(row, row)
	}
}
