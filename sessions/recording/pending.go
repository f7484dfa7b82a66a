package recording

import (
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// pending is what has not been written yet. It is bounded: of the states on the way only the newest is kept, of the
// settled ones the newest of each configuration, and of samples maxPendingSamples.
type pending struct {
	settled  []stamped
	progress *stamped
	runs     []timedRun
	samples  int

	telemetry []deviceState

	unfinished string
}

// stamped is a snapshot with the time at which it was published.
type stamped struct {
	*report.Snapshot
	time time.Time
	key  string // of its configuration
	done bool   // not on the way to another: settled, failed or idle
}

// timedRun is one timed inference.
type timedRun struct {
	cfg   config.Config
	key   string
	ns    time.Duration
	steps []time.Duration
}

// deviceState is the device's state under a configuration.
type deviceState struct {
	cfg config.Config
	key string
	*report.Telemetry
}

func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }
