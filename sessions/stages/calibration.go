package stages

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// calibration finds ranges: what activations are in FP32, and what each calibrator makes of that.
type calibration struct {
	model  *model.Model
	orders *orders
	told   *Audience
	device *device
	host   run.Backend
	Data   dataset.Data  // nil: there is nothing to calibrate with
	most   int           // items of it; 0: all
	known  build.Rounded // of weights, from elsewhere; nil: nothing is
	Hist   *stage[collecting, *build.Collected]
	Ranges *stage[ranging, map[string]numeric.Range]
	made   made
	read   fingerprints // of the items that were collected on
	atHand bool         // it takes little to count these
	shared func() int   // how many items of it are evaluated, too
}

func newCalibration(m *model.Model, w Workplace, o *orders, told *Audience, d *device) *calibration {
	c := &calibration{model: m, orders: o, told: told, device: d, host: w.Reference(), Data: w.CalData, most: w.CalItems, known: w.Rounded}
	c.Hist, c.Ranges = newStage(c.collect), newStage(c.find)
	c.shared = sync.OnceValue(func() int { return dataset.Shared(w.CalData, c.Items(), w.Data) })
	c.atHand = dataset.AtHand(w.CalData) && dataset.AtHand(w.Data)
	return c
}

// collect runs the network in FP32 on the data.
func (c *calibration) collect(ctx context.Context, in collecting) (*build.Collected, error) {
	if err := cmp.Or(c.model.Runnable(), c.model.NeedsSource("calibration"), model.CheckExtents(c.model, in.Symbols)); err != nil {
		return nil, err
	}
	if c, ok := c.Data.(collected); ok {
		return c.found(), nil
	}
	c.device.Busy.Lock()
	defer c.device.Busy.Unlock()
	n := c.Items()
	c.told.Progress(report.Progress{Phase: "collecting activations", Total: n})
	begin := time.Now()
	found, err := build.Collect(ctx, c.model.Network, c.host, c.read.of(c.at(in)), in.State, func(done int) {
		c.told.Progress(report.Progress{Phase: "collecting activations", Done: done, Total: n})
	})
	if err == nil {
		c.told.Log.collected(found.Histograms, n, c.Data.Name(), begin)
	}
	return found, err
}

// at gives the data at the extents that are asked for, item by item.
func (c *calibration) at(in collecting) build.Batches {
	d, err := dataset.At(c.Data, in.Symbols, 0)
	if err != nil {
		return func(yield func(map[string]numeric.Value, error) bool) { yield(nil, err) }
	}
	return inputsOf(d, c.Items())
}

// inputsOf gives the first items of data.
func inputsOf(d dataset.Data, items int) build.Batches {
	return func(yield func(map[string]numeric.Value, error) bool) {
		for i := range items {
			if !yield(d.Inputs(i)) {
				return
			}
		}
	}
}

// Items is how many items are calibrated with.
func (c *calibration) Items() int {
	if c.Data == nil {
		return 0
	}
	n := c.Data.Len()
	if c.most > 0 {
		n = min(n, c.most)
	}
	return n
}

// Shared is how many items of the data are evaluated, too; 0 where nothing was collected yet and it would have to be read for that.
func (c *calibration) Shared() int {
	if c.read.none() && !c.atHand {
		return 0
	}
	return c.shared()
}

// seen is how many items what was collected is of.
func (c *calibration) seen() int {
	if kept, ok := c.Data.(collected); ok {
		return kept.Items
	}
	return c.Items()
}

// tensorsLike says behind an error which tensors may be meant by a name that none has: those that the layer of the name gives, or the
// closest.
func tensorsLike(n *graph.Network, name string) string {
	if l := n.Layer(name); l != nil {
		var list []string
		for _, t := range l.Outputs {
			list = append(list, config.Quoted(t.Name))
		}
		return "; the layer of that name gives " + strings.Join(list, ", ")
	}
	var names []string
	for _, t := range n.Inputs {
		names = append(names, t.Name)
	}
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			names = append(names, t.Name)
		}
	}
	return config.DidYouMean(name, names)
}

// find returns the ranges of a calibrator.
func (c *calibration) find(ctx context.Context, in ranging) (map[string]numeric.Range, error) {
	if r := c.orders.Stored.Ranges(in.By); r != nil {
		return r, nil
	}
	of, err := in.By.ranges(c.model)
	if err != nil {
		return nil, err
	}
	for name := range in.By.Given {
		if c.model.Network.Tensor(name) == nil {
			return nil, fmt.Errorf("ranges: %s has no tensor %s%s", c.model.Name(), config.Quoted(name), tensorsLike(c.model.Network, name))
		}
	}
	found, err := c.Hist.Of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	c.told.Progress(report.Progress{Phase: "calibrating", Item: in.By.Calibrator})
	begin := time.Now()
	ranges := of(found.Histograms)
	c.told.Log.say("info", "", "calibrated with %s: %s in %s", in.By.Calibrator, config.CountOf(len(ranges), "range", "ranges"), took(begin))
	return ranges, nil
}

// Of returns the ranges that lowering uses: those of an engine file, or what its calibrator finds.
func (c *calibration) Of(ctx context.Context, cfg config.Config) (map[string]numeric.Range, error) {
	in, err := c.orders.Ranging(cfg)
	if err != nil {
		return nil, err
	}
	return c.Ranges.Of(ctx, in)
}

// correction returns what biases are corrected by, nil where they are not.
func (c *calibration) correction(ctx context.Context, in lowering) (*build.Correction, error) {
	if in.Ranges == nil || in.Quantized.BiasCorrection == quant.CorrectOff {
		return nil, nil
	}
	if s := c.orders.Stored.shifts(in.Ranges.By, in.Quantized); s != nil {
		return &build.Correction{Shifts: s}, nil
	}
	kept, isKept := c.Data.(collected)
	if isKept && kept.Random() == c.orders.Stored.RandomRanges(in.Ranges.By) {
		return &build.Correction{Means: kept.found().ChannelMeans()}, nil
	}
	if c.Items() == 0 || c.Data.Random() && c.orders.Stored.Ranges(in.Ranges.By) != nil {
		c.told.Log.say("warning", "", "biases are not corrected: that needs the data that the engine was calibrated on")
		return nil, nil
	}
	// One item of a sequence says nothing without those before it, which a replay that holds some of them has not.
	if in.Quantized.BiasCorrection == quant.CorrectFast || len(in.Means.State) > 0 {
		found, err := c.Hist.Of(ctx, *in.Means)
		if err != nil {
			return nil, err
		}
		return &build.Correction{Means: found.ChannelMeans()}, nil
	}
	return &build.Correction{Replay: c.replay(in)}, nil
}

// replay returns the data to run networks on.
func (c *calibration) replay(in lowering) *build.Replay {
	return &build.Replay{
		Backend: c.host, Env: in.Means.Symbols, Batches: c.at(*in.Means), Items: c.Items(),
		Progress: func(phase, item string, done, of int) {
			c.told.Progress(report.Progress{Phase: phase, Item: item, Done: done, Total: of})
		},
	}
}
