package quant

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Scheme is the form of an 8-bit range. The zero value is the default for activations: symmetric signed, as in
// TensorRT.
type Scheme struct {
	// Asymmetric ranges have a zero point and spend all 256 integers between the least and the largest real number;
	// symmetric ones represent [-amax, amax] with scale amax/127.
	Asymmetric bool
	Type       numeric.DataType // I8 or U8; Invalid means I8. Symmetric U8 has zero point 128
	// ByToken lets products of rows by a matrix, as those of a transformer, quantise each row by a range of its own, found when it comes, in
	// the place of one that calibration found for the tensor. All other tensors have ranges of calibration.
	ByToken bool
}

// Rows returns by which ranges products quantise their rows: OneRange where that is the tensor's.
func (s Scheme) Rows() graph.RowRange {
	switch {
	case !s.ByToken:
		return graph.OneRange
	case s.Asymmetric:
		return graph.RowsWithZero
	}
	return graph.RowsSymmetric
}

// DataType returns the type of the integers.
func (s Scheme) DataType() numeric.DataType {
	if s.Type == numeric.Invalid {
		return numeric.I8
	}
	return s.Type
}

// Check returns an error for types that activations are not quantised to.
func (s Scheme) Check() error {
	if t := s.DataType(); t != numeric.I8 && t != numeric.U8 {
		return fmt.Errorf("activations cannot be quantised to %s, only to i8 or u8", t)
	}
	return nil
}

func (s Scheme) String() string {
	name := "symmetric " + s.DataType().String()
	if s.Asymmetric {
		name = "asymmetric " + s.DataType().String()
	}
	if s.ByToken {
		name += " by token"
	}
	return name
}

// minScale is the least scale: what is smaller would make x/scale overflow or lose the scale's own precision.
const minScale = 0x1p-126

// Range returns the range that represents reals from lo to hi. Zero is always represented exactly, so an asymmetric
// range is widened to include it. Where lo and hi are both zero, any scale is right, and it is 1/127.
func (s Scheme) Range(lo, hi float64) numeric.Range {
	lo, hi = min(lo, 0), max(hi, 0)
	if lo == hi {
		lo, hi = 0, 1
	}
	qlo, qhi := limits(s.DataType())
	if !s.Asymmetric {
		scale := max(max(-lo, hi)/127, minScale)
		return numeric.PerTensor(float32(scale), int32((qlo+qhi+1)/2))
	}
	scale := float64(float32(max((hi-lo)/(qhi-qlo), minScale)))
	zero := max(qlo, min(qhi, math.RoundToEven(qlo-lo/scale)))
	return numeric.PerTensor(float32(scale), int32(zero))
}

// limits returns the least and largest integer of an 8-bit type.
func limits(t numeric.DataType) (lo, hi float64) {
	if t == numeric.U8 {
		return 0, 255
	}
	return -128, 127
}

// Limits returns the least and largest real number that a per-tensor range represents in the given type.
func Limits(r numeric.Range, t numeric.DataType) (lo, hi float64) {
	qlo, qhi := limits(t)
	zero, scale := float64(r.ZeroAt(0)), float64(r.ScaleAt(0))
	return (qlo - zero) * scale, (qhi - zero) * scale
}

// AMax returns the largest magnitude that a range is meant for, 127 scales: the number that thresholds and calibration
// caches are given in. Of a range for each channel it is the largest.
func AMax(r numeric.Range) float64 {
	var amax float64
	for _, s := range r.Scale {
		amax = max(amax, 127*float64(s))
	}
	return amax
}
