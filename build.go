package trtui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// Build makes an engine of a network: passes simplify and fuse it, calibration finds ranges where the precision is INT8,
// layers are lowered to the precision, the device's tactics are timed for each, memory is laid out, and weights are packed.
// The network is not changed and may be built again. It ends with ctx, with its error.
//
// INT8 without ranges is an error, and so is INT8 that no layer can have. A network with quantisation of its own (Q/DQ
// pairs) needs none.
func Build(ctx context.Context, n *Network, o Options) (*Engine, error) {
	if n == nil {
		return nil, errors.New("there is no network to build; look at the error of what was to make it")
	}
	if int(o.Precision) >= len(precisions) {
		return nil, fmt.Errorf("%s is unknown; use FP32, FP16 or INT8", o.Precision)
	}
	backend, owned, err := o.device()
	if err != nil {
		return nil, err
	}
	e, err := o.build(ctx, n, backend)
	if err != nil {
		if owned {
			backend.Close()
		}
		return nil, fmt.Errorf("network %s: %w", n.Name, err)
	}
	e.owned = owned
	return e, nil
}

func (o *Options) build(ctx context.Context, n *Network, b Backend) (*Engine, error) {
	profiles, err := o.profiles(n)
	if err != nil {
		return nil, err
	}
	env, others := profiles[0].Opt, run.Others(profiles)
	lc := build.LowerConfig{Precision: precisions[o.Precision], Policy: o.Policy, Pass: o.passes(env)}
	if o.Precision == INT8 && !quantised(n) {
		done, err := o.calibrate(ctx, n, b, &lc)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	o.progress("optimising", 0, 0)
	lc.Pass.Target = build.Target(b, env, others...)
	opt, err := build.Optimize(ctx, n, lc.Pass)
	if err != nil {
		return nil, err
	}
	o.progress("lowering to "+o.Precision.String(), 0, 0)
	low, err := build.Lower(ctx, opt, lc, run.Supports(b, env, others...))
	if err != nil {
		return nil, err
	}
	if o.Precision == INT8 {
		if err := someIn8Bits(low); err != nil {
			return nil, err
		}
	}
	e := &run.Engine{Origin: o.Origin}
	for _, x := range profiles {
		plan, err := build.Plan(ctx, low.Network, x.Opt, b, build.PlanConfig{
			Min: x.Min, Max: x.Max, Cache: o.Cache, Choices: o.Tactics, Untimed: o.Untimed, InTurn: new(pass.Config).Disable(o.Disable),
			Progress: func(t build.Timing) { o.progress("timing tactics", t.Done, t.Total) },
		})
		if err != nil {
			return nil, err
		}
		e.Add(plan)
	}
	info := b.Info()
	e.Origin.Model, e.Origin.Config = cmp.Or(e.Origin.Model, n.Name), cmp.Or(e.Origin.Config, o.Precision.String())
	e.Origin.Backend, e.Origin.Device = info.Name, info.Device
	if o.KeepSource {
		e.Source = n
	}
	built, err := load(ctx, e, b, o.progress)
	if err == nil {
		built.now.passes = slices.Concat(opt.Steps, low.Steps)
		built.recipe = &recipe{n.Clone(), lc, run.Supports(b, env, others...)}
		if built.recipe.lower.Correction = nil; low.Shifts != nil {
			built.recipe.lower.Correction = &build.Correction{Shifts: low.Shifts}
		}
		built.recipe.lower.Choice = nil
		if built.recipe.lower.Rounding = nil; low.Rounded != nil {
			built.recipe.lower.Rounding = &build.Rounding{By: roundingOf(o.Rounding), Known: low.Rounded}
		}
		if o.ChooseRows {
			built.recipe.lower.Rows = &build.RowRanges{ByToken: low.ByToken}
		}
		if built.recipe.lower.Equalization = nil; low.Equalized != nil {
			built.recipe.lower.Equalization = &build.Equalization{Known: low.Equalized}
		}
	}
	return built, err
}

// quantised reports whether the network brings quantisation of its own.
func quantised(n *Network) bool {
	return slices.ContainsFunc(n.Layers, func(l *graph.Layer) bool { return l.Op == graph.Quantize || l.Op == graph.Dequantize })
}

// calibrate sets the ranges of tensors, those given and what calibration finds for the others, and what biases are corrected by.
// done closes what that runs on.
func (o *Options) calibrate(ctx context.Context, n *Network, b Backend, lc *build.LowerConfig) (done func(), err error) {
	done = func() {}
	if o.Calibration == nil && len(o.Ranges) == 0 {
		return done, errNoRanges
	}
	for name := range o.Ranges {
		if n.Tensor(name) == nil {
			return done, fmt.Errorf("ranges: the network has no tensor %s", name)
		}
	}
	if !slices.Contains(append(quant.BiasCorrections(), ""), o.BiasCorrection) {
		return done, fmt.Errorf("bias correction %q is unknown; use off, fast or exact", o.BiasCorrection)
	}
	if by := o.BiasCorrection; o.Rounding.Compensates() && by != "" && by != quant.CorrectExact {
		return done, fmt.Errorf("rounding %s is done with exact bias correction, which is %s; set that to exact, or round by gptq", o.Rounding, by)
	}
	if o.Calibration == nil {
		lc.Ranges = o.Ranges
		return done, nil
	}
	host := b
	if _, ok := b.(*cpu.Backend); !ok { // activations are those of FP32 on the processor, whatever the device
		host = cpu.Open(0)
		done = func() { host.Close() }
	}
	if err := o.collect(ctx, n, host, lc); err != nil {
		done()
		return nil, fmt.Errorf("calibration: %w", err)
	}
	return done, nil
}

// collect is calibrate on data.
func (o *Options) collect(ctx context.Context, n *Network, host Backend, lc *build.LowerConfig) error {
	batches, env, stop, err := firstOf(n, o.Calibration)
	if err != nil {
		return err
	}
	defer stop()
	replay := &build.Replay{Backend: host, Env: env, Progress: func(phase, _ string, done, of int) { o.progress(phase, done, of) }}
	if o.BiasCorrection == "" || o.BiasCorrection == quant.CorrectExact || !o.Equalization.IsOff() || o.Rounding.NeedsMoments() || o.ChooseRows {
		batches = replay.Tee(n, batches)
	}
	o.progress("collecting activations", 0, 0)
	found, err := build.Collect(ctx, n, host, batches, nil, func(done int) { o.progress("collecting activations", done, 0) })
	if err != nil {
		return err
	}
	c := o.Calibrator
	if c == nil {
		if lc.Policy.Scheme == (quant.Scheme{}) {
			lc.Policy.Scheme.Asymmetric = true
		}
		c = quant.MSE{Scheme: lc.Policy.Scheme}
	}
	lc.Ranges = build.Ranges(found.Histograms, c)
	maps.Copy(lc.Ranges, o.Ranges)
	o.ways(lc, found, replay, c)
	switch o.BiasCorrection {
	case quant.CorrectFast:
		lc.Correction = &build.Correction{Means: found.ChannelMeans()}
	case quant.CorrectExact, "":
		lc.Correction = &build.Correction{Replay: replay}
	}
	return nil
}

// someIn8Bits returns an error where INT8 would be FP32 by another name.
func someIn8Bits(low *build.Lowered) error {
	reasons := ""
	for _, d := range low.Decisions {
		if d.Precision == numeric.I8 {
			return nil
		}
		if reasons == "" && d.Reason != "" {
			reasons = fmt.Sprintf(": layer %s: %s", d.Layer, d.Reason)
		}
	}
	return fmt.Errorf("no layer can compute in 8 bits%s; build it with FP32, or find out with trtui inspect", reasons)
}
