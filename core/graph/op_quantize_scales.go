package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// newRange returns the range of given scales and zero points (a zero Value for none).
func newRange(scale, zero numeric.Value, axis int) (numeric.Range, error) {
	if !scale.Type.IsFloat() && scale.Type != numeric.F8E8M0 {
		return numeric.Range{}, fmt.Errorf("scales of type %s", scale.Type)
	}
	r := numeric.Range{Axis: axis, Scale: append([]float32(nil), scale.Floats()...)}
	for _, s := range r.Scale {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return numeric.Range{}, fmt.Errorf("a scale is %v", s)
		}
	}
	if zero.Data == nil {
		return r, nil
	}
	if zero.Type.IsNarrowFloat() {
		return r, noZeros(zero)
	}
	if zero.Len() != len(r.Scale) {
		return numeric.Range{}, fmt.Errorf("%d zero points for %d scales", zero.Len(), len(r.Scale))
	}
	symmetric := true
	r.Zero = make([]int32, zero.Len())
	for i, z := range zero.Ints() {
		r.Zero[i] = int32(z)
		symmetric = symmetric && z == 0
	}
	if symmetric {
		r.Zero = nil
	}
	return r, nil
}

// noZeros returns an error where a zero point of a floating type is not 0.
func noZeros(zero numeric.Value) error {
	for _, z := range zero.Float64s() {
		if z != 0 {
			return fmt.Errorf("a zero point of %s is %g; floats have 0 for 0", zero.Type, z)
		}
	}
	return nil
}

// scales are those of a layer, with the zero points: of a Range, or one for each block along its axis.
type scales struct {
	numeric.Range
	block         int // 0: as the Range says
	extent, inner int // of the axis, and how many elements one index of it spans
}

// evalScales returns the scales in the attributes, or those of inputs 1 and 2.
func evalScales(l *Layer, in []numeric.Value) (s scales, err error) {
	a := l.Attrs.(QuantAttrs)
	s.Range, s.block = a.Range, a.Block
	if !s.IsSet() && len(in) > 1 {
		var zero numeric.Value
		if len(in) > 2 {
			zero = in[2]
		}
		if s.Range, err = newRange(in[1], zero, a.Range.Axis); err != nil {
			return s, err
		}
	}
	dims := in[0].Dims
	switch {
	case !s.IsSet():
		return s, fmt.Errorf("no scales")
	case s.block > 0:
		s.extent, s.inner = dims[s.Axis], numeric.Count(dims[s.Axis+1:])
		if n := numeric.Count(dims[:s.Axis]) * s.blocks() * s.inner; len(s.Scale) != n {
			return s, fmt.Errorf("%d scales for %d blocks", len(s.Scale), n)
		}
	case s.PerChannel() && (s.Axis >= len(dims) || dims[s.Axis] != len(s.Scale)):
		return s, fmt.Errorf("%d scales do not fit axis %d of shape %v", len(s.Scale), s.Axis, dims)
	default:
		s.inner, s.extent = s.Stride(dims)
	}
	return s, nil
}

// blocks returns how many there are along the axis.
func (s scales) blocks() int { return (s.extent + s.block - 1) / s.block }

// at returns which scale element i has.
func (s scales) at(i int) int {
	index := i / s.inner
	if s.block == 0 {
		return index % s.extent
	}
	return (index/s.extent*s.blocks()+index%s.extent/s.block)*s.inner + i%s.inner
}

// quantize is Range.Quantize for blocks and narrow types; overflow is that of QuantAttrs.
func (s scales) quantize(dst numeric.Value, x []float32, overflow bool) {
	q := make([]float64, len(x))
	for i, f := range x {
		q[i] = float64(f / s.ScaleAt(s.at(i)))
	}
	if dst.Type.IsNarrowFloat() {
		dst.SetNarrowFloats(q, !overflow, numeric.RoundUp)
		return
	}
	lo, hi := dst.Type.Limits()
	for i, f := range q {
		if f = math.RoundToEven(f); f != f {
			f = 0
		}
		q[i] = max(lo, min(hi, f+float64(s.ZeroAt(s.at(i)))))
	}
	dst.SetFloats(q)
}

// dequantize is Range.Dequantize for blocks and narrow types.
func (s scales) dequantize(v numeric.Value) []float32 {
	out := make([]float32, v.Len())
	for i, q := range v.Float64s() {
		c := s.at(i)
		out[i] = float32(q-float64(s.ZeroAt(c))) * s.ScaleAt(c)
	}
	return out
}

// checkRange checks the scales of the attributes, or of inputs 1 and 2, against the shape of x and the type t of what is
// quantised.
func checkRange(l *Layer, a QuantAttrs, x *Tensor, t numeric.DataType) error {
	if a.Block != 0 {
		return checkBlocks(l, a, x, t)
	}
	r := a.Range
	if !r.IsSet() {
		if len(l.OpInputs()) < 2 {
			return fmt.Errorf("no scales")
		}
		return nil
	}
	if len(r.Zero) != 0 && len(r.Zero) != len(r.Scale) {
		return fmt.Errorf("%d zero points for %d scales", len(r.Zero), len(r.Scale))
	}
	if r.PerChannel() {
		if r.Axis < 0 || r.Axis >= len(x.Dims) || !x.Dims[r.Axis].Is(len(r.Scale)) {
			return fmt.Errorf("%d scales do not fit axis %d of %s", len(r.Scale), r.Axis, x)
		}
	}
	return nil
}

// checkBlocks checks the inputs with scales and zero points of blocks: as x, but one for each block along the axis.
func checkBlocks(l *Layer, a QuantAttrs, x *Tensor, t numeric.DataType) error {
	axis := a.Range.Axis
	if a.Block < 1 || a.Block > maxExtent || axis < 0 || axis >= len(x.Dims) || a.Range.IsSet() {
		return fmt.Errorf("blocks of %d elements along axis %d of %s", a.Block, axis, x.TypeString())
	}
	for i, what := range []string{"scales", "zero points"} {
		s := l.Input(1 + i)
		if s == nil && i == 1 {
			return nil
		}
		if s == nil {
			return fmt.Errorf("no scales")
		}
		fits := len(s.Dims) == len(x.Dims)
		for j := 0; fits && j < len(x.Dims); j++ {
			n, ok := x.Dims[j].IsConst()
			if j == axis {
				n = (n + a.Block - 1) / a.Block
			}
			fits = !ok || !conflict(s.Dims[j], symbolic.Const(n))
		}
		if !fits || i == 1 && s.Type != t {
			return fmt.Errorf("%s %s do not fit blocks of %d along axis %d of %s", what, s.TypeString(), a.Block, axis, x.TypeString())
		}
	}
	return nil
}
