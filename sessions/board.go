package sessions

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// board shows the newest state of a session: to who reads its events, and to its recording.
type board struct {
	events   chan *report.Snapshot
	recorder atomic.Pointer[recording.Recorder] // nil while nothing is recorded

	mu   sync.Mutex
	snap report.Snapshot // the newest state; copied when it is published
}

// newest returns a copy of the state.
func (b *board) newest() *report.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.snap
	return &c
}

// update changes the state and publishes it.
func (b *board) update(change func(*report.Snapshot)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.snap)
	b.record(b.deliver())
}

// publish replaces reports that are up to date again.
func (b *board) publish(parts report.Part, change func(*report.Snapshot)) {
	b.update(func(snap *report.Snapshot) {
		change(snap)
		snap.Stale &^= parts
		snap.Preview &^= parts
	})
}

// preview replaces reports by those of a configuration before all of its choices are made.
func (b *board) preview(parts report.Part, change func(*report.Snapshot)) {
	b.update(func(snap *report.Snapshot) {
		change(snap)
		snap.Preview |= parts
	})
}

// record hands a snapshot to the recording, if there is one.
func (b *board) record(c *report.Snapshot) {
	if r := b.recorder.Load(); r != nil {
		r.Snapshot(c)
	}
}

// deliver publishes a copy of the state, which it returns; b.mu is held.
func (b *board) deliver() *report.Snapshot {
	b.snap.Seq++
	c := b.snap
	select {
	case <-b.events: // what nobody took is older
	default:
	}
	b.events <- &c
	return &c
}

// progressed returns the stages' progress function: at most one event in [stages.ProgressInterval], but each new phase at once.
func (b *board) progressed() func(report.Progress) {
	var last time.Time
	var phase string
	left := forecast{}
	return func(p report.Progress) {
		p.Left = left.left(p, time.Now())
		if p.Phase == phase && time.Since(last) < stages.ProgressInterval {
			return
		}
		last, phase = time.Now(), p.Phase
		b.update(func(snap *report.Snapshot) { snap.Busy = &p })
	}
}

// log adds a line to the log.
func (b *board) log(level, layer, format string, args ...any) {
	b.keepLine(report.LogLine{Time: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Layer: layer})
}

// keepLine adds a line to the log; the newest thousand are kept.
func (b *board) keepLine(line report.LogLine) {
	b.update(func(snap *report.Snapshot) {
		keep := snap.Log[max(0, len(snap.Log)-999):]
		snap.Log = append(keep[:len(keep):len(keep)], line)
	})
}

// logError adds an error to the log: a line for each layer that the backend does not compute.
func (b *board) logError(err error) {
	var missing *run.Unsupported
	if !errors.As(err, &missing) || len(missing.Layers) == 1 {
		b.log("error", "", "%v", err)
		return
	}
	b.log("error", "", "no tactic of %s computes %d layers", missing.Backend, len(missing.Layers))
	const most = 200 // the report of tactics has them all
	for i, l := range missing.Layers {
		if i == most {
			b.log("error", "", "and %d more", len(missing.Layers)-most)
			return
		}
		b.log("error", l.Layer, "%s: %s", l.Op, l.Reason())
	}
}

// observed publishes the device's state. A recording keeps it in a table of its own: it is no state of the work that a
// replay would step through.
func (b *board) observed(t *report.Telemetry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snap.Telemetry = t
	b.deliver()
	if r := b.recorder.Load(); r != nil && t != nil {
		r.Telemetry(b.snap.Config, t)
	}
}
