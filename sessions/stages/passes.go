package stages

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// passes makes of the source network what does not depend on precision.
type passes struct {
	model   *model.Model
	backend run.Backend
	orders  *orders
	told    *Audience
	kept    *stage[rewriting, *build.Optimized]
}

func newPasses(m *model.Model, b run.Backend, o *orders, told *Audience) *passes {
	p := &passes{model: m, backend: b, orders: o, told: told}
	p.kept = newStage(p.make)
	return p
}

// Optimize returns the network of a configuration after its passes.
func (p *passes) Optimize(ctx context.Context, cfg config.Config) (*build.Optimized, error) {
	in, err := p.orders.rewriting(cfg)
	if err != nil {
		return nil, err
	}
	return p.kept.Of(ctx, in)
}

// make runs the passes.
func (p *passes) make(ctx context.Context, in rewriting) (*build.Optimized, error) {
	if in.Planned {
		return &build.Optimized{Network: p.model.Network}, nil // passes left no trace in it
	}
	p.told.Progress(report.Progress{Phase: "optimising"})
	if err := p.model.Rules.Have(in.Rules); err != nil {
		return nil, err
	}
	if err := model.CheckDisabled(p.model, in.Disable); err != nil {
		return nil, err
	}
	if err := model.CheckExtents(p.model, in.Symbols); err != nil {
		return nil, err
	}
	begin := time.Now()
	cfg := in.passes(p.model)
	cfg.Target = build.Target(p.backend, in.Symbols, in.Others...)
	o, err := build.Optimize(ctx, p.model.Network, cfg)
	if err == nil {
		p.told.Log.passes("optimised", len(p.model.Network.AllLayers()), o.Steps, begin)
	}
	return o, err
}
