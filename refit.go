package trtui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
)

// recipe is how an engine's network was lowered, so that the same can be done with other weights.
type recipe struct {
	source   *Network
	lower    build.LowerConfig // biases are corrected by what they were
	supports func(*graph.Layer) error
}

// The errors of [Engine.Refit] that tell more than text.
type (
	// Undone is the error of weights with which a pass does something else than it did: Pass and Rule name it, and with both in
	// Options.Disable an engine is built that takes such weights.
	Undone = build.Undone
	// UnknownWeights is the error of a constant that the network has not.
	UnknownWeights = build.UnknownWeights
)

// Refit gives the engine other weights: elements of constants of the network that it was built of, by their names there, each of
// the constant's type and shape; other constants stay as they are. The network is folded, fused and quantised as it was, and the
// tactics stay: the engine computes, to the bit, what one does that is built of the new weights with the same tactics and ranges.
// Ranges of activations and corrections of biases stay as they were found with the weights before. Nothing is changed where there is
// an error; an [*Undone] says which pass did something else with these weights, such as one that drops a product with ones.
//
// Sessions may run meanwhile: an inference that runs ends with the weights before, the session's next has the new ones. The
// weights before are given back when the last session has left them; until then the device has both.
func (e *Engine) Refit(ctx context.Context, weights map[string]Value) error {
	if e.recipe == nil {
		return errors.New("the engine was opened from a file, which does not say how it was built; trtui refit gives files other weights")
	}
	e.refitting.Lock()
	defer e.refitting.Unlock()
	v, source, err := e.refit(ctx, weights)
	if err != nil {
		return fmt.Errorf("network %s: %w", e.recipe.source.Name, err)
	}
	e.recipe.source = source
	e.replace(v)
	return nil
}

func (e *Engine) refit(ctx context.Context, weights map[string]Value) (*version, *Network, error) {
	given := maps.Clone(weights)
	for name, w := range given {
		w.Data = slices.Clone(w.Data) // the caller may go on with it
		given[name] = w
	}
	n, err := build.Weigh(e.recipe.source, given)
	if err != nil {
		return nil, nil, err
	}
	opt, err := build.Optimize(ctx, n, e.recipe.lower.Pass)
	if err != nil {
		return nil, nil, err
	}
	low, err := build.Lower(ctx, opt, e.recipe.lower, e.recipe.supports)
	if err != nil {
		return nil, nil, err
	}
	old, steps := e.current(), slices.Concat(opt.Steps, low.Steps)
	plans, err := build.Refit(old.plans, low.Network, old.passes, steps)
	if err != nil {
		return nil, nil, err
	}
	loaded, err := run.LoadProfiles(ctx, plans, e.backend, nil)
	if err != nil {
		return nil, nil, err
	}
	engine := *old.engine
	if engine.Plans = plans; engine.Source != nil {
		engine.Source = n
	}
	return &version{engine: &engine, plans: plans, loaded: loaded, passes: steps}, n, nil
}

// renew brings a session to the version of its engine that is in use, at the shapes where it is.
func (s *Session) renew() error {
	if s.version != nil && s.version == s.engine.current() {
		return nil
	}
	var env map[string]int
	if s.context != nil {
		env = s.context.Env()
	}
	s.leave()
	s.version = s.engine.acquire()
	s.contexts = make([]*run.ExecutionContext, len(s.version.loaded))
	err := s.open(0)
	if err == nil {
		s.context = s.contexts[0]
		if s.engine.open && env != nil {
			err = s.setShapes(s.version.plans[0].Network.ShapesAt(env))
		}
	}
	if err != nil {
		s.leave()
	}
	return err
}

// leave closes the contexts and gives the version back.
func (s *Session) leave() {
	for _, c := range s.contexts {
		if c != nil {
			c.Close()
		}
	}
	s.contexts, s.context = nil, nil
	if s.version != nil {
		s.engine.release(s.version)
		s.version = nil
	}
}
