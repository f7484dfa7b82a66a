package quant

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// In a transformer the sums of all blocks before go on beside each block. A few of their channels reach far, which the normalisation
// behind them takes back: 8 bits would be spent on those. So such a stream is in floating point, and what is normalised is there
// twice where products need it in 8 bits.

// addsFloats reports whether what a product adds to its sums stays in floating point.
func (p *placer) addsFloats(l *graph.Layer) bool {
	return p.policy.KeepResiduals || len(l.Outputs) == 1 && slices.ContainsFunc(l.Outputs[0].Users, normalizes)
}

func normalizes(l *graph.Layer) bool { return l.Op == graph.LayerNorm || l.Op == graph.RMSNorm }

// readFloat lets a layer read the float tensor in place of the one that 8 bits stand for, where it is part of such a stream: what a
// product adds, and what a layer in floating point reads, and what a product quantises by ranges of its own.
func (p *placer) readFloat(l *graph.Layer, eight bool, dequantized, float *graph.Tensor) {
	whole := p.rows[l] || !eight && (p.policy.KeepResiduals || float.Producer != nil && normalizes(float.Producer))
	added := eight && kindOf(l) == weighted && p.addsFloats(l)
	for i, in := range l.Inputs {
		if in == dequantized && (whole || added && i > 0) {
			l.SetInput(i, float)
		}
	}
}
