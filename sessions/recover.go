package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// surviving does work, and once more where the device was lost meanwhile: it is started anew, and the engine of the
// configuration is run step by step, which names the layer at fault if it is one that fails every time. warn is told.
func (s *stages) surviving(ctx context.Context, cfg config.Config, warn func(string), work func() error) (err error) {
	defer func() { err = s.outOfRange(err) }()
	err = work()
	device, ok := s.Backend.(run.Recoverer)
	if err == nil || !ok || !device.Lost(err) {
		return err
	}
	warn(fmt.Sprintf("%s was lost and is restarted: %v", s.Backend.Info().Name, err))
	if e := s.recover(device); e != nil {
		return fmt.Errorf("%w; %w", err, e)
	}
	if err = s.stepwise(ctx, cfg); err == nil {
		warn("every layer runs by itself; what was interrupted is done again")
		err = work()
	}
	if err != nil && device.Lost(err) { // the next configuration finds it ready
		if e := s.recover(device); e != nil {
			return fmt.Errorf("%w; %w", err, e)
		}
	}
	return err
}

// recover gives up what is on the device and starts it anew.
func (s *stages) recover(device run.Recoverer) error {
	s.device.Lock()
	defer s.device.Unlock()
	s.release()
	return device.Recover()
}

// release closes the engines that are loaded. They are loaded anew when they are needed.
func (s *stages) release() {
	s.loaded.kept.shrink(0)
	s.onHost.kept.shrink(0)
}

// stepwise runs the configuration's engine once, waiting for every step.
func (s *stages) stepwise(ctx context.Context, cfg config.Config) error {
	l, err := s.load(ctx, cfg)
	if err != nil {
		return err
	}
	s.device.Lock()
	defer s.device.Unlock()
	c, err := s.ready(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Observe(ctx, run.Observer{})
}

// Compare runs a configuration over the data on every contender, item by item, and compares the first one's outputs with
// each of the others'. All of them share the ranges of one calibration, so that INT8 means the same integers. Where a device
// is lost it is started anew and all is done once more; an error names the layer at fault if it is one.
func Compare(ctx context.Context, m *Model, w Workplace, cfg config.Config, on []Contender, c compare.Options, progress func(report.Progress)) (*report.Comparison, error) {
	progress = forecasting(progress)
	var r *report.Comparison
	work := func() (err error) {
		r, err = compareOnce(ctx, m, w, cfg, on, c, progress)
		return err
	}
	warn := func(text string) {
		progress(report.Progress{Phase: "device lost", Item: text})
		if w.Warn != nil {
			w.Warn(text)
		}
	}
	for _, one := range on {
		if _, ok := one.Backend.(run.Recoverer); ok {
			s := newStages(m, w, progress)
			s.Backend = one.Backend
			defer s.release()
			once := work
			work = func() error { return s.surviving(ctx, cfg, warn, once) }
		}
	}
	return r, work()
}
