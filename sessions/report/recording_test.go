package report

import (
	"testing"
)

// TestRecordingReason: a reason is no name of the file that it is beside.
func TestRecordingReason(t *testing.T) {
	for err, want := range map[string]string{"recording /r/a.trtui: the file is truncated: it has 1": "the file is truncated: it has 1", "no such file": "no such file", "": ""} {
		if got := (&Recording{Path: "/r/a.trtui", Err: err}).Reason(); got != want {
			t.Errorf("%q is %q, want %q", err, got, want)
		}
	}
}
