package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// Launch is one way to compute a layer of a network, or to bring a tensor from one format to another: a tactic in its
// formats, and what it costs once that is known.
type Launch struct {
	Layer  *graph.Layer // for a reformat one of no network
	Tactic kernels.Tactic
	Rank   int // the tactic's place in the backend's table

	env       map[string]int
	samples   []map[string]int // other extents that it is to compute
	between   []map[string]int // more of them, for the workspace
	predicted time.Duration    // by the backend's cost model, where it has one
	left      *Left            // predictions say that it is not worth a price
	err       error            // why it cannot be used; with errUnfit the tactic does not take the layer
	workspace int
	known     bool // the price is
	price     Price
}

// Binding returns what the tactic is bound to.
func (a *Launch) Binding() kernels.Binding { return bind(a.Layer, a.Tactic.In, a.Tactic.Out, a.env) }

// Set sets what the launch costs. An error excludes it, and is shown as the reason, with the price if there is one.
func (a *Launch) Set(p Price, err error) { a.price, a.err, a.known = p, err, true }

// Admit lets a launch be priced that predictions left out.
func (a *Launch) Admit() { a.left = nil }

// open reports whether the price is needed, and not known.
func (a *Launch) open() bool { return a.left == nil && a.err == nil && !a.known }

// usable reports whether it may be chosen, given its price.
func (a *Launch) usable() bool { return a.left == nil && a.err == nil && a.known }

// newLaunch matches a tactic with a layer.
func (c *Candidates) newLaunch(l *graph.Layer, t kernels.Tactic, rank int) *Launch {
	a := &Launch{Layer: l, Tactic: t, Rank: rank, env: c.env, samples: c.samples, between: c.between}
	a.err = a.match(c.room)
	return a
}

// match finds out whether the tactic takes the layer, with a workspace that there is room for.
func (a *Launch) match(room int64) error {
	b, err := a.take()
	if err != nil {
		return unfit{err}
	}
	if a.workspace, err = a.room(b); err != nil {
		return unfit{err}
	}
	if room > 0 && int64(a.workspace) > room {
		return fmt.Errorf("it needs %s of workspace, and %s are free", Bytes(int64(a.workspace)), Bytes(room))
	}
	if a.Tactic.Reference {
		// A guess that keeps it behind everything that was measured.
		a.Set(Price{Time: time.Duration(1+numeric.Count(b.Out[0].Dims)) * time.Microsecond}, nil)
	}
	return nil
}

// room returns the workspace that is enough at all extents; the error says at which of them the tactic does not compute the
// layer. Where one of its tensors is empty another may take its place.
func (a *Launch) room(b kernels.Binding) (bytes int, err error) {
	defer graph.CatchFault(&err)
	add := func(b kernels.Binding) {
		if a.Tactic.Workspace != nil {
			bytes = max(bytes, a.Tactic.Workspace(b))
		}
	}
	add(b)
	for _, env := range a.samples {
		b := bind(a.Layer, a.Tactic.In, a.Tactic.Out, env)
		if hasEmpty(b) {
			continue
		}
		if err := a.takes(b); err != nil {
			return 0, fmt.Errorf("with inputs of %s: %w", shapesOf(b), err)
		}
		add(b)
	}
	if a.Tactic.Workspace == nil || len(a.samples) == 0 {
		return bytes, nil
	}
	for _, env := range a.between { // it need not grow with the extents
		if b := bind(a.Layer, a.Tactic.In, a.Tactic.Out, env); !hasEmpty(b) {
			add(b)
		}
	}
	return bytes, nil
}

// hasEmpty reports whether a tensor has no elements.
func hasEmpty(b kernels.Binding) bool {
	empty := func(d kernels.Desc) bool { return slices.Contains(d.Dims, 0) }
	return slices.ContainsFunc(b.In, empty) || slices.ContainsFunc(b.Out, empty)
}

// shapesOf lists the shapes of a binding's activations.
func shapesOf(b kernels.Binding) string {
	var list []string
	for i, d := range b.In {
		if b.Layer.Inputs[i] != nil && b.Consts[i] == nil {
			list = append(list, fmt.Sprint(d.Dims))
		}
	}
	return strings.Join(list, ", ")
}

// takes returns why the tactic does not take a binding.
func (a *Launch) takes(b kernels.Binding) error {
	if err := takesStrings(a.Tactic, a.Layer); err != nil {
		return err
	}
	if a.Tactic.In != kernels.Linear || a.Tactic.Out != kernels.Linear {
		if err := blockable(b); err != nil {
			return err
		}
	}
	return a.Tactic.Match(b)
}

// take returns the binding, if the tactic takes it.
func (a *Launch) take() (b kernels.Binding, err error) {
	defer graph.CatchFault(&err)
	b = a.Binding()
	if err := a.takes(b); err != nil {
		return b, err
	}
	if a.Tactic.Cost != nil {
		a.predicted = a.Tactic.Cost(b)
	}
	return b, nil
}

// cost asks for the price; a panic is an error.
func (a *Launch) cost(cost Cost) (p Price, err error) {
	defer graph.CatchFault(&err)
	return cost(a.Binding(), a.Tactic, a.Rank)
}

// option returns the launch as what can be chosen.
func (a *Launch) option() option {
	o := option{tactic: a.Tactic, in: a.Tactic.In, out: a.Tactic.Out, price: a.price, workspace: a.workspace, bytes: a.workspace}
	for _, t := range a.Layer.Outputs {
		o.bytes += desc(t, a.Tactic.Out, a.env).Bytes()
	}
	return o
}

// candidate returns what a plan tells of the launch. beside says that other launches than the reference can be used.
func (a *Launch) candidate(beside bool) Candidate {
	t := a.Tactic
	c := Candidate{Tactic: t.Name, Family: t.Variant.Family, In: t.In, Out: t.Out}
	if a.left != nil {
		c.Reason, c.Left, c.Twin = a.left.Error(), true, a.left.Twin
		return c
	}
	c.Time, c.Timed, c.Note = a.price.Time, a.price.Timed, a.price.Note
	switch {
	case a.err != nil:
		c.Reason, c.Failed, c.Unfit = a.err.Error(), errors.Is(a.err, ErrFailed), errors.Is(a.err, errUnfit)
	case t.Reference && beside:
		c.Reason = "the reference is only used where nothing else matches"
	}
	return c
}

// Price sets all prices that are needed.
func (c *Candidates) Price(ctx context.Context, cost Cost) error {
	for open := c.Open(); len(open) > 0; open = c.Open() {
		for _, a := range open {
			if err := ctx.Err(); err != nil {
				return err
			}
			a.Set(a.cost(cost))
		}
	}
	return ctx.Err()
}
