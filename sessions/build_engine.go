package sessions

import (
	"context"
	"encoding/json"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Engine builds the engine of a configuration, to be written to a file. It holds what running needs, and with keepSource the
// network that it was made of, with which it can be compared and built anew.
func (r *Runner) Engine(ctx context.Context, cfg config.Config, keepSource bool) (e *run.Engine, err error) {
	err = r.surviving(ctx, cfg, func() error {
		e, err = r.engine(ctx, cfg, keepSource)
		return err
	})
	return e, err
}

func (r *Runner) engine(ctx context.Context, cfg config.Config, keepSource bool) (*run.Engine, error) {
	if keepSource {
		if err := r.stages.Model.NeedsSource("keeping it"); err != nil {
			return nil, err
		}
	}
	s := r.stages
	report, err := newEngineReport(ctx, s, cfg, keepSource)
	if err != nil {
		return nil, err
	}
	e := &run.Engine{Report: report, Origin: originOf(s, cfg)}
	for k := range len(cfg.Profiles) + 1 {
		p, err := planWithCode(ctx, s, cfg, k)
		if err != nil {
			return nil, err
		}
		e.Add(p)
	}
	if keepSource {
		e.Source = s.Model.Network
	}
	return e, nil
}

// planWithCode returns a copy of the plan of a profile, with its kernels where the device compiles them.
func planWithCode(ctx context.Context, s *stages.Stages, cfg config.Config, k int) (*run.Plan, error) {
	p, err := s.Tuning.Profile(ctx, cfg, k)
	if err != nil {
		return nil, err
	}
	with := *p
	if _, compiles := s.Device.Backend.(run.Compiler); compiles && p.Code == nil {
		l, err := s.Engines.Profile(ctx, cfg, k)
		if err != nil {
			return nil, err
		}
		with.Code = l.Code()
	}
	return &with, nil
}

// newEngineReport returns the report part of an engine file; withSource tells of one that may be lowered again.
func newEngineReport(ctx context.Context, s *stages.Stages, cfg config.Config, withSource bool) (json.RawMessage, error) {
	r := model.EngineReport{Schema: report.Schema, Config: cfg, Backend: s.Device.Backend.Info().Name, Notes: s.Model.Notes}
	r.Config.Quantization = cfg.Quantization.Full() // what is the default may change
	if s.Model.Stripped {
		return s.Model.Engine.Report, nil // its ranges and data, which are not found anew
	}
	if s.Model.NeedsCalibration(cfg) {
		var err error
		if r.Ranges, err = s.Calibration.Of(ctx, cfg); err != nil {
			return nil, err
		}
		by := stages.FinderOf(s.Model, cfg)
		r.Data, r.Random = s.Orders.Stored.CalibrationData(by), s.Orders.Stored.RandomRanges(by)
		l, err := s.Precisions.Lower(ctx, cfg)
		if err != nil {
			return nil, err
		}
		r.Shifts, r.Equalized, r.ByToken = l.Shifts, l.Equalized, l.ByToken
		if withSource || len(l.Rounded) == 0 {
			r.Rounded = l.Rounded
		}
	}
	return graph.MarshalStored(r)
}

// originOf says what an engine is made of, and by whom. The date is for the caller to say.
func originOf(s *stages.Stages, cfg config.Config) run.Provenance {
	info := s.Device.Backend.Info()
	o := run.Provenance{
		Program: s.Place.Program, Model: s.Model.Name(), ModelHash: s.Model.SHA256, Config: s.NameOf(cfg), Backend: info.Name, Device: info.Device,
	}
	if s.Model.NeedsCalibration(cfg) {
		o.Data = s.Orders.Stored.CalibrationData(stages.FinderOf(s.Model, cfg))
	}
	if s.Model.Engine != nil && s.Model.Stripped { // the model is that one's
		from := s.Model.Engine.Origin
		o.Model, o.ModelHash, o.Data = from.Model, from.ModelHash, from.Data
	}
	return o
}
