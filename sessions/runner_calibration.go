package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
)

// Calibration returns what calibration finds for a configuration, to be written to a file.
func (r *Runner) Calibration(ctx context.Context, cfg config.Config) (*CalibrationFile, error) {
	s := r.stages
	in, err := s.orders.ranging(cfg)
	if err != nil {
		return nil, err
	}
	if s.orders.stored.ranges(in.By) != nil {
		return nil, fmt.Errorf("the ranges are those of %s, which has no histograms: calibrate the model itself, or the engine on data", s.model.Name())
	}
	ranges, err := s.calibration.ranges.of(ctx, in)
	if err != nil {
		return nil, err
	}
	found, err := s.calibration.hist.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	f := &CalibrationFile{
		Version: calibrationVersion, Model: s.model.Name(), Data: s.calibration.data.Name(), Items: s.calibration.items(),
		Random: s.calibration.data.Random(), Calibrator: in.By.Calibrator, Activations: in.By.Activations,
	}
	scheme, means := cfg.Quantization.Scheme(), found.ChannelMeans()
	add := func(t *graph.Tensor) {
		h := found.Histograms[t.Name]
		if h == nil {
			return
		}
		c := CalibrationOf{Name: t.Name, Histogram: h, Axis: means[t.Name].Axis, Means: means[t.Name].Mean}
		if r, ok := ranges[t.Name]; ok {
			lo, hi := quant.Limits(r, scheme.DataType())
			if !scheme.Asymmetric {
				lo, hi = -quant.AMax(r), quant.AMax(r)
			}
			c.Range = []float64{lo, hi}
		}
		f.Tensors = append(f.Tensors, c)
	}
	for _, t := range s.model.Network.Inputs {
		add(t)
	}
	for _, l := range s.model.Network.Layers {
		for _, t := range l.Outputs {
			add(t)
		}
	}
	return f, nil
}
