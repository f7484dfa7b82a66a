package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
)

// Optimized is a network after the passes that do not depend on the precision.
type Optimized struct {
	Network *graph.Network
	Steps   []pass.Step
	Stopped bool // before the last pass, so that lowering must not go on
}

// Optimize runs the standard passes. Where the result is to be planned for a backend, the configuration's Target is that
// backend's.
func Optimize(ctx context.Context, n *graph.Network, cfg pass.Config) (*Optimized, error) {
	table, err := passes.Extend(passes.Standard(), cfg.Extra)
	if err != nil {
		return nil, err
	}
	if err := checkShapes(n, cfg); err != nil {
		return nil, err
	}
	out, steps, err := passes.Run(ctx, n, passes.Standard(), cfg)
	if err != nil {
		return nil, err
	}
	return &Optimized{out, steps, cfg.Until != 0 && cfg.Until <= len(table)}, nil
}

// checkShapes checks the network's shapes as soon as every symbol has a value. Where some have none yet, planning does.
func checkShapes(n *graph.Network, cfg pass.Config) error {
	if len(n.Unbound(cfg.Shapes)) > 0 {
		return nil
	}
	return n.CheckShapes(cfg.Shapes)
}

// LowerConfig says how to lower.
type LowerConfig struct {
	Precision numeric.DataType         // F32, F16, I8, or F8E4M3FN or F8E5M2, which are emulated: what the layers may compute in; for I8 rules of Policy may ask for F16
	Ranges    map[string]numeric.Range // of tensors: for I8, where a layer without stays in F32; what they show F16 not to hold stays so, too
	Policy    quant.Policy
	// Equalization, if not nil, scales channels of tensors between products before Policy quantises them.
	Equalization *Equalization
	// Choice, if not nil, finds Equalization, Rounding and Rows by trial.
	Choice *Choice
	// Rounding, if not nil, says how weights become integers, those of layers that Policy leaves in floating point included.
	Rounding *Rounding
	// Rows, if not nil, says in the place of Policy's scheme whether products have ranges by token.
	Rows *RowRanges
	// Correction, if not nil, corrects the biases of what Policy has quantised.
	Correction *Correction
	Pass       pass.Config // as for Optimize; Ledger and Supports are Lower's own
}

// Lowered is a network for one precision and target.
type Lowered struct {
	Network   *graph.Network
	Steps     []pass.Step
	Decisions []quant.Decision     // on each layer's precision
	Quantised *graph.Network       // before the passes of lowering, with Quantize and Dequantize layers; nil where none were placed
	Shifts    map[string][]float64 // what correction added to the biases of each output channel, by source layer
	Equalized Equalized            // what channels were divided by
	Unscaled  []string             // tensors whose channels were not, since their ranges were given
	Rounded   Rounded              // the integers that rounding by moments found; nil where it was not asked for
	ByToken   bool                 // products of rows have ranges by token
	Tried     []Tried              // what Choice compared
}

// Lower brings an optimised network to a precision, for a target that computes what supports says.
func Lower(ctx context.Context, o *Optimized, cfg LowerConfig, supports func(*graph.Layer) error) (*Lowered, error) {
	l, n, pc, err := placed(ctx, o, cfg, supports)
	if err != nil {
		return nil, err
	}
	if cfg.Precision == numeric.I8 {
		l.Quantised = n
	}
	n, steps, err := passes.Run(ctx, n, passes.Lowering(), pc)
	if err != nil {
		return nil, err
	}
	l.Network, l.Steps = n, append(l.Steps, steps...)
	l.Network.Lowered = true
	return l, nil
}

// Quantise is Lower as far as the network of real numbers with Quantize and Dequantize layers: what the lowered network computes
// but for the rounding of sums. Its Network is nil.
func Quantise(ctx context.Context, o *Optimized, cfg LowerConfig, supports func(*graph.Layer) error) (*Lowered, error) {
	l, n, _, err := placed(ctx, o, cfg, supports)
	if err != nil {
		return nil, err
	}
	l.Quantised = n
	return l, nil
}

// placed returns a network in which quantisation is placed and biases are corrected, and how to go on.
func placed(ctx context.Context, o *Optimized, cfg LowerConfig, supports func(*graph.Layer) error) (*Lowered, *graph.Network, pass.Config, error) {
	pc := cfg.Pass
	for _, l := range o.Network.Layers {
		if u := l.Unsupported(); u != nil {
			return nil, nil, pc, fmt.Errorf("layer %s: %w", l.Name, u.Err())
		}
	}
	if err := checkShapes(o.Network, cfg.Pass); err != nil {
		return nil, nil, pc, err
	}
	l, err := &Lowered{}, error(nil)
	if cfg.Choice != nil {
		if l.Tried, err = cfg.choose(ctx, o, supports); err != nil {
			return nil, nil, pc, fmt.Errorf("choosing how to quantise: %w", err)
		}
	}
	float := o.Network
	if cfg.Equalization != nil && cfg.Precision == numeric.I8 {
		if float, cfg.Ranges, err = l.equalize(ctx, float, &cfg, o.ledger()); err != nil {
			return nil, nil, pc, err
		}
	}
	n := float.Clone()
	if cfg.Policy.Peaks == nil {
		cfg.Policy.Peaks = quant.PeaksOf(cfg.Ranges)
	}
	switch cfg.Precision {
	case numeric.I8:
		cfg.Policy.Supports, cfg.Policy.Shapes = inALine(supports), cfg.Pass.Shapes
		if cfg.Rows != nil {
			cfg.Policy.Scheme.ByToken = cfg.Rows.ByToken
		}
		l.ByToken = cfg.Policy.Scheme.ByToken
		l.Decisions, err = quant.Place(n, cfg.Ranges, cfg.Policy)
		if err == nil && slices.ContainsFunc(l.Decisions, func(d quant.Decision) bool { return d.Precision == numeric.F16 }) {
			err = quant.MixFP16(n, l.Decisions, cfg.Policy)
		}
	case numeric.F16:
		l.Decisions, err = quant.PlaceFP16(n, cfg.Policy)
	case numeric.F8E4M3FN, numeric.F8E5M2:
		l.Decisions, err = quant.PlaceFloat8(n, cfg.Precision, cfg.Ranges, cfg.Policy)
		supports = ofReals(supports)
	default:
		supports = ofReals(supports)
	}
	if err != nil {
		return nil, nil, pc, err
	}
	standard, err := passes.Extend(passes.Standard(), pc.Extra)
	if err != nil {
		return nil, nil, pc, err
	}
	pc.Supports, pc.Until = supports, max(0, pc.Until-len(standard))
	pc.Ledger = o.ledger()
	if len(l.Steps) > 0 {
		pc.Ledger = l.Steps[len(l.Steps)-1].Ledger
	}
	if o.Stopped {
		pc.Until = -1
	}
	if cfg.Rows != nil && cfg.Precision == numeric.I8 {
		if n, err = l.rangeRows(ctx, cfg.Rows, n, &pc); err != nil {
			return nil, nil, pc, err
		}
	}
	if cfg.Rounding != nil {
		if n, err = l.round(ctx, cfg.Rounding, float, n, &pc); err != nil {
			return nil, nil, pc, err
		}
	}
	if cfg.Correction != nil && slices.ContainsFunc(l.Decisions, func(d quant.Decision) bool { return d.Precision == numeric.I8 }) {
		r := cfg.Rounding
		n, err = l.correct(ctx, cfg.Correction, float, n, pc, r != nil && r.By.Compensates() && r.Known == nil && !r.Declined)
	}
	return l, n, pc, err
}

// ledger returns what became of the source layers.
func (o *Optimized) ledger() pass.Ledger {
	if len(o.Steps) == 0 {
		return nil
	}
	return o.Steps[len(o.Steps)-1].Ledger
}

// Target returns what the passes of Optimize ask before they make one layer of many: why a backend has no tactic for it, other
// than the reference, at the given values of the symbols, and at others that are to be served.
func Target(b run.Backend, env map[string]int, others ...map[string]int) func(*graph.Layer) error {
	return inALine(run.Supports(b, env, others...))
}

// ofReals refuses layers of quantised tensors, of whatever the target has kernels for.
func ofReals(supports func(*graph.Layer) error) func(*graph.Layer) error {
	return func(l *graph.Layer) error {
		for _, t := range slices.Concat(l.Inputs, l.Outputs) {
			if t != nil && t.Quantized() {
				return errors.New("the precision is fp32")
			}
		}
		if supports == nil {
			return nil
		}
		return supports(l)
	}
}

// inALine returns why a layer has no tactic, in a line, by what supports says.
func inALine(supports func(*graph.Layer) error) func(*graph.Layer) error {
	return func(l *graph.Layer) error {
		if !pass.NeedsTactic(l.Op) {
			return nil
		}
		err := supports(l)
		var none *run.Unsupported
		if errors.As(err, &none) && len(none.Layers) == 1 {
			return errors.New(none.Layers[0].Reason())
		}
		return err
	}
}

// PlanConfig says how tactics are chosen.
type PlanConfig struct {
	// Min and Max are the ends of what symbols may be, where the plan is to serve more than their values.
	Min, Max map[string]int
	Cache    *TimingCache
	Choices  TacticChoices
	Untimed  bool         // by the backend's guess, without measuring; always so where its times are estimates
	Progress func(Timing) // before each measurement
	// Remeasure names layers whose tactics are timed whatever the cache knows of them; the new times take the place of the
	// old ones.
	Remeasure []string
	// InTurn names layers that run beside no other, by their names or those of source layers in them; "" is all.
	InTurn []string
	// Compiling is told how far the compilation is of what is to be measured, where the backend compiles.
	Compiling func(done, total int)
}

// Plan lays a lowered network out for a backend, timing the tactics that the cache does not know. A layer that cannot have
// the tactic that it is pinned to is an error.
func Plan(ctx context.Context, n *graph.Network, env map[string]int, b run.Backend, cfg PlanConfig) (*run.Plan, error) {
	p, err := plan(ctx, n, env, b, cfg)
	if ctx.Err() != nil {
		return p, err
	}
	if refused := cfg.Choices.refused(p, err); refused != nil {
		return nil, refused
	}
	return p, err
}

func (cfg PlanConfig) extents(env map[string]int) run.Extents {
	return run.Extents{Opt: env, Min: cfg.Min, Max: cfg.Max}
}

func plan(ctx context.Context, n *graph.Network, env map[string]int, b run.Backend, cfg PlanConfig) (*run.Plan, error) {
	info := b.Info()
	t := &tuner{ctx: ctx, backend: b, target: info.Fingerprint, cache: cfg.Cache, choices: cfg.Choices, progress: cfg.Progress,
		trials: map[CacheEntry]*trial{}, failed: map[CacheEntry]error{}, admitted: map[CacheEntry]bool{}, tactics: map[string][]string{}, remeasure: cfg.Remeasure}
	candidates, err := run.FindCandidates(ctx, n, cfg.extents(env), b)
	if err != nil {
		return nil, err
	}
	if cfg.Untimed || info.Estimated {
		err = candidates.Price(ctx, t.guess)
	} else {
		err = t.tune(candidates, cfg.Compiling)
	}
	if err != nil {
		return nil, err
	}
	choice, err := candidates.Choose(ctx)
	if err != nil {
		return nil, err
	}
	if t.stream == nil { // nothing was timed
		return choice.Layout()
	}
	return t.layout(choice, cfg.InTurn)
}

// tune sets the prices of candidates, in passes, until no more occasions and no more twins are worth it.
func (t *tuner) tune(candidates *run.Candidates, compiling func(done, total int)) (err error) {
	if t.stream, err = t.backend.NewStream(); err != nil {
		return err
	}
	defer t.stream.Close()
	defer t.close()
	if t.cache == nil {
		t.cache = NewTimingCache()
	}
	list, err := t.unknown(candidates)
	if err != nil {
		return err
	}
	for {
		if err := t.timed(candidates, list, compiling); err != nil {
			return err
		}
		if !t.next() {
			return nil
		}
		list, t.wanted = t.wanted, nil
		t.admit(candidates)
	}
}

// timed is one pass: it makes ready what is on the list, and prices all candidates, measuring what is open.
func (t *tuner) timed(candidates *run.Candidates, list []candidate, compiling func(done, total int)) error {
	t.expect(list)
	if _, ok := t.backend.(run.Compiler); ok && len(list) > 0 {
		if err := t.compile(list, compiling); err != nil {
			return err
		}
	}
	candidates.Reopen()
	for open := candidates.Open(); len(open) > 0; open = candidates.Open() {
		for _, a := range open {
			a.Set(t.price(a.Binding(), a.Tactic))
			if t.lost != nil {
				return fmt.Errorf("timing tactics: %w", t.lost)
			}
			if err := t.ctx.Err(); err != nil {
				return err
			}
		}
	}
	t.want(candidates.Twins())
	return nil
}
