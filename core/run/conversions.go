package run

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// conversion is a tensor to be brought from one format to another.
type conversion struct {
	t        *graph.Tensor
	from, to kernels.Format
}

// conversions returns those that choices may need, in the order of the layers.
func (c *Candidates) conversions() []conversion {
	type formats map[kernels.Format]bool
	made, wanted := map[*graph.Tensor]formats{}, map[*graph.Tensor]formats{}
	add := func(m map[*graph.Tensor]formats, t *graph.Tensor, f kernels.Format) {
		if m[t] == nil {
			m[t] = formats{}
		}
		m[t][f] = true
	}
	var tensors []*graph.Tensor
	for _, t := range c.network.Inputs {
		tensors = append(tensors, t)
		add(made, t, kernels.Linear)
	}
	for _, lc := range c.layers {
		tensors = append(tensors, lc.layer.Outputs...)
		for _, o := range lc.options() {
			for _, t := range lc.layer.Outputs {
				add(made, t, o.out)
			}
			for i, t := range lc.layer.Inputs {
				if t != nil && !gives(lc.layer, i) {
					add(wanted, t, formatOf(lc.layer, i, o.in, o.out))
				}
			}
		}
	}
	for _, t := range c.network.Outputs {
		if t.Producer != nil {
			add(wanted, t, kernels.Linear)
		}
	}
	var list []conversion
	for _, t := range tensors {
		for _, from := range kernels.Formats() {
			for _, to := range kernels.Formats() {
				if from != to && made[t][from] && wanted[t][to] && !c.sameBytes(t, from, to) {
					list = append(list, conversion{t, from, to})
				}
			}
		}
	}
	return list
}

// conversion returns the first launch for a conversion that can be used, as far as is known; nil if there is none.
func (c *Candidates) conversion(conv conversion) *Launch {
	list, ok := c.reformats[conv]
	if !ok {
		l := reformatLayer(conv.t, conv.t)
		for rank, t := range c.backend.Tactics(graph.Reformat) {
			if t.Reference {
				t.In, t.Out = conv.from, conv.to
			}
			if t.In == conv.from && t.Out == conv.to {
				list = append(list, c.newLaunch(l, t, rank))
			}
		}
		c.reformats[conv] = list
	}
	for _, a := range list {
		if a.err == nil {
			return a
		}
	}
	return nil
}

// reformatOption returns the tactic for a reformat whose price is known.
func (c *Candidates) reformatOption(t *graph.Tensor, from, to kernels.Format) (option, error) {
	conv := conversion{t, from, to}
	if a := c.conversion(conv); a != nil && a.known {
		return a.option(), nil
	}
	var reasons []Candidate
	for _, a := range c.reformats[conv] {
		if a.err != nil {
			reasons = append(reasons, Candidate{Tactic: a.Tactic.Name, Reason: a.err.Error()})
		}
	}
	return option{}, unsupported(c.backend, reformatLayer(t, t), reasons)
}
