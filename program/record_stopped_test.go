package program

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestRecordingEnd: a recording that was stopped is not called complete.
func TestRecordingEnd(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		complete, stopped bool
		want              string
	}{{true, true, "stopped, 7s"}, {true, false, "complete, 7s"}, {false, false, "cut short"}} {
		var out strings.Builder
		writeRecording(&out, &report.Recording{Complete: c.complete, Stopped: c.stopped, Started: at, Ended: at.Add(7 * time.Second)})
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("no %q in\n%s", c.want, &out)
		}
	}
}
