package quantised

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Epilogue is what becomes of the int32 sums of a quantised layer: see asm.Requant, which it is but for
// the per-channel scales and bias. One of Out and Float has its Data set.
type Epilogue struct {
	Row           int            // index among the layer's inputs of a constant for each column, added first; 0 for none
	Activation    asm.Activation // of what that makes; for matrix products only
	ClampInner    bool
	Inner         [2]float32   // before the residual
	Between       asm.Rounding // behind that, before the residual
	Residual      work.Bytes4  // added where Data is set; of the output's shape and format
	Addend        work.Tensor4 // the same in float32; for matrix products only, one of the two
	ResidualScale float32
	ResidualZero  int32
	Outer         [2]float32 // after the residual; see NoLimits
	Out           work.Bytes4
	OutScale      float32
	OutZero       int32         // 0 to 255
	Flip          byte          // see asm.Requant; for matrix products only
	Columns       *graph.Tensor // of a matrix product whose panels have scales and zero points of their own: the output, which has them; else nil
	Float         work.Tensor4
}

// Requant returns the epilogue of a panel of blocks beginning at element offset within image, pixels and
// blocks of an output pixel being pixel elements apart.
func (e *Epilogue) Requant(image, block, first, pixel int) asm.Requant {
	r := asm.Requant{ClampInner: e.ClampInner, Inner: e.Inner, Between: e.Between, Outer: e.Outer,
		OutScale: e.OutScale, OutZero: e.OutZero, OutPixel: pixel}
	if e.Residual.Data != nil {
		r.Residual = e.Residual.Data[image*e.Residual.Image+block*e.Residual.Plane+first*pixel:]
		r.ResidualPixel, r.ResidualBlock = pixel, e.Residual.Plane
		r.ResidualScale, r.ResidualZero = e.ResidualScale, float32(e.ResidualZero)
	}
	if e.Float.Data != nil {
		r.Float, r.OutBlock = e.Float.Data[image*e.Float.Image+block*e.Float.Plane+first*pixel:], e.Float.Plane
	} else {
		r.Out, r.OutBlock = e.Out.Data[image*e.Out.Image+block*e.Out.Plane+first*pixel:], e.Out.Plane
	}
	return r
}

// PieceOf returns how many pixels of a call keep it short enough for the scheduler: a multiple of the
// kernel's tile, which takes weight vector instructions for each step of a pixel.
func PieceOf(steps, weight, tile int) int {
	const work = 1 << 17 // vector instructions: 20 to 60 microseconds
	return max(1, work/(steps*weight*tile)) * tile
}

// After returns the epilogue of what follows n pixels. (By value: a pointer to what the loops over pieces
// keep on the stack would send it to the heap.)
func After(r asm.Requant, n int) asm.Requant {
	r.Residual = r.Residual[min(n*r.ResidualPixel, len(r.Residual)):]
	r.Addend = r.Addend[min(n*r.ResidualPixel, len(r.Addend)):]
	r.Float = r.Float[min(n*r.OutPixel, len(r.Float)):]
	r.Out = r.Out[min(n*r.OutPixel, len(r.Out)):]
	r.Rows = r.Rows[min(2*n, len(r.Rows)):]
	return r
}

// activations are the operations that kernels have in registers.
var activations = map[elementwise.Op]asm.Activation{elementwise.Gelu: asm.ByGELU, elementwise.GeluTanh: asm.ByGELUTanh}

// first reports whether nothing comes before an activation but a row.
func (e *Epilogue) first() bool {
	return e.Activation == asm.NoActivation && !e.ClampInner && e.Between.Scale == 0
}

// EpilogueOf reads the layer's epilogue as the kernels compute it: a clamp, a rounding, a residual, a clamp. It returns the
// residual's index among the layer's inputs, -1 for none. Matrix products also take a residual of float32, where the product has no
// bias of its own a constant row before all of it, and behind that, with kernels of the instruction set that have them, an activation.
func EpilogueOf(b kernels.Binding, isa asm.Features, product bool) (Epilogue, int, error) {
	l := b.Layer
	e := Epilogue{Inner: programs.NoLimits(), Outer: programs.NoLimits()}
	residual := -1
	first := len(l.OpInputs()) - 1
	for i := 0; i < len(l.Epilogue.Code); i++ {
		in, last := l.Epilogue.Code[i], 0
		if i > 0 {
			last = l.Epilogue.Args + i - 1
		}
		lo, hi, clamps := programs.ClampOf(in, last)
		scale, zero, steps := programs.RoundingAt(l.Epilogue, i, last)
		switch activation := activations[in.Op]; {
		case product && activation != asm.NoActivation && in.Arg[0] == last && e.first() && residual < 0 && ConvKernel(isa, 1).Activates():
			e.Activation = activation
		case steps > 0 && residual < 0 && e.Between.Scale == 0:
			e.Between = asm.Rounding{Scale: scale, Zero: zero}
			i += steps - 1
		case clamps && residual < 0 && e.Between.Scale != 0:
			return e, -1, fmt.Errorf("the kernel clamps before it rounds to %g, and after the residual", e.Between.Scale)
		case clamps:
			if residual < 0 {
				e.ClampInner, e.Inner = true, programs.Intersect(e.Inner, lo, hi)
			} else {
				e.Outer = programs.Intersect(e.Outer, lo, hi)
			}
		case product && programs.RowAt(b, i) > 0:
			e.Row = programs.RowAt(b, i)
		case in.Op == elementwise.Add && residual < 0 && (in.Arg[0] == last || in.Arg[1] == last):
			arg := in.Arg[0] + in.Arg[1] - last
			if arg == 0 || arg >= l.Epilogue.Args {
				return e, -1, fmt.Errorf("epilogue %s adds no second tensor", l.Epilogue)
			}
			residual = first + arg
			t := l.Inputs[residual]
			if b.Consts[residual] != nil || b.In[residual].Format != b.Out[0].Format || numeric.Count(b.In[residual].Dims) != numeric.Count(b.Out[0].Dims) {
				return e, -1, fmt.Errorf("residual %s is not an activation of the output's shape", t.Name)
			}
			if product && t.Type == numeric.F32 {
				continue
			}
			if err := OneScale(t); err != nil {
				return e, -1, fmt.Errorf("residual %w", err)
			}
			e.ResidualScale, e.ResidualZero = t.Range.ScaleAt(0), Offset(t)
		default:
			return e, -1, fmt.Errorf("the kernel has no %s in registers", in.Op)
		}
	}
	if y := l.Outputs[0]; y.Quantized() {
		if e.OutScale, e.OutZero = y.Range.ScaleAt(0), Offset(y); product && y.Type == numeric.I8 {
			e.Flip = 0x80 // rows are two's complement
		}
	}
	return e, residual, nil
}
