package conformance

import (
	"context"
	"errors"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
)

// Executor computes a network's outputs by name.
type Executor func(ctx context.Context, n *graph.Network, inputs map[string]numeric.Value) (map[string]numeric.Value, error)

// Evaluate computes by the layers' own definition, and gives up between layers when ctx is done.
func Evaluate(ctx context.Context, n *graph.Network, inputs map[string]numeric.Value) (map[string]numeric.Value, error) {
	return n.Eval(ctx, inputs, nil)
}

// Engine returns an executor that builds an FP32 engine for a backend, all passes included, by its best guess of
// tactics.
func Engine(b run.Backend) Executor {
	return func(ctx context.Context, n *graph.Network, inputs map[string]numeric.Value) (map[string]numeric.Value, error) {
		env, err := n.Bind(inputs)
		if err != nil {
			return nil, err
		}
		cfg := pass.Config{Shapes: env, Target: build.Target(b, env)}
		o, err := build.Optimize(ctx, n, cfg)
		if err != nil {
			return nil, err
		}
		l, err := build.Lower(ctx, o, build.LowerConfig{Precision: numeric.F32, Pass: cfg}, run.Supports(b, env))
		if err != nil {
			return nil, err
		}
		p, err := build.Plan(ctx, l.Network, env, b, build.PlanConfig{Untimed: true})
		if err != nil {
			return nil, err
		}
		loaded, err := run.Load(ctx, p, b)
		if err != nil {
			return nil, err
		}
		defer loaded.Close()
		c, err := loaded.NewContext()
		if err != nil {
			return nil, err
		}
		defer c.Close()
		if err := c.SetInputs(inputs); err != nil {
			return nil, err
		}
		c.Watch(ctx, func(run.Progress) {}) // a simulated launch ends with ctx
		if err := c.Execute(); err != nil {
			return nil, err
		}
		return c.Outputs()
	}
}

// statusOf returns a case's status for an error of its executor: layers that a backend does not compute are no failure, nor is what an
// op does not take, such as an image in a format that it does not decode.
func statusOf(err error) Status {
	if errors.As(err, new(*run.Unsupported)) || errors.As(err, new(*graph.UnsupportedError)) {
		return Unsupported
	}
	return Failed
}
