package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/recordings"
	"github.com/trtui/trtui/views/words"
)

// header returns what the top lines show: the newest snapshot, and the configuration that is asked for; midBuild is as the
// function of that name says.
func header(s *report.Snapshot, want config.Config, job *ui.Job, midBuild bool) ui.Header {
	h := ui.Header{
		Backend:   s.Device.Backend,
		Precision: slices.Index(pane.Precisions, want.Precision),
		Profile:   fmt.Sprintf("batch %d", max(1, want.Batch)),
		Recording: s.Recording != "",
		Stale:     s.Stale&^s.Preview&s.Made() != 0,
		Job:       job,
	}
	if s.Device.Threads > 0 {
		h.Backend += fmt.Sprintf("x%d", s.Device.Threads)
	}
	for _, p := range pane.Precisions {
		h.Precisions = append(h.Precisions, strings.ToUpper(string(p)))
	}
	if want.Quantizes() && !pane.OwnRanges(s) {
		h.Calibrator = want.Calibrator
	}
	if s.Model != nil {
		h.Model = words.Model(s.Model)
	}
	if t := s.Timings; t != nil && !t.Estimated {
		h.Iterations, h.CV = t.Samples, 100*t.EndToEnd.CV
	}
	if pane.CutShort(s) > 0 { // a badge says how many there were
		h.Iterations = 0
	}
	h.Gauges = gauges(s.Telemetry)
	h.Badges = badges(s, want, midBuild)
	return h
}

// gauges writes what the device tells of itself; why its clocks are held down is a badge.
func gauges(t *report.Telemetry) []string {
	if t == nil {
		return nil
	}
	var list []string
	if t.Clock > 0 {
		list = append(list, fmt.Sprintf("%d MHz", t.Clock))
	}
	if t.Power > 0 {
		list = append(list, fmt.Sprintf("%.0f W", t.Power))
	}
	if t.Temperature > 0 {
		list = append(list, fmt.Sprintf("%dC", t.Temperature))
	}
	return list
}

// randomRanges reports whether ranges come from random input, or would if there were some: those of an engine may come from
// data that is not at hand here.
func randomRanges(s *report.Snapshot) bool {
	if s.Overview != nil && s.Config.Quantizes() {
		return slices.ContainsFunc(s.Overview.Badges, func(b report.Badge) bool { return b.Text == report.RandomCalibration })
	}
	return s.Model != nil && s.Model.Random && !pane.OwnRanges(s)
}

// badges returns the lasting remarks on a snapshot and on the configuration that is asked for.
func badges(s *report.Snapshot, want config.Config, midBuild bool) []ui.Badge {
	var badges []ui.Badge
	if s.Err != "" {
		badges = append(badges, ui.Badge{Text: "ERROR", Style: ui.Bad | ui.Bold})
	}
	if s.Preview&s.Made() != 0 {
		badges = append(badges, ui.Badge{Text: pane.Untried, Style: ui.Accent})
	}
	if randomRanges(s) {
		badges = append(badges, ui.Badge{Text: report.RandomCalibration, Style: ui.Warn})
	}
	for _, of := range []ui.Badge{{Text: report.UsualShapes, Style: ui.Accent}, {Text: report.PlannedAgain, Style: ui.Warn}} {
		if s.Overview != nil && slices.ContainsFunc(s.Overview.Badges, func(b report.Badge) bool { return b.Text == of.Text }) {
			badges = append(badges, of)
		}
	}
	if set := len(want.LayerPrecisions); set > 0 {
		badges = append(badges, ui.Badge{Text: words.Plural(set, "layer") + " set", Style: ui.Accent})
	}
	if off := config.OffLabel(want); off != "" {
		badges = append(badges, ui.Badge{Text: off, Style: ui.Accent})
	}
	if s.Device.Estimated {
		badges = append(badges, ui.Badge{Text: "estimated", Style: ui.Warn})
	}
	if t := s.Telemetry; t != nil && len(t.Throttle) > 0 {
		badges = append(badges, ui.Badge{Text: "throttled: " + strings.Join(t.Throttle, ", "), Style: ui.Warn})
	}
	if n := pane.CutShort(s); n > 0 {
		badges = append(badges, ui.Badge{Text: "stopped after " + words.Plural(n, "run"), Style: ui.Warn})
	}
	if s.Viewed() != "" {
		badges = append(badges, ui.Badge{Text: "VIEW", Style: ui.Chip})
	}
	if s.Replay != "" {
		if midBuild {
			badges = append(badges, ui.Badge{Text: "mid-build", Style: ui.Warn})
		}
		badges = append(badges, ui.Badge{Text: replayBadge(s.At), Style: ui.Chip})
	}
	return badges
}

// midBuild reports whether the recorded state is one of a build that was not over: reports are missing or stale, or the
// recording breaks off there. One that was ended while times were still getting better is whole.
func midBuild(s *report.Snapshot, t recordings.Timeline) bool {
	if s.Busy == nil || s.Settled() && t == nil {
		return false
	}
	return !s.Settled() || t.CutShort() && t.Position() == len(t.Steps())-1
}

// replayBadge says that a recording is shown, and which of its states.
func replayBadge(at *report.Moment) string {
	if at == nil {
		return "REPLAY"
	}
	return fmt.Sprintf("REPLAY %d/%d", at.State, at.States)
}
