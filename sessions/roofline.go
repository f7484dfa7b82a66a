package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// ceilings are what the device reaches at most, as far as that was asked for and can be measured.
type ceilings struct {
	file  *build.PeaksFile // nil: nobody asks
	peaks []run.Peaks      // of one thread, and last of all; nil until they are known
	again bool             // they were measured once more
}

// underCeilings lets the layers of timings stand under the peaks of the device, which are measured now if they are not known. Where
// a layer stands above them they are measured once more: what disturbs a measurement only lowers it. d.busy is held.
func (d *device) underCeilings(ctx context.Context, t *timings) error {
	c := &d.ceilings
	if c.file == nil {
		return nil
	}
	if why := d.unmeasured(); why != "" {
		t.roofline = &report.Roofline{Unmeasured: why}
		return nil
	}
	if c.peaks == nil {
		if err := d.measurePeaks(func() (p []run.Peaks, err error) {
			return c.file.Of(ctx, d.backend, func() { d.told.progress(report.Progress{Phase: "measuring peaks"}) })
		}); err != nil {
			return err
		}
	}
	if t.under(c); c.again || len(t.report(false, false).Roofline.Above) == 0 {
		return nil
	}
	d.told.progress(report.Progress{Phase: "measuring peaks", Item: "again"})
	c.again = true
	if err := d.measurePeaks(func() ([]run.Peaks, error) { return c.file.Again(ctx, d.backend) }); err != nil {
		return err
	}
	t.under(c)
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
		d.told.warn(err.Error())
	}
	d.ceilings.peaks = peaks
	d.told.log.peaks(&peaks[len(peaks)-1], begin)
	return nil
}

// unmeasured says why nothing is known of the device's peaks.
func (d *device) unmeasured() string {
	if d.estimated() {
		return "times on " + d.backend.Info().Name + " are estimates: no ceiling is claimed"
	}
	if _, ok := d.backend.(run.Peaked); !ok {
		return "the peaks of " + d.backend.Info().Device + " are not measured"
	}
	return ""
}

// under lets the layers stand under ceilings.
func (t *timings) under(c *ceilings) {
	t.peaks = &c.peaks[len(c.peaks)-1]
	t.roofline = &report.Roofline{Again: c.again}
	for _, p := range c.peaks {
		t.roofline.Peaks = append(t.roofline.Peaks, report.Peaks{Threads: p.Threads, Compute: peakReports(p.Compute), Memory: peakReports(p.Memory)})
	}
	for _, list := range [][]run.Peak{t.peaks.Compute, t.peaks.Memory} {
		for _, k := range list {
			if k.Disturbed() {
				t.roofline.Disturbed = append(t.roofline.Disturbed, k.Name)
			}
		}
	}
}

func peakReports(list []run.Peak) (out []report.Peak) {
	for _, k := range list {
		out = append(out, report.Peak(k))
	}
	return out
}

// stand returns where a step stands, nil where nothing is known of the peaks or of its work.
func (t *timings) stand(w *run.Work, median time.Duration) *report.Roof {
	if t.peaks == nil || w.Traffic == nil || median <= 0 {
		return nil
	}
	f := t.peaks.Floor(w)
	if f.Time <= 0 {
		return nil
	}
	return &report.Roof{
		Operations: w.Operations, Intensity: float64(w.Operations) / float64(max(w.Bytes, 1)), Reached: float64(w.Operations) / float64(median),
		Ceiling: float64(w.Operations) / float64(f.Time), Floor: f.Time, Bound: f.Bound, OfPeak: float64(f.Time) / float64(median),
	}
}

// withRoofline adds the ceilings, and names the layers above them.
func (t *timings) withRoofline(r *report.Timings) {
	if t.roofline == nil {
		return
	}
	line := *t.roofline
	for _, l := range r.Layers {
		if l.Roof != nil && l.Roof.Above() {
			line.Above = append(line.Above, l.Name)
		}
	}
	r.Roofline = &line
}

// peaks tells what the device reaches at most.
func (j *journal) peaks(p *run.Peaks, begin time.Time) {
	text := fmt.Sprintf("peaks of %s in %s", config.CountOf(p.Threads, "thread", "threads"), took(begin))
	for _, k := range p.Compute {
		text += fmt.Sprintf("\n%-6s %8.1f Gop/s by %s", k.Name, k.Rate/1e9, k.By)
	}
	for _, k := range p.Memory {
		text += fmt.Sprintf("\n%-6s %8.1f GB/s by %s", k.Name, k.Rate/1e9, k.By)
	}
	j.say("info", "", "%s", text)
}
