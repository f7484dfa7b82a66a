package views

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// triedView compares the configurations that were tried in this session.
type triedView struct {
	pane
	table ui.Table
	runs  []*sessions.Snapshot
}

func newTriedView(d *desk) *triedView {
	v := &triedView{pane: d.pane(0)}
	right := func(title string, width, priority int, cell func(s *sessions.Snapshot) ui.Cell, value func(s *sessions.Snapshot) float64) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight,
			Cell:  func(r int) ui.Cell { return cell(v.runs[r]) },
			Order: func(a, b int) int { return cmp.Compare(value(v.runs[a]), value(v.runs[b])) }}
	}
	v.table = ui.Table{
		Empty: "each configuration that you try gets a row: press f for another precision, c for another calibrator",
		Columns: []ui.Column{
			{Title: "configuration", Width: 18, Flex: 3, Cell: func(r int) ui.Cell {
				return ui.Cell{Text: snapshotLabel(v.runs[r]), Style: precisionStyle(string(v.runs[r].Config.Precision))}
			}},
			{Width: 6, Flex: 4, Cell: func(r int) ui.Cell {
				return ui.Cell{Bar: &ui.Bar{Value: latencyOf(v.runs[r]), Max: v.slowest(), Style: precisionStyle(string(v.runs[r].Config.Precision))}}
			}},
			right("median", 9, 0, func(s *sessions.Snapshot) ui.Cell { return ui.Cell{Text: ui.Duration(s.Timings.EndToEnd.Median)} }, latencyOf),
			right("speed", 6, 1, func(s *sessions.Snapshot) ui.Cell {
				return ui.Cell{Text: fmt.Sprintf("%.2fx", latencyOf(v.runs[0])/latencyOf(s))}
			}, func(s *sessions.Snapshot) float64 { return -latencyOf(s) }),
			right("top-1", 6, 3, func(s *sessions.Snapshot) ui.Cell {
				return ui.Cell{Text: labelShare(s, func(l sessions.LabelAccuracy) float64 { return l.Top1 })}
			}, func(s *sessions.Snapshot) float64 { return s.Accuracy.Labels.Top1 }),
			right("agree", 6, 0, func(s *sessions.Snapshot) ui.Cell {
				return ui.Cell{Text: labelShare(s, func(l sessions.LabelAccuracy) float64 { return l.Agreement })}
			}, func(s *sessions.Snapshot) float64 { return s.Accuracy.Labels.Agreement }),
			right("SQNR dB", 7, 2, func(s *sessions.Snapshot) ui.Cell { return ui.Cell{Text: decibels(outputSQNR(s))} }, outputSQNR),
			right("arena", 9, 4, func(s *sessions.Snapshot) ui.Cell { return ui.Cell{Text: ui.Bytes(int64(s.Memory.Peak))} },
				func(s *sessions.Snapshot) float64 { return float64(s.Memory.Peak) }),
			right("weights", 9, 5, func(s *sessions.Snapshot) ui.Cell { return ui.Cell{Text: ui.Bytes(int64(s.Memory.Weights))} },
				func(s *sessions.Snapshot) float64 { return float64(s.Memory.Weights) }),
		},
		Ground: func(r int) ui.Style {
			if reflect.DeepEqual(v.runs[r].Config, v.snap.Config) {
				return ui.Selected
			}
			return ui.Plain
		},
	}
	return v
}

func (v *triedView) Title() string { return "Configurations tried" }
func (v *triedView) Keys() []ui.Key {
	return append(v.table.Keys(), ui.K("enter", "use", "use the configuration under the cursor"))
}

func (v *triedView) Note() (string, ui.Style) {
	estimated := ""
	if v.snap.Device.Estimated {
		estimated = "estimated"
	}
	if len(v.runs) < 2 {
		return estimated, ui.Muted
	}
	return strings.TrimSpace(estimated + " speed over the first"), ui.Muted
}

func (v *triedView) Update(msg tea.Msg) tea.Cmd {
	switch {
	case v.take(msg):
		v.keep()
	case isKey(msg, "enter"):
		if r := v.table.Row(); r >= 0 {
			cfg := cloneConfig(v.runs[r].Config)
			return v.change(func(c *sessions.Config) { *c = cfg })
		}
	default:
		v.table.Update(msg)
	}
	return nil
}

// keep remembers a snapshot whose reports all fit, in the place of an earlier one of the same configuration.
func (v *triedView) keep() {
	s := v.snap
	if !s.Settled() || s.Memory == nil || s.Timings.EndToEnd.Median == 0 {
		return
	}
	defer v.table.Refresh()
	for i, r := range v.runs {
		if reflect.DeepEqual(r.Config, s.Config) {
			v.runs[i] = s
			return
		}
	}
	const most = 100
	v.runs = append(v.runs[max(0, len(v.runs)-most+1):], s)
	v.table.Rows = len(v.runs)
}

func (v *triedView) slowest() float64 {
	top := 0.0
	for _, s := range v.runs {
		top = max(top, latencyOf(s))
	}
	return top
}

func (v *triedView) Render(w, h int) string { return v.Look.Render(w, h, v.table.Draw) }

func latencyOf(s *sessions.Snapshot) float64 { return float64(s.Timings.EndToEnd.Median) }

func outputSQNR(s *sessions.Snapshot) float64 {
	if s.Accuracy == nil || len(s.Accuracy.Outputs) == 0 {
		return 0
	}
	return s.Accuracy.Outputs[0].SQNR
}

// labelShare writes one of the shares of label accuracy, or a dot where the data has none.
func labelShare(s *sessions.Snapshot, share func(sessions.LabelAccuracy) float64) string {
	if s.Accuracy == nil || share(s.Accuracy.Labels) < 0 {
		return "·"
	}
	return percent(share(s.Accuracy.Labels))
}
