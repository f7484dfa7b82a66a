package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// measure adds samples and publishes the timings as they come in.
func (s *Session) measure(ctx context.Context, cfg config.Config, l *run.Loaded, t *timings, built time.Duration, p run.Profiling) error {
	s.stages.device.Lock()
	defer s.stages.device.Unlock()
	c, err := s.stages.ready(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	s.stages.progress(report.Progress{Phase: s.stages.measuring()})
	begin, last, add := time.Now(), time.Now(), s.sampler(cfg, t)
	t.of(c)
	s.measured = false
	var beside *report.Beside
	show := func(live bool) {
		r := t.report(live, s.stages.Backend.Info().Estimated)
		if !live {
			r.Beside = beside
		}
		o := s.stages.overview(cfg, l.Plan, r)
		o.BuildTime = built
		s.publish(report.PartTimings|report.PartOverview, func(snap *report.Snapshot) { snap.Timings, snap.Overview = r, o })
	}
	each := func(sample run.Sample) {
		add(sample)
		if time.Since(last) >= progressInterval {
			last = time.Now()
			show(true)
		}
	}
	if p.Duration == 0 {
		err = c.Profile(ctx, s.stages.profiling(p), each)
	} else {
		beside, err = s.alternate(ctx, cfg, &compare.Lane{Context: c, Turn: s.stages.profiling(compare.Turn(p)), Each: each})
	}
	if err == nil {
		show(false)
		if s.measured = p.Duration > 0 || s.stages.Backend.Info().Estimated; s.measured { // the first impression is for the eye alone
			s.stages.log.timings(t.report(false, s.stages.Backend.Info().Estimated), begin)
		}
	}
	return err
}

// A reference has a turn so many times shorter than the engine that is measured beside it, but so many samples at least.
const (
	referenceShare   = 5
	referenceSamples = 2
)

// alternate measures an engine in rounds, beside the reference if that is still loaded and there is room for both; the first
// engine becomes the reference of those after it. It returns how the engine compares, nil where nothing was beside it.
func (s *Session) alternate(ctx context.Context, cfg config.Config, own *compare.Lane) (*report.Beside, error) {
	st, lanes := s.stages, []*compare.Lane{own}
	if s.reference == nil || s.reference.SameEngine(cfg, st.model.Quantized) {
		if err := compare.Alternate(ctx, lanes, st.rounds()); err != nil {
			return nil, err
		}
		s.reference = &cfg
		return nil, nil
	}
	id, err := st.identity(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if other, err := st.identity(ctx, *s.reference); err == nil && id == other {
		return &report.Beside{Config: *s.reference, Same: true, Speed: report.Speed{Ratio: 1, Low: 1, High: 1, SideBySide: true}}, compare.Alternate(ctx, lanes, st.rounds())
	}
	if l := st.kept(*s.reference); l != nil {
		c, err := st.ready(ctx, l)
		if err != nil && !errors.As(err, new(*run.NoRoom)) {
			return nil, err
		}
		if err == nil {
			defer c.Close()
			turn := own.Turn
			turn.Iterations, turn.Duration = referenceSamples, turn.Duration/referenceShare
			lanes = append(lanes, &compare.Lane{Context: c, Turn: st.profiling(turn), Each: func(run.Sample) {}})
		}
	}
	if err := compare.Alternate(ctx, lanes, st.rounds()); err != nil || len(lanes) < 2 {
		return nil, err
	}
	return &report.Beside{Config: *s.reference, Same: false, Speed: compare.PairedSpeed(lanes[1].Medians, own.Medians)}, nil
}

// kept returns the engine of a configuration if it is loaded, else nil.
func (s *stages) kept(cfg config.Config) *run.Loaded {
	in, err := s.planning(cfg)
	if err != nil {
		return nil
	}
	l, _ := s.loaded.known(in)
	return l
}

// ready returns a context with the first items of the data as its inputs, whose inferences ctx ends.
func (s *stages) ready(ctx context.Context, l *run.Loaded) (*run.ExecutionContext, error) {
	c, err := l.NewContext()
	if err != nil {
		return nil, err
	}
	s.watch(ctx, c, func() (report.Progress, int) { return report.Progress{Phase: s.measuring()}, 1 })
	if s.Data == nil || s.Data.Len() == 0 {
		return c, nil
	}
	in, err := compare.Stack(s.Data, s.model.Network, 0, s.batchOf(l.Plan))
	if err == nil {
		err = c.SetInputs(in)
	}
	if err != nil {
		c.Close()
	}
	return c, err
}
