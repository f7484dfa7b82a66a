package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/stages"
)

// Rounded returns the integers that a configuration rounds weights to by what they are multiplied by on the calibration data; nil where
// it rounds none so.
func Rounded(ctx context.Context, r *Runner, cfg config.Config) (build.Rounded, error) {
	l, err := r.stages.Precisions.Lower(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return l.Rounded, nil
}

// Calibration returns what calibration finds for a configuration, to be written to a file.
func (r *Runner) Calibration(ctx context.Context, cfg config.Config) (*stages.CalibrationFile, error) {
	s := r.stages
	in, err := s.Orders.Ranging(cfg)
	if err != nil {
		return nil, err
	}
	if s.Orders.Stored.Ranges(in.By) != nil {
		return nil, fmt.Errorf("the ranges are those of %s, which has no histograms: calibrate the model itself, or the engine on data", s.Model.Name())
	}
	ranges, err := s.Calibration.Ranges.Of(ctx, in)
	if err != nil {
		return nil, err
	}
	found, err := s.Calibration.Hist.Of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	f := &stages.CalibrationFile{
		Version: stages.CalibrationVersion, Model: s.Model.Name(), Data: s.Calibration.Data.Name(), Items: s.Calibration.Items(),
		Random: s.Calibration.Data.Random(), Calibrator: in.By.Calibrator, Activations: in.By.Activations,
	}
	scheme, means := cfg.Quantization.Scheme(), found.ChannelMeans()
	add := func(t *graph.Tensor) {
		h := found.Histograms[t.Name]
		if h == nil {
			return
		}
		c := stages.CalibrationOf{Name: t.Name, Histogram: h, Axis: means[t.Name].Axis, Means: means[t.Name].Mean}
		if r, ok := ranges[t.Name]; ok {
			lo, hi := quant.Limits(r, scheme.DataType())
			if !scheme.Asymmetric {
				lo, hi = -quant.AMax(r), quant.AMax(r)
			}
			c.Range = []float64{lo, hi}
		}
		f.Tensors = append(f.Tensors, c)
	}
	for _, t := range s.Model.Network.Inputs {
		add(t)
	}
	for _, l := range s.Model.Network.Layers {
		for _, t := range l.Outputs {
			add(t)
		}
	}
	return f, nil
}
