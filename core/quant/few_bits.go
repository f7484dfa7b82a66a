package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// FewBits says to how many bits the constant weights of products of real numbers are rounded, their inputs staying as they are. The
// zero value leaves weights as they are.
type FewBits struct {
	Bits  int // 4 or 8
	Group int // how many weights of a column have a scale in common, a multiple of 8; 0: all of them
	// Asymmetric gives what has a scale in common a zero point, too, so that all integers lie between its least and its largest weight.
	Asymmetric bool
}

// The groups of weights of 4 bits: what has a scale in common where nothing is said, and the most that may.
const (
	defaultGroup = 32
	mostInGroup  = 1 << 16
)

// FewBitsKinds returns what weights may be rounded to, but for the size of groups.
func FewBitsKinds() []string { return []string{"int8", "int8" + withZeros, "int4", "int4" + withZeros} }

// withZeros ends the text of asymmetric ones.
const withZeros = ":asymmetric"

// ParseFewBits reads what String writes: int8 or int4, with the number of weights behind it, as in int4:64, that have a scale in
// common, and :asymmetric behind that for zero points. Without a number int8 has a scale for each column and int4 one for 32 weights.
// An empty text leaves weights as they are.
func ParseFewBits(text string) (f FewBits, err error) {
	if text == "" {
		return f, nil
	}
	rest, zeros := strings.CutSuffix(text, withZeros)
	f.Asymmetric = zeros
	name, group, given := strings.Cut(rest, ":")
	switch name {
	case "int8":
		f.Bits = 8
	case "int4":
		f.Bits, f.Group = 4, defaultGroup
	default:
		return f, fmt.Errorf("weights %q: want int8 or int4, perhaps with a group behind it, as in int4:64, and :asymmetric", text)
	}
	if !given {
		return f, nil
	}
	n, err := strconv.Atoi(group)
	if err != nil || n < 8 || n%8 != 0 || n > mostInGroup {
		return f, fmt.Errorf("weights %q: a group is a multiple of 8, up to %d", text, mostInGroup)
	}
	f.Group = n
	return f, nil
}

// Kind returns the one of FewBitsKinds that f is with whatever groups; empty where weights stay.
func (f FewBits) Kind() string {
	if f.Group = 0; f.Bits == 4 {
		f.Group = defaultGroup
	}
	return f.String()
}

func (f FewBits) String() string {
	if f.Bits == 0 {
		return ""
	}
	text := fmt.Sprintf("int%d", f.Bits)
	if f.Group != 0 && (f.Bits != 4 || f.Group != defaultGroup) {
		text += fmt.Sprintf(":%d", f.Group)
	}
	if f.Asymmetric {
		text += withZeros
	}
	return text
}

// limits returns the least and the largest integer.
func (f FewBits) limits() (least, most float64) {
	half := float64(int(1) << (f.Bits - 1))
	if f.Bits == 8 && !f.Asymmetric {
		return 1 - half, half - 1
	}
	return -half, half - 1
}

// Matrix is a matrix of integers of few bits that stand for weights.
type Matrix struct {
	Stored  numeric.Value    // of the weights' shape
	Nearest numeric.Value    // before they were rounded by moments; empty where they were not
	Attrs   graph.QuantAttrs // of the Dequantize that gives the real numbers, but for their type
	Scales  *numeric.Value   // its second input, where groups have scales of their own
	Zeros   *numeric.Value   // its third, where they have zero points, too
}

// Quantize rounds the constant weights of l, a matrix product by one matrix. by needs m, what the weights are multiplied by, if it
// needs moments. gain is by how many dB rounding by moments loses less than to the nearest; 0 where that is not so.
func (f FewBits) Quantize(l *graph.Layer, w numeric.Value, by Rounding, m *Moments) (q Matrix, gain float64, err error) {
	if len(w.Dims) != 2 || w.Len() == 0 {
		return q, 0, errors.New("its weights are no matrix")
	}
	out, in := l.Op.Product.Axes(l)
	k, n := w.Dims[in], w.Dims[out]
	group := f.Group
	if group == 0 || group >= k {
		group = k
	}
	blocks := (k + group - 1) / group
	x, strides := w.Floats(), stridesOf(w.Dims)
	for _, v := range x {
		if v-v != 0 {
			return q, 0, errors.New("not all of its weights are finite")
		}
	}
	dims := [2]int{}
	dims[in], dims[out] = blocks, n
	typ := numeric.I8
	if f.Bits == 4 {
		typ = numeric.I4
	}
	scales, zeros := numeric.NewValue(numeric.F32, dims[:]...), numeric.NewValue(typ, dims[:]...)
	strided := stridesOf(dims[:])
	at := func(o, i int) int { return o*strided[out] + i/group*strided[in] }
	scale, zero := scales.F32(), numeric.View[int8](zeros.Data)
	q.Stored = numeric.NewValue(typ, w.Dims...)
	stored := numeric.View[int8](q.Stored.Data)
	least, most := f.limits()
	block := make([]float32, 0, group)
	for o := range n {
		for first := 0; first < k; first += group {
			block = block[:0]
			for i := first; i < min(first+group, k); i++ {
				block = append(block, x[o*strides[out]+i*strides[in]])
			}
			s, z := f.scale(block)
			scale[at(o, first)], zero[at(o, first)] = s, int8(z)
			for i, v := range block {
				stored[o*strides[out]+(first+i)*strides[in]] = int8(max(least, min(most, math.RoundToEven(float64(v)/float64(s))+z)))
			}
		}
	}
	if by.NeedsMoments() {
		q.Nearest = numeric.Value{Type: typ, Dims: q.Stored.Dims, Data: slices.Clone(q.Stored.Data)}
		moved := numeric.NewValue(numeric.F32, w.Dims...) // by zero points: errors are the same
		for o := range n {
			for i := range k {
				j := o*strides[out] + i*strides[in]
				moved.F32()[j] = x[j] + float32(zero[at(o, i)])*scale[at(o, i)]
			}
		}
		if gain, err = by.Improve(l, moved, stored, grid{least, most, func(o, i int) float32 { return scale[at(o, i)] }}, m); err != nil {
			return q, 0, err
		}
	}
	if blocks == 1 {
		q.Attrs.Range = numeric.Range{Scale: scale, Axis: out}
		if f.Asymmetric {
			for _, z := range zero {
				q.Attrs.Range.Zero = append(q.Attrs.Range.Zero, int32(z))
			}
		}
		return q, gain, nil
	}
	q.Attrs.Range.Axis, q.Attrs.Block, q.Scales = in, group, &scales
	if f.Asymmetric {
		q.Zeros = &zeros
	}
	return q, gain, nil
}

// The scales that are tried for a group of few bits: shares of the one that its largest weight needs.
const (
	leastShare = 0.7
	shareStep  = 0.02
)

// scale returns the scale and the zero point of a group: of 8 bits those of its ends, of fewer those with the least squared error, since
// there a weight that is cut off costs less than coarser steps for all others.
func (f FewBits) scale(group []float32) (scale float32, zero float64) {
	var low, high float64
	for _, x := range group {
		low, high = min(low, float64(x)), max(high, float64(x))
	}
	least, most := f.limits()
	of := func(share float64) (float32, float64) {
		if !f.Asymmetric {
			return max(float32(share)*float32(max(max(-low, high)/most, minScale)), minScale), 0
		}
		s := max(float32(share*(high-low)/(most-least)), minScale)
		return s, max(least, min(most, math.RoundToEven(least-share*low/float64(s))))
	}
	scale, zero = of(1)
	if f.Bits >= 8 || low == high {
		return scale, zero
	}
	smallest := math.Inf(1)
	for share := 1.0; share >= leastShare; share -= shareStep {
		s, z := of(share)
		sum := 0.0
		for _, x := range group {
			d := (max(least, min(most, math.RoundToEven(float64(x)/float64(s))+z))-z)*float64(s) - float64(x)
			sum += d * d
		}
		if sum < smallest {
			scale, zero, smallest = s, z, sum
		}
	}
	return scale, zero
}
