package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
)

// measure adds samples and publishes the timings as they come in.
func (s *Session) measure(ctx context.Context, cfg Config, l *run.Loaded, t *timings, built time.Duration, p run.Profiling) error {
	s.stages.device.Lock()
	defer s.stages.device.Unlock()
	c, err := s.stages.ready(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	s.stages.progress(Progress{Phase: s.stages.measuring()})
	begin, last, add := time.Now(), time.Now(), s.sampler(cfg, t)
	t.of(c)
	s.measured = false
	show := func(live bool) {
		r := t.report(live, s.stages.Backend.Info().Estimated)
		o := s.stages.overview(cfg, l.Plan, r)
		o.BuildTime = built
		s.publish(PartTimings|PartOverview, func(snap *Snapshot) { snap.Timings, snap.Overview = r, o })
	}
	err = c.Profile(ctx, s.stages.profiling(p), func(sample run.Sample) {
		add(sample)
		if time.Since(last) >= progressInterval {
			last = time.Now()
			show(true)
		}
	})
	if err == nil {
		show(false)
		if s.measured = p.Duration > 0 || s.stages.Backend.Info().Estimated; s.measured { // the first impression is for the eye alone
			s.stages.logTimings(t.report(false, s.stages.Backend.Info().Estimated), begin)
		}
	}
	return err
}

// ready returns a context with the first items of the data as its inputs, whose inferences ctx ends.
func (s *stages) ready(ctx context.Context, l *run.Loaded) (*run.ExecutionContext, error) {
	c, err := l.NewContext()
	if err != nil {
		return nil, err
	}
	s.watch(ctx, c, func() (Progress, int) { return Progress{Phase: s.measuring()}, 1 })
	if s.Data == nil || s.Data.Len() == 0 {
		return c, nil
	}
	in, err := batch(s.Data, s.model.Network, 0, s.batchOf(l.Plan))
	if err == nil {
		err = c.SetInputs(in)
	}
	if err != nil {
		c.Close()
	}
	return c, err
}
