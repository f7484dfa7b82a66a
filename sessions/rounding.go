package sessions

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

var (
	// halfRounding is FP16's: each run is as far from FP32 as FP16 makes the network, and two that had nothing in common
	// were sqrt(2) as far from each other.
	halfRounding = report.RoundingFactors{RMS: 1.5, Peak: 2}
	// byteRounding is INT8's. All runs compute the same integers, but for the few that are quantised from real numbers which
	// lie so near to the middle of a step that one run rounds them up and another down.
	byteRounding = report.RoundingFactors{RMS: 0.25, Peak: 1}
)

// rounding returns the factors of a configuration that lowers an FP32 network, so that FP32 shows what its rounding does;
// nil for others.
func rounding(n *graph.Network, cfg config.Config) *report.RoundingFactors {
	lowest, rules, err := cfg.Lowering()
	if err != nil || lowest == numeric.F32 {
		return nil
	}
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			if t.Type == numeric.F16 || t.Type == numeric.BF16 {
				return nil
			}
		}
	}
	half := func(r quant.Rule) bool { return r.Precision == numeric.F16 }
	if lowest == numeric.F16 || slices.ContainsFunc(rules, half) {
		return &halfRounding
	}
	return &byteRounding
}
