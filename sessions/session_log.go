package sessions

import (
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// log adds a line to the log.
func (s *Session) log(level, layer, format string, args ...any) {
	s.keepLine(report.LogLine{Time: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Layer: layer})
}

// Note adds what a person did besides to the log.
func (s *Session) Note(text string) { s.log("info", "", "%s", text) }

// keepLine adds a line to the log; the newest thousand are kept.
func (s *Session) keepLine(line report.LogLine) {
	s.update(func(snap *report.Snapshot) {
		keep := snap.Log[max(0, len(snap.Log)-999):]
		snap.Log = append(keep[:len(keep):len(keep)], line)
	})
}

// logError adds an error to the log: a line for each layer that the backend does not compute.
func (s *Session) logError(err error) {
	var missing *run.Unsupported
	if !errors.As(err, &missing) || len(missing.Layers) == 1 {
		s.log("error", "", "%v", err)
		return
	}
	s.log("error", "", "no tactic of %s computes %d layers", missing.Backend, len(missing.Layers))
	const most = 200 // the report of tactics has them all
	for i, l := range missing.Layers {
		if i == most {
			s.log("error", "", "and %d more", len(missing.Layers)-most)
			return
		}
		s.log("error", l.Layer, "%s: %s", l.Op, l.Reason())
	}
}
