package sessions

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Best is a configuration of the precisions that are allowed, and how it was found.
type Best struct {
	Config config.Config
	Alone  *report.Columns  // the precisions by themselves, measured in the same rounds
	Mixed  *config.Config   // each layer in the precision in which it takes least, where that is not one for all; nil: it is one
	Beside *report.Speed    // of Mixed beside the fastest of Alone; nil where there is no Mixed
	Times  [2]time.Duration // medians of the fastest of Alone and of Mixed, as they were measured for Beside
}

// Said is how fast Mixed is beside the fastest of Alone, where there is a Mixed.
func (b *Best) Said() report.Said { return b.Beside.Beside(b.Times[0], b.Times[1]) }

// BestOf returns which configuration is fastest that runs each layer in any of the precisions that are allowed: one precision, or where
// that is faster beyond noise, that with the rules for layers that take least time in another one. What that costs where tensors change
// type is in the second measurement, which decides. The rules of cfg hold for all.
func BestOf(ctx context.Context, r *Runner, cfg config.Config, allowed []config.Precision, p run.Profiling) (*Best, error) {
	var configs []config.Config
	for _, precision := range allowed {
		c := cfg.Clone()
		c.Precision = precision
		configs = append(configs, c)
	}
	alone, err := Columns(ctx, r, configs, p)
	if err != nil {
		return nil, err
	}
	fastest := 0
	for i, c := range alone.Columns {
		if c.Latency.Median < alone.Columns[fastest].Latency.Median {
			fastest = i
		}
	}
	best := &Best{Config: configs[fastest], Alone: alone}
	mixed := mixedOf(alone, len(allowed)-1)
	if mixed.SameEngine(configs[len(configs)-1], r.stages.Model.Quantized) {
		return best, nil
	}
	beside, err := r.Compare(ctx, []config.Config{best.Config, mixed}, report.PartTimings, p)
	if err != nil {
		return nil, err
	}
	best.Mixed, best.Beside = &mixed, beside[1].Speed
	best.Times = [2]time.Duration{beside[0].Overview.Latency.Median, beside[1].Overview.Latency.Median}
	if s := best.Beside; s.Significant && s.Ratio > 1 {
		best.Config = mixed
	}
	return best, nil
}

// mixedOf returns the configuration of a column with rules for the layers that take less in another column, beyond noise.
func mixedOf(c *report.Columns, base int) config.Config {
	mixed := c.Columns[base].Config.Clone()
	given := len(mixed.LayerPrecisions)
	for _, row := range c.Rows {
		at := slices.IndexFunc(c.Columns, func(k report.Column) bool { return k.Label == row.Fastest })
		if row.Reformat || at < 0 || at == base {
			continue
		}
		for _, name := range row.From {
			if !strings.ContainsAny(name, ",*") { // which rules cannot name
				mixed.LayerPrecisions = append(mixed.LayerPrecisions, name+":"+string(c.Columns[at].Config.Precision))
			}
		}
	}
	// of two rules for one layer the last holds: what a person asked for
	mixed.LayerPrecisions = append(slices.Clone(mixed.LayerPrecisions[given:]), mixed.LayerPrecisions[:given]...)
	return mixed
}
