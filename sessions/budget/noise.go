package budget

import (
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// Rounds is in how many rounds times are measured: enough that a tenth more is told from a twentieth on a machine that others
// use, too.
const Rounds = 45

// decision is what the rounds of a measurement say of a limit.
type decision struct {
	Value, Low, High float64
	known            bool // there were enough rounds for an interval
	verdict          report.Verdict
}

// decide says whether times are over a limit. They are where even the lower end of the interval in which their median lies with
// 99 % confidence is: of an engine at its limit one run in two hundred is, whatever the noise is like, since the interval is that
// of the sign test, which supposes nothing of how times are distributed but that rounds are independent. A median over the
// limit whose interval reaches below it is noise. With fewer than eight rounds there is no interval, and the median decides.
func decide(values []float64, limit float64) decision {
	d := decision{verdict: report.CheckOK}
	d.Value, d.Low, d.High = compare.MedianInterval(values)
	d.known = d.Low > 0 && d.High > 0
	switch {
	case d.known && d.Low > limit, !d.known && d.Value > limit:
		d.verdict = report.CheckFailed
	case d.Value > limit:
		d.verdict = report.CheckNoise
	}
	return d
}
