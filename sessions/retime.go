package sessions

import (
	"context"
	"errors"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// todo is what a person asks for that is done once, when the loop next begins to work.
type todo struct {
	build       bool                        // the engine, and what is to be known of it
	calibrators bool                        // their comparison, where it lacks the one that is set
	retime      string                      // the layer whose tactics to measure again
	drop        func(build.CacheEntry) bool // the entries of the timing cache to forget
}

// Retime measures every tactic of a layer again, whatever the timing cache knows of them, and chooses anew. What was
// measured when it is cancelled, by Set or Rerun, is kept; the engine is then as it was.
func (s *Session) Retime(layer string) {
	s.update(func(snap *report.Snapshot) {
		snap.Retiming, s.todo.retime = layer, layer
		s.interrupt()
	})
}

// DropTimings forgets the timing cache's entries of other devices and builds, or all entries; so does the file.
// Engines that are in memory stay as they are.
func (s *Session) DropTimings(all bool) {
	target := s.stages.Backend.Info().Fingerprint
	s.mu.Lock()
	s.todo.drop = func(e build.CacheEntry) bool { return all || e.Target != target }
	s.interrupt()
	s.mu.Unlock()
}

// plan plans the engine; first it measures the tactics of a layer again if one is named.
func (s *Session) plan(ctx context.Context, cfg config.Config, retime string) (*run.Plan, error) {
	if retime != "" {
		defer func() { s.update(func(snap *report.Snapshot) { snap.Retiming = s.todo.retime }) }()
		if err := s.stages.retime(ctx, cfg, retime); err != nil {
			if errors.Is(err, context.Canceled) {
				s.log("info", retime, "re-timing was cancelled")
			}
			return nil, err
		}
	}
	p, err := s.stages.plan(ctx, cfg)
	if err == nil && retime != "" {
		s.logRetimed(p, retime)
	}
	return p, err
}

// logRetimed tells what came of measuring a layer's tactics again.
func (s *Session) logRetimed(p *run.Plan, layer string) {
	for _, st := range p.Steps {
		if st.Name != layer {
			continue
		}
		timed := 0
		for _, c := range st.Candidates {
			if c.Timed && c.Reason == "" {
				timed++
			}
		}
		s.log("info", layer, "%d tactics timed again: %s takes %v", timed, st.Tactic, st.Time)
	}
}

// retime measures the tactics of a layer again, and makes the plan of the configuration anew. What was made with the old
// plan is forgotten.
func (s *stages) retime(ctx context.Context, cfg config.Config, layer string) error {
	if _, err := s.lower(ctx, cfg); err != nil {
		return err
	}
	in, err := s.planning(cfg)
	if err != nil {
		return err
	}
	p, err := s.tune(ctx, in, []string{layer})
	if err != nil {
		return err
	}
	s.plans.replace(in, p)
	s.loaded.forget(in)
	for _, perLayer := range []bool{true, false} {
		examined, err := s.examining(cfg, perLayer)
		if err != nil {
			return err
		}
		s.accuracies.forget(examined)
	}
	return nil
}
