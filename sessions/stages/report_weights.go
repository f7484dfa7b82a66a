package stages

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
)

// Bounds of a layer's lists.
const (
	maxWeightBars   = 4096
	maxDeadChannels = 256
)

func weightCalibration(l *graph.Layer, q quant.WeightQuality) report.WeightCalibration {
	n := len(q.Channels)
	w := report.WeightCalibration{
		Layer: l.Name, From: l.From, Op: l.Op.Name, Tensor: l.Inputs[1].Name, Dims: symbolic.Eval(l.Inputs[1].Dims, nil),
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
	if q.Axis >= 0 {
		reach := make([]float64, n)
		for c := range reach {
			reach[c] = float64(q.Channels[c].AMax)
		}
		w.Outliers = quant.FindOutliers(reach).Channels
	}
	w.Dead = w.Dead[:min(len(w.Dead), maxDeadChannels)]
	return w
}

// markUsed says which weights the lowered network has in 8 bits.
func markUsed(list []report.WeightCalibration, n *graph.Network) []report.WeightCalibration {
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
