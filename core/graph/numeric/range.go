package numeric

import (
	"fmt"
	"slices"
)

// Range is the affine map between a quantised tensor's integers and the real numbers that they stand for:
// real = (q - zero) * scale. The zero value says that the tensor is not quantised.
type Range struct {
	Scale []float32 // one for the whole tensor, or one for each index of Axis
	Zero  []int32   // nil for symmetric quantisation, else as long as Scale
	Axis  int       // the channel axis; meaningful if len(Scale) > 1
}

// PerTensor returns the range with one scale and zero point.
func PerTensor(scale float32, zero int32) Range {
	r := Range{Scale: []float32{scale}}
	if zero != 0 {
		r.Zero = []int32{zero}
	}
	return r
}

// IsSet reports whether r quantises anything.
func (r Range) IsSet() bool { return len(r.Scale) > 0 }

// PerChannel reports whether r has one scale for each index of its axis.
func (r Range) PerChannel() bool { return len(r.Scale) > 1 }

// ZeroAt returns the zero point of channel c (ignored for a per-tensor range).
func (r Range) ZeroAt(c int) int32 {
	switch len(r.Zero) {
	case 0:
		return 0
	case 1:
		return r.Zero[0]
	}
	return r.Zero[c]
}

// ScaleAt returns the scale of channel c (ignored for a per-tensor range).
func (r Range) ScaleAt(c int) float32 {
	if len(r.Scale) == 1 {
		return r.Scale[0]
	}
	return r.Scale[c]
}

// Part returns the range of channels from..to of its axis: with one scale where they have the same, or there are none.
func (r Range) Part(from, to int) Range {
	if !r.PerChannel() {
		return r
	}
	if from == to {
		return PerTensor(r.ScaleAt(0), r.ZeroAt(0))
	}
	part := Range{Scale: r.Scale[from:to:to], Axis: r.Axis}
	if len(r.Zero) > 1 {
		part.Zero = r.Zero[from:to:to]
	} else {
		part.Zero = r.Zero
	}
	for c := range part.Scale {
		if part.Scale[c] != part.Scale[0] || part.ZeroAt(c) != part.ZeroAt(0) {
			return part
		}
	}
	return PerTensor(part.Scale[0], part.ZeroAt(0))
}

// JoinRanges returns the range of tensors that lie side by side along an axis, of which each has one scale and so many channels.
func JoinRanges(axis int, parts []Range, channels []int) Range {
	all := Range{Axis: axis}
	for i, r := range parts {
		all.Scale = append(all.Scale, slices.Repeat([]float32{r.ScaleAt(0)}, channels[i])...)
		all.Zero = append(all.Zero, slices.Repeat([]int32{r.ZeroAt(0)}, channels[i])...)
	}
	if len(all.Scale) > 0 {
		return all.Part(0, len(all.Scale))
	}
	return all
}

// Equal reports whether both ranges map integers to the same real numbers.
func (r Range) Equal(o Range) bool {
	if !slices.Equal(r.Scale, o.Scale) || r.PerChannel() && r.Axis != o.Axis {
		return false
	}
	for c := range r.Scale {
		if r.ZeroAt(c) != o.ZeroAt(c) {
			return false
		}
	}
	return true
}

// String prints the range as what follows a tensor's type: "*0.02", "*0.02-128" with a zero point, or
// "*64 scales on axis 0"; nothing if it is not set.
func (r Range) String() string {
	switch {
	case r.PerChannel():
		return fmt.Sprintf("*%d scales on axis %d", len(r.Scale), r.Axis)
	case !r.IsSet():
		return ""
	}
	s := fmt.Sprintf("*%.6g", r.Scale[0])
	if z := r.ZeroAt(0); z != 0 {
		s += fmt.Sprintf("%+d", -z)
	}
	return s
}
