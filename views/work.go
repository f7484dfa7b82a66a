package views

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// work is what was asked for last and what was said of it.
type work struct {
	before *report.Snapshot // what was timed when another configuration was asked for; nil: there is nothing to compare with
	asked  bool             // it is not over yet
	told   bool             // what came of it is in the status line
	beside bool             // it is FP32, FP16 and INT8 side by side
	label  string           // of the configuration that is being built; "": the work is another
	phase  string           // that the status line names
	failed string           // the error last reported
	start  time.Time        // of the work that was asked for or is being done; zero: none
}

// job returns what is being done, with the time when it was asked for. In a replay nothing is being done, whatever was
// when a state was recorded.
func (k *work) job(s *report.Snapshot, now func() time.Time) *ui.Job {
	b := s.Busy
	if b == nil || s.Replay != "" {
		if !k.asked {
			k.start = time.Time{}
		}
		return nil
	}
	if k.start.IsZero() {
		k.start = now()
	}
	return &ui.Job{Phase: b.Counted(), Item: b.Item, Done: b.Fraction(), Start: k.start, Left: b.Left}
}

// measuring says what is done to get times: on a backend without a device they are a cost model's.
func measuring(s *report.Snapshot) string {
	if s.Device.Estimated {
		return "estimating"
	}
	return "measuring"
}
