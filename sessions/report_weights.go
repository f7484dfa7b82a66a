package sessions

import (
	"context"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
)

// WeightCalibration tells what 8 bits make of the weights of one layer of the optimised network, channel by channel
// (trtui calibrate --weights). Where a layer has more than maxWeightBars channels, an entry of the lists is that of Group
// neighbours: the largest Amax and the least ratios.
type WeightCalibration struct {
	Layer      string
	From       []string // source layers
	Op         string
	Tensor     string
	Dims       []int
	Channels   int // of the output; 1 where all weights share a scale
	Group      int
	Amax       []float32 // the scale is a 127th of it
	SQNR       []float64 `unit:"db" exact:"exact"`                                             // with a scale for each channel
	Shared     []float64 `unit:"db" output:"per_tensor_sqnr" exact:"per_tensor_exact"`         // with one scale for all
	PerChannel float64   `unit:"db" output:"all_sqnr" exact:"all_exact"`                       // of all weights, with a scale for each channel
	PerTensor  float64   `unit:"db" output:"all_per_tensor_sqnr" exact:"all_per_tensor_exact"` // of all weights, with one scale
	Spread     float64   `unit:"ratio"`                                                        // the largest Amax over the median one
	Dead       []int     `output:"nearly_dead_channels"`                                       // whose Amax is under a hundredth of the median, the first few
	DeadCount  int       `output:"nearly_dead"`
	Given      bool      // the model brings them in integers, which are used as they are
	Used       bool      // the engine multiplies with them in 8 bits
}

// Bounds of a layer's lists.
const (
	maxWeightBars   = 4096
	maxDeadChannels = 256
)

// weights assesses the weights of every layer that multiplies by constants. The lists are those of the optimised network:
// batch normalisation is folded into them, as it is when they are quantised.
func (s *stages) weights(ctx context.Context, cfg config.Config) ([]WeightCalibration, error) {
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	o, err := s.optimize(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return s.weightCalibrations.get(key(cfg.Disable, cfg.Until, pc.Shapes), func() ([]WeightCalibration, error) {
		var list []WeightCalibration
		for _, l := range o.Network.Layers {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if q, ok := quant.AssessWeights(l); ok {
				list = append(list, weightCalibration(l, q))
			}
		}
		return list, nil
	})
}

func weightCalibration(l *graph.Layer, q quant.WeightQuality) WeightCalibration {
	n := len(q.Channels)
	w := WeightCalibration{
		Layer: l.Name, From: l.From, Op: l.Op.Name, Tensor: l.Inputs[1].Name, Dims: graph.EvalDims(l.Inputs[1].Dims, nil),
		Channels: n, Group: (n + maxWeightBars - 1) / maxWeightBars, PerChannel: q.PerChannelDB, PerTensor: q.PerTensorDB, Given: q.Given,
	}
	for group := range slices.Chunk(q.Channels, w.Group) {
		g := group[0]
		for _, c := range group[1:] {
			g.AMax, g.OwnDB, g.SharedDB = max(g.AMax, c.AMax), min(g.OwnDB, c.OwnDB), min(g.SharedDB, c.SharedDB)
		}
		w.Amax, w.SQNR, w.Shared = append(w.Amax, g.AMax), append(w.SQNR, round(g.OwnDB)), append(w.Shared, round(g.SharedDB))
	}
	w.Spread, w.Dead = q.Spread()
	w.DeadCount = len(w.Dead)
	w.Dead = w.Dead[:min(len(w.Dead), maxDeadChannels)]
	return w
}

// markUsed says which weights the lowered network has in 8 bits.
func markUsed(list []WeightCalibration, n *graph.Network) []WeightCalibration {
	used := map[string]bool{} // source layers that compute on 8-bit weights
	for _, l := range n.Layers {
		if len(l.Inputs) > 1 && l.Inputs[1] != nil && l.Inputs[1].IsConst() && l.Inputs[1].Quantized() {
			for _, from := range l.From {
				used[from] = true
			}
		}
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Used = slices.ContainsFunc(list[i].From, func(from string) bool { return used[from] })
	}
	return list
}

// round returns a ratio in dB with two decimals: reports are stored as text.
func round(db float64) float64 { return math.Round(db*100) / 100 }
