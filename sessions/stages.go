package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Workplace is what a session works with, beside the model.
type Workplace struct {
	Backend run.Backend
	Host    run.Backend // runs the FP32 reference and collects activations; nil: Backend
	Cache   *build.TimingCache
	// Warn is told what a person should know of a build that succeeds: layer precisions that are not met, a precision that
	// changes nothing. A Session has
	// its log for that; nil tells nobody.
	Warn func(text string)
	// Log is told what each stage did. A Session has its log for that; nil tells nobody.
	Log    func(report.LogLine)
	SaveTo string // the timing cache's file; empty: nowhere
	// CacheError says why a timing cache that was there could not be read; work goes on without.
	CacheError error
	Data       Data // to measure accuracy on
	CalData    Data // to calibrate with
	CalItems   int  // of CalData at most; 0: all
	TapItems   int  // items on which layers are compared; 0: 8
	// Recalibrate finds all ranges on CalData, those of an engine file's own calibrator too; else that one keeps the ranges
	// in the file, unless they come from random input and CalData does not.
	Recalibrate bool
	Program     string // that recordings name as their writer, with its version
}

// stages computes what a configuration asks for and remembers it. Each stage is a pure function of the model and of
// the part of the configuration in its key; so a toggle repeats only the stages that read what it changed.
type stages struct {
	Workplace
	model    *Model
	progress func(report.Progress)
	hushed   *int // counts the lines that are left out of the log; nil: none is

	device  sync.Mutex // one measurement at a time
	unsaved error      // why the timing cache could not be written
	unfiled error      // why compiled code cannot be kept in files, once that was said
	// unknown decides on a configuration whose tactics name layers or tactics that there are not; nil: that is an error.
	unknown   func(config.Config, error) error
	outdated  bool // the engine file's plan names tactics that the backend has no more
	optimized memo[*build.Optimized]
	hist      memo[map[string]*quant.Histogram]
	ranges    memo[map[string]graph.Range]
	lowered   memo[*build.Lowered]
	plans     memo[*run.Plan]
	loaded    memo[*run.Loaded]
	reference memo[*reference]
	onHost    memo[*run.Loaded] // FP32, where the device is not the host

	tensors      memo[map[string]graph.Value] // FP32's, by batch
	accuracies   memo[*report.Accuracy]
	calibrations memo[*report.Calibration]

	weightCalibrations memo[[]report.WeightCalibration]
}

// memoSize is how many results of a stage are kept: enough to toggle to and fro among precisions and calibrators.
const memoSize = 12

// key makes a memo's key of anything that JSON can write; maps are written in order.
func key(parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic("sessions: key: " + err.Error())
	}
	return string(b)
}

// program names the writer of recordings.
func (s *stages) program() string { return cmp.Or(s.Program, "unknown") }

// host returns the backend for what is the same whatever the device.
func (s *stages) host() run.Backend {
	if s.Host != nil {
		return s.Host
	}
	return s.Backend
}

// env returns the values of the network's symbols under a configuration.
func (s *stages) env(cfg config.Config) (map[string]int, error) {
	return s.model.values(cfg)
}

// passConfig translates the toggles of rules and sites.
func (s *stages) passConfig(cfg config.Config) (pass.Config, error) {
	env, err := s.env(cfg)
	if err != nil {
		return pass.Config{}, err
	}
	pc := pass.Config{Until: cfg.Until, Shapes: env}
	for _, d := range cfg.Disable {
		if site, err := pass.ParseSite(d); err == nil {
			pc.DisableSites = append(pc.DisableSites, site)
		} else {
			pc.DisableRules = append(pc.DisableRules, d)
		}
	}
	return pc, nil
}

func (s *stages) optimize(ctx context.Context, cfg config.Config) (*build.Optimized, error) {
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	if s.model.planned(cfg) != nil || s.model.Stripped {
		return &build.Optimized{Network: s.model.Network}, nil // passes left no trace in it
	}
	return s.optimized.get(s.optimizedKey(cfg, pc), func() (*build.Optimized, error) {
		s.progress(report.Progress{Phase: "optimising"})
		if err := s.model.checkDisabled(cfg); err != nil {
			return nil, err
		}
		if s.model.Refused == nil { // else shapes are what the model says, and symbols that are not known count as 1
			if err := s.model.checkExtents(pc.Shapes); err != nil {
				return nil, err
			}
		}
		begin := time.Now()
		o, err := build.Optimize(ctx, s.model.Network, pc)
		if err == nil {
			s.logPasses("optimised", len(s.model.Network.Layers), o.Steps, begin)
		}
		return o, err
	})
}

func (s *stages) optimizedKey(cfg config.Config, pc pass.Config) string {
	return key(cfg.Disable, cfg.Until, pc.Shapes)
}

// histograms collects activations of the unfused network. Nothing that is toggled changes them.
func (s *stages) histograms(ctx context.Context, cfg config.Config) (map[string]*quant.Histogram, error) {
	if err := s.runnable(); err != nil {
		return nil, err
	}
	if err := s.model.needsSource("calibration"); err != nil {
		return nil, err
	}
	one := cfg
	one.Batch = 1
	env, err := s.env(s.model.Shaped(one))
	if err != nil {
		return nil, err
	}
	return s.hist.get(key(env), func() (map[string]*quant.Histogram, error) {
		s.device.Lock()
		defer s.device.Unlock()
		n := s.calibrationItems()
		s.progress(report.Progress{Phase: "collecting activations", Total: n})
		batches := func(yield func(map[string]graph.Value, error) bool) {
			for i := range n {
				if !yield(s.CalData.Inputs(i)) {
					return
				}
			}
		}
		begin := time.Now()
		hist, err := build.Collect(ctx, s.model.Network, env, s.host(), batches, func(done int) {
			s.progress(report.Progress{Phase: "collecting activations", Done: done, Total: n})
		})
		if err == nil {
			s.logCollected(hist, n, begin)
		}
		return hist, err
	})
}

func (s *stages) calibrationItems() int {
	n := s.CalData.Len()
	if s.CalItems > 0 {
		n = min(n, s.CalItems)
	}
	return n
}

// calibrate returns the ranges that a calibrator finds.
func (s *stages) calibrate(ctx context.Context, cfg config.Config, calibrator string) (map[string]graph.Range, error) {
	c, err := quant.ParseCalibrator(calibrator, quant.Scheme{})
	if err != nil {
		return nil, err
	}
	hist, err := s.histograms(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return s.ranges.get(key(c.String(), cfg.Shapes), func() (map[string]graph.Range, error) {
		s.progress(report.Progress{Phase: "calibrating", Item: calibrator})
		begin := time.Now()
		ranges := build.Ranges(hist, c)
		s.say("info", "", "calibrated with %s: %s in %s", calibrator, config.CountOf(len(ranges), "range", "ranges"), took(begin))
		return ranges, nil
	})
}

// needsCalibration reports whether lowering reads ranges: where layers may run in 8 bits, unless the model brings its
// own quantisation.
func (s *stages) needsCalibration(cfg config.Config) bool {
	return cfg.Quantizes() && !s.model.Quantized && s.model.planned(cfg) == nil
}

// lower brings the network to the configuration's precision. Where layers cannot have theirs, which must be obeyed, it
// returns what there is together with the error.
func (s *stages) lower(ctx context.Context, cfg config.Config) (*build.Lowered, error) {
	if err := s.runnable(); err != nil {
		return nil, err
	}
	if _, ok := cfg.Precision.DataType(); !ok {
		return nil, fmt.Errorf("precision %q is unknown; use fp32, fp16 or int8", cfg.Precision)
	}
	lowest, rules, err := cfg.Lowering()
	if err != nil {
		return nil, err
	}
	if n := s.model.planned(cfg); n != nil {
		return &build.Lowered{Network: n}, nil
	}
	if err := s.model.needsSource("another configuration than it was built with"); err != nil {
		return nil, err
	}
	o, err := s.optimize(ctx, cfg)
	if err != nil {
		return nil, err
	}
	lc := build.LowerConfig{Precision: lowest, Policy: quant.Policy{Rules: rules}}
	if lc.Pass, err = s.passConfig(cfg); err != nil {
		return nil, err
	}
	calibrator := ""
	if s.needsCalibration(cfg) {
		calibrator = cfg.Calibrator
		if lc.Ranges, err = s.rangesFor(ctx, cfg); err != nil {
			return nil, err
		}
	}
	l, err := s.lowered.get(s.loweredKey(cfg, lc.Pass, calibrator), func() (*build.Lowered, error) {
		s.progress(report.Progress{Phase: "lowering to " + string(cfg.Precision)})
		if err := s.checkLayerPrecisions(cfg, o); err != nil {
			return nil, err
		}
		if text := ignored(cfg); text != "" && s.Warn != nil {
			s.Warn(text)
		}
		begin := time.Now()
		l, err := build.Lower(ctx, o, lc, run.Supports(s.Backend, lc.Pass.Shapes))
		if err == nil {
			s.logLowering(cfg, o, l, begin)
		}
		if err == nil && cfg.Constraints != config.Obey && s.Warn != nil {
			warnUnmet(unmet(cfg, o, l), func(_, text string) { s.Warn(text) })
		}
		if err == nil && s.Warn != nil {
			if text := s.unchanged(cfg, o, l); text != "" {
				s.Warn(text)
			}
		}
		return l, err
	})
	if err == nil && cfg.Constraints == config.Obey {
		err = obeyed(unmet(cfg, o, l))
	}
	return l, err
}

func (s *stages) loweredKey(cfg config.Config, pc pass.Config, calibrator string) string {
	layers := cfg.LayerPrecisions
	if cfg.Constraints == config.Ignore {
		layers = nil
	}
	return key(cfg.Precision, calibrator, layers, cfg.Disable, cfg.Until, pc.Shapes)
}

// plan chooses tactics and lays out memory.
func (s *stages) plan(ctx context.Context, cfg config.Config) (*run.Plan, error) {
	l, err := s.lower(ctx, cfg)
	if err != nil {
		return nil, err
	}
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	return s.plans.get(s.planKey(cfg, pc), func() (*run.Plan, error) {
		if err := s.knownTactics(cfg, l); err != nil {
			return nil, err
		}
		if p := s.stored(cfg); p != nil {
			return p, nil
		}
		return s.tune(ctx, cfg, l, pc.Shapes, nil)
	})
}

// knownTactics returns an error for layers and tactics that a configuration names and that there are not, unless unknown
// lets it pass. What an engine was built with had them then; another backend may have others.
func (s *stages) knownTactics(cfg config.Config, l *build.Lowered) error {
	if built, err := s.model.BuiltWith(); err == nil && key(built) == key(cfg) {
		return nil
	}
	err := s.checkTactics(cfg, l)
	if err != nil && s.unknown != nil {
		return s.unknown(cfg, err)
	}
	return err
}

// saveEvery is how often tactics' times are saved while they are found: a kernel that hangs takes the process along, and what
// was timed before it need not be timed again.
const saveEvery = 10 * time.Second

// tune chooses tactics and lays out memory, and saves what was measured for that.
func (s *stages) tune(ctx context.Context, cfg config.Config, l *build.Lowered, env map[string]int, remeasure []string) (*run.Plan, error) {
	s.device.Lock()
	defer s.device.Unlock()
	s.progress(report.Progress{Phase: "choosing tactics"})
	begin, timed := time.Now(), map[string]bool{} // each is timed several times
	saved := begin
	before, _ := s.Cache.Stats()
	code := s.codeUse()
	defer func() { s.logCode(code) }()
	p, err := build.Plan(ctx, l.Network, env, s.Backend, build.PlanConfig{
		Cache: s.Cache, Choices: build.TacticChoices{Pin: cfg.Pin, Forbid: cfg.Forbid}, Remeasure: remeasure,
		Progress: func(m build.Timing) {
			timed[m.Layer+"\x00"+m.Tactic] = true
			phase := "timing tactics"
			if m.Again {
				phase = "timing again"
			}
			s.progress(report.Progress{Phase: phase, Item: m.Layer + ": " + m.Tactic, Done: m.Done, Total: m.Total})
			if time.Since(saved) >= saveEvery {
				s.saveCache()
				saved = time.Now()
			}
		},
		Compiling: func(done, total int) {
			s.progress(s.compiling(done, total, code))
		},
	})
	if err == nil || len(timed) > 0 { // what was timed before it was stopped need not be timed again
		s.saveCache()
		hits, _ := s.Cache.Stats()
		s.logTactics(p, hits-before, len(timed), begin)
		s.logPlan(p)
	}
	return p, err
}

// saveCache writes the timing cache to its file. An error is a warning: what was measured is still in memory.
func (s *stages) saveCache() {
	if s.SaveTo != "" {
		if s.unsaved = s.Cache.Save(s.SaveTo); s.unsaved != nil && s.Warn != nil {
			s.Warn(s.unsaved.Error())
		}
	}
}

func (s *stages) planKey(cfg config.Config, pc pass.Config) string {
	calibrator := ""
	if s.needsCalibration(cfg) {
		calibrator = cfg.Calibrator
	}
	return key(s.loweredKey(cfg, pc, calibrator), cfg.Pin, cfg.Forbid)
}

// packing says how many of a plan's kernels are bound.
func packing(done, total int, layer string) report.Progress {
	return report.Progress{Phase: "packing weights", Item: layer, Done: done, Total: total}
}

// load binds the plan's kernels.
func (s *stages) load(ctx context.Context, cfg config.Config) (*run.Loaded, error) {
	p, err := s.plan(ctx, cfg)
	if err != nil {
		return nil, err
	}
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	s.loaded.drop = (*run.Loaded).Close
	l, err := s.loaded.get(s.planKey(cfg, pc), func() (*run.Loaded, error) {
		s.progress(packing(0, len(p.Steps), ""))
		tell := func(done, total int, layer string) { s.progress(packing(done, total, layer)) }
		begin, code := time.Now(), s.codeUse()
		defer func() { s.logCode(code) }()
		l, err := run.LoadTelling(ctx, p, s.Backend, tell)
		if errors.As(err, new(*run.NoRoom)) && s.loaded.shrink(1) { // older engines take what is missing
			l, err = run.LoadTelling(ctx, p, s.Backend, tell)
		}
		if err == nil {
			s.say("info", "", "loaded the engine in %s: weights %s", took(begin), size(p.Memory.Weights))
		}
		return l, err
	})
	if errors.Is(err, run.ErrStale) && p == s.stored(cfg) {
		s.outdated, s.plans = true, memo[*run.Plan]{}
		return s.load(ctx, cfg)
	}
	return l, err
}
