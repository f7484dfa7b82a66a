package convolutions

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TransposedShape is the geometry of a 2-D transposed convolution.
type TransposedShape struct {
	Batch, Channels, Height, Width int // input
	Filters, Groups                int
	KernelH, KernelW               int
	StrideH, StrideW               int
	DilationH, DilationW           int
	PadTop, PadLeft                int // what is cut off the beginning of the output
	OutHeight, OutWidth            int // what is cut off its end, or added to it, follows
}

// maxPhases bounds the phases of a transposed convolution.
const maxPhases = 1024

// check returns an error that names the attribute that no kernel can serve.
func (s *TransposedShape) check() error {
	switch {
	case s.Batch < 1 || s.Channels < 1 || s.Height < 1 || s.Width < 1 || s.Filters < 1 || s.OutHeight < 1 || s.OutWidth < 1:
		return fmt.Errorf("transposed convolution of %dx%dx%dx%d to %dx%dx%d is empty",
			s.Batch, s.Channels, s.Height, s.Width, s.Filters, s.OutHeight, s.OutWidth)
	case s.KernelH < 1 || s.KernelW < 1 || s.StrideH < 1 || s.StrideW < 1 || s.DilationH < 1 || s.DilationW < 1:
		return fmt.Errorf("kernel %dx%d, strides %dx%d and dilations %dx%d must be positive",
			s.KernelH, s.KernelW, s.StrideH, s.StrideW, s.DilationH, s.DilationW)
	case s.PadTop < 0 || s.PadLeft < 0:
		return fmt.Errorf("negative pads %d %d", s.PadTop, s.PadLeft)
	case s.Groups < 1 || s.Channels%s.Groups != 0 || s.Filters%s.Groups != 0:
		return fmt.Errorf("%d channels to %d do not split into %d groups", s.Channels, s.Filters, s.Groups)
	}
	phases := [2]int{min(s.StrideH, s.OutHeight), min(s.StrideW, s.OutWidth)}
	if max(phases[0], phases[1]) > maxPhases || phases[0]*phases[1] > maxPhases {
		return fmt.Errorf("strides %dx%d make more than %d phases", s.StrideH, s.StrideW, maxPhases)
	}
	if h, w := s.phaseTaps(s.KernelH, s.StrideH, s.DilationH), s.phaseTaps(s.KernelW, s.StrideW, s.DilationW); h > windows.MaxPhaseTaps || w > windows.MaxPhaseTaps || h*w > windows.MaxPhaseTaps {
		return fmt.Errorf("kernel %dx%d has more than %d taps in a phase", s.KernelH, s.KernelW, windows.MaxPhaseTaps)
	}
	return nil
}

// phaseTaps returns the most taps that a phase has on an axis: of those of one remainder, every period-th.
func (s *TransposedShape) phaseTaps(kernel, stride, dilation int) int {
	common := stride
	for rest := dilation; rest > 0; {
		common, rest = rest, common%rest
	}
	return work.CeilDiv(kernel, stride/common)
}

// phase is a part of a transposed convolution by sub-pixel decomposition. Output row e reads by tap r the input's row
// (e + pad - r*dilation) / stride, where that is whole. Rows e = y + i*stride share their taps, those whose r*dilation leaves
// the rest (y + pad) mod stride, and tap r reads row i + (y + pad - r*dilation)/stride: a phase is an ordinary convolution
// with stride 1 of some of the taps, which writes every stride-th row and, likewise, column.
type phase struct {
	y, x          int // first output row and column
	rows, columns int // how many of them it has
	taps          []phaseTap
}

// phaseTap is a tap of the whole kernel, and the input pixel under it from a phase's own pixel on.
type phaseTap struct{ kernel, y, x int }

// axisPhase is a phase along one axis: its first place in the output, how many it has, and its taps.
type axisPhase struct {
	first, count int
	taps         []axisTap
}

// axisTap is a tap of the kernel along one axis, and the place in the input under it from a phase's own place on.
type axisTap struct{ kernel, place int }

// axisPhases returns the phases along an axis, their taps in the order of the input, without those that meet the padding
// alone.
func axisPhases(in, out, pad, kernel, stride, dilation int) []axisPhase {
	var list []axisPhase
	for first := range min(stride, out) {
		p := axisPhase{first: first, count: work.CeilDiv(out-first, stride)}
		for k := kernel - 1; k >= 0; k-- {
			at := first + pad - k*dilation
			if place := at / stride; at%stride == 0 && place < in && place+p.count > 0 {
				p.taps = append(p.taps, axisTap{k, place})
			}
		}
		list = append(list, p)
	}
	return list
}

// phases returns the phases, rows first.
func (s *TransposedShape) phases() []phase {
	var list []phase
	columns := axisPhases(s.Width, s.OutWidth, s.PadLeft, s.KernelW, s.StrideW, s.DilationW)
	for _, row := range axisPhases(s.Height, s.OutHeight, s.PadTop, s.KernelH, s.StrideH, s.DilationH) {
		for _, column := range columns {
			p := phase{y: row.first, x: column.first, rows: row.count, columns: column.count}
			for _, r := range row.taps {
				for _, c := range column.taps {
					p.taps = append(p.taps, phaseTap{r.kernel*s.KernelW + c.kernel, r.place, c.place})
				}
			}
			list = append(list, p)
		}
	}
	return list
}

// sliceTap is a tap in depth and the input slice under it.
type sliceTap struct{ kernel, slice int }

// transposedSlices returns the taps that each output slice of a transposed convolution of volumes reads, d's pad being what
// is cut off the beginning of the output; an error where a slice reads none.
func transposedSlices(d windows.Depth) ([][]sliceTap, error) {
	d = d.OrNone()
	if err := d.Positive(); err != nil {
		return nil, err
	}
	phases := axisPhases(d.In, d.Out, d.PadFront, d.Kernel, d.Stride, d.Dilation)
	slices := make([][]sliceTap, d.Out)
	for out := range slices {
		for _, t := range phases[out%d.Stride].taps {
			if slice := t.place + out/d.Stride; slice >= 0 && slice < d.In {
				slices[out] = append(slices[out], sliceTap{t.kernel, slice})
			}
		}
		if len(slices[out]) == 0 {
			return nil, fmt.Errorf("no tap meets slice %d of the output", out)
		}
	}
	return slices, nil
}

// subpixel is a transposed convolution as phases over one window: what all of them read around a pixel of the input, as the
// taps of an ordinary convolution with stride 1 whose rows and columns are those of the largest phase.
type subpixel struct {
	shape  TransposedShape
	phases []phase
	window windows.Shape // KernelH and KernelW cover all taps; its pads may be negative
	inside bool          // no tap reads outside of the input, and no phase has more rows or columns
	empty  bool          // some phase has no taps
	most   int           // taps that a phase has
}

// newSubpixel decomposes a checked shape.
func newSubpixel(s TransposedShape) *subpixel {
	s = s.separated()
	u := &subpixel{shape: s, phases: s.phases(), inside: true}
	none := true
	var low, high [2]int
	for _, p := range u.phases {
		if len(p.taps) == 0 {
			u.empty, u.inside = true, u.inside && p.rows <= s.Height && p.columns <= s.Width
		}
		u.most = max(u.most, len(p.taps))
		for _, t := range p.taps {
			at := [2]int{t.y, t.x}
			if none {
				low, high, none = at, at, false
			}
			for i := range at {
				low[i], high[i] = min(low[i], at[i]), max(high[i], at[i])
			}
			if t.y < 0 || t.x < 0 || t.y+p.rows > s.Height || t.x+p.columns > s.Width {
				u.inside = false
			}
		}
	}
	rows, columns := u.phases[0].rows, u.phases[0].columns
	u.window = windows.Shape{Batch: s.Batch, Channels: s.Channels, Height: s.Height, Width: s.Width, Filters: s.Filters, Groups: s.Groups,
		KernelH: high[0] - low[0] + 1, KernelW: high[1] - low[1] + 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1,
		PadTop: -low[0], PadLeft: -low[1]}
	u.window.PadBottom = rows - 1 + high[0] - (s.Height - 1)
	u.window.PadRight = columns - 1 + high[1] - (s.Width - 1)
	return u
}

// separated returns the same computation with a phase for each output row of an input of one row, and so for columns: what
// the stride is does not matter then, and a phase has none but the tap that meets the input.
func (s TransposedShape) separated() TransposedShape {
	t := s
	if s.Height == 1 {
		t.StrideH = max(s.StrideH, s.OutHeight)
	}
	if s.Width == 1 {
		t.StrideW = max(s.StrideW, s.OutWidth)
	}
	if min(t.StrideH, t.OutHeight)*min(t.StrideW, t.OutWidth) > maxPhases {
		return s
	}
	return t
}

// place returns where a tap lies in the window.
func (u *subpixel) place(t phaseTap) (row, column int) {
	return t.y + u.window.PadTop, t.x + u.window.PadLeft
}

// rows returns the rows and columns of the largest phase, the first.
func (u *subpixel) rows() int { return u.phases[0].rows }

func (u *subpixel) columns() int { return u.phases[0].columns }

// weight returns the index in the weights [Channels][Filters/Groups][KernelH][KernelW] of a tap of a filter and a channel,
// which are of one group.
func (s *TransposedShape) weight(filter, channel, tap int) int {
	each := s.Filters / s.Groups
	return (channel*each+filter%each)*s.KernelH*s.KernelW + tap
}
