package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Candidates are the ways to compute a network on a backend, at given extents of its symbols: the first of the three stages of
// planning. Whoever prices them takes [Candidates.Open] until it is empty. [Candidates.Choose] picks one for each layer, and
// [Choice.Layout] makes a plan of that.
type Candidates struct {
	network   *graph.Network
	extents   Extents
	env       map[string]int   // the extents' Opt
	samples   []map[string]int // of what else they are
	between   []map[string]int // more of it
	backend   Backend
	body      bool                  // the network is inside a layer, which brings its outputs to where they are wanted
	room      int64                 // bytes that are free on the device, for the tensors and the workspace of a layer; 0: any number
	idle      map[*graph.Layer]bool // that nothing computes
	busy      []*graph.Layer        // the others, in order
	layers    []*layerCandidates    // of those
	of        map[*graph.Layer]*layerCandidates
	reformats map[conversion][]*Launch // the first that can be used counts
}

// layerCandidates are the ways to compute one layer.
type layerCandidates struct {
	layer    *graph.Layer
	memory   []option      // those that launch nothing
	copies   error         // why there are none, of an op that only arranges memory
	launches []*Launch     // by rank
	groups   [][]*Launch   // of those with predictions, by pair of formats, the fastest first
	bodies   []*Candidates // of the networks inside it, where they are planned
	inside   option        // that runs them
}

// option is one way to run one layer. A view and slices launch nothing.
type option struct {
	tactic    kernels.Tactic
	in        kernels.Format // of the op's inputs
	out       kernels.Format // of outputs and epilogue inputs
	price     Price
	workspace int
	bytes     int  // that it writes, its workspace included
	memory    bool // InMemory
	bodies    []*Plan
}

// FindCandidates finds what can compute each layer of a lowered network. Layers that nothing computes are an [*Unsupported],
// shapes that contradict each other an error, and so is what there is no memory for.
func FindCandidates(ctx context.Context, n *graph.Network, x Extents, b Backend) (*Candidates, error) {
	x = x.counted(n)
	c := &Candidates{network: n, extents: x, env: x.Opt, backend: b, of: map[*graph.Layer]*layerCandidates{}, reformats: map[conversion][]*Launch{}}
	if err := n.CheckShapes(x.Opt); err != nil {
		return nil, err
	}
	err := x.Check()
	if err == nil {
		c.samples, c.between, err = x.samples(n)
	}
	if err != nil {
		return nil, err
	}
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	return c, c.unsupported(func(a *Launch) bool { return a.err == nil })
}

// inside finds what can compute each layer of a network inside a layer.
func (c *Candidates) inside(ctx context.Context, n *graph.Network) (*Candidates, error) {
	b := &Candidates{network: n, extents: c.extents, env: c.env, samples: c.samples, between: c.between, backend: c.backend, body: true, of: map[*graph.Layer]*layerCandidates{}, reformats: map[conversion][]*Launch{}}
	return b, b.find(ctx)
}

// find finds the ways to compute each layer.
func (c *Candidates) find(ctx context.Context) error {
	if err := c.bounded(); err != nil {
		return err
	}
	if err := c.findRoom(); err != nil {
		return err
	}
	c.idle = idle(c.network)
	for _, l := range c.network.Layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.idle[l] {
			continue
		}
		c.busy = append(c.busy, l)
		lc := &layerCandidates{layer: l}
		lc.memory, lc.copies = c.memoryOptions(l)
		var err error
		if lc.bodies, err = c.findBodies(ctx, l); err != nil {
			return err
		}
		for rank, t := range c.backend.Tactics(l.Op) {
			if lc.bodies == nil {
				lc.launches = append(lc.launches, c.newLaunch(l, t, rank))
			}
		}
		lc.shortlist()
		c.layers, c.of[l] = append(c.layers, lc), lc
	}
	return nil
}

// unsupported returns an [*Unsupported] where a layer has no launch of a kind.
func (c *Candidates) unsupported(is func(*Launch) bool) error {
	missing := &Unsupported{Backend: c.backend.Info().Name}
	c.every(func(c *Candidates) {
		for _, lc := range c.layers {
			if l := lc.layer; lc.bodies == nil && !slices.ContainsFunc(lc.launches, is) {
				missing.Layers = append(missing.Layers, UnsupportedLayer{l.Name, l.Op.Name, unservedType(c.backend, l, c.env), lc.report()})
			}
		}
	})
	if len(missing.Layers) > 0 {
		return missing
	}
	return nil
}

// Unsupported returns an [*Unsupported] where nothing can be used for a layer, at the prices that are known.
func (c *Candidates) Unsupported() error { return c.unsupported((*Launch).usable) }

// Open returns the launches whose price a choice needs, and that have none: those of the layers first, then those that
// predictions left out where nothing else can be used, then the reformats between what can be used. It is empty once all
// are known.
func (c *Candidates) Open() (list []*Launch) {
	for _, of := range []func(*Candidates) []*Launch{(*Candidates).openLaunches, (*Candidates).admitted, (*Candidates).openReformats} {
		if c.every(func(c *Candidates) { list = append(list, of(c)...) }); len(list) > 0 {
			return list
		}
	}
	return nil
}

func (c *Candidates) openLaunches() (list []*Launch) {
	for _, lc := range c.layers {
		for _, a := range lc.launches {
			if a.open() {
				list = append(list, a)
			}
		}
	}
	return list
}

// admitted admits what predictions left out where nothing else can be used.
func (c *Candidates) admitted() (list []*Launch) {
	for _, lc := range c.layers {
		if lc.launching() {
			continue
		}
		for _, a := range lc.launches {
			if a.left != nil {
				if a.Admit(); a.open() {
					list = append(list, a)
				}
			}
		}
	}
	return list
}

func (c *Candidates) openReformats() (list []*Launch) {
	for _, conv := range c.conversions() {
		if a := c.conversion(conv); a != nil && !a.known {
			list = append(list, a)
		}
	}
	return list
}

// Reopen forgets the prices, so that Open returns all of them again.
func (c *Candidates) Reopen() {
	reopen := func(a *Launch) {
		if a.known && !a.Tactic.Reference {
			a.price, a.err, a.known = Price{}, nil, false
		}
	}
	c.every(func(c *Candidates) {
		for _, lc := range c.layers {
			for _, a := range lc.launches {
				reopen(a)
			}
		}
		for _, list := range c.reformats {
			for _, a := range list {
				reopen(a)
			}
		}
	})
}

// launching reports whether a launch other than the reference can be used.
func (lc *layerCandidates) launching() bool {
	return slices.ContainsFunc(lc.launches, func(a *Launch) bool { return a.usable() && !a.Tactic.Reference })
}

// options returns what can be chosen: the reference only where no other launch can.
func (lc *layerCandidates) options() []option {
	list := slices.Clone(lc.memory)
	if lc.bodies != nil { // in the formats that it is laid out in, at a price that is known when its bodies are
		return append(list, lc.inside)
	}
	beside := lc.launching()
	for _, a := range lc.launches {
		if a.usable() && (!beside || !a.Tactic.Reference) {
			list = append(list, a.option())
		}
	}
	return list
}

// report returns what a plan tells of the launches.
func (lc *layerCandidates) report() []Candidate {
	var list []Candidate
	beside := lc.launching()
	for _, a := range lc.launches {
		list = append(list, a.candidate(beside))
	}
	return list
}

// maxTensorBytes bounds one activation, so that a batch that was mistyped is an error and not an exhausted machine.
const maxTensorBytes = 4 << 30

// everywhere reports whether something holds at all extents that decisions are tried at.
func (c *Candidates) everywhere(holds func(env map[string]int) bool) bool {
	for _, env := range c.samples {
		if !holds(env) {
			return false
		}
	}
	return holds(c.env)
}

// sameBytes reports whether a tensor lies in one format as in another.
func (c *Candidates) sameBytes(t *graph.Tensor, a, b kernels.Format) bool {
	return c.everywhere(func(env map[string]int) bool { return desc(t, a, env).SameBytes(desc(t, b, env)) })
}

// most returns the form of a tensor in a format with the largest extents that it has.
func (c *Candidates) most(t *graph.Tensor, f kernels.Format) kernels.Desc {
	d := desc(t, f, c.env)
	if len(c.samples) > 0 {
		for i, dim := range t.Dims {
			_, most := dim.Bounds(c.extents.ends())
			d.Dims[i] = max(d.Dims[i], most)
		}
	}
	return d
}

// bounded returns an error that names an activation which would be too large at the shapes at hand.
func (c *Candidates) bounded() error {
	check := func(t *graph.Tensor) error {
		bytes := t.Type.Size()
		for _, d := range c.most(t, kernels.Linear).Dims {
			if d < 0 || d > 0 && bytes > maxTensorBytes/d {
				return fmt.Errorf("tensor %s would be of shape %v: more than %d GiB; choose a smaller batch or smaller shapes",
					t.Name, c.most(t, kernels.Linear).Dims, maxTensorBytes>>30)
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

// memoryOptions returns the ways to run l without launching anything; where an op that only arranges memory has none, why it has
// none in the first of its formats, Linear.
func (c *Candidates) memoryOptions(l *graph.Layer) (list []option, why error) {
	var arrange func(*graph.Network, *graph.Layer, kernels.Format, map[string]int) error
	switch l.Op.Memory {
	case graph.Viewed:
		if why := viewable(c.network, l, c.body); why != nil {
			return nil, why
		}
		return []option{{memory: true}}, nil
	case graph.Parted:
		arrange = partable
	case graph.Joined:
		arrange = sliceable
	default:
		return nil, nil
	}
	for _, f := range c.formats(l.Op) {
		var err error
		if c.everywhere(func(env map[string]int) bool { err = arrange(c.network, l, f, env); return err == nil }) {
			list = append(list, option{in: f, out: f, memory: true})
		} else if why == nil {
			why = err
		}
	}
	return list, why
}

// formats returns Linear and the formats in which the backend computes an op.
func (c *Candidates) formats(op *graph.Op) []kernels.Format {
	list := []kernels.Format{kernels.Linear}
	for _, t := range c.backend.Tactics(op) {
		if !t.Reference && t.In == t.Out && !slices.Contains(list, t.Out) {
			list = append(list, t.Out)
		}
	}
	return list
}

// Supports returns a function that says whether a backend has a tactic, other than the reference, for a layer at the
// given values of the symbols, and at others that a plan is to serve; its error gives every tactic's reason. Lowering asks it
// before it fuses.
func Supports(b Backend, env map[string]int, others ...map[string]int) func(*graph.Layer) error {
	return func(l *graph.Layer) error {
		c := &Candidates{env: env, samples: others, backend: b}
		var reasons []Candidate
		for rank, t := range b.Tactics(l.Op) {
			if t.Reference {
				continue
			}
			a := c.newLaunch(l, t, rank)
			if a.err == nil {
				return nil
			}
			reasons = append(reasons, Candidate{Tactic: t.Name, Reason: a.err.Error()})
		}
		return unsupported(b, l, reasons)
	}
}
