package compare

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
)

// stepShare is the share of a quantised tensor's elements, one at least, that may be a step of its scale away, and none by more: sums
// that lie in the middle between two integers, of which other orders of summation fall to either side. Behind one layer one in a
// thousand does; a wrong rounding moves half of all.
const stepShare = 0.01

// steps counts the elements of a tensor that are whole steps of a scale by how many they differ.
type steps struct {
	scale        float64 // 0: it is no such tensor
	one, further int
}

// add compares two elements.
func (s *steps) add(a, b float64) {
	const exact = 1e-3 // of a step: what float32 makes of its multiples
	switch off := math.Abs(a-b) / s.scale; {
	case a == b || a != a && b != b || off < exact:
	case math.Abs(off-1) < exact:
		s.one++
	default:
		s.further++
	}
}

// report returns what was found among so many elements; nil where none is a step away, or some by more.
func (s *steps) report(count int) *report.Steps {
	if s.one == 0 || s.further > 0 {
		return nil
	}
	return &report.Steps{Scale: s.scale, Elements: s.one, Most: max(1, int(stepShare*float64(count)))}
}

// stepOf returns the scale of which the elements of a tensor differ by whole multiples, as real numbers: that of the quantisation that
// it is moved from; 0 for what is something else or has several scales.
func stepOf(t *graph.Tensor) float64 { return stepKnown(t, map[*graph.Tensor]float64{}) }

func stepKnown(t *graph.Tensor, known map[*graph.Tensor]float64) (scale float64) {
	if v, ok := known[t]; ok {
		return v
	}
	defer func() { known[t] = scale }()
	l := t.Producer
	if l == nil || len(l.Epilogue.Code) > 0 && !t.Quantized() {
		return 0
	}
	switch {
	case t.Quantized():
		return single(t.Range)
	case l.Op == graph.Quantize || l.Op == graph.QLinearConv || l.Op == graph.QLinearMatMul:
		if t.Type.IsInteger() {
			return 1
		}
	case l.Op == graph.Dequantize:
		if x := l.Inputs[0]; x.Type.IsInteger() && x.Type.Size() <= 2 {
			return scaleOf(l)
		}
	case l.Op.Class == graph.ClassMove:
		for _, i := range l.Inputs {
			if i.Type != t.Type { // a place or a shape
				continue
			}
			s := stepKnown(i, known)
			if s == 0 || scale != 0 && s != scale {
				return 0
			}
			scale = s
		}
	}
	return scale
}

// scaleOf returns the only scale of a dequantisation; 0 where it has several, or one that is computed.
func scaleOf(l *graph.Layer) float64 {
	a := l.Attrs.(graph.QuantAttrs)
	if a.Range.IsSet() {
		return single(a.Range)
	}
	if s := l.Input(1); s != nil {
		if v, ok := s.Const(); ok && v.Len() == 1 {
			return v.Float64s()[0]
		}
	}
	return 0
}

// single returns the scale of a range that has one; otherwise 0.
func single(r numeric.Range) float64 {
	if len(r.Scale) != 1 {
		return 0
	}
	return float64(r.Scale[0])
}
