package stages

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
)

// Surviving does work, and once more where the device was lost meanwhile: it is started anew, and the engine of the
// configuration is run step by step, which names the layer at fault if it is one that fails every time. warn is told.
func (s *Stages) Surviving(ctx context.Context, cfg config.Config, warn func(string), work func() error) (err error) {
	defer func() { err = dataset.OutOfRange(s.Place.Data, err) }()
	err = work()
	device, ok := s.Device.Backend.(run.Recoverer)
	if err == nil || !ok || !device.Lost(err) {
		return err
	}
	warn(fmt.Sprintf("%s was lost and is restarted: %v", s.Device.Backend.Info().Name, err))
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
func (s *Stages) recover(device run.Recoverer) error {
	s.Device.Busy.Lock()
	defer s.Device.Busy.Unlock()
	s.Release()
	return device.Recover()
}

// stepwise runs the configuration's engine once, waiting for every step.
func (s *Stages) stepwise(ctx context.Context, cfg config.Config) error {
	l, err := s.Engines.Load(ctx, cfg)
	if err != nil {
		return err
	}
	s.Device.Busy.Lock()
	defer s.Device.Busy.Unlock()
	c, err := s.Inferences.Ready(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Observe(ctx, run.Observer{})
}
