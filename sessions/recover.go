package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
)

// surviving does work, and once more where the device was lost meanwhile: it is started anew, and the engine of the
// configuration is run step by step, which names the layer at fault if it is one that fails every time. warn is told.
func (s *stages) surviving(ctx context.Context, cfg config.Config, warn func(string), work func() error) (err error) {
	defer func() { err = dataset.OutOfRange(s.place.Data, err) }()
	err = work()
	device, ok := s.device.backend.(run.Recoverer)
	if err == nil || !ok || !device.Lost(err) {
		return err
	}
	warn(fmt.Sprintf("%s was lost and is restarted: %v", s.device.backend.Info().Name, err))
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
	s.device.busy.Lock()
	defer s.device.busy.Unlock()
	s.release()
	return device.Recover()
}

// stepwise runs the configuration's engine once, waiting for every step.
func (s *stages) stepwise(ctx context.Context, cfg config.Config) error {
	l, err := s.engines.load(ctx, cfg)
	if err != nil {
		return err
	}
	s.device.busy.Lock()
	defer s.device.busy.Unlock()
	c, err := s.inferences.ready(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Observe(ctx, run.Observer{})
}
