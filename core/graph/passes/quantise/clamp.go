package quantise

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// clampOf returns the activation that a Quantize stands for, if it does; see [Clamp].
func clampOf(q *graph.Layer) (p elementwise.Program, ok bool) {
	least, most := Clamp(q)
	switch {
	case least == 0 && math.IsInf(most, 1):
		return elementwise.Unary(elementwise.Relu), true
	case least == 0:
		return elementwise.Unary(elementwise.Clamp, 0, float32(most)), true
	case !math.IsInf(most, 1):
		b := elementwise.NewBuilder(1)
		b.Do(elementwise.Min, 0, b.Constant(float32(most)))
		return b.Program, true
	}
	return p, false
}

// Clamp returns the bounds of the activation that a Quantize stands for by what it cuts off; infinities where there is none. Quantisers
// remove a Relu, or a Relu6, in front of integers whose least one is 0: these cut off what it would. Of a range, only bounds that tell
// of an activation are kept: one of exactly 0, and behind a least number of 0 one within half a step of 6. Any other is as far as the
// data of a calibration reached, beyond which the network of real numbers goes on. Nor is anything kept that the layers before ensure,
// or of what the network is given: no activation is there.
func Clamp(q *graph.Layer) (least, most float64) {
	x := q.Inputs[0]
	belowZero, most := cuts(q.Attrs.(graph.QuantAttrs))
	if !belowZero && math.IsInf(most, 1) || isGiven(x) {
		return math.Inf(-1), math.Inf(1)
	}
	least = math.Inf(-1)
	reach := match.ReachOf(x)
	if belowZero && !(reach.Least >= 0) {
		least = 0
	}
	if reach.Most <= most {
		most = math.Inf(1)
	}
	return least, most
}

// relu6 is the largest number that a Relu6 leaves.
const relu6 = 6

// cuts returns whether a quantisation cuts off what is below 0, and the bound of an activation above which it cuts off everything;
// infinity where there is none. All channels must say the same.
func cuts(a graph.QuantAttrs) (belowZero bool, above float64) {
	if !a.Range.IsSet() || !a.Type.IsInteger() || !increases(a.Range) {
		return false, math.Inf(1)
	}
	least, most := a.Type.Limits()
	atZero, atSix := true, true
	belowZero = true
	for c, scale := range a.Range.Scale {
		zero := float64(a.Range.ZeroAt(c))
		step := float64(scale)
		belowZero = belowZero && zero == least
		atZero = atZero && zero == most
		atSix = atSix && math.Abs((most-zero)*step-relu6) <= step/2
	}
	switch {
	case atZero:
		return belowZero, 0
	case belowZero && atSix:
		return true, relu6
	}
	return belowZero, math.Inf(1)
}

// isGiven reports whether t is an input of the network, or elements of one that were moved.
func isGiven(t *graph.Tensor) bool {
	for t.Producer != nil && t.Producer.Movement() >= graph.Moved && t.Producer.DataInputs() == 1 {
		t = t.Producer.Inputs[0]
	}
	return t.Producer == nil && !t.IsConst()
}
