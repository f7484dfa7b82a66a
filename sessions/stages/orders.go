package stages

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// What stages are asked for: their part of a configuration, and with it the order for the stage whose result they go on from.
// All fields are exported, since an order as JSON is the key of its result.
type (
	// rewriting asks for the network after the passes that do not depend on precision.
	rewriting struct {
		Rules   []string // files of rules
		Disable []string // rules, and places of rules
		Until   int
		Symbols map[string]int   // values of the network's symbols
		Others  []map[string]int // other values that engines of it are to serve
		InF32   bool             // what the model computes in other real numbers, as quantisation needs it
		Planned bool             // an engine has what became of it: there is nothing to rewrite
	}

	// collecting asks for histograms of the activations of the unfused network. Nothing that is toggled changes them.
	collecting struct {
		Symbols map[string]int // at a batch of 1; of items that differ in shape, those of the largest
		State   run.State      // of the data
	}

	// ranging asks for the ranges that a calibrator finds.
	ranging struct {
		Of collecting
		By finder
	}

	// lowering asks for the network in a precision.
	lowering struct {
		Of        rewriting
		Precision config.Precision
		Layers    []string            // precisions by layer, as config.Config has them
		Weights   string              // what those of products of real numbers are rounded to, as config.Config has it
		Quantized config.Quantization // how, where Ranges are read; where they are not, how Weights are rounded
		Ranges    *ranging            // that lowering reads; nil: none
		Means     *collecting         // of what is read, for what needs more of the data than Ranges; nil: nothing does
		Planned   bool                // an engine has it
	}

	// planning asks for a plan, and for its engine.
	planning struct {
		Of       lowering
		Opt      map[string]int // values of symbols that tactics are timed at; nil: those of Of
		Min, Max map[string]int // ends of the values that it serves; nil: these alone
		Pin      map[string]string
		Forbid   map[string][]string
		Stored   bool // in the engine file
	}

	// referring asks for the outputs of FP32's engine.
	referring struct {
		Of    planning
		Batch int
		State run.State // of the data
		Own   bool      // there is no FP32: the outputs are those of the engine that is judged, which has not got its model
	}

	// examining asks how an engine compares with FP32.
	examining struct {
		Of         planning
		Reference  referring
		Shapes     map[string][]int // of a configuration
		Calibrator string           // as a person names it
		Layers     bool             // one by one
	}

	// surveying asks how calibrators compare, on activations and on weights.
	surveying struct {
		Of         lowering
		Collecting collecting
		By         finder // of the calibrator that is set
	}
)

// choosesRows reports whether it is to be chosen which ranges rows of a network's products have.
func (in lowering) choosesRows(n *graph.Network) bool {
	return in.Ranges != nil && config.ChoosesRows(in.Quantized) && MultipliesTokens(n)
}

// MultipliesTokens reports whether a network multiplies sequences of rows by constant matrices.
func MultipliesTokens(n *graph.Network) bool {
	constant := func(t *graph.Tensor) bool {
		if t != nil && t.Producer != nil && t.Producer.Op == graph.Transpose { // of weights as PyTorch has them
			t = t.Producer.Inputs[0]
		}
		return t != nil && t.IsConst()
	}
	return slices.ContainsFunc(n.Layers, func(l *graph.Layer) bool {
		return l.Op.Class == graph.ClassMatrix && len(l.Inputs[0].Dims) > 2 && constant(l.Inputs[1])
	})
}

func (in planning) symbols() map[string]int {
	if in.Opt != nil {
		return in.Opt
	}
	return in.Of.Of.Symbols
}

// passes translates the toggles of rules and places; m has the passes beside the standard ones.
func (in rewriting) passes(m *model.Model) pass.Config {
	pc := pass.Config{Until: in.Until, Shapes: in.Symbols, Quantises: in.InF32, Extra: m.Rules.Passes(m.Passes, in.Rules)}
	pc.Disable(in.Disable)
	return pc
}

// inTurn returns the layers that are to run beside no other, as build.PlanConfig has them.
func (in planning) inTurn() []string { return new(pass.Config).Disable(in.Of.Of.Disable) }

// config returns the part of a configuration that says what layers compute in.
func (in lowering) config() config.Config {
	return config.Config{Precision: in.Precision, LayerPrecisions: in.Layers, Weights: in.Weights, Quantization: in.Quantized}
}

// fp32 returns the configuration whose engine is the reference: everything fused as by default, nothing lowered, and no rules
// from files, so that what those change is seen.
func fp32(cfg config.Config) config.Config {
	return config.Config{Precision: config.FP32, Batch: cfg.Batch, Shapes: cfg.Shapes, State: cfg.State}
}

// orders makes of configurations what the stages are asked for, which depends on the model and on what its engine file brings.
type orders struct {
	model           *model.Model
	Stored          *stored
	items, calItems *itemShapes // of the data that engines are evaluated on, and calibrated with
}

// otherReals reports whether a network computes in real numbers other than F32.
func otherReals(n *graph.Network) bool {
	other := func(t *graph.Tensor) bool { return t != nil && t.Type.IsFloat() && t.Type != numeric.F32 }
	return slices.ContainsFunc(n.Layers, func(l *graph.Layer) bool {
		return slices.ContainsFunc(l.Inputs, other) || slices.ContainsFunc(l.Outputs, other)
	})
}

// rewriting returns what a configuration asks of the first stage.
func (o *orders) rewriting(cfg config.Config) (rewriting, error) {
	env, err := o.model.SymbolsIfAny(cfg)
	in := rewriting{Rules: cfg.RuleFiles, Disable: cfg.Disable, Until: cfg.Until, Symbols: env, InF32: (cfg.Quantizes() || cfg.Weights != "") && otherReals(o.model.Network), Planned: o.model.Stripped || o.model.Planned(cfg) != nil}
	if err != nil || env == nil || o.Stored.serves(cfg) {
		return in, err
	}
	var list []run.Extents
	for k := range len(cfg.Profiles) + 1 {
		x, err := o.extents(cfg, k)
		if err != nil {
			return in, err
		}
		list = append(list, x)
	}
	in.Others = run.Others(list)
	return in, nil
}

// collecting asks for activations at the best shapes, or at those of the data, which the engine must serve.
func (o *orders) collecting(cfg config.Config) (collecting, error) {
	ranged := cfg
	cfg.Batch = 1
	if err := model.CheckState(o.model, cfg); err != nil {
		return collecting{}, err
	}
	env, err := o.model.SymbolsIfAny(o.model.Shaped(cfg))
	if err == nil {
		env, err = o.ofItems(ranged, env)
	}
	return collecting{env, cfg.State}, err
}

// Ranging returns what a calibrator is asked for; its name may be one that there is not, which calibrating tells.
func (o *orders) Ranging(cfg config.Config) (ranging, error) {
	by := FinderOf(o.model, cfg)
	if o.Stored.Ranges(by) != nil { // what they were collected at does not matter
		return ranging{By: by}, nil
	}
	of, err := o.collecting(cfg)
	return ranging{of, by}, err
}

func (o *orders) lowering(cfg config.Config) (lowering, error) {
	of, err := o.rewriting(cfg)
	if err != nil {
		return lowering{}, err
	}
	in := lowering{Of: of, Precision: cfg.Precision, Layers: cfg.LayerPrecisions, Weights: cfg.Weights, Planned: o.model.Planned(cfg) != nil}
	needsData := false
	if cfg.Constraints == config.Ignore {
		in.Layers = nil
	}
	if o.model.NeedsCalibration(cfg) {
		ranges, err := o.Ranging(cfg)
		if err != nil {
			return lowering{}, err
		}
		in.Ranges, in.Quantized = &ranges, cfg.Quantization.Full()
		needsData = in.Quantized.BiasCorrection != quant.CorrectOff && o.Stored.shifts(ranges.By, in.Quantized) == nil ||
			!in.Quantized.Equalizer().IsOff() && o.Stored.equalized(ranges.By, in.Quantized) == nil ||
			in.choosesRows(o.model.Network) && o.Stored.byToken(ranges.By, in.Quantized) == nil
	}
	if in.Weights != "" && in.Ranges == nil {
		in.Quantized.Rounding = cfg.Quantization.Full().Rounding
	}
	moments := in.Quantized.Rounding != "" && in.Quantized.Rounder().NeedsMoments()
	if moments && in.Ranges != nil {
		moments = o.Stored.rounded(in.Ranges.By, in.Quantized, in.Weights) == nil
	}
	if needsData || moments {
		means, err := o.collecting(cfg)
		if err != nil {
			return lowering{}, err
		}
		in.Means = &means
	}
	return in, nil
}

// planning asks for the plan of a configuration's first profile.
func (o *orders) planning(cfg config.Config) (planning, error) { return o.profile(cfg, 0) }

// profile asks for the plan of one of a configuration's profiles, which all have the network that is lowered for the first.
func (o *orders) profile(cfg config.Config, k int) (in planning, err error) {
	if in.Of, err = o.lowering(cfg); err != nil {
		return in, err
	}
	in.Pin, in.Forbid, in.Stored = cfg.Pin, cfg.Forbid, o.Stored.serves(cfg)
	if k == 0 && in.Stored { // at any of the shapes that the engine serves
		return in, nil
	}
	x, err := o.extents(cfg, k)
	if k > 0 {
		in.Opt = x.Opt
	}
	if !in.Stored {
		in.Min, in.Max = x.Min, x.Max
	}
	return in, err
}

// extents returns what the symbols are and may be in one of a configuration's profiles.
func (o *orders) extents(cfg config.Config, k int) (x run.Extents, err error) {
	of := config.OfProfile(cfg, k)
	if x.Opt, err = o.model.Symbols(of); err == nil {
		x.Min, x.Max, err = model.RangesOf(o.model, of)
	}
	if err != nil && len(cfg.Profiles) > 0 {
		err = fmt.Errorf("profile %d: %w", k, err)
	}
	return x, err
}

func (o *orders) examining(cfg config.Config, perLayer bool) (in examining, err error) {
	in = examining{Shapes: cfg.Shapes, Calibrator: cfg.Calibrator, Layers: perLayer}
	if in.Of, err = o.planning(cfg); err != nil {
		return in, err
	}
	in.Reference, err = o.referring(cfg)
	return in, err
}

func (o *orders) referring(cfg config.Config) (referring, error) {
	if err := model.CheckState(o.model, cfg); err != nil {
		return referring{}, err
	}
	if !o.model.Stripped {
		cfg = o.reference(cfg)
	}
	of, err := o.planning(cfg)
	return referring{of, cfg.Batch, cfg.State, o.model.Stripped}, err
}

func (o *orders) surveying(cfg config.Config) (in surveying, err error) {
	in.By = FinderOf(o.model, cfg)
	if in.Of, err = o.lowering(cfg); err == nil {
		in.Collecting, err = o.collecting(cfg)
	}
	return in, err
}

// serving returns the profile of a configuration that serves extents of one item, where one item has env, by its number; an error about
// the item where none does, by the first that has a range.
func (o *orders) serving(cfg config.Config, env map[string]int, of itemExtents) (k int, err error) {
	var refused error
	told := false // by one that has a range
	for k := range len(cfg.Profiles) + 1 {
		x, err := o.extents(cfg, k)
		if err != nil {
			return 0, nil // it is said when it is planned
		}
		ranged := x.Min != nil
		if !ranged {
			x.Min, x.Max = maps.Clone(x.Opt), maps.Clone(x.Opt)
		}
		for name, v := range env { // a profile of larger batches has items one by one, too
			x.Min[name], x.Max[name] = min(x.Min[name], v), max(x.Max[name], v)
		}
		err = x.Serves(o.model.Network, of.env)
		if err == nil {
			return k, nil
		}
		if refused == nil || ranged && !told {
			refused, told = &compare.ItemError{First: of.item, Count: 1, Err: err}, ranged
		}
	}
	return 0, refused
}

// ofItems returns the extents at which data are collected on where one item has env: those of all items, and of items that differ those of
// the one with most elements. The error is about an item that no profile of the configuration serves.
func (o *orders) ofItems(cfg config.Config, env map[string]int) (map[string]int, error) {
	others := o.calItems.at(env)
	most, largest := 0, env
	for _, one := range others {
		if _, err := o.serving(cfg, env, one); err != nil {
			return nil, err
		}
		n := 0
		for _, t := range o.model.Network.Inputs {
			n += numeric.Count(symbolic.Eval(t.Dims, one.env))
		}
		if n > most || o.calItems.alike() {
			most, largest = n, one.env
		}
	}
	return largest, nil
}

// reference returns the configuration whose engine is the reference. Where items have other shapes than those that tactics are timed at
// it serves what the engine serves at these.
func (o *orders) reference(cfg config.Config) config.Config {
	ref, one := fp32(cfg), cfg
	one.Batch = 1
	env, err := o.model.SymbolsIfAny(o.model.Shaped(one))
	if err != nil || len(o.items.at(env)) == 0 {
		return ref
	}
	best, err := o.model.Symbols(cfg)
	if err != nil {
		return ref
	}
	if k, err := o.serving(cfg, env, itemExtents{env: best}); err == nil {
		p := config.OfProfile(cfg, k)
		ref.MinShapes, ref.MaxShapes = p.MinShapes, p.MaxShapes
	}
	return ref
}
