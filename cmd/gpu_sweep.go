package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
)

func sweepCommand(t tables) *cobra.Command {
	return (&selftestFlags{gpuFlags: onGPU(t), sweep: true}).sweepCommand()
}

// sweepCommand is the selftest's machinery on layers of networks, with no reference to compare with.
func (o *selftestFlags) sweepCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sweep",
		Short: "Time every tactic on the layers of ResNet-50 and on matrix products, beside what the cost model predicts",
		Long: "Time every tactic of a backend on the convolutions of ResNet-50 and on ten matrix products, beside what the cost\n" +
			"model predicts; nothing is compared, which is what selftest does. Each tactic runs once before any runs twice.\n" +
			"On a simulated device both times are estimates, by different models, and all layers take days: see --filter.",
		Example: examples("every kernel of the first GPU, for a script", "trtui gpu sweep --format json",
			"matrix products alone", "trtui gpu sweep --filter gemm"),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c) },
	}
	o.registerPairs(c)
	return c
}

// pairsOf returns what there is to do.
func (o *selftestFlags) pairsOf(b run.Backend) *suite.Sweep {
	layers, sweep := suite.Layers, suite.NewSweep
	if o.sweep {
		layers, sweep = suite.Networks, suite.NewTimeSweep
	}
	if o.pairs == "tactic" {
		sweep = suite.NewSmallSweep
	}
	keep := func(layer, tactic string) bool { return strings.Contains(tactic+" "+layer, o.filter) }
	s := sweep(b, layers(), keep)
	if !o.sweep {
		s.Saturate(keep, o.pairs == "tactic")
	}
	return s
}

// reportTime prints a row of a sweep.
func (s *selftesting) reportTime(r suite.Row) {
	t := timeRow{OK: r.OK, Layer: r.Layer, Tactic: r.Tactic, Shape: r.Shape, PredictedUS: r.CostUS, MeasuredUS: r.US, Estimated: s.Estimated, Error: r.Error}
	s.failure = errors.Join(s.failure, s.print(s.stdout, t, t.String()))
}

// timeRow is a row of a sweep.
type timeRow struct {
	OK          bool    `json:"ok"`
	Layer       string  `json:"layer"`
	Tactic      string  `json:"tactic"`
	Shape       string  `json:"shape"`
	PredictedUS float64 `json:"predicted_us"` // by the cost model
	MeasuredUS  float64 `json:"measured_us"`
	Estimated   bool    `json:"estimated,omitempty"` // what is called measured is a simulator's
	Error       string  `json:"error,omitempty"`
}

func (t timeRow) String() string {
	if !t.OK {
		return fmt.Sprintf("%s on %s: FAILED: %s", t.Tactic, t.Layer, t.Error)
	}
	return fmt.Sprintf("%s on %s: %s%.1f us, predicted %.1f", t.Tactic, t.Layer, estimatedMark(t.Estimated), t.MeasuredUS, t.PredictedUS)
}
