package sessions

import (
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
)

// What stages are asked for: their part of a configuration, and with it the order for the stage whose result they go on from.
// All fields are exported, since an order as JSON is the key of its result.
type (
	// rewriting asks for the network after the passes that do not depend on precision.
	rewriting struct {
		Disable []string // rules, and places of rules
		Until   int
		Symbols map[string]int // values of the network's symbols
		Planned bool           // an engine has what became of it: there is nothing to rewrite
	}

	// collecting asks for histograms of the activations of the unfused network. Nothing that is toggled changes them.
	collecting struct {
		Symbols map[string]int // at a batch of 1
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
		Quantized config.Quantization // how, where Ranges are read
		Ranges    *ranging            // that lowering reads; nil: none
		Means     *collecting         // of what is read, for correcting biases; nil: they are an engine file's, or are not corrected
		Planned   bool                // an engine has it
	}

	// planning asks for a plan, and for its engine.
	planning struct {
		Of       lowering
		Min, Max map[string]int // ends of the values of symbols that it serves; nil: those of Of
		Pin      map[string]string
		Forbid   map[string][]string
		Stored   bool // in the engine file
	}

	// referring asks for the outputs of FP32's engine.
	referring struct {
		Of    planning
		Batch int
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

func (in planning) symbols() map[string]int { return in.Of.Of.Symbols }

// passes translates the toggles of rules and places; own are the program's passes beside the standard ones.
func (in rewriting) passes(own []pass.Pass) pass.Config {
	pc := pass.Config{Until: in.Until, Shapes: in.Symbols, Extra: own}
	for _, d := range in.Disable {
		if site, err := pass.ParseSite(d); err == nil {
			pc.DisableSites = append(pc.DisableSites, site)
		} else {
			pc.DisableRules = append(pc.DisableRules, d)
		}
	}
	return pc
}

// config returns the part of a configuration that says what layers compute in.
func (in lowering) config() config.Config {
	return config.Config{Precision: in.Precision, LayerPrecisions: in.Layers, Quantization: in.Quantized}
}

// fp32 returns the configuration whose engine is the reference: everything fused as by default, nothing lowered.
func fp32(cfg config.Config) config.Config {
	return config.Config{Precision: config.FP32, Batch: cfg.Batch, Shapes: cfg.Shapes}
}

// orders makes of configurations what the stages are asked for, which depends on the model and on what its engine file brings.
type orders struct {
	model  *Model
	stored *stored
}

// rewriting returns what a configuration asks of the first stage.
func (o *orders) rewriting(cfg config.Config) (rewriting, error) {
	env, err := o.model.values(cfg)
	return rewriting{cfg.Disable, cfg.Until, env, o.model.Stripped || o.model.planned(cfg) != nil}, err
}

func (o *orders) collecting(cfg config.Config) (collecting, error) {
	cfg.Batch = 1
	env, err := o.model.values(o.model.Shaped(cfg))
	return collecting{env}, err
}

// ranging returns what a calibrator is asked for; its name may be one that there is not, which calibrating tells.
func (o *orders) ranging(cfg config.Config) (ranging, error) {
	by := finderOf(o.model, cfg)
	if o.stored.ranges(by) != nil { // what they were collected at does not matter
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
	in := lowering{Of: of, Precision: cfg.Precision, Layers: cfg.LayerPrecisions, Planned: o.model.planned(cfg) != nil}
	if cfg.Constraints == config.Ignore {
		in.Layers = nil
	}
	if o.model.needsCalibration(cfg) {
		ranges, err := o.ranging(cfg)
		if err != nil {
			return lowering{}, err
		}
		in.Ranges, in.Quantized = &ranges, cfg.Quantization.Full()
		if in.Quantized.BiasCorrection != quant.CorrectOff && o.stored.shifts(ranges.By, in.Quantized) == nil {
			means, err := o.collecting(cfg)
			if err != nil {
				return lowering{}, err
			}
			in.Means = &means
		}
	}
	return in, nil
}

func (o *orders) planning(cfg config.Config) (planning, error) {
	of, err := o.lowering(cfg)
	if err != nil {
		return planning{Of: of}, err
	}
	low, high, err := o.model.Ranges(cfg)
	return planning{of, low, high, cfg.Pin, cfg.Forbid, o.stored.plan(cfg) != nil}, err
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
	of, err := o.planning(fp32(cfg))
	return referring{of, cfg.Batch}, err
}

func (o *orders) surveying(cfg config.Config) (in surveying, err error) {
	in.By = finderOf(o.model, cfg)
	if in.Of, err = o.lowering(cfg); err == nil {
		in.Collecting, err = o.collecting(cfg)
	}
	return in, err
}
