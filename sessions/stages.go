package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
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

// stages computes what a configuration asks for and remembers it, by stages of which each sees its part of the
// configuration (orders.go); so a toggle repeats only those that read what it changed.
type stages struct {
	Workplace
	model    *Model
	progress func(report.Progress)
	log      *journal

	device  sync.Mutex // one measurement at a time
	unsaved error      // why the timing cache could not be written
	unfiled error      // why compiled code cannot be kept in files, once that was said
	// unknown decides on a configuration whose tactics name layers or tactics that there are not; nil: that is an error.
	unknown  func(config.Config, error) error
	outdated bool // the engine file's plan names tactics that the backend has no more

	optimized *stage[rewriting, *build.Optimized]
	hist      *stage[collecting, map[string]*quant.Histogram]
	ranges    *stage[ranging, map[string]graph.Range]
	lowered   *stage[lowering, *build.Lowered]
	plans     *stage[planning, *run.Plan]
	loaded    *stage[planning, *run.Loaded]

	onHost     *stage[planning, *run.Loaded] // FP32, where the device is not the host
	references *stage[referring, *reference]
	accuracies *stage[examining, *report.Accuracy]
	weights    *stage[rewriting, []report.WeightCalibration]
	surveys    *stage[surveying, *report.Calibration]

	tensors memo[map[string]graph.Value] // FP32's, by batch
}

// newStages returns the stages of a model at a workplace; progress is told what is being done.
func newStages(m *Model, w Workplace, progress func(report.Progress)) *stages {
	s := &stages{Workplace: w, model: m, log: &journal{write: w.Log}, progress: progress}
	s.optimized, s.hist, s.ranges = newStage(s.makeOptimized), newStage(s.makeHistograms), newStage(s.makeRanges)
	s.lowered, s.plans, s.loaded, s.onHost = newStage(s.makeLowered), newStage(s.makePlan), newStage(s.makeLoaded), newStage(s.makeOnHost)
	s.references, s.accuracies = newStage(s.makeReference), newStage(s.makeAccuracy)
	s.weights, s.surveys = newStage(s.makeWeights), newStage(s.makeSurvey)
	s.loaded.kept.drop, s.onHost.kept.drop = (*run.Loaded).Close, (*run.Loaded).Close
	return s
}

// memoSize is how many results of a stage are kept: enough to toggle to and fro among precisions and calibrators.
const memoSize = 12

// nameOf names a configuration.
func (s *stages) nameOf(cfg config.Config) string { return cfg.Label(s.model.Quantized) }

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

func (s *stages) optimize(ctx context.Context, cfg config.Config) (*build.Optimized, error) {
	in, err := s.rewriting(cfg)
	if err != nil {
		return nil, err
	}
	return s.optimized.of(ctx, in)
}

func (s *stages) makeOptimized(ctx context.Context, in rewriting) (*build.Optimized, error) {
	if in.Planned {
		return &build.Optimized{Network: s.model.Network}, nil // passes left no trace in it
	}
	s.progress(report.Progress{Phase: "optimising"})
	if err := s.model.checkDisabled(in.Disable); err != nil {
		return nil, err
	}
	if err := s.model.checkExtents(in.Symbols); err != nil {
		return nil, err
	}
	begin := time.Now()
	o, err := build.Optimize(ctx, s.model.Network, in.passes(s.model.Passes))
	if err == nil {
		s.log.passes("optimised", len(s.model.Network.Layers), o.Steps, begin)
	}
	return o, err
}

func (s *stages) makeHistograms(ctx context.Context, in collecting) (map[string]*quant.Histogram, error) {
	if err := cmp.Or(s.runnable(), s.model.needsSource("calibration"), s.model.checkExtents(in.Symbols)); err != nil {
		return nil, err
	}
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
	hist, err := build.Collect(ctx, s.model.Network, in.Symbols, s.host(), batches, func(done int) {
		s.progress(report.Progress{Phase: "collecting activations", Done: done, Total: n})
	})
	if err == nil {
		s.log.collected(hist, n, s.CalData.Name(), begin)
	}
	return hist, err
}

func (s *stages) calibrationItems() int {
	n := s.CalData.Len()
	if s.CalItems > 0 {
		n = min(n, s.CalItems)
	}
	return n
}

func (s *stages) makeRanges(ctx context.Context, in ranging) (map[string]graph.Range, error) {
	if r := s.storedRanges(in.Calibrator); r != nil {
		return r, nil
	}
	c, err := quant.ParseCalibrator(in.Calibrator, quant.Scheme{})
	if err != nil {
		return nil, err
	}
	hist, err := s.hist.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	s.progress(report.Progress{Phase: "calibrating", Item: in.Calibrator})
	begin := time.Now()
	ranges := build.Ranges(hist, c)
	s.log.say("info", "", "calibrated with %s: %s in %s", in.Calibrator, config.CountOf(len(ranges), "range", "ranges"), took(begin))
	return ranges, nil
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
	if _, _, err := cfg.Lowering(); err != nil {
		return nil, err
	}
	in, err := s.lowering(cfg)
	if err != nil {
		return nil, err
	}
	if in.Planned {
		return s.lowered.of(ctx, in)
	}
	if err := s.model.needsSource("another configuration than it was built with"); err != nil {
		return nil, err
	}
	o, err := s.optimize(ctx, cfg)
	if err != nil {
		return nil, err
	}
	_, known := s.lowered.known(in)
	l, err := s.lowered.of(ctx, in)
	if err != nil {
		return nil, err
	}
	if !known {
		s.warnOfLowering(cfg, o, l)
	}
	if cfg.Constraints == config.Obey {
		err = obeyed(unmet(cfg, o, l))
	}
	return l, err
}

func (s *stages) makeLowered(ctx context.Context, in lowering) (*build.Lowered, error) {
	if in.Planned {
		return &build.Lowered{Network: s.model.Engine.Any().Network}, nil
	}
	o, err := s.optimized.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	lowest, rules, err := in.config().Lowering()
	if err != nil {
		return nil, err
	}
	lc := build.LowerConfig{Precision: lowest, Policy: quant.Policy{Rules: rules}, Pass: in.Of.passes(s.model.Passes)}
	if in.Ranges != nil {
		if lc.Ranges, err = s.ranges.of(ctx, *in.Ranges); err != nil {
			return nil, err
		}
	}
	s.progress(report.Progress{Phase: "lowering to " + string(in.Precision)})
	if err := s.checkLayerPrecisions(in.config(), o); err != nil {
		return nil, err
	}
	begin := time.Now()
	l, err := build.Lower(ctx, o, lc, run.Supports(s.Backend, lc.Pass.Shapes))
	if err == nil {
		s.log.lowering(in.Precision, o, l, begin)
	}
	return l, err
}

// warnOfLowering tells what a person who asked for a configuration should know of its lowering.
func (s *stages) warnOfLowering(cfg config.Config, o *build.Optimized, l *build.Lowered) {
	if s.Warn == nil {
		return
	}
	if text := ignored(cfg); text != "" {
		s.Warn(text)
	}
	if cfg.Constraints != config.Obey {
		warnUnmet(unmet(cfg, o, l), func(_, text string) { s.Warn(text) })
	}
	if text := s.unchanged(cfg, o, l); text != "" {
		s.Warn(text)
	}
}

// plan chooses tactics and lays out memory.
func (s *stages) plan(ctx context.Context, cfg config.Config) (*run.Plan, error) {
	l, err := s.lower(ctx, cfg)
	if err != nil {
		return nil, err
	}
	in, err := s.planning(cfg)
	if err != nil {
		return nil, err
	}
	if p, ok := s.plans.known(in); ok {
		return p, nil
	}
	if err := s.knownTactics(cfg, l); err != nil {
		return nil, err
	}
	return s.plans.of(ctx, in)
}

func (s *stages) makePlan(ctx context.Context, in planning) (*run.Plan, error) {
	if in.Stored {
		return s.storedPlan(), nil
	}
	return s.tune(ctx, in, nil)
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
func (s *stages) tune(ctx context.Context, in planning, remeasure []string) (*run.Plan, error) {
	l, err := s.lowered.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	s.device.Lock()
	defer s.device.Unlock()
	s.progress(report.Progress{Phase: "choosing tactics"})
	begin, timed := time.Now(), map[string]bool{} // each is timed several times
	saved := begin
	before, _ := s.Cache.Stats()
	code := s.codeUse()
	defer func() { s.logCode(code) }()
	p, err := build.Plan(ctx, l.Network, in.symbols(), s.Backend, build.PlanConfig{
		Cache: s.Cache, Choices: build.TacticChoices{Pin: in.Pin, Forbid: in.Forbid}, Remeasure: remeasure,
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
	}
	if err == nil {
		hits, _ := s.Cache.Stats()
		s.log.tactics(p, s.Backend.Info().Estimated, hits-before, len(timed), begin)
		s.log.planned(p)
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

// packing says how many of a plan's kernels are bound.
func packing(done, total int, layer string) report.Progress {
	return report.Progress{Phase: "packing weights", Item: layer, Done: done, Total: total}
}

// load binds the plan's kernels.
func (s *stages) load(ctx context.Context, cfg config.Config) (*run.Loaded, error) {
	if _, err := s.plan(ctx, cfg); err != nil {
		return nil, err
	}
	in, err := s.planning(cfg)
	if err != nil {
		return nil, err
	}
	l, err := s.loaded.of(ctx, in)
	if errors.Is(err, run.ErrStale) && in.Stored {
		s.outdated = true
		return s.load(ctx, cfg)
	}
	return l, err
}

func (s *stages) makeLoaded(ctx context.Context, in planning) (*run.Loaded, error) {
	p, err := s.plans.of(ctx, in)
	if err != nil {
		return nil, err
	}
	s.progress(packing(0, len(p.Steps), ""))
	tell := func(done, total int, layer string) { s.progress(packing(done, total, layer)) }
	begin, code := time.Now(), s.codeUse()
	defer func() { s.logCode(code) }()
	l, err := run.LoadTelling(ctx, p, s.Backend, tell)
	if errors.As(err, new(*run.NoRoom)) && s.loaded.kept.shrink(1) { // older engines take what is missing
		l, err = run.LoadTelling(ctx, p, s.Backend, tell)
	}
	if err == nil {
		s.log.say("info", "", "loaded the engine in %s: weights %s", took(begin), size(p.Memory.Weights))
	}
	return l, err
}
