package graph

import (
	"slices"

	"github.com/trtui/trtui/core/graph/symbolic"
)

// Inline adds the layers of a body to n, with args in the place of its inputs, and returns what its outputs are: those given,
// which nothing produces yet, and new tensors where one is nil. Names have a suffix. The layers stand for what those of the body
// stand for. Networks inside them are shared.
func (n *Network) Inline(body *Network, args, outputs []*Tensor, suffix string) []*Tensor {
	copies := map[*Tensor]*Tensor{nil: nil}
	for i, t := range body.Inputs {
		copies[t] = args[i]
	}
	for i, t := range body.Outputs {
		if outputs[i] != nil {
			copies[t] = outputs[i]
		}
	}
	tensor := func(t *Tensor) *Tensor {
		x, ok := copies[t]
		if !ok {
			x = n.NewTensor(t.Name+suffix, t.Type, t.Dims)
			x.Range, x.Weights, x.Value = t.Range, t.Weights, t.Value
			copies[t] = x
		}
		return x
	}
	for _, l := range body.Layers {
		d := &Layer{Name: l.Name + suffix, Op: l.Op, Attrs: l.Attrs, Epilogue: l.Epilogue, From: l.From}
		for _, t := range l.Inputs {
			d.Inputs = append(d.Inputs, tensor(t))
		}
		for _, t := range l.Outputs {
			d.Outputs = append(d.Outputs, tensor(t))
		}
		n.Insert(d)
	}
	list := make([]*Tensor, len(body.Outputs))
	for i, t := range body.Outputs {
		list[i] = tensor(t)
	}
	return list
}

// Release takes l out of the network and returns its outputs, which keep their names and their users and have no producer.
func (n *Network) Release(l *Layer) []*Tensor {
	outputs := slices.Clone(l.Outputs)
	for _, t := range outputs {
		t.Producer = nil
	}
	n.Remove(l)
	return outputs
}

// SetInputs replaces all inputs.
func (l *Layer) SetInputs(inputs []*Tensor) {
	l.TruncateInputs(0)
	for _, t := range inputs {
		l.AddInput(t)
	}
}

// DropOutput takes output i, which nothing uses, from l.
func (n *Network) DropOutput(l *Layer, i int) {
	t := l.Outputs[i]
	l.Outputs = slices.Delete(slices.Clone(l.Outputs), i, i+1)
	t.Producer = nil
	n.forget(t)
}

// Runs returns how many layers one evaluation of l computes, those inside it each time that they are; a loop whose iterations
// depend on data counts as one of [MaxIterations].
func (l *Layer) Runs(env map[string]int) int64 {
	runs := int64(1)
	for _, b := range l.Bodies() {
		inside := int64(0)
		for _, x := range b.Network.Layers {
			inside = symbolic.AddSaturating(inside, x.Runs(env))
		}
		if l.Op != If {
			trips := int64(MaxIterations)
			if n, _, known := l.Trips(); known {
				trips = min(trips, int64(max(0, n.Eval(env))))
			}
			inside = symbolic.MulSaturating(inside, trips)
		}
		runs = symbolic.AddSaturating(runs, inside)
	}
	return runs
}
