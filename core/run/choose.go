package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
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

// option is one way to run one layer. A view and slices launch nothing.
type option struct {
	tactic kernels.Tactic
	in     kernels.Format // of the op's inputs
	out    kernels.Format // of outputs and epilogue inputs
	price  Price
	bytes  int  // that it writes, its workspace included
	memory bool // InMemory
}

// chooser picks a tactic for every layer such that the sum of the launches' and the reformats' times is small.
type chooser struct {
	network   *graph.Network
	env       map[string]int
	backend   Backend
	cost      Cost
	rounds    Rounds // nil: only what the shortlist has is priced
	options   map[*graph.Layer][]option
	report    map[*graph.Layer][]Candidate
	pick      map[*graph.Layer]int
	reformats map[conversion]term
	scratch   []term
	room      int64 // bytes that are free on the device, for the tensors and the workspace of a layer; 0: any number
}

// desc returns the form of a tensor in a format.
func desc(t *graph.Tensor, f kernels.Format, env map[string]int) kernels.Desc {
	return kernels.Desc{Type: t.Type, Dims: graph.EvalDims(t.Dims, env), Format: f}
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
		case t.IsConst():
			b.In[i], b.Consts[i] = desc(t, kernels.Linear, env), t.Weights
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

// maxTensorBytes bounds one activation, so that a batch that was mistyped is an error and not an exhausted machine.
const maxTensorBytes = 4 << 30

// bounded returns an error that names an activation which would be too large at the shapes at hand.
func (c *chooser) bounded() error {
	check := func(t *graph.Tensor) error {
		bytes := t.Type.Size()
		for _, d := range graph.EvalDims(t.Dims, c.env) {
			if d < 0 || d > 0 && bytes > maxTensorBytes/d {
				return fmt.Errorf("tensor %s would be of shape %v: more than %d GiB; choose a smaller batch or smaller shapes",
					t.Name, graph.EvalDims(t.Dims, c.env), maxTensorBytes>>30)
			}
			bytes *= max(d, 1)
		}
		return nil
	}
	for _, t := range c.network.Inputs {
		if err := check(t); err != nil {
			return err
		}
	}
	for _, l := range c.network.Layers {
		for _, t := range l.Outputs {
			if err := check(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// enumerate fills in the options of every layer.
func (c *chooser) enumerate(ctx context.Context) error {
	missing := &Unsupported{Backend: c.backend.Info().Name}
	for _, l := range c.network.Layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.memoryOptions(l)
		var reference *option
		tactics := c.backend.Tactics(l.Op)
		worth := c.shortlist(l, tactics)
		for rank, t := range tactics {
			if left := worth.out[rank]; left != nil {
				c.report[l] = append(c.report[l], Candidate{Tactic: t.Name, Family: t.Variant.Family, In: t.In, Out: t.Out, Reason: left.Error(), Left: true, Twin: left.Twin})
				continue
			}
			cand, o := c.candidate(l, t, rank)
			switch {
			case cand.Reason != "":
			case t.Reference:
				reference = &o
				if launching(c.options[l]) {
					cand.Reason = "the reference is only used where nothing else matches"
				}
			default:
				c.options[l] = append(c.options[l], o)
			}
			c.report[l] = append(c.report[l], cand)
		}
		c.twins(worth, c.report[l])
		if !launching(c.options[l]) {
			c.reconsider(l, tactics, worth)
		}
		if !launching(c.options[l]) && reference != nil {
			c.options[l] = append(c.options[l], *reference)
		}
		if !launching(c.options[l]) {
			missing.Layers = append(missing.Layers, UnsupportedLayer{l.Name, l.Op.Name, unservedType(c.backend, l, c.env), c.report[l]})
		}
	}
	if len(missing.Layers) > 0 {
		return missing
	}
	return nil
}

// candidate considers a tactic for a layer; one that cannot be used has a reason, and a price if that is known.
func (c *chooser) candidate(l *graph.Layer, t kernels.Tactic, rank int) (Candidate, option) {
	o, err := c.consider(l, t, rank)
	cand := Candidate{Tactic: t.Name, Family: t.Variant.Family, In: t.In, Out: t.Out, Time: o.price.Time, Timed: o.price.Timed, Note: o.price.Note}
	if err != nil {
		cand.Reason, cand.Failed, cand.Unfit = err.Error(), errors.Is(err, ErrFailed), errors.Is(err, errUnfit)
	}
	return cand, o
}

// reconsider takes the tactics into account that the shortlist left out, where none on it can be used: those may be
// forbidden, or another one asked for.
func (c *chooser) reconsider(l *graph.Layer, tactics []kernels.Tactic, worth shortlist) {
	for rank, t := range tactics {
		if worth.out[rank] == nil {
			continue
		}
		cand, o := c.candidate(l, t, rank)
		if cand.Reason == "" {
			c.options[l] = append(c.options[l], o)
		}
		c.report[l][rank] = cand
	}
}

// launching reports whether some option launches a kernel: what is left where no memory can be shared.
func launching(options []option) bool {
	return slices.ContainsFunc(options, func(o option) bool { return !o.memory })
}

// match returns the layer's binding in the tactic's formats, if the tactic takes it.
func (c *chooser) match(l *graph.Layer, t kernels.Tactic) (b kernels.Binding, err error) {
	defer graph.CatchFault(&err)
	b = bind(l, t.In, t.Out, c.env)
	if t.In != kernels.Linear || t.Out != kernels.Linear {
		if err := blockable(b); err != nil {
			return b, err
		}
	}
	return b, t.Match(b)
}

// consider asks a tactic whether it matches, and its price.
func (c *chooser) consider(l *graph.Layer, t kernels.Tactic, rank int) (o option, err error) {
	defer graph.CatchFault(&err)
	o = option{tactic: t, in: t.In, out: t.Out}
	b, err := c.match(l, t)
	if err != nil {
		return o, unfit{err}
	}
	workspace := 0
	if t.Workspace != nil {
		workspace = t.Workspace(b)
	}
	if c.room > 0 && int64(workspace) > c.room {
		return o, fmt.Errorf("it needs %s of workspace, and %s are free", Bytes(int64(workspace)), Bytes(c.room))
	}
	if t.Reference {
		// A guess that keeps it behind everything that was measured.
		o.price = Price{Time: time.Duration(1+graph.Count(b.Out[0].Dims)) * time.Microsecond}
	} else {
		o.price, err = c.cost(b, t, rank)
	}
	if err != nil {
		return o, err
	}
	for _, d := range b.Out {
		o.bytes += d.Bytes()
	}
	o.bytes += workspace
	return o, nil
}

// memoryOptions adds the ways to run l without launching anything.
func (c *chooser) memoryOptions(l *graph.Layer) {
	switch {
	case l.Op.Memory == graph.Viewed && viewable(c.network, l):
		c.options[l] = append(c.options[l], option{memory: true})
	case l.Op.Memory == graph.Joined:
		for _, f := range c.formats(l.Op) {
			if sliceable(c.network, l, f, c.env) == nil {
				c.options[l] = append(c.options[l], option{in: f, out: f, memory: true})
			}
		}
	}
}

// formats returns Linear and the formats in which the backend computes an op.
func (c *chooser) formats(op *graph.Op) []kernels.Format {
	list := []kernels.Format{kernels.Linear}
	for _, t := range c.backend.Tactics(op) {
		if !t.Reference && t.In == t.Out && !slices.Contains(list, t.Out) {
			list = append(list, t.Out)
		}
	}
	return list
}

// viewable reports whether the output of a view may share its input's memory: not where a network output would have
// to share that of a network input, or of a constant.
func viewable(n *graph.Network, l *graph.Layer) bool {
	x, y := l.Inputs[0], l.Outputs[0]
	if len(l.Outputs) != 1 || x.IsConst() || x.Type != y.Type || !x.Range.Equal(y.Range) {
		return false
	}
	return !n.IsOutput(y) || !fromInput(n, x)
}

// fromInput reports whether t is a network input or a view of one.
func fromInput(n *graph.Network, t *graph.Tensor) bool {
	for t.Producer != nil && t.Producer.Op.Memory == graph.Viewed {
		t = t.Producer.Inputs[0]
	}
	return n.IsInput(t)
}

// reformatOption returns the tactic for a reformat.
func (c *chooser) reformatOption(t *graph.Tensor, from, to kernels.Format) (option, error) {
	l := reformatLayer(t, t)
	var reasons []Candidate
	for rank, tac := range c.backend.Tactics(graph.Reformat) {
		if tac.Reference {
			tac.In, tac.Out = from, to
		}
		if tac.In != from || tac.Out != to {
			continue
		}
		o, err := c.consider(l, tac, rank)
		if err == nil {
			return o, nil
		}
		reasons = append(reasons, Candidate{Tactic: tac.Name, Reason: err.Error()})
	}
	return option{}, unsupported(c.backend, l, reasons)
}

// reformatLayer returns a layer, of no network, that copies x to y.
func reformatLayer(x, y *graph.Tensor) *graph.Layer {
	return &graph.Layer{
		Name: "Reformat " + x.Name, Op: graph.Reformat, Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{y},
	}
}

// Supports returns a function that says whether a backend has a tactic, other than the reference, for a layer at the
// given values of the symbols; its error gives every tactic's reason. Lowering asks it before it fuses.
func Supports(b Backend, env map[string]int) func(*graph.Layer) error {
	return func(l *graph.Layer) error {
		c := &chooser{env: env, backend: b, cost: BestGuess}
		var reasons []Candidate
		for rank, t := range b.Tactics(l.Op) {
			if t.Reference {
				continue
			}
			_, err := c.consider(l, t, rank)
			if err == nil {
				return nil
			}
			reasons = append(reasons, Candidate{Tactic: t.Name, Reason: err.Error()})
		}
		return unsupported(b, l, reasons)
	}
}
