package build

import (
	"context"
	"maps"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
)

// follower runs a network as it was imported, unfused, with the backend's best guess of tactics, on items each of which may have shapes
// of its own. Its plan is of the first item's extents alone until one has others: then it is made anew for all from the least to the
// largest that were met, so that few are made however many shapes there are, and one is in memory at a time.
type follower struct {
	ctx     context.Context
	network *graph.Network
	backend run.Backend
	context *run.ExecutionContext // nil before the first item
	loaded  *run.Loaded
	at      map[string]int // extents of the item at hand
	met     run.Extents    // of the plan
}

func newFollower(ctx context.Context, n *graph.Network, b run.Backend) *follower {
	return &follower{ctx: ctx, network: n, backend: b}
}

// give makes an item the inputs.
func (f *follower) give(in map[string]numeric.Value) error {
	env, err := f.network.Bind(in)
	if err == nil && (f.context == nil || !maps.Equal(env, f.at)) {
		err = f.move(env)
	}
	if err != nil {
		return err
	}
	return f.context.SetInputs(in)
}

// move brings the network to other extents.
func (f *follower) move(env map[string]int) error {
	if f.context == nil || f.loaded.Plan.Serves(env) != nil {
		if err := f.plan(env); err != nil {
			return err
		}
	}
	f.at = env
	return f.context.SetShapes(f.network.ShapesAt(env))
}

// plan makes a plan that serves extents, beside those that were met if layers fit together at the ends of that.
func (f *follower) plan(env map[string]int) error {
	x := run.Extents{Opt: env}
	if f.context != nil {
		x.Min, x.Max = maps.Clone(env), maps.Clone(env)
		for _, met := range []map[string]int{f.met.Opt, f.met.Min, f.met.Max} {
			for name, v := range met {
				x.Min[name], x.Max[name] = min(x.Min[name], v), max(x.Max[name], v)
			}
		}
	}
	f.close()
	err := f.load(x)
	if err != nil && x.Min != nil && f.ctx.Err() == nil { // such as where one extent is the sum of others
		x = run.Extents{Opt: env}
		err = f.load(x)
	}
	f.met = x
	return err
}

// load loads a plan for some extents.
func (f *follower) load(x run.Extents) error {
	p, err := run.NewPlanOf(f.ctx, f.network, x, f.backend, run.BestGuess)
	if err != nil {
		return err
	}
	l, err := run.Load(f.ctx, p, f.backend)
	if err != nil {
		return err
	}
	c, err := l.NewContext()
	if err != nil {
		l.Close()
		return err
	}
	f.loaded, f.context = l, c
	return nil
}

// close gives the plan's memory back.
func (f *follower) close() {
	if f.context != nil {
		f.context.Close()
		f.loaded.Close()
	}
	f.context, f.loaded = nil, nil
}
