package run

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// Price is what one launch costs.
type Price struct {
	Time  time.Duration
	Timed bool // measured on the device, not a guess
	// Noise is how far Time may be off: of two ways whose times differ by no more than their noise neither is the faster one.
	Noise time.Duration
	Note  string // what the kernel says about itself, where one was bound
}

// Cost prices a tactic for a binding that it matches. An error excludes it, and is shown as the reason, with the price if
// there is one. rank is the tactic's place in the backend's table, whose order is the backend's best guess.
type Cost func(b kernels.Binding, t kernels.Tactic, rank int) (Price, error)

// BestGuess prices tactics by their own estimates, and by the backend's order where they have none, a microsecond a rank.
func BestGuess(b kernels.Binding, t kernels.Tactic, rank int) (Price, error) {
	if t.Cost != nil {
		return Price{Time: t.Cost(b)}, nil
	}
	return Price{Time: time.Duration(1+rank) * time.Microsecond}, nil
}

// desc returns the form of a tensor in a format.
func desc(t *graph.Tensor, f kernels.Format, env map[string]int) kernels.Desc {
	return kernels.Desc{Type: t.Type, Dims: symbolic.Eval(t.Dims, env), Format: f}
}

// bind returns the binding of a layer with its op's inputs and its outputs in the given formats.
func bind(l *graph.Layer, in, out kernels.Format, env map[string]int) kernels.Binding {
	b := kernels.Binding{
		Layer: l, In: make([]kernels.Desc, len(l.Inputs)), Out: make([]kernels.Desc, len(l.Outputs)),
		Consts: make([][]byte, len(l.Inputs)),
	}
	for i, t := range l.Inputs {
		switch {
		case t == nil:
		case gives(l, i):
			b.In[i], b.Consts[i] = desc(t, kernels.Linear, env), elements(t, env)
		default:
			b.In[i] = desc(t, formatOf(l, i, in, out), env)
		}
	}
	for i, t := range l.Outputs {
		b.Out[i] = desc(t, out, env)
	}
	return b
}

// formatOf returns the format of input i: the epilogue's inputs come in the output's.
func formatOf(l *graph.Layer, i int, in, out kernels.Format) kernels.Format {
	if i >= len(l.OpInputs()) {
		return out
	}
	return in
}

// blockable returns an error where a binding in blocked formats has a tensor without a channel axis that agrees. Input 0
// alone may have another rank: reductions drop axes.
func blockable(b kernels.Binding) error {
	rank := len(b.Out[0].Dims)
	if rank < 2 {
		return fmt.Errorf("tensor of %d axes has no channels to block", rank)
	}
	if len(b.In) > 0 && b.Consts[0] == nil && b.In[0].Format != kernels.Linear && len(b.In[0].Dims) < 2 {
		return fmt.Errorf("tensor of %d axes has no channels to block", len(b.In[0].Dims))
	}
	for i, d := range b.In {
		if i > 0 && b.Consts[i] == nil && b.Layer.Inputs[i] != nil && d.Format != kernels.Linear && len(d.Dims) != rank {
			return fmt.Errorf("inputs of different rank cannot be blocked alike")
		}
	}
	return nil
}

// viewable returns why the output of a view cannot share its input's memory: where a network output would have to share that of a
// network input, or of a constant; the outputs of a body are brought to where they are wanted.
func viewable(n *graph.Network, l *graph.Layer, body bool) error {
	x, y := l.Inputs[0], l.Outputs[0]
	switch {
	case len(l.Outputs) != 1:
		return unarranged(severalOutputs, "there are %d outputs", len(l.Outputs))
	case given(x):
		return unarranged(givenInput, "input %s is a constant", x.Name)
	case x.Type != y.Type || !x.Range.Equal(y.Range):
		return unarranged(otherType, "output %s has another type or range", y.Name)
	case !body && n.IsOutput(y) && fromInput(n, x):
		return unarranged(networkTensor, "%s is an output of the network and %s an input: each has memory of its own", y.Name, x.Name)
	}
	return nil
}

// fromInput reports whether t is a network input or a view of one.
func fromInput(n *graph.Network, t *graph.Tensor) bool {
	for t.Producer != nil && t.Producer.Op.Memory == graph.Viewed {
		t = t.Producer.Inputs[0]
	}
	return n.IsInput(t)
}

// reformatLayer returns a layer, of no network, that copies x to y.
func reformatLayer(x, y *graph.Tensor) *graph.Layer {
	return &graph.Layer{
		Name: "Reformat " + x.Name, Op: graph.Reformat, Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{y},
	}
}
