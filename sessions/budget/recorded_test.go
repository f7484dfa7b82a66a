package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestRecorded: what was recorded fails over a limit only where rounds tell so: those that both were measured in, or each one's own, beyond
// what layers with the same kernels have in common.
func TestRecorded(t *testing.T) {
	const ms = time.Millisecond
	of := func(p99 time.Duration) *Measured {
		timings := &report.Timings{EndToEnd: report.Latency{Count: 100, Median: 10 * ms, P99: p99}}
		for i := range 15 {
			timings.Rounds = append(timings.Rounds, report.Round{Median: 10 * ms, P99: p99 + time.Duration(i-7)*p99/1000})
		}
		return &Measured{Snapshot: &report.Snapshot{Replay: "s.trtui", Timings: timings}}
	}
	change := func(ratio, within float64, sideBySide bool) report.TimeChange { // of the baseline's 10 ms
		c := report.TimeChange{A: 10 * ms, B: time.Duration(ratio * float64(10*ms)), Speed: report.Speed{Ratio: 1 / ratio, SideBySide: sideBySide}}
		if within > 0 {
			c.Low, c.High = 1/ratio/within, 1/ratio*within
		}
		return c
	}
	common := func(ratio float64) *report.CommonChange {
		return &report.CommonChange{Layers: 12, Ratio: ratio, Spread: 0.01}
	}
	b := read(t, "baseline: s.trtui@fp32\nlimits:\n  latency_p50: baseline + 5 %")
	for name, c := range map[string]struct {
		change report.TimeChange
		common *report.CommonChange
		want   report.Verdict
		why    string
	}{
		"the same":                            {change(1.01, 1.02, true), nil, report.CheckOK, ""},
		"a tenth more":                        {change(1.10, 1.02, true), nil, report.CheckFailed, ""},
		"a tenth more, of few rounds":         {change(1.10, 1.08, true), nil, report.CheckNoise, "by less than the rounds tell apart"},
		"two occasions, a slower machine":     {change(1.10, 1.02, false), common(1.09), report.CheckNoise, "no more than the machine was slower: 12 layers"},
		"two occasions, and it is slower":     {change(1.25, 1.02, false), common(1.09), report.CheckFailed, ""},
		"two occasions, of one machine":       {change(1.10, 1.02, false), common(1.00), report.CheckFailed, ""},
		"in rounds, where layers differ more": {change(1.10, 1.02, true), common(1.09), report.CheckFailed, ""},
		"one figure each":                     {change(1.10, 0, false), nil, report.CheckFailed, "no rounds tell"},
	} {
		check, err := b.Check(of(12*ms), of(12*ms), &report.Diff{EndToEnd: c.change, Common: c.common})
		if err != nil {
			t.Fatal(err)
		}
		if row := check.Rows[0]; row.Verdict != c.want || !strings.Contains(row.Why, c.why) || check.Beside != c.change.SideBySide || check.Apart == check.Beside || row.Limit != 10.5 {
			t.Errorf("%s: %+v", name, row)
		}
	}
	b = read(t, "baseline: s.trtui@fp32\nlimits:\n  latency_p99: baseline + 5 %")
	for p99, want := range map[time.Duration]report.Verdict{12 * ms: report.CheckOK, 14 * ms: report.CheckFailed} {
		check, err := b.Check(of(p99), of(12*ms), &report.Diff{EndToEnd: change(1, 1.02, true)})
		if err != nil || check.Rows[0].Verdict != want || check.Rows[0].Low == nil {
			t.Errorf("p99 of %v: %+v, %v", p99, check.Rows[0], err)
		}
	}
}
