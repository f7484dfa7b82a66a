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
	first, rows := judged[0], recordedRows(judged)
	if o.output.json() {
		return writeReport(stdout, first.Head(), struct{ Rows []evalRow }{rows})
	}
	heading := fmt.Sprintf("%s, as recorded in %s: %s", first.Model.Name, first.Replay, count(first.Accuracy.Items, "item"))
	if slices.ContainsFunc(rows, func(r evalRow) bool { return r.InRounds }) {
		heading += ", times as in rounds side by side"
	}
	return writeEval(stdout, heading, rows)
}

// recordedRows sums states of a recording up, beside the first. What was measured beside others in rounds takes what it took in these:
// what happened on the machine between two measurements is no difference of configurations.
func recordedRows(states []*report.Snapshot) []evalRow {
	first, rows, times := states[0], make([]evalRow, len(states)), make([]report.Measured, len(states))
	for i, s := range states {
		times[i] = s.Timings.Measured(s.Config)
	}
	for i, took := range report.OnOneScale(times, pane.OwnRanges(first)) {
		s := states[i]
		row := newEvalRow(sessions.Compared{Snapshot: s})
		row.Precision, row.Calibrator = string(s.Config.Precision), s.Accuracy.Calibrator
		row.Config, row.Unchanged = s.Config, s.Overview.Unchanged
		if took != row.Latency {
			row.Latency, row.LatencyP99, row.InRounds = took, 0, true
		}
		if i > 0 {
			speed := times[i].Over(times[0], pane.OwnRanges(first))
			row.Speed = &speed
		}
		rows[i] = row
	}
	return rows
}
