package budget

import (
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// slack is the relative difference that is none, of figures that have no noise: they were written with so many digits.
const slack = 1e-9

// Check says which limits an engine keeps. baseline, which may be nil where no limit refers to one, was measured in the same
// rounds where it has as many; otherwise times are compared with those that were measured once. Where both were recorded d is what is
// known of their difference; nil: they were not.
func (b *Budget) Check(m, baseline *Measured, d *report.Diff) (*report.Check, error) {
	if baseline == nil {
		for _, l := range b.limits {
			if l.relative {
				return nil, l.unfounded(b)
			}
		}
	}
	c := &report.Check{Budget: b.Path, Baseline: b.Baseline, Passed: true}
	if baseline != nil && b.Baseline != "" {
		c.BaselineLabel = baseline.Config.Label(baseline.Model.Quantized())
	}
	if b.Timed() {
		c.Rounds = len(m.rounds())
		c.Beside = b.beside(m, baseline) || d != nil && d.EndToEnd.SideBySide
		c.Apart = d != nil && !d.EndToEnd.SideBySide
	}
	for _, l := range b.limits {
		row := l.check(m, baseline, c.Beside, b.Looks)
		if d != nil && l.relative && l.metric.rounds != nil && row.Verdict != report.CheckUnknown {
			row = l.recorded(row, m, baseline, d)
		}
		if b.strict && row.Verdict == report.CheckNoise {
			row.Verdict = report.CheckUnknown
		}
		c.Passed = c.Passed && row.Verdict.Passes()
		c.Rows = append(c.Rows, row)
	}
	return c, nil
}

// beside reports whether both were measured in the same rounds.
func (b *Budget) beside(m, baseline *Measured) bool {
	return baseline != nil && baseline.Replay == "" && len(baseline.rounds()) > 0 && len(baseline.rounds()) == len(m.rounds())
}

// unfounded is the error of a limit that refers to a baseline which is not there.
func (l limit) unfounded(b *Budget) error {
	return fmt.Errorf("%s:%d: the limit of %s is relative to a baseline, and there is none: %w", b.Path, l.line, l.metric.name, ErrNoBaseline)
}

// Founded returns an error where a limit refers to a baseline and none is named.
func (b *Budget) Founded() error {
	for _, l := range b.limits {
		if l.relative && b.Baseline == "" {
			return l.unfounded(b)
		}
	}
	return nil
}

// ErrNoBaseline is that a limit is relative and nothing is known that it could be relative to.
var ErrNoBaseline = errors.New("no baseline")

// check holds one figure to its limit.
func (l limit) check(m, baseline *Measured, beside bool, looks int) report.CheckRow {
	row := report.CheckRow{Metric: l.metric.name, Line: l.line, Unit: l.metric.unit, Least: l.metric.least, Asked: l.asked, Verdict: report.CheckOK}
	unknown := func(why string) report.CheckRow {
		row.Verdict, row.Why = report.CheckUnknown, why
		return row
	}
	var reference float64
	if baseline != nil {
		if v, ok := l.metric.of(baseline); ok {
			reference, row.Baseline = v, &v
		}
	}
	v, ok := l.metric.of(m)
	switch {
	case !ok:
		return unknown(missing(l.metric))
	case l.relative && row.Baseline == nil:
		row.Value = &v
		return unknown("it is not known of the baseline")
	}
	row.Value, row.Limit = &v, l.at(reference)
	if l.metric.what != nil {
		row.What = l.metric.what(m)
		if row.Baseline != nil {
			row.What += "; baseline: " + l.metric.what(baseline)
		}
	}
	if l.metric.rounds != nil && len(m.rounds()) > 0 {
		return l.timed(row, m, baseline, beside, looks)
	}
	over := v - row.Limit
	if l.metric.least {
		over = -over
	}
	if over > slack*max(row.Limit, -row.Limit) {
		row.Verdict = report.CheckFailed
		if why := l.noise(m, baseline); why != "" {
			row.Verdict, row.Why = report.CheckNoise, why
		}
	}
	return row
}

// noise says that an accuracy, where its limit is the baseline's and nothing less, cannot be told from that; "" where it can, or where
// that is not known.
func (l limit) noise(m, baseline *Measured) string {
	if !l.relative || l.share != 0 || l.value != 0 || m.Accuracy == nil || baseline == nil || baseline.Accuracy == nil {
		return ""
	}
	own, other := &m.Accuracy.Labels, &baseline.Accuracy.Labels
	switch l.metric.name {
	case "top1":
		if s := own.Answers.Beside(other.Answers); s != nil && !s.Apart() {
			return "top-1 and the baseline's " + s.String()
		}
	case "map":
		if d := own.Detection.Beside(other.Detection); d != nil && !d.Apart() {
			return "mAP and the baseline's " + d.String()
		}
	}
	return ""
}

// missing says why a figure is not known.
func missing(m *metric) string {
	if m.needs.Has(report.PartScore) {
		return "not known: it needs data, with labels for top1 and top5, boxes for map, a text for perplexity, and the source model"
	}
	return "not known"
}

// timed holds a time to its limit by its rounds: those of the engine alone, or beside the baseline's, whose disturbances it shares.
func (l limit) timed(row report.CheckRow, m, baseline *Measured, beside bool, looks int) report.CheckRow {
	values := make([]float64, len(m.rounds()))
	for i, r := range m.rounds() {
		values[i] = l.metric.rounds(r) / float64(time.Millisecond)
	}
	interval := compare.MedianIntervalAt
	if beside && l.relative {
		reference := make([]float64, len(values))
		for i := range values {
			reference[i] = l.metric.rounds(baseline.rounds()[i]) / float64(time.Millisecond)
			values[i] /= max(reference[i], 1e-9)
		}
		middle, _, _ := compare.MedianInterval(reference)
		row.Baseline, row.Limit = &middle, l.at(middle)
		interval = func(ratios []float64, chance float64) (value, low, high float64) {
			value, low, high = compare.RatioInterval(ratios, chance)
			return value * middle, low * middle, high * middle // what a round would have been had the baseline taken its median
		}
	}
	v := decide(values, row.Limit, looks, interval)
	row.Value, row.Verdict = &v.Value, v.verdict
	if v.known {
		row.Low, row.High = &v.Low, &v.High
	}
	if v.open(row.Limit) {
		row.Telling = v.telling(row.Limit, len(values))
		row.Why = fmt.Sprintf("over the limit by less than %d rounds tell apart", len(values))
		if v.verdict == report.CheckOK {
			row.Why = fmt.Sprintf("under the limit by less than %d rounds tell apart", len(values))
		}
	}
	return row
}
