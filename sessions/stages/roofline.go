package stages

import (
	"context"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

// UnderCeilings lets the layers of timings stand under the peaks of the device, which are measured now if they are not known. Where
// a layer stands above them they are measured once more: what disturbs a measurement only lowers it. d.busy is held.
func (d *device) UnderCeilings(ctx context.Context, t *describe.Times) error {
	c := &d.ceilings
	if c.file == nil {
		return nil
	}
	if why := d.unmeasured(); why != "" {
		t.Roofline = &report.Roofline{Unmeasured: why}
		return nil
	}
	if c.peaks == nil {
		if err := d.measurePeaks(func() (p []run.Peaks, err error) {
			return c.file.Of(ctx, d.Backend, func() { d.told.Progress(report.Progress{Phase: "measuring peaks"}) })
		}); err != nil {
			return err
		}
	}
	if t.Under(c.peaks, c.again); c.again || len(t.Report(false, false).Roofline.Above) == 0 {
		return nil
	}
	d.told.Progress(report.Progress{Phase: "measuring peaks", Item: "again"})
	c.again = true
	if err := d.measurePeaks(func() ([]run.Peaks, error) { return c.file.Again(ctx, d.Backend) }); err != nil {
		return err
	}
	t.Under(c.peaks, c.again)
	return nil
}

// measurePeaks takes what was measured. That it cannot be kept is a warning.
func (d *device) measurePeaks(measure func() ([]run.Peaks, error)) error {
	begin := time.Now()
	peaks, err := measure()
	if len(peaks) == 0 {
		return err
	}
	if err != nil {
		d.told.Warn(err.Error())
	}
	d.ceilings.peaks = peaks
	d.told.Log.peaks(&peaks[len(peaks)-1], begin)
	return nil
}

// unmeasured says why nothing is known of the device's peaks.
func (d *device) unmeasured() string {
	if d.Estimated() {
		return "times on " + d.Backend.Info().Name + " are estimates: no ceiling is claimed"
	}
	if _, ok := d.Backend.(run.Peaked); !ok {
		return "the peaks of " + d.Backend.Info().Device + " are not measured"
	}
	return ""
}

// peaks tells what the device reaches at most.
func (j *Journal) peaks(p *run.Peaks, begin time.Time) {
	text := fmt.Sprintf("peaks of %s in %s", config.CountOf(p.Threads, "thread", "threads"), took(begin))
	for _, k := range p.Compute {
		text += fmt.Sprintf("\n%-6s %8.1f Gop/s by %s", k.Name, k.Rate/1e9, k.By)
	}
	for _, k := range p.Memory {
		text += fmt.Sprintf("\n%-6s %8.1f GB/s by %s", k.Name, k.Rate/1e9, k.By)
	}
	j.say("info", "", "%s", text)
}
