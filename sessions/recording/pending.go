package recording

import (
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// pending is what has not been written yet. It is bounded: of the states on the way only the newest is kept, of the
// settled ones the newest of each configuration, and of samples maxPendingSamples.
type pending struct {
	met      []metConfig // in order
	settled  []stamped
	progress *stamped
	runs     []timedRun
	samples  int

	telemetry []deviceState

	unfinished string
}

// metConfig is a configuration, and when something of it was handed over first.
type metConfig struct {
	cfg  config.Config
	key  string
	time time.Time
}

// meet notes a configuration.
func (p *pending) meet(cfg config.Config, key string) {
	if !slices.ContainsFunc(p.met, func(m metConfig) bool { return m.key == key }) {
		p.met = append(p.met, metConfig{cfg, key, time.Now()})
	}
}

// written returns the configurations of which there is something to write, in the order in which they were met: one that was broken off
// had samples before the next had a state.
func (p *pending) written() []metConfig {
	keys := map[string]bool{}
	for _, s := range p.settled {
		keys[s.key] = true
	}
	for _, r := range p.runs {
		keys[r.key] = true
	}
	for _, t := range p.telemetry {
		keys[t.key] = true
	}
	return slices.DeleteFunc(p.met, func(m metConfig) bool { return !keys[m.key] })
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
