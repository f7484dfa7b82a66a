package trials

import (
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// Columns returns what reads configurations that were tried and sets them side by side, layer by layer: nil columns where fewer than
// two have times of layers. own is as pane.OwnRanges says.
func (t *List) Columns(configs []config.Config, own bool, read Reader) func() (*report.Columns, error) {
	var marks []pane.Mark
	var measured []report.Measured
	for _, cfg := range configs {
		i := slices.IndexFunc(t.list, func(t trial) bool { return t.config.SameEngine(cfg, own) })
		if i < 0 || read == nil {
			continue
		}
		if m, ok := read(&t.list[i]); ok {
			marks, measured = append(marks, m), append(measured, t.list[i].measured)
		}
	}
	return func() (*report.Columns, error) {
		var columns []report.Column
		var times []*report.Timings
		var first report.Measured
		var list []config.Config
		for i, m := range marks {
			snap, err := m.Read()
			if err != nil {
				return nil, err
			}
			if snap.Timings == nil || len(snap.Timings.Layers) == 0 {
				continue
			}
			c := report.Column{Config: snap.Config}
			if len(columns) == 0 {
				first = measured[i]
			} else {
				speed := measured[i].Over(first, own)
				c.Speed = &speed
			}
			columns, times, list = append(columns, c), append(times, snap.Timings), append(list, snap.Config)
		}
		if len(columns) < 2 {
			return nil, nil
		}
		labels, shapes := config.Beside(list, own)
		for i, label := range labels {
			columns[i].Label = label
		}
		c := diff.Across(columns, times, true)
		c.Shapes = shapes
		return c, nil
	}
}
