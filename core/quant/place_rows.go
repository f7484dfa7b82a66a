package quant

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// One range for all tokens of a text gives the same steps to a token whose numbers are small as to the one that reaches farthest. Where products
// quantise rows as they come, each has the steps that it needs, and what reaches it stays in floating point.

// schemeOf returns the scheme of what l reads: that of the policy, but by token where a rule asks for it.
func (p *placer) schemeOf(l *graph.Layer) Scheme {
	s := p.policy.Scheme
	if r, named := p.policy.rule(l); named && r.ByToken {
		s.ByToken = true
	}
	return s
}

// byRows lets l quantise the rows that it reads, or returns why that cannot be.
func (p *placer) byRows(l *graph.Layer) error {
	w := p.weightsOf(l)
	like, err := l.ByRows(l.Inputs[0], w.stored, w.rng, p.schemeOf(l).Rows())
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
		x := before(l.Inputs[0])
		if rounded[x] == nil {
			rounded[x] = p.net.NewTensor(x.Name+"_rows", x.Type, x.Dims)
			r := p.net.Insert(&graph.Layer{Name: "RoundRows_" + x.Name, Op: graph.RoundRows, Attrs: graph.RoundRowsAttrs{Rows: p.schemeOf(l).Rows()},
				Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{rounded[x]}})
			r.From = []string{r.Name}
		}
		l.SetInput(0, rounded[x])
	}
}

// before returns what a tensor is before it is quantised for other layers that read it: rounded rows would lose what these lose.
func before(t *graph.Tensor) *graph.Tensor {
	d := t.Producer
	if d == nil || d.Op != graph.Dequantize || d.Inputs[0].Producer == nil || d.Inputs[0].Producer.Op != graph.Quantize {
		return t
	}
	return d.Inputs[0].Producer.Inputs[0]
}
