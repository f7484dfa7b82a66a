package sessions

import (
	"context"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Set changes the configuration: work on the old one is cancelled. Where the new one builds the same engine, what there is
// and what is being done stay.
func (s *Session) Set(cfg config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snap.Err == "" && !s.halted && s.sameEngine(cfg, s.want) {
		s.rename(cfg)
		return
	}
	s.want, s.todo.retime = cfg, ""
	s.interrupt()
}

func (s *Session) sameEngine(a, b config.Config) bool {
	return a.SameEngine(b, s.stages.model.Quantized)
}

// rename takes a configuration that builds the same engine for the one that is wanted. Of the reports only the comparison
// of calibrators says which one is set, whether it has a say or not. s.mu is held.
func (s *Session) rename(cfg config.Config) {
	s.want, s.snap.Config = cfg, cfg
	name := config.FullCalibrator(cfg.Calibrator)
	switch r := s.snap.Calibration; {
	case r == nil || s.snap.Stale.Has(report.PartCalibration) || r.Active == name:
	case slices.Contains(r.Calibrators, name):
		c := *r
		c.Active = name
		s.snap.Calibration = &c
	default:
		s.snap.Stale |= report.PartCalibration
		s.todo.calibrators = true
		s.awake()
	}
	s.record(s.deliver())
}

// named returns the configuration that is wanted in place of one that builds the same engine; s.mu is held.
func (s *Session) named(cfg config.Config) config.Config {
	if s.sameEngine(cfg, s.want) {
		return s.want
	}
	return cfg
}

// compareCalibrators makes the comparison of calibrators, with the one that is set when it is done.
func (s *Session) compareCalibrators(ctx context.Context, cfg config.Config) error {
	for {
		s.mu.Lock()
		cfg = s.named(cfg)
		s.mu.Unlock()
		c, err := s.stages.calibration(ctx, cfg)
		if err != nil {
			return err
		}
		done := false
		s.update(func(snap *report.Snapshot) {
			if done = s.named(cfg).Calibrator == cfg.Calibrator; done {
				snap.Calibration = c
				snap.Stale &^= report.PartCalibration
				s.todo.calibrators = false
			}
		})
		if done {
			return nil
		}
	}
}
