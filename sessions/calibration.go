package sessions

import (
	"cmp"
	"context"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// calibration finds ranges: what activations are in FP32, and what each calibrator makes of that.
type calibration struct {
	model  *Model
	orders *orders
	told   *audience
	device *device
	host   run.Backend
	data   Data // nil: there is nothing to calibrate with
	most   int  // items of it; 0: all
	hist   *stage[collecting, map[string]*quant.Histogram]
	ranges *stage[ranging, map[string]graph.Range]
}

func newCalibration(m *Model, w Workplace, o *orders, told *audience, d *device) *calibration {
	c := &calibration{model: m, orders: o, told: told, device: d, host: w.host(), data: w.CalData, most: w.CalItems}
	c.hist, c.ranges = newStage(c.collect), newStage(c.find)
	return c
}

// collect runs the network in FP32 on the data.
func (c *calibration) collect(ctx context.Context, in collecting) (map[string]*quant.Histogram, error) {
	if err := cmp.Or(c.model.runnable(), c.model.needsSource("calibration"), checkExtents(c.model, in.Symbols)); err != nil {
		return nil, err
	}
	c.device.busy.Lock()
	defer c.device.busy.Unlock()
	n := c.items()
	c.told.progress(report.Progress{Phase: "collecting activations", Total: n})
	batches := func(yield func(map[string]graph.Value, error) bool) {
		for i := range n {
			if !yield(c.data.Inputs(i)) {
				return
			}
		}
	}
	begin := time.Now()
	hist, err := build.Collect(ctx, c.model.Network, in.Symbols, c.host, batches, in.State, func(done int) {
		c.told.progress(report.Progress{Phase: "collecting activations", Done: done, Total: n})
	})
	if err == nil {
		c.told.log.collected(hist, n, c.data.Name(), begin)
	}
	return hist, err
}

// items is how many items are calibrated with.
func (c *calibration) items() int {
	if c.data == nil {
		return 0
	}
	n := c.data.Len()
	if c.most > 0 {
		n = min(n, c.most)
	}
	return n
}

// find returns the ranges of a calibrator.
func (c *calibration) find(ctx context.Context, in ranging) (map[string]graph.Range, error) {
	if r := c.orders.stored.ranges(in.Calibrator); r != nil {
		return r, nil
	}
	calibrator, err := c.model.calibrators().Parse(in.Calibrator, quant.Scheme{})
	if err != nil {
		return nil, err
	}
	hist, err := c.hist.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	c.told.progress(report.Progress{Phase: "calibrating", Item: in.Calibrator})
	begin := time.Now()
	ranges := build.Ranges(hist, calibrator)
	c.told.log.say("info", "", "calibrated with %s: %s in %s", in.Calibrator, config.CountOf(len(ranges), "range", "ranges"), took(begin))
	return ranges, nil
}

// of returns the ranges that lowering uses: those of an engine file, or what its calibrator finds.
func (c *calibration) of(ctx context.Context, cfg config.Config) (map[string]graph.Range, error) {
	in, err := c.orders.ranging(cfg, cfg.Calibrator)
	if err != nil {
		return nil, err
	}
	return c.ranges.of(ctx, in)
}
