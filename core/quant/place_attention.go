package quant

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// attendedInputs returns queries, keys and values of an attention, all of which must come from products with constant weights,
// which write integers at no cost: to make them of real numbers would take what is won.
func (p *placer) attendedInputs(l *graph.Layer) (inputs []*graph.Tensor, reason string) {
	for i, what := range []string{"queries", "keys", "values"} {
		t := l.Inputs[i]
		switch of := source(t); {
		case t.Type != numeric.F32:
			return nil, "its tensors are not f32"
		case of == nil || kindOf(of) != weighted || of.Input(1) == nil || !of.Input(1).IsConst():
			return nil, "its " + what + " do not come from a product alone"
		case !usable(p.ranges[t.Name]):
			return nil, "no range for tensor " + t.Name
		}
		inputs = append(inputs, t)
	}
	if _, named := p.policy.rule(l); named {
		return inputs, ""
	}
	if n := p.scoreNoise(l); !(n <= maxScoreNoise) {
		return nil, fmt.Sprintf("8 bits of queries and keys would change its scores by %.2g, more than %g", n, maxScoreNoise)
	}
	return inputs, "queries, keys and values are results of products"
}

// maxScoreNoise is how far rounding queries and keys may move a score, as a standard deviation: by so much, nearly, softmax weighs a
// key more or less. At 0.08 a random transformer of four blocks lost 2 dB of the 25 that its other layers left, at 0.01 0.1 dB of 32.
const maxScoreNoise = 0.05

// scoreNoise estimates how far the scores of an attention are moved. Either side of a product of d elements is wrong by its step
// through the root of 12; elements whose range has 255 steps are 32 of them large, as those of a normal distribution within
// four standard deviations are.
func (p *placer) scoreNoise(l *graph.Layer) float64 {
	a, q := l.Attrs.(graph.AttentionAttrs), l.Inputs[graph.AttentionQ]
	size, ok := q.Dims[len(q.Dims)-1].IsConst()
	if len(q.Dims) == 3 {
		size /= max(1, a.Heads)
	}
	if !ok || size < 1 {
		return 0
	}
	scale := float64(a.Scale)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(size))
	}
	step := func(i int) float64 { return float64(p.ranges[l.Inputs[i].Name].ScaleAt(0)) }
	return scale * math.Sqrt(float64(size)/6) * 32 * step(graph.AttentionQ) * step(graph.AttentionK)
}

// source returns the layer that computes t, behind those that move all of its elements or a part of them.
func source(t *graph.Tensor) *graph.Layer {
	for l := t.Producer; l != nil; l = l.Inputs[0].Producer {
		if l.DataInputs() != 1 || l.Op.Class != graph.ClassMove || l.Epilogue.Args > 0 || l.Movement() < graph.Moved {
			return l
		}
	}
	return nil
}
