package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/reduce"
	"github.com/trtui/trtui/internal/torture/networks"
)

// trip takes a network from its model to results.
type trip struct {
	ctx       context.Context
	device    faulty      // which fails
	host      run.Backend // the same one, which does not
	model     *networks.Model
	precision numeric.DataType
	stage     string
	lowered   bool // it is so far
}

// all takes the way, and returns what ended it before its end.
func (t *trip) all() error {
	t.stage = "import"
	n, err := onnx.Parse(graph.Ops(), "model.onnx", t.model.Encode())
	if err != nil {
		return err
	}
	env, err := n.Bind(t.model.Feeds())
	if err != nil {
		return err
	}
	cfg := pass.Config{Shapes: env, Target: build.Target(t.device, env)}
	t.stage = "optimising"
	o, err := build.Optimize(t.ctx, n, cfg)
	if err != nil {
		return err
	}
	lower := build.LowerConfig{Precision: t.precision, Pass: cfg}
	if t.precision == numeric.I8 {
		t.stage = "collecting"
		c, err := build.Collect(t.ctx, n, t.device, func(yield func(map[string]numeric.Value, error) bool) { yield(t.model.Feeds(), nil) }, nil, nil)
		if err != nil {
			return err
		}
		lower.Ranges = build.Ranges(c.Histograms, quant.MinMax{})
	}
	t.stage = "lowering"
	l, err := build.Lower(t.ctx, o, lower, run.Supports(t.device, env))
	if err != nil {
		return err
	}
	t.lowered = true
	t.stage = "planning"
	p, err := build.Plan(t.ctx, l.Network, env, t.device, build.PlanConfig{})
	if err != nil {
		return err
	}
	return t.run(p)
}

// run loads a plan, runs it in two contexts at once, and profiles it.
func (t *trip) run(p *run.Plan) error {
	want, err := t.meant(p)
	if err != nil {
		return err
	}
	t.stage = "loading"
	l, err := run.Load(t.ctx, p, t.device)
	if err != nil {
		return err
	}
	defer l.Close()
	t.stage = "opening contexts"
	first, err := l.NewContext()
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := l.NewContextOf(2)
	if err != nil {
		return err
	}
	defer second.Close()
	t.stage = "running"
	contexts, errs := []*run.ExecutionContext{first, second}, make([]error, 2)
	var both sync.WaitGroup
	for i, c := range contexts {
		both.Go(func() { errs[i] = t.compare(c, want) })
	}
	both.Wait()
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, t.again(contexts, want))
	}
	t.stage = "profiling"
	if err := first.Profile(t.ctx, run.Profiling{Iterations: 3, PerStep: true}, func(run.Sample) {}); err != nil {
		return errors.Join(err, t.again(contexts, want))
	}
	t.stage = "profiling together"
	if _, _, err := run.ProfileTogether(t.ctx, contexts, run.Profiling{Iterations: 3}); err != nil {
		return errors.Join(err, t.again(contexts, want))
	}
	return nil
}

// errWrong says that a result is not what the plan computes on a sound device.
var errWrong = errors.New("another result")

// again runs contexts on which something failed: once nothing fails they compute what they are to.
func (t *trip) again(contexts []*run.ExecutionContext, want map[string]numeric.Value) error {
	if t.device.loses() {
		return nil
	}
	t.device.mend()
	for _, c := range contexts {
		if err := t.compare(c, want); err != nil {
			return fmt.Errorf("%w once nothing fails any more: %w", errWrong, err)
		}
	}
	return nil
}

// compare runs a context once.
func (t *trip) compare(c *run.ExecutionContext, want map[string]numeric.Value) error {
	got, err := outputs(c, t.model)
	if err != nil {
		return err
	}
	for name, v := range want {
		if !reduce.Equal(v, got[name]) {
			return fmt.Errorf("%w: output %s", errWrong, name)
		}
	}
	return nil
}

func outputs(c *run.ExecutionContext, m *networks.Model) (map[string]numeric.Value, error) {
	if err := c.SetInputs(m.Feeds()); err != nil {
		return nil, err
	}
	if err := c.Execute(); err != nil {
		return nil, err
	}
	return c.Outputs()
}

// meant returns what a plan computes on a device that does not fail, as it is read back from an engine file.
func (t *trip) meant(p *run.Plan) (map[string]numeric.Value, error) {
	t.stage = "sound run"
	var file bytes.Buffer
	e := &run.Engine{Source: p.Network, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	if _, err := e.WriteTo(&file); err != nil {
		return nil, err
	}
	l, err := run.Load(t.ctx, p, t.host)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return outputs(c, t.model)
}

// wrong returns what is wrong with how a trip ended; "" for nothing.
func (t *trip) wrong(err error) string {
	if left := t.device.left(); left != "" {
		return "left behind:" + left
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errWrong):
		return "another result"
	case t.device.failures() == 0:
		return "" // what is wrong with networks is another hunt's
	case !t.device.says(err.Error()):
		return "an error that does not say what failed"
	}
	if text := err.Error(); t.device.ofKernel(text) && t.lowered && !named.MatchString(text) {
		return "an error that does not name layer and tactic"
	}
	return ""
}

// named is an error that says whose kernel it is about.
var named = regexp.MustCompile(`layer .+: tactic .+: |graph of \d+ steps of network `)
