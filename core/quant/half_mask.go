package quant

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
)

// maskedHalf stands in F16 for what attention masks add where nothing is to be seen, -1e9 or the least F32: far below
// every score, so that its exponential is 0, and far from where a sum with a score would leave F16.
const maskedHalf = -32768

// masks reports whether input i of l is an attention mask: the last thing that happens to the scores, which go to Softmax
// alone, is that it is added or chosen.
//
//	t = MatMul(q, k) | add($0, mask)      p = Softmax(t)
func masks(n *graph.Network, l *graph.Layer, i int) bool {
	arg, p := i-len(l.OpInputs())+1, l.Epilogue
	if e, ok := l.Attrs.(graph.Elementwise); ok && i < len(l.OpInputs()) && l.Epilogue.Args == 0 {
		arg, p = i, e.Program
	}
	last := len(p.Code) - 1
	if last < 0 || arg < 0 || len(l.Outputs) != 1 || n.IsOutput(l.Outputs[0]) {
		return false
	}
	for _, u := range l.Outputs[0].Users {
		if a, ok := u.Attrs.(graph.SoftmaxAttrs); u.Op != graph.Softmax || !ok || a.Log {
			return false
		}
	}
	reads := 0
	for at, in := range p.Code {
		for _, a := range in.Arg[:in.Op.Info().Arity] {
			if a == arg {
				reads++
				if at != last || in.Op == elementwise.Select && a == in.Arg[0] {
					return false
				}
			}
		}
	}
	return reads == 1 && (p.Code[last].Op == elementwise.Add || p.Code[last].Op == elementwise.Select)
}

// saturated returns the elements with those under maskedHalf that F16 does not hold in its place.
func saturated(x []float32) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		if out[i] = v; v < -maxHalf && v >= -math.MaxFloat32 {
			out[i] = maskedHalf
		}
	}
	return out
}
