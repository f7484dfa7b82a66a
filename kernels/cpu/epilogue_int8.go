package cpu

import (
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// Int8Epilogue is what becomes of the int32 sums of a quantised layer: see asm.Requant, which it is but for
// the per-channel scales and bias. One of Out and Float has its Data set.
type Int8Epilogue struct {
	ClampInner    bool
	Inner         [2]float32  // before the residual
	Residual      work.Bytes4 // added where Data is set; of the output's shape and format
	ResidualScale float32
	ResidualZero  int32
	Outer         [2]float32 // after the residual; see NoLimits
	Out           work.Bytes4
	OutScale      float32
	OutZero       int32 // 0 to 255
	Float         work.Tensor4
}

// requant returns the epilogue of a panel of blocks beginning at element offset within image, pixels and
// blocks of an output pixel being pixel elements apart.
func (e *Int8Epilogue) requant(image, block, first, pixel int) asm.Requant {
	r := asm.Requant{ClampInner: e.ClampInner, Inner: e.Inner, Outer: e.Outer,
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

// pieceOf returns how many pixels of a call keep it short enough for the scheduler: a multiple of the
// kernel's tile, which takes weight vector instructions for each step of a pixel.
func pieceOf(steps, weight, tile int) int {
	const work = 1 << 17 // vector instructions: 20 to 60 microseconds
	return max(1, work/(steps*weight*tile)) * tile
}

// after returns the epilogue of what follows n pixels. (By value: a pointer to what the loops over pieces
// keep on the stack would send it to the heap.)
func after(r asm.Requant, n int) asm.Requant {
	r.Residual = r.Residual[min(n*r.ResidualPixel, len(r.Residual)):]
	r.Float = r.Float[min(n*r.OutPixel, len(r.Float)):]
	r.Out = r.Out[min(n*r.OutPixel, len(r.Out)):]
	return r
}
