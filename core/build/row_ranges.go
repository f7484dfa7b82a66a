package build

import (
	"context"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
)

// RowRanges says whether products quantise each row by a range of its own, in the place of what the scheme of a policy says.
type RowRanges struct {
	ByToken bool
	Because string // if not empty, why they do, or why they do not
}

// rangeRows notes at the products of n, in which quantisation is placed, what was chosen for their rows.
func (l *Lowered) rangeRows(ctx context.Context, c *RowRanges, n *graph.Network, pc *pass.Config) (*graph.Network, error) {
	sub := *pc
	sub.Until, sub.Extra = 0, nil
	n, steps, err := passes.Run(ctx, n, []pass.Pass{quantise.RangeRows(c.note)}, sub)
	if err != nil {
		return nil, err
	}
	l.Steps = append(l.Steps, steps...)
	pc.Ledger = steps[0].Ledger
	return n, nil
}

func (c *RowRanges) note(w *pass.Rewrite) {
	n := w.Network()
	for _, l := range slices.Clone(n.Layers) {
		if !l.Op.IsProduct() || len(l.Inputs) < 2 || l.Inputs[1] == nil {
			continue
		}
		rows := l.Inputs[0].Producer
		rounded := rows != nil && rows.Op == graph.RoundRows
		switch {
		case c.ByToken && rounded:
			site := w.Candidate(quantise.RowRanges, l)
			if !site.Enabled() {
				if l.SetInput(0, rows.Inputs[0]); len(rows.Outputs[0].Users) == 0 {
					n.Remove(rows)
				}
				continue
			}
			site.Note("%s", c.Because)
			site.Fire(l)
		case !c.ByToken && !rounded && multipliesRows(l):
			w.Candidate(quantise.RowRanges, l).Miss(pass.NoGain, "%s", c.Because)
		}
	}
}

// multipliesRows reports whether a product of 8 bits could quantise its rows itself.
func multipliesRows(l *graph.Layer) bool {
	d := l.Inputs[1].Producer
	if !quantise.IsDequantize(d) {
		return false
	}
	w, ok := d.Inputs[0].Const()
	if !ok {
		return false
	}
	_, err := l.ByRows(l.Inputs[0], w, d.Attrs.(graph.QuantAttrs).Range, graph.RowsSymmetric)
	return err == nil
}
