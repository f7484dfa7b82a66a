package convolutions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TransposedInt8 is a transposed convolution of bytes with int32 sums by sub-pixel decomposition, weights packed, ready to
// run. Input and output are NCHWc16, the output as bytes or as float32.
//
// Each unit of work is a block of rows of all phases times a range of output channel panels, as those of DirectInt8 are. Where
// taps reach beyond the input, the unit first copies the input rows that its phases read, with zero points around them. A
// planar output's rows are computed as a block of channels in the workspace, of which the unit stores those there are.
type TransposedInt8 struct {
	*subpixel
	cfg  ConfigInt8
	area windows.Area

	height  int // rows of a block
	panels  []quantised.Panel
	groups  int                 // ranges of panels
	parts   [][]quantised.Panel // of each panel, by phase
	start   [][]int32           // of each phase
	pixels  []int32             // of a row
	weights []int8
	scale   []float32
	bias    []float32
	scratch int // bytes of one worker's copy
	planar  int // bytes of one worker's rows of a planar output
	layout  asm.LayoutKernel
	job     *work.Job[transposedInt8Run]
}

// NewTransposedInt8 packs weights [Channels][Filters/Groups][KernelH][KernelW], each the integer weight minus its zero point,
// between -255 and 255; scale [Filters], input scale times weight scale; bias [Filters] as real values (nil for none).
func NewTransposedInt8(s TransposedShape, weights []int16, scale, bias []float32, cfg ConfigInt8) (*TransposedInt8, error) {
	c, err := planTransposedInt8(s, cfg)
	if err != nil {
		return nil, err
	}
	if err := quantised.Check(s.Filters, s.Channels*(s.Filters/s.Groups)*s.KernelH*s.KernelW, weights, scale, bias, cfg.InZero); err != nil {
		return nil, err
	}
	c.pack(weights, scale, bias)
	c.job = work.NewJob((*transposedInt8Run).do)
	return c, nil
}

// planTransposedInt8 returns a transposed convolution without weights: what its workspace follows from.
func planTransposedInt8(s TransposedShape, cfg ConfigInt8) (*TransposedInt8, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.phaseTaps(s.KernelH, s.StrideH, s.DilationH)*s.phaseTaps(s.KernelW, s.StrideW, s.DilationW) > windows.MaxTaps {
		return nil, fmt.Errorf("kernel %dx%d has more than %d taps in a phase", s.KernelH, s.KernelW, windows.MaxTaps)
	}
	cfg.Workers = max(1, cfg.Workers)
	if cfg.Planar && s.Filters > work.Lanes {
		return nil, fmt.Errorf("%d channels, more than a block of %d", s.Filters, work.Lanes)
	}
	c := &TransposedInt8{subpixel: newSubpixel(s), cfg: cfg, layout: work.LayoutKernel(cfg.Features)}
	c.area = newInt8Area(&c.window, cfg)
	c.area.Copied = !c.inside
	c.panels = int8Panels(&c.window, cfg.Features)
	c.split()
	if most := c.area.Offset(work.BlocksOf(s.Channels), c.window.KernelH, c.window.KernelW); most < 0 || most > math.MaxInt32-c.columns()*work.Lanes {
		return nil, fmt.Errorf("input of %dx%dx%d is beyond 2 GiB", s.Channels, s.Height, s.Width)
	}
	for x := range c.columns() {
		c.pixels = append(c.pixels, int32(x*work.Lanes))
	}
	return c, nil
}

// split chooses the block of rows and the ranges of panels of a unit.
func (c *TransposedInt8) split() {
	c.height = c.rows()
	bytes := func() int {
		return (c.height + c.window.KernelH - 1) * (c.columns() + c.window.KernelW - 1) * work.Lanes * work.BlocksOf(c.shape.Channels)
	}
	row := 0 // bytes of the output that a row of all phases is
	if c.cfg.Planar {
		row = 4 * c.shape.StrideH * c.shape.OutWidth * work.Lanes
	}
	for c.height > 1 && max(bytes(), c.height*row) > windows.CopyBytes {
		c.height = (c.height + 1) / 2
	}
	want := 1
	if c.cfg.Workers > 1 {
		want = 4 * c.cfg.Workers
	}
	units := func() int { return c.shape.Batch * c.rowBlocks() }
	for c.height >= 8 && units() < want {
		c.height = (c.height + 1) / 2
	}
	c.groups = min(len(c.panels), work.CeilDiv(want, units()))
	c.area.Fit(c.height)
	if c.area.Copied {
		c.scratch = (c.area.Plane*work.BlocksOf(c.shape.Channels) + windows.Overread + 63) &^ 63
	}
	c.planar = c.height * row
}

// pack lays out weights, steps and the epilogue's constants.
func (c *TransposedInt8) pack(weights []int16, scale, bias []float32) {
	s := &c.shape
	perGroup, filters := s.Channels/s.Groups, s.Filters/s.Groups
	c.parts = make([][]quantised.Panel, len(c.panels))
	for _, phase := range c.phases {
		taps := len(phase.taps)
		ordinary := make([]int16, s.Filters*perGroup*taps) // as a convolution has them
		for i := range ordinary {
			f := i / taps / perGroup
			ordinary[i] = weights[s.weight(f, f/filters*perGroup+i/taps%perGroup, phase.taps[i%taps].kernel)]
		}
		var start []int32
		start, c.scale, c.bias = quantised.Constants(s.Filters, ordinary, scale, bias, c.cfg.InZero)
		c.start = append(c.start, start)
		for i := range c.panels {
			part := c.panels[i]
			c.weights = part.Pack(c.weights, c.steps(&part, phase, ordinary), s.Filters)
			c.parts[i] = append(c.parts[i], part)
		}
	}
}

// steps returns a step for each input channel block and tap of a phase that the panel reads, or one that adds nothing.
func (c *TransposedInt8) steps(p *quantised.Panel, phase phase, weights []int16) []quantised.Step {
	s := &c.shape
	perGroup, filters, taps := s.Channels/s.Groups, s.Filters/s.Groups, len(phase.taps)
	_, end := int8Span(&c.window, []quantised.Panel{*p})
	var steps []quantised.Step
	for b := p.First; b < end; b++ {
		for k, t := range phase.taps {
			row, column := c.place(t)
			if !c.area.Copied {
				row, column = t.y, t.x
			}
			steps = append(steps, quantised.Step{Offset: int32(c.area.Offset(b-p.First, row, column)), Weight: func(f, i int) int16 {
				channel := b*work.Lanes + i - f/filters*perGroup
				if channel < 0 || channel >= perGroup {
					return 0
				}
				return weights[(f*perGroup+channel)*taps+k]
			}})
		}
	}
	if taps == 0 {
		steps = []quantised.Step{{Weight: func(int, int) int16 { return 0 }}}
	}
	return steps
}

// Workspace returns the bytes that Run needs.
func (c *TransposedInt8) Workspace() int { return (c.scratch + c.planar) * c.cfg.Workers }

// rowBlocks returns the number of blocks of rows of an image.
func (c *TransposedInt8) rowBlocks() int { return work.CeilDiv(c.rows(), c.height) }

// transposedInt8Run is the state of one Run.
type transposedInt8Run struct {
	conv *TransposedInt8
	call quantised.Call
}

// Run computes the transposed convolution. Several runs of one TransposedInt8 may go on at the same time.
func (c *TransposedInt8) Run(parallel work.Parallel, call *quantised.Call) {
	if !c.area.Copied && call.In.Plane != c.area.Plane {
		panic(fmt.Sprintf("cpu: input planes are %d bytes apart, the convolution was built for %d", call.In.Plane, c.area.Plane))
	}
	c.job.Run(parallel, c.cfg.Workers, c.shape.Batch*c.rowBlocks()*c.groups, transposedInt8Run{c, *call})
}

// do computes a unit: those of the same rows follow each other.
func (r *transposedInt8Run) do(u, worker int) {
	c := r.conv
	group := u % c.groups
	u /= c.groups
	image, first := u/c.rowBlocks(), u%c.rowBlocks()*c.height
	last := min(first+c.height, c.rows())
	from, to := group*len(c.panels)/c.groups, (group+1)*len(c.panels)/c.groups
	in := r.call.In.Data[image*r.call.In.Image:]
	workspace := r.call.Workspace[worker*(c.scratch+c.planar):][:c.scratch+c.planar]
	base := 0
	if c.area.Copied {
		var end int
		base, end = int8Span(&c.window, c.panels[from:to])
		scratch := workspace[:c.scratch]
		c.area.Gather(scratch, in, r.call.In.Plane, base, end, first, last)
		in = scratch
	} else {
		in = in[first*c.shape.Width*work.Lanes:]
	}
	out := int8Rows{image: image}
	if c.cfg.Planar {
		out = int8Rows{top: first * c.shape.StrideH, floats: numeric.View[float32](workspace[c.scratch:])}
	}
	for p := from; p < to; p++ {
		for phase := range c.phases {
			r.phase(p, phase, out, first, last, in[(c.panels[p].First-base)*c.area.Plane:])
		}
	}
	if c.cfg.Planar {
		s, y := &c.shape, &r.call.Epilogue.Float
		rows := min(last*s.StrideH, s.OutHeight) - out.top
		c.layout.Deinterleave(y.Data[image*y.Image+out.top*s.OutWidth:], y.Plane, out.floats, work.Lanes, s.Filters, rows*s.OutWidth)
	}
}

// int8Rows is where a unit's rows go: to an image of the output, or to the workspace, which begins with row top.
type int8Rows struct {
	image, top int
	floats     []float32
}

// phase computes rows [first, last), if there are so many, of a phase and a panel.
func (r *transposedInt8Run) phase(p, index int, out int8Rows, first, last int, in []byte) {
	c, s := r.conv, &r.conv.shape
	panel, phase := &c.parts[p][index], &c.phases[index]
	o := panel.Block * work.Lanes
	call := asm.QConvCall{Steps: panel.Steps, Weights: c.weights[panel.Weights:], Start: c.start[index][o:]}
	epilogue := r.call.Epilogue
	if c.cfg.Planar {
		epilogue.Float = work.Tensor4{Data: out.floats}
	}
	for row := first; row < min(last, phase.rows); row++ {
		requant := epilogue.Requant(out.image, panel.Block, (row*s.StrideH+phase.y-out.top)*s.OutWidth+phase.x, work.Lanes)
		requant.Scale, requant.Bias = c.scale[o:], c.bias[o:]
		requant.OutPixel, requant.ResidualPixel = s.StrideW*work.Lanes, s.StrideW*work.Lanes
		call.In = in[(row-first)*c.area.Width*work.Lanes:]
		panel.Strip(call, c.pixels[:phase.columns], requant)
	}
}
