package cmd

import (
	"fmt"
	"io"
	"slices"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// evalRecorded prints what a recording has of the accuracy of its configurations, the reference first; with perLayer, what the layers of
// the one that path names err by.
func (o *modelFlags) evalRecorded(stdout io.Writer, path string, states []*report.Snapshot, perLayer bool) error {
	last, err := o.recorded(path, 0) // which refuses flags that change nothing
	if err != nil {
		return err
	}
	if perLayer {
		if last.Accuracy == nil || len(last.Accuracy.Layers) == 0 {
			return fmt.Errorf("%s has no errors of layers in %s: name another state behind @, by its number, time or configuration", path, last.At)
		}
		return o.writeLayerErrors(stdout, last)
	}
	var judged []*report.Snapshot
	for _, s := range states {
		switch {
		case s.Accuracy == nil || s.Overview == nil || s.Memory == nil || s.Timings == nil:
		case s.Accuracy.Reference:
			judged = slices.Insert(judged, 0, s)
		default:
			judged = append(judged, s)
		}
	}
	if judged == nil {
		return fmt.Errorf("%s has the accuracy of no configuration that is complete", path)
	}
	first, rows := judged[0], make([]evalRow, len(judged))
	for i, s := range judged {
		rows[i] = newEvalRow(sessions.Compared{Snapshot: s})
		rows[i].Precision, rows[i].Calibrator = string(s.Config.Precision), s.Accuracy.Calibrator
		rows[i].Config, rows[i].Unchanged = s.Config, s.Overview.Unchanged
		if i > 0 {
			speed := s.Timings.Measured(s.Config).Over(first.Timings.Measured(first.Config), pane.OwnRanges(first))
			rows[i].Speed = &speed
		}
	}
	if o.output.json() {
		return writeReport(stdout, first.Head(), struct{ Rows []evalRow }{rows})
	}
	return writeEval(stdout, fmt.Sprintf("%s, as recorded in %s: %s", first.Model.Name, first.Replay, count(first.Accuracy.Items, "item")), rows)
}
