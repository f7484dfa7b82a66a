package stages

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
)

// stored is what an engine file brings beside its network: its plan and the ranges that it was made with, as long as both
// fit the backend and the data at hand. Of a model that is no engine it is empty.
type stored struct {
	model       *model.Model
	backend     run.Backend
	calData     dataset.Data
	recalibrate bool // the ranges are not to be used
	outdated    bool // the plan names tactics that the backend has no more
}

// serves reports whether an engine file has a plan for a configuration: what it was built with, at that or at other shapes that
// one of its profiles serves, on a backend with the same tactics and with the ranges that are still in use.
func (s *stored) serves(cfg config.Config) bool {
	e := s.model.Engine
	if e == nil {
		return false
	}
	built, err := s.model.BuiltWith()
	if err != nil || s.outdated || s.recalibrated(cfg) {
		return false
	}
	plans := e.PlansFor(s.backend.Info().Fingerprint)
	if config.Same(built, cfg) {
		return len(plans) > 0
	}
	like := cfg
	like.Batch, like.Shapes = built.Batch, built.Shapes
	env, err := s.model.Symbols(cfg)
	return err == nil && config.Same(built, like) && slices.ContainsFunc(plans, func(p *run.Plan) bool { return p.Serves(env) == nil })
}

// planAt returns the plan that the engine file has for the backend at values of the symbols: that of the profile which was timed
// there, otherwise that of the first that serves them.
func (s *stored) planAt(env map[string]int) (*run.Plan, error) {
	plans := s.model.Engine.PlansFor(s.backend.Info().Fingerprint)
	for _, p := range plans {
		if maps.Equal(p.Env(), env) {
			return p, nil
		}
	}
	for _, p := range plans {
		if p.Serves(env) == nil {
			return p.At(env)
		}
	}
	return nil, fmt.Errorf("the engine has no plan for these shapes: %w", run.ErrStale)
}

// Replanned tells why the plan that an engine file has for a configuration is not the one in use; "" where it is, and where
// there is none.
func (s *stored) Replanned(cfg config.Config) string {
	e := s.model.Engine
	if e == nil {
		return ""
	}
	built, err := s.model.BuiltWith()
	switch {
	case err != nil:
		return ""
	case !config.Same(built, cfg):
		return s.reshaped(built, cfg)
	}
	switch target := s.backend.Info().Fingerprint; {
	case s.recalibrated(cfg) && s.recalibrate:
		return fmt.Sprintf("the engine was recalibrated on %s and its tactics were chosen again, as requested", s.calData.Name())
	case s.recalibrated(cfg):
		return fmt.Sprintf("the engine was calibrated on random input: it was calibrated on %s and its tactics chosen again", s.calData.Name())
	case !slices.ContainsFunc(e.Plans, func(p *run.Plan) bool { return p.Target == target }):
		return fmt.Sprintf("the engine was built for %s: its tactics were chosen again for %s", e.Targets(), target)
	case s.outdated:
		return "the engine was built by another version of the program: its tactics were chosen again"
	}
	return ""
}

// reshaped tells at which other shapes than those that an engine file serves a configuration runs it; "" where it differs in more from
// what the engine was built with.
func (s *stored) reshaped(built, cfg config.Config) string {
	like := cfg
	like.Batch, like.Shapes, like.MinShapes, like.MaxShapes, like.Profiles = built.Batch, built.Shapes, built.MinShapes, built.MaxShapes, built.Profiles
	if !config.Same(built, like) || s.serves(cfg) {
		return ""
	}
	env, err := s.model.Symbols(cfg)
	was, errBuilt := s.model.Symbols(built)
	if err != nil || errBuilt != nil {
		return ""
	}
	if maps.Equal(env, was) {
		return "the engine was built for other ranges of shapes: its tactics were chosen again for those that are asked for"
	}
	return fmt.Sprintf("the engine was built for %s alone: its tactics were chosen again for %s", s.otherShapes(was, env), s.otherShapes(env, was))
}

// otherShapes writes the shapes, as --shapes has them, of the inputs that have others at other values of symbols.
func (s *stored) otherShapes(env, other map[string]int) string {
	at, not := s.model.Network.ShapesAt(env), s.model.Network.ShapesAt(other)
	var list []string
	for _, t := range s.model.Network.Inputs {
		if !slices.Equal(at[t.Name], not[t.Name]) {
			list = append(list, t.Name+":"+config.TimesText(at[t.Name]))
		}
	}
	return strings.Join(list, ",")
}

// Ranges returns the ranges that an engine file brings, if they were found so; nil where they are to be found anew.
func (s *stored) Ranges(by finder) map[string]numeric.Range {
	if r := s.found(by); r != nil {
		return r.Ranges
	}
	return nil
}

// shifts returns what an engine file tells of how its biases were corrected, if that was done so and its ranges hold. Those of weights
// that were rounded by moments are of no use without these integers.
func (s *stored) shifts(by finder, how config.Quantization) map[string][]float64 {
	r := s.found(by)
	if r == nil || key(r.Config.Quantization.Full()) != key(how.Full()) || how.Rounder().NeedsMoments() && r.Rounded == nil {
		return nil
	}
	return r.Shifts
}

// rounded returns the integers of weights that an engine file tells of, if they were found so and its ranges hold.
func (s *stored) rounded(by finder, how config.Quantization, weights string) build.Rounded {
	r := s.found(by)
	if r == nil || key(r.Config.Quantization.Full()) != key(how.Full()) || r.Config.Weights != weights {
		return nil
	}
	return r.Rounded
}

// equalized returns what an engine file tells of how channels were equalised, if that was done so and its ranges hold.
func (s *stored) equalized(by finder, how config.Quantization) build.Equalized {
	if r := s.found(by); r != nil && key(r.Config.Quantization.Full()) == key(how.Full()) {
		return r.Equalized
	}
	return nil
}

// byToken returns what an engine file tells of the ranges of rows, if they were chosen so and its ranges hold; nil where they are to be chosen.
func (s *stored) byToken(by finder, how config.Quantization) *bool {
	if r := s.found(by); r != nil && key(r.Config.Quantization.Full()) == key(how.Full()) {
		return &r.ByToken
	}
	return nil
}

// found returns the report of an engine file whose ranges were found so; nil where there is none.
func (s *stored) found(by finder) *model.EngineReport {
	if s.model.Engine == nil {
		return nil
	}
	r, err := s.model.Making()
	if err != nil || r.Ranges == nil || key(FinderOf(s.model, r.Config)) != key(by) || s.anew(r) {
		return nil
	}
	return &r
}

// anew reports whether the ranges in an engine file are replaced: because that was asked for, or because the data at hand
// is worth more than the random input that they come from.
func (s *stored) anew(r model.EngineReport) bool {
	return s.calData != nil && (s.recalibrate || r.Random && !s.calData.Random())
}

// recalibrated reports whether the ranges of the engine file's plan are replaced by better ones.
func (s *stored) recalibrated(cfg config.Config) bool {
	r, err := s.model.Making()
	return err == nil && s.model.NeedsCalibration(cfg) && s.anew(r)
}

// RandomCalibration reports whether ranges that a configuration uses come from random input: some, where others were given.
func (s *stored) RandomCalibration(cfg config.Config) bool {
	by := FinderOf(s.model, cfg)
	return s.calData != nil && s.model.NeedsCalibration(cfg) && s.RandomRanges(by) && !by.gives(s.model.Network)
}

// RandomRanges reports whether ranges that are found so come from random input.
func (s *stored) RandomRanges(by finder) bool {
	if s.Ranges(by) != nil {
		r, _ := s.model.Making()
		return r.Random
	}
	return s.calData.Random()
}

// CalibrationData names what ranges that are found so come from.
func (s *stored) CalibrationData(by finder) string {
	if s.Ranges(by) != nil {
		r, _ := s.model.Making()
		return r.Data
	}
	return s.calData.Name()
}

// rangesFrom says where ranges that are found so come from.
func (s *stored) rangesFrom(by finder) string {
	from := s.CalibrationData(by)
	if s.Ranges(by) != nil {
		return "the engine's own, found on " + from
	}
	return "found on " + from
}
