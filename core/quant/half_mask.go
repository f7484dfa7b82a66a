package quant

import (
	"math"
	"slices"

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

// attentionMask reports whether input i of l is what an attention adds to its scores. It does so in F32, and reads the mask as it is:
// as minus infinity the least F32 would take all of a row that sees nothing, which is a mean over all keys.
func attentionMask(l *graph.Layer, i int) bool {
	return l.Op == graph.Attention && i == graph.AttentionMask
}

// largeMasks returns the layers that give the masks of attentions and that read, if need be through each other, what a constant makes
// larger than F16 holds: sums and choices of biases with the least F32.
func largeMasks(n *graph.Network) map[*graph.Layer]bool {
	masking := map[*graph.Layer]bool{} // whose results are read as masks alone, by attentions or by each other
	for _, l := range slices.Backward(n.Layers) {
		masking[l] = len(l.Outputs) == 1 && (l.Op.Class == graph.ClassElementwise || kindOf(l) == moving) && len(l.Outputs[0].Users) > 0 &&
			!n.IsOutput(l.Outputs[0]) && !slices.ContainsFunc(l.Outputs[0].Users, func(u *graph.Layer) bool {
			return !masking[u] && !readsAsMask(u, l.Outputs[0])
		})
	}
	large := map[*graph.Layer]bool{}
	for _, l := range n.Layers {
		for i, t := range l.Inputs {
			if t != nil && masking[l] && (t.IsConst() && tooLarge(n, l, i) != 0 || large[t.Producer]) {
				large[l] = true
			}
		}
	}
	return large
}

// readsAsMask reports whether a layer is an attention that reads a tensor as its mask and nothing else.
func readsAsMask(l *graph.Layer, t *graph.Tensor) bool {
	for i, in := range l.Inputs {
		if in == t && !attentionMask(l, i) {
			return false
		}
	}
	return true
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
