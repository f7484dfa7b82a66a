package report

// Check is what came of a budget (trtui check).
type Check struct {
	Budget        string // its file
	Baseline      string `json:",omitempty"` // the recording, engine or model that limits refer to
	BaselineLabel string `json:",omitempty"` // its configuration
	Beside        bool   // the baseline was measured in the same rounds
	Apart         bool   `json:",omitempty"` // both were recorded, on two occasions
	Rounds        int    // of the measurement; 0: no limit is on times
	Passed        bool
	Rows          []CheckRow
}

// CheckRow is one limit. Numbers are in the row's unit.
type CheckRow struct {
	Metric   string
	Line     int    // of the budget
	Unit     string // "ms", "share", "db", "bytes", "ratio", "items_per_s"; empty: a count
	Least    bool   // the limit is the least allowed, not the most
	Limit    float64
	Asked    string // the limit as it was written
	Baseline *float64
	Value    *float64 // nil: it is not known
	Low      *float64 // where the value lies with 99 % confidence, of times
	High     *float64
	Verdict  Verdict
	What     string `json:",omitempty"`                         // was measured, where the metric's name does not say it
	Why      string `json:",omitempty"`                         // the value is not known, or the verdict is not plain
	Telling  int    `json:",omitempty" output:"telling_rounds"` // rounds in which it would be, as far as times vary; 0: it is, or nobody would wait for it
}

// Verdict is what a limit says of a value.
type Verdict string

// The verdicts. Noise and OK pass.
const (
	CheckOK      Verdict = "ok"
	CheckNoise   Verdict = "noise" // over the limit by less than the measurement tells apart
	CheckFailed  Verdict = "failed"
	CheckUnknown Verdict = "unknown" // the value is not known, or what the limit is relative to; or it is noise, and the budget wants more
)

// Passes reports whether a limit is kept, as far as anybody can tell.
func (v Verdict) Passes() bool { return v == CheckOK || v == CheckNoise }

// Count returns how many limits have a verdict.
func (c *Check) Count(v Verdict) (n int) {
	for i := range c.Rows {
		if c.Rows[i].Verdict == v {
			n++
		}
	}
	return n
}
