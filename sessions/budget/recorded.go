package budget

import (
	"time"

	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// recorded holds a time to what it may be beside a baseline's, where both were recorded: by the rounds that both were measured in, as
// configurations of one session are, and else by what the rounds of each leave open. On two occasions the machine may not have been the
// same: over a limit is then what is so beyond what layers with the same kernels have in common, as in [report.Diff.Beyond]. Two figures
// without rounds decide by themselves.
func (l limit) recorded(row report.CheckRow, m, baseline *Measured, d *report.Diff) report.CheckRow {
	of := d.EndToEnd
	if l.metric.name != "latency_p50" { // of which no rounds are kept side by side
		a, b := l.interval(baseline), l.interval(m)
		of = report.TimeChange{A: a.Median, B: b.Median, Speed: b.Over(a)}
		row.What = "of each one's own rounds"
	}
	middle := milliseconds(of.A)
	value := milliseconds(of.B)
	row.Verdict, row.Why = report.CheckOK, ""
	row.Baseline, row.Value, row.Limit = &middle, &value, l.at(middle)
	row.Low, row.High = nil, nil
	if !of.Known() {
		if value > row.Limit {
			row.Verdict, row.Why = report.CheckFailed, "of one figure each: no rounds tell what of it is noise"
		}
		return row
	}
	low, high := middle/of.High, middle/of.Low // what it had taken, had the baseline taken its median
	row.Low, row.High = &low, &high
	if value <= row.Limit {
		return row
	}
	row.Verdict = report.CheckFailed
	switch common := d.Common; {
	case low <= row.Limit:
		row.Verdict, row.Why = report.CheckNoise, "over the limit by less than the rounds tell apart"
	case !of.SideBySide && common.Counts() && low/common.Ratio/(1+common.Spread) <= row.Limit:
		row.Verdict, row.Why = report.CheckNoise, "over the limit by no more than the machine was slower: "+common.Text()
	}
	return row
}

// interval returns what a time of a recording is, by its rounds where there are any.
func (l limit) interval(m *Measured) report.Interval {
	figure, _ := l.metric.of(m)
	values := make([]float64, len(m.rounds()))
	for i, r := range m.rounds() {
		values[i] = l.metric.rounds(r)
	}
	if len(values) == 0 {
		return report.Interval{Median: time.Duration(figure * float64(time.Millisecond))}
	}
	median, low, high := compare.MedianInterval(values)
	return report.Interval{Median: time.Duration(median), Low: low, High: high}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
