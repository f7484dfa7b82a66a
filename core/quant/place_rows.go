package quant

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// One range for all tokens of a text gives the same steps to a token whose numbers are small as to the one that reaches farthest. Where products
// quantise rows as they come, each has the steps that it needs, and what reaches it stays in floating point.

// byRows lets l quantise the rows that it reads, or returns why that cannot be.
func (p *placer) byRows(l *graph.Layer) error {
	w := p.weightsOf(l)
	like, err := l.ByRows(l.Inputs[0], w.stored, w.rng, p.policy.Scheme.Rows())
	if err != nil {
		return err
	}
	if p.policy.Supports != nil {
		if err := p.policy.Supports(like); err != nil {
			return fmt.Errorf("the target has none for rows: %w", err)
		}
	}
	p.rows[l] = true
	return nil
}

// roundRows puts what rounds rows in front of the products that quantise them, once for all that read one tensor.
func (p *placer) roundRows(layers []*graph.Layer) {
	rounded := map[*graph.Tensor]*graph.Tensor{}
	for _, l := range layers {
		if !p.rows[l] {
			continue
		}
		x := l.Inputs[0]
		if rounded[x] == nil {
			rounded[x] = p.net.NewTensor(x.Name+"_rows", x.Type, x.Dims)
			r := p.net.Insert(&graph.Layer{Name: "RoundRows_" + x.Name, Op: graph.RoundRows, Attrs: graph.RoundRowsAttrs{Rows: p.policy.Scheme.Rows()},
				Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{rounded[x]}})
			r.From = []string{r.Name}
		}
		l.SetInput(0, rounded[x])
	}
}
