package stages

import (
	"context"
	"maps"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/report"
)

// unseen finds what tensors are on data that calibrators have not seen, by which they are judged.
type unseen struct {
	calibration *calibration
	data        dataset.Data // that engines are evaluated on
	kept        *stage[collecting, judges]
}

// judges are what tensors are on so many items.
type judges struct {
	items      int
	histograms map[string]*quant.Histogram
}

func newUnseen(c *calibration, data dataset.Data) *unseen {
	u := &unseen{calibration: c, data: data}
	u.kept = newStage(u.collect)
	return u
}

// mostUnseen is how many items are enough to judge by.
const mostUnseen = 16

// collect runs the network in FP32 on items from all over the data that it was not calibrated on. There are none where the data is made
// up, where that of calibration is not at hand, and of a sequence.
func (u *unseen) collect(ctx context.Context, in collecting) (judges, error) {
	c := u.calibration
	if u.data == nil || u.data.Random() || c.read.none() || len(in.State) > 0 {
		return judges{}, nil
	}
	var list []map[string]numeric.Value
	for i := range u.data.Len() {
		at := i
		if every := u.data.Len() / mostUnseen; every > 1 { // the first of each sixteenth, then the second
			at = i%mostUnseen*every + i/mostUnseen
		}
		if len(list) == mostUnseen || i >= mostLooked {
			break
		}
		item, err := u.data.Inputs(at)
		if err != nil {
			return judges{}, err
		}
		if !c.read.has(item) {
			list = append(list, item)
		}
	}
	if len(list) == 0 {
		return judges{}, nil
	}
	c.device.Busy.Lock()
	defer c.device.Busy.Unlock()
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		for _, item := range list {
			if !yield(maps.Clone(item), nil) {
				return
			}
		}
	}
	found, err := build.Collect(ctx, c.model.Network, c.host, batches, in.State, func(done int) {
		c.told.Progress(report.Progress{Phase: "judging calibrators", Done: done, Total: len(list)})
	})
	if err != nil {
		return judges{}, err
	}
	return judges{len(list), found.Histograms}, nil
}

// mostLooked bounds the items that are looked at for some that calibration did not see.
const mostLooked = 4 * mostUnseen
