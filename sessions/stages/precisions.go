package stages

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// precisions makes of the optimised network the one of a precision.
type precisions struct {
	model       *model.Model
	orders      *orders
	told        *Audience
	backend     run.Backend
	passes      *passes
	calibration *calibration
	kept        *stage[lowering, *build.Lowered]
	notFinite   func() string // which weights of the model are not finite
}

func newPrecisions(m *model.Model, b run.Backend, o *orders, told *Audience, from *passes, c *calibration) *precisions {
	p := &precisions{model: m, orders: o, told: told, backend: b, passes: from, calibration: c}
	p.kept = newStage(p.make)
	p.notFinite = sync.OnceValue(func() string { return notFinite(m.Network) })
	return p
}

// Lower brings the network to the configuration's precision. Where layers cannot have theirs, which must be obeyed, it
// returns what there is together with the error.
func (p *precisions) Lower(ctx context.Context, cfg config.Config) (*build.Lowered, error) {
	if err := p.model.Runnable(); err != nil {
		return nil, err
	}
	if _, ok := cfg.Precision.DataType(); !ok {
		return nil, fmt.Errorf("precision %q is unknown; use fp32, fp16 or int8", cfg.Precision)
	}
	if _, _, err := cfg.Lowering(); err != nil {
		return nil, err
	}
	in, err := p.orders.lowering(cfg)
	if err != nil {
		return nil, err
	}
	if in.Planned {
		return p.kept.Of(ctx, in)
	}
	if err := p.model.NeedsSource("another configuration than it was built with"); err != nil {
		return nil, err
	}
	o, err := p.passes.Optimize(ctx, cfg)
	if err != nil {
		return nil, err
	}
	_, known := p.kept.known(in)
	l, err := p.kept.Of(ctx, in)
	if err != nil {
		return nil, err
	}
	if !known {
		p.warn(cfg, o, l)
	}
	if cfg.Constraints == config.Obey {
		err = describe.Obeyed(describe.Unmet(cfg, o, l))
	}
	return l, err
}

// make lowers the network.
func (p *precisions) make(ctx context.Context, in lowering) (*build.Lowered, error) {
	if in.Planned {
		r, err := p.model.Making()
		return &build.Lowered{Network: p.model.Engine.Any().Network, Equalized: r.Equalized, ByToken: r.ByToken}, err
	}
	o, lc, err := p.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	if err = p.calibration.how(ctx, in, &lc); err != nil {
		return nil, err
	}
	p.told.Progress(report.Progress{Phase: "lowering to " + string(in.Precision)})
	if err := model.CheckLayerPrecisions(p.model.Name(), in.config(), o); err != nil {
		return nil, err
	}
	if lc.Choice != nil || lc.Correction != nil && lc.Correction.Replay != nil || lc.Rounding != nil && lc.Rounding.Replay != nil || lc.Equalization != nil && lc.Equalization.Ranges != nil {
		p.calibration.device.Busy.Lock()
		defer p.calibration.device.Busy.Unlock()
	}
	begin := time.Now()
	l, err := build.Lower(ctx, o, lc, p.supports(in))
	if err == nil {
		settle(in, l)
		p.told.Log.lowering(in.Precision, o, l, begin)
		p.told.Log.chosen(l.Tried)
	}
	return l, err
}

// Preview returns what a configuration is before it is tried how it is quantised: what follows
// from collecting alone, without another run over the data. ok is false where nothing is to be tried, or was before.
func (p *precisions) Preview(cfg config.Config) (first config.Config, ok bool) {
	in, err := p.orders.lowering(cfg)
	switch {
	case err != nil || in.Ranges == nil || in.Planned || p.model.Refused != nil:
		return cfg, false
	case cfg.Constraints == config.Obey: // which may end the build
		return cfg, false
	case p.backend.Info().Estimated: // on which an inference takes longer than trials on the host
		return cfg, false
	}
	if !p.calibration.ways(in).several() || p.calibration.made.chosen(in) {
		return cfg, false
	}
	first = cfg.Clone()
	first.Quantization = cfg.Quantization.ByCollected()
	return first, true
}

// prepare returns the network that is lowered, and how, but for the correction of biases.
func (p *precisions) prepare(ctx context.Context, in lowering) (*build.Optimized, build.LowerConfig, error) {
	var lc build.LowerConfig
	o, err := p.passes.kept.Of(ctx, in.Of)
	if err != nil {
		return nil, lc, err
	}
	lowest, rules, err := in.config().Lowering()
	if err != nil {
		return nil, lc, err
	}
	policy, err := in.Quantized.Policy()
	if err != nil {
		return nil, lc, err
	}
	policy.Rules = rules
	lc = build.LowerConfig{Precision: lowest, Policy: policy, Pass: in.Of.passes(p.model)}
	if in.Ranges != nil {
		lc.Ranges, err = p.calibration.Ranges.Of(ctx, *in.Ranges)
	}
	return o, lc, err
}

// supports returns what says whether the device computes a layer.
func (p *precisions) supports(in lowering) func(*graph.Layer) error {
	return run.Supports(p.backend, in.Of.Symbols, in.Of.Others...)
}

// warn tells what a person who asked for a configuration should know of its lowering.
func (p *precisions) warn(cfg config.Config, o *build.Optimized, l *build.Lowered) {
	if p.told.Warned == nil {
		return
	}
	for _, text := range []string{describe.Ignored(cfg), p.notFinite(), describe.GivenRanges(cfg, l), describe.OneRange(cfg, l.Decisions)} {
		if text != "" {
			p.told.Warn(text)
		}
	}
	if cfg.Constraints != config.Obey {
		describe.WarnUnmet(describe.Unmet(cfg, o, l), func(_, text string) { p.told.Warn(text) })
	}
	if text := describe.Unchanged(p.model, cfg, o, l); text != "" {
		p.told.Warn(text)
	}
}

// UnchangedBy says why the precision of a configuration that has been lowered changes no layer.
func (p *precisions) UnchangedBy(cfg config.Config) string {
	in, err := p.orders.lowering(cfg)
	if err != nil {
		return ""
	}
	o, optimized := p.passes.kept.known(in.Of)
	l, lowered := p.kept.known(in)
	if !optimized || !lowered {
		return ""
	}
	return describe.Unchanged(p.model, cfg, o, l)
}
