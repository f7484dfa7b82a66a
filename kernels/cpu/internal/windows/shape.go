package windows

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/kernels"
)

// Shape is the geometry of a 2-D convolution.
type Shape struct {
	Batch, Channels, Height, Width       int // input
	Filters, Groups                      int
	KernelH, KernelW                     int
	StrideH, StrideW                     int
	DilationH, DilationW                 int
	PadTop, PadLeft, PadBottom, PadRight int
}

// OutHeight returns the rows of the output.
func (s *Shape) OutHeight() int {
	return (s.Height+s.PadTop+s.PadBottom-(s.KernelH-1)*s.DilationH-1)/s.StrideH + 1
}

// OutWidth returns the columns of the output.
func (s *Shape) OutWidth() int {
	return (s.Width+s.PadLeft+s.PadRight-(s.KernelW-1)*s.DilationW-1)/s.StrideW + 1
}

// Depth is the third spatial axis of a convolution; the zero value is that of a 2-D one.
type Depth struct {
	In, Out                            int
	Kernel, Stride, Dilation, PadFront int
}

// OrNone returns the geometry of an axis of one slice where there is none.
func (d Depth) OrNone() Depth {
	if d.Kernel == 0 {
		return Depth{In: 1, Out: 1, Kernel: 1, Stride: 1, Dilation: 1}
	}
	return d
}

// Positive returns an error unless all extents are.
func (d Depth) Positive() error {
	if d.In < 1 || d.Out < 1 || d.Kernel < 1 || d.Stride < 1 || d.Dilation < 1 || d.PadFront < 0 {
		return fmt.Errorf("depth of %d to %d by %d taps is empty, or a stride, dilation or pad is negative", d.In, d.Out, d.Kernel)
	}
	return nil
}

// Check returns an error unless every output slice meets an input slice.
func (d Depth) Check() error {
	if err := d.Positive(); err != nil {
		return err
	}
	for out := range d.Out {
		if first, last := d.Taps(out); first == last {
			return fmt.Errorf("slice %d of the output lies in the padding", out)
		}
	}
	return nil
}

// Split returns the image and the output slice of one of all images' slices.
func (d *Depth) Split(n int) (image, slice int) {
	if d.Out == 1 {
		return n, 0
	}
	return n / d.Out, n % d.Out
}

// Slice returns the input slice under a tap of an output slice.
func (d *Depth) Slice(out, tap int) int { return out*d.Stride + tap*d.Dilation - d.PadFront }

// Taps returns the range of taps of an output slice that meet the input.
func (d *Depth) Taps(out int) (first, last int) {
	if d.In == 1 && d.Kernel == 1 {
		return 0, 1
	}
	return Inside(out*d.Stride-d.PadFront, d.Dilation, d.Kernel, d.In)
}

// Bounds of the taps of a window: a tile of one channel block must stay a short call. A tap is as many steps as a block has
// channels, and in planar input and in poolings a single one.
const (
	MaxTaps       = 512
	MaxPlanarTaps = 1 << 16
	MaxPoolTaps   = 1 << 14
	MaxPhaseTaps  = 1 << 14 // of transposed convolutions: seldom that many, and then nothing else computes them
)

// FewTaps returns an error where a window of so many slices has more than most taps.
func (s *Shape) FewTaps(slices, most int) error {
	taps := 1
	for _, k := range []int{slices, s.KernelH, s.KernelW} {
		if taps *= k; k > most || taps > most {
			return fmt.Errorf("kernel %dx%dx%d has more than %d taps", slices, s.KernelH, s.KernelW, most)
		}
	}
	return nil
}

// Check returns an error that names the attribute that no kernel of common convolutions can serve.
func (s *Shape) Check() error { return s.CheckTaps(MaxTaps) }

// CheckTaps is check for kernels that take windows of so many taps.
func (s *Shape) CheckTaps(most int) error {
	few := s.FewTaps(1, most)
	switch {
	case s.Batch < 1 || s.Channels < 1 || s.Height < 1 || s.Width < 1 || s.Filters < 1:
		return fmt.Errorf("convolution of %dx%dx%dx%d to %d channels is empty", s.Batch, s.Channels, s.Height, s.Width, s.Filters)
	case s.KernelH < 1 || s.KernelW < 1 || s.StrideH < 1 || s.StrideW < 1 || s.DilationH < 1 || s.DilationW < 1:
		return fmt.Errorf("kernel %dx%d, strides %dx%d and dilations %dx%d must be positive",
			s.KernelH, s.KernelW, s.StrideH, s.StrideW, s.DilationH, s.DilationW)
	case s.PadTop < 0 || s.PadLeft < 0 || s.PadBottom < 0 || s.PadRight < 0:
		return fmt.Errorf("negative pads %d %d %d %d", s.PadTop, s.PadLeft, s.PadBottom, s.PadRight)
	case s.Groups < 1 || s.Channels%s.Groups != 0 || s.Filters%s.Groups != 0:
		return fmt.Errorf("%d channels to %d do not split into %d groups", s.Channels, s.Filters, s.Groups)
	case few != nil:
		return few
	case s.Height+s.PadTop+s.PadBottom < (s.KernelH-1)*s.DilationH+1,
		s.Width+s.PadLeft+s.PadRight < (s.KernelW-1)*s.DilationW+1:
		return fmt.Errorf("kernel %dx%d with dilations %dx%d is larger than the padded input %dx%d", s.KernelH, s.KernelW,
			s.DilationH, s.DilationW, s.Height+s.PadTop+s.PadBottom, s.Width+s.PadLeft+s.PadRight)
	}
	return nil
}

// Pointwise reports whether output pixel i reads input pixel i alone.
func (s *Shape) Pointwise() bool {
	return s.KernelH*s.KernelW == 1 && s.StrideH*s.StrideW == 1 && s.PadTop+s.PadLeft+s.PadBottom+s.PadRight == 0
}

// ErrVolume says that a kernel computes images alone.
var ErrVolume = errors.New("three spatial axes, the kernel takes two")

// Slice returns the form of a slice of a volume.
func Slice(d kernels.Desc) kernels.Desc {
	d.Dims = []int{d.Dims[0], d.Dims[1], d.Dims[3], d.Dims[4]}
	return d
}
