package quant

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// supported returns why the target does not compute l in 8 bits, where inputs of it are quantised. A layer that gives
// integers to others may also give real numbers, which are quantised behind it.
func (p *placer) supported(l *graph.Layer, inputs []*graph.Tensor) error {
	if p.policy.Supports == nil || p.rows[l] {
		return nil
	}
	like := *l
	like.Inputs = slices.Clone(l.Inputs)
	for i, t := range l.Inputs {
		if slices.Contains(inputs, t) {
			like.Inputs[i] = p.asQuantized(t)
		}
	}
	kind, y := kindOf(l), l.Outputs[0]
	if kind == weighted {
		w := p.weightsOf(l)
		like.Inputs[1] = &graph.Tensor{Name: l.Inputs[1].Name, Type: w.stored.Type, Dims: l.Inputs[1].Dims, Weights: w.stored.Data, Range: w.rng}
	}
	if kind == moving { // what it reads and what it writes are one range
		like.Outputs = []*graph.Tensor{p.asQuantized(y)}
		for i := range like.Inputs {
			if like.Inputs[i] != l.Inputs[i] {
				like.Inputs[i].Range = like.Outputs[0].Range
			}
		}
		return p.policy.Supports(&like)
	}
	if p.wanted[y] {
		like.Outputs = []*graph.Tensor{p.asQuantized(y)}
		if p.policy.Supports(&like) == nil {
			return nil
		}
	}
	like.Outputs = []*graph.Tensor{y}
	return p.policy.Supports(&like)
}

// asQuantized returns a tensor, of no network, that is as t will be in 8 bits.
func (p *placer) asQuantized(t *graph.Tensor) *graph.Tensor {
	typ, r := p.policy.Scheme.DataType(), p.ranges[t.Name]
	if !usable(r) {
		r = p.policy.Scheme.Range(-1, 1)
	}
	q := &graph.Tensor{Name: t.Name, Type: typ, Dims: t.Dims, Range: r}
	if v, ok := t.Const(); ok {
		q.Weights = numeric.NewValue(typ, v.Dims...).Data
	}
	return q
}
