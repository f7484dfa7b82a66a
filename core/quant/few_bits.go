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
}

// The groups of weights of 4 bits: what has a scale in common where nothing is said, and the most that may.
const (
	defaultGroup = 32
	mostInGroup  = 1 << 16
)

// FewBitsKinds returns what weights may be rounded to.
func FewBitsKinds() []string { return []string{"int8", "int4"} }

// ParseFewBits reads what String writes: int8 or int4, with the number of weights behind it, as in int4:64, that have a scale in
// common. Without it int8 has a scale for each column and int4 one for 32 weights. An empty text leaves weights as they are.
func ParseFewBits(text string) (f FewBits, err error) {
	if text == "" {
		return f, nil
	}
	name, group, given := strings.Cut(text, ":")
	switch name {
	case "int8":
		f.Bits = 8
	case "int4":
		f.Bits, f.Group = 4, defaultGroup
	default:
		return f, fmt.Errorf("weights %q: want int8 or int4, perhaps with a group behind it, as in int4:64", text)
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

func (f FewBits) String() string {
	switch {
	case f.Bits == 0:
		return ""
	case f.Group == 0 || f.Bits == 4 && f.Group == defaultGroup:
		return fmt.Sprintf("int%d", f.Bits)
	}
	return fmt.Sprintf("int%d:%d", f.Bits, f.Group)
}

// limits returns the least and the largest integer.
func (f FewBits) limits() (least, most float64) {
	half := float64(int(1) << (f.Bits - 1))
	if f.Bits == 8 {
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
	scales := numeric.NewValue(numeric.F32, dims[:]...)
	at := stridesOf(dims[:])
	scale := func(o, i int) *float32 { return &scales.F32()[o*at[out]+i/group*at[in]] }
	typ := numeric.I8
	if f.Bits == 4 {
		typ = numeric.I4
	}
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
			s := f.scale(block)
			*scale(o, first) = s
			for i, v := range block {
				stored[o*strides[out]+(first+i)*strides[in]] = int8(max(least, min(most, math.RoundToEven(float64(v)/float64(s)))))
			}
		}
	}
	if by.NeedsMoments() {
		q.Nearest = numeric.Value{Type: typ, Dims: q.Stored.Dims, Data: slices.Clone(q.Stored.Data)}
		g := grid{least, most, func(o, i int) float32 { return *scale(o, i) }}
		if gain, err = by.Improve(l, w, stored, g, m); err != nil {
			return q, 0, err
		}
	}
	if blocks == 1 {
		q.Attrs.Range = numeric.Range{Scale: scales.F32(), Axis: out}
		return q, gain, nil
	}
	q.Attrs.Range.Axis, q.Attrs.Block, q.Scales = in, group, &scales
	return q, gain, nil
}

// The scales that are tried for a group of few bits: shares of the one that its largest weight needs.
const (
	leastShare = 0.7
	shareStep  = 0.02
)

// scale returns the scale of a group: of 8 bits that of its largest weight, of fewer the one with the least squared error, since
// there a weight that is cut off costs less than coarser steps for all others.
func (f FewBits) scale(group []float32) float32 {
	var largest float64
	for _, x := range group {
		largest = max(largest, math.Abs(float64(x)))
	}
	least, most := f.limits()
	whole := float32(max(largest/most, minScale))
	if f.Bits >= 8 || largest == 0 {
		return whole
	}
	best, smallest := whole, math.Inf(1)
	for share := 1.0; share >= leastShare; share -= shareStep {
		s, sum := max(float32(share)*whole, minScale), 0.0
		for _, x := range group {
			d := max(least, min(most, math.RoundToEven(float64(x)/float64(s))))*float64(s) - float64(x)
			sum += d * d
		}
		if sum < smallest {
			best, smallest = s, sum
		}
	}
	return best
}
