package programs

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Codec converts a tensor's stored elements to float32 and back.
type Codec struct {
	Kind   numeric.DataType // F32, F16, I8, U8, Bool, or an integer type that is only loaded
	Affine asm.Quantization
	Quant  asm.QuantKernel
	half   asm.HalfKernel
}

// NewCodec returns the codec of elements of d, which stand for real numbers by r.
func NewCodec(d kernels.Desc, r numeric.Range, isa asm.Features) (Codec, error) {
	c := Codec{Kind: d.Type}
	switch d.Type {
	case numeric.F32:
	case numeric.F16:
		c.half = work.HalfKernel(isa)
	case numeric.I8, numeric.U8:
		if !r.IsSet() || r.PerChannel() {
			return c, fmt.Errorf("%s is not 8-bit with one scale", d)
		}
		c.Quant = work.QuantKernel(isa)
		c.Affine = Quantization(d, r)
	case numeric.Bool: // 0 and 1 are the same as bytes and as real numbers
		c.Quant, c.Affine = work.QuantKernel(isa), asm.Quantization{Scale: 1}
	default:
		return c, fmt.Errorf("elements of type %s", d.Type)
	}
	return c, nil
}

// Quantization returns how the bytes of d, stored in its format, stand for real numbers by r.
func Quantization(d kernels.Desc, r numeric.Range) asm.Quantization {
	q := asm.Quantization{Scale: r.ScaleAt(0), Zero: r.ZeroAt(0)}
	if d.Type == numeric.I8 {
		if q.Signed = d.Format == kernels.Linear; !q.Signed {
			q.Zero += 128
		}
	}
	return q
}

// Load sets dst to the elements from at on.
func (c *Codec) Load(dst []float32, m kernels.Mem, at int) {
	switch c.Kind {
	case numeric.F32:
		copy(dst, numeric.View[float32](m.Host)[at:])
	case numeric.F16:
		c.half.Widen(dst, numeric.View[uint16](m.Host)[at:at+len(dst)])
	case numeric.I16, numeric.U16, numeric.I32, numeric.U32, numeric.I64, numeric.U64:
		loadIntegers(dst, m.Host, at, c.Kind)
	default:
		c.Quant.Dequantize(dst, m.Host[at:at+len(dst)], c.Affine)
	}
}

// Store sets the elements from at on to src.
func (c *Codec) Store(m kernels.Mem, at int, src []float32) {
	switch c.Kind {
	case numeric.F32:
		copy(numeric.View[float32](m.Host)[at:], src)
	case numeric.F16:
		c.half.Narrow(numeric.View[uint16](m.Host)[at:at+len(src)], src)
	default:
		c.Quant.Quantize(m.Host[at:at+len(src)], src, c.Affine)
	}
}
