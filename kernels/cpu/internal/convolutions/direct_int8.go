package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// DirectInt8 is a direct convolution of bytes with int32 sums, weights packed, ready to run. Output is
// NCHWc16, as bytes or as float32. Input is NCHWc16 bytes or, for stems of up to four channels, NCHW.
//
// A unit of work is a block of output rows times a range of output channel panels. Where there is padding
// (or a stem) the unit first copies the input rows of its block, zero points in the padding, so that the
// inner kernel has no edges: one table of pixel offsets and one of steps say where everything lies, for any
// kernel, stride and dilation. Without padding the same tables point into the input itself.
type DirectInt8 struct {
	shape windows.Shape
	cfg   ConfigInt8
	area  windows.Area

	rows    int // output rows of a block
	panels  []quantised.Panel
	groups  int // ranges of panels
	pixels  []int32
	weights []int8
	start   []int32
	scale   []float32
	bias    []float32
	room    int // bytes for inputs that are laid out for the kernel; 0 where it reads them as they lie
	packed  int // pixels that they are of, at most
	scratch int // bytes of one worker's copy, and of that room behind it
	job     *work.Job[convInt8Run]
}

// ConfigInt8 chooses how a DirectInt8 is built.
type ConfigInt8 struct {
	InZero   int32        // zero point of the input bytes, 0 to 255
	Stem     bool         // input is NCHW of at most four channels: see quantised.Call
	Signed   bool         // a stem's NCHW bytes are two's complement, not offset binary
	InPlane  int          // bytes between the channel blocks of the input of Run; 0 for dense
	Planar   bool         // the output is NCHW of at most 16 channels, as float32 without a residual: transposed convolutions alone
	Whole    bool         // steps have all of the weights, for sums of some of them: ColumnsInt8 alone
	Features asm.Features // what the kernels may use
	Workers  int          // goroutines that Run may use, at least 1
}

// NewDirectInt8 packs weights [Filters][Channels/Groups][KernelH][KernelW], each the integer weight minus its
// zero point, between -255 and 255; scale [Filters], input scale times weight scale; bias [Filters] as real
// values (nil for none).
func NewDirectInt8(s windows.Shape, weights []int16, scale, bias []float32, cfg ConfigInt8) (*DirectInt8, error) {
	c, err := planDirectInt8(s, cfg)
	if err != nil {
		return nil, err
	}
	if err := quantised.Check(s.Filters, s.Filters*s.Channels/s.Groups*s.KernelH*s.KernelW, weights, scale, bias, cfg.InZero); err != nil {
		return nil, err
	}
	c.pack(weights, scale, bias)
	c.job = work.NewJob((*convInt8Run).do)
	return c, nil
}

// planDirectInt8 returns a convolution without weights: what its workspace follows from.
func planDirectInt8(s windows.Shape, cfg ConfigInt8) (*DirectInt8, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if cfg.Stem && (s.Channels > 4 || s.DilationW != 1 || s.Groups != 1) {
		return nil, fmt.Errorf("a stem has at most 4 channels, no groups and no horizontal dilation; got %d, %d, %d",
			s.Channels, s.Groups, s.DilationW)
	}
	cfg.Workers = max(1, cfg.Workers)
	c := &DirectInt8{shape: s, cfg: cfg}
	c.area = newInt8Area(&c.shape, cfg)
	c.split()
	return c, c.tabulate()
}

// Workspace returns the bytes that Run needs.
func (c *DirectInt8) Workspace() int { return c.scratch * c.cfg.Workers }

// convInt8Run is the state of one Run.
type convInt8Run struct {
	conv *DirectInt8
	call quantised.Call
}

// Run computes the convolution. Several runs of one DirectInt8 may go on at the same time.
func (c *DirectInt8) Run(parallel work.Parallel, call *quantised.Call) {
	if !c.area.Copied && call.In.Plane != c.area.Plane {
		panic(fmt.Sprintf("cpu: input planes are %d bytes apart, the convolution was built for %d", call.In.Plane, c.area.Plane))
	}
	c.job.Run(parallel, c.cfg.Workers, c.shape.Batch*c.rowBlocks()*c.groups, convInt8Run{c, *call})
}

// rowBlocks returns the number of blocks of rows of an image.
func (c *DirectInt8) rowBlocks() int { return (c.shape.OutHeight() + c.rows - 1) / c.rows }

// do computes a unit: those of the same rows follow each other.
func (r *convInt8Run) do(u, worker int) {
	c := r.conv
	group := u % c.groups
	u /= c.groups
	first := u % c.rowBlocks() * c.rows
	r.unit(group, u/c.rowBlocks(), first, min(first+c.rows, c.shape.OutHeight()), r.call.Workspace[worker*c.scratch:][:c.scratch])
}

// unit computes output rows [first, last) of an image for a range of panels.
func (r *convInt8Run) unit(group, image, first, last int, scratch []byte) {
	c := r.conv
	panels := c.panels[group*len(c.panels)/c.groups : (group+1)*len(c.panels)/c.groups]
	in, base := r.source(panels, image, first, last, scratch)
	width := c.shape.OutWidth()
	pixels := c.pixels[:(last-first)*width]
	for at := 0; at < len(pixels); at += c.packed {
		part := pixels[at:min(at+c.packed, len(pixels))]
		var packed []byte
		for i := range panels {
			p := &panels[i]
			requant := r.call.Epilogue.Requant(image, p.Block, first*width+at, work.Lanes)
			o := p.Block * work.Lanes
			requant.Scale, requant.Bias = c.scale[o:], c.bias[o:]
			call := asm.QConvCall{
				In:      in[(p.First-base)*c.area.Plane:],
				Steps:   p.Steps,
				Weights: c.weights[p.Weights:],
				Start:   c.start[o:],
			}
			if c.room > 0 && (i == 0 || !p.Alike(&panels[i-1])) {
				call.Pixels, packed = part, scratch[len(scratch)-c.room:]
				p.Kernel.Pack(packed, &call)
			}
			call.Packed = packed
			p.Strip(call, part, requant)
		}
	}
}

// source returns the bytes that the pixel offsets refer to, and the channel block they begin with.
func (r *convInt8Run) source(panels []quantised.Panel, image, first, last int, scratch []byte) (in []byte, base int) {
	c := r.conv
	switch {
	case c.cfg.Stem && r.call.Float.Data != nil:
		c.area.QuantiseStem(scratch, r.call.Float.Data[image*r.call.Float.Image:], r.call.Float.Plane, first, last, r.call.InScale)
		return scratch, 0
	case c.cfg.Stem:
		c.area.GatherStem(scratch, r.call.In.Data[image*r.call.In.Image:], r.call.In.Plane, first, last)
		return scratch, 0
	case !c.area.Copied:
		s := &c.shape
		return r.call.In.Data[image*r.call.In.Image+first*s.StrideH*s.Width*work.Lanes:], 0
	}
	base, end := int8Span(&c.shape, panels)
	in = r.call.In.Data[image*r.call.In.Image:]
	c.area.Gather(scratch, in, r.call.In.Plane, base, end, first, last)
	return scratch, base
}

// int8Span returns the input channel blocks that the panels read.
func int8Span(s *windows.Shape, panels []quantised.Panel) (first, end int) {
	first = panels[0].First
	perGroup := s.Channels / s.Groups
	filters := s.Filters / s.Groups
	lastPanel := &panels[len(panels)-1]
	o := min((lastPanel.Block+lastPanel.Kernel.Blocks)*work.Lanes, s.Filters) - 1
	return first, work.BlocksOf((o/filters + 1) * perGroup)
}
