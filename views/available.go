package views

import (
	"reflect"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/calibration"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/recordings"
)

// What says why a replay does nothing of that kind: one alone, and one in front of a live session.
const (
	inReplay      = "a replay shows what was recorded: open the model to change or measure it"
	inView        = "these are another program's files on its engine: open the ONNX model to change or measure it here"
	inReadOnly    = "this connection is read-only: it shows, and changes nothing"
	inFrontReplay = "a replay shows what was recorded: esc leads back to the live session"
)

// available is what decides which keys do something.
type available struct {
	look        *ui.Look
	snap        *report.Snapshot // the newest
	want        config.Config
	timeline    recordings.Timeline // nil for a session
	front       bool                // a replay in front of a live session
	recordable  bool
	unrecorded  bool // a recording ended by itself, which is still said
	readOnly    bool
	requantises bool // quantisation that the model brings can be dropped
	undo, redo  bool // there is something to undo, or redo
}

// lacks says what the state at hand lacks of what a key needs; "" where the key works.
func (a available) lacks(n pane.Need) string {
	replay := a.snap.Replay != "" || a.timeline != nil
	switch {
	case a.readOnly:
		return inReadOnly
	case n != pane.NeedsJob && a.snap.Viewed() != "":
		return inView
	case n == pane.NeedsRecorder && a.front:
		return "this is a recording already: esc leads back to the live session, which can be recorded"
	case n == pane.NeedsRecorder && !a.recordable:
		return "this is a recording already: open the model to record another"
	case a.snap.Refused() && slices.Contains([]pane.Need{pane.NeedsRun, pane.NeedsDevice, pane.NeedsChoice, pane.NeedsPrecision, pane.NeedsCalibrator, pane.NeedsQuantization, pane.NeedsPercentile}, n):
		return "the model is not runnable: " + a.snap.Model.NotRunnable
	case n == pane.NeedsPast && !a.undo:
		return "nothing to undo"
	case n == pane.NeedsFuture && !a.redo:
		return "nothing to redo"
	case n == pane.NeedsPrecision && replay:
		return a.onlyRecorded("in "+string(a.want.Precision), func(c config.Config) bool { return c.Precision != a.want.Precision })
	case n == pane.NeedsCalibrator && pane.OwnRanges(a.snap):
		return a.quantised("calibrators do not apply")
	case n == pane.NeedsCalibrator && replay && !a.want.Quantizes():
		return a.look.Keys("calibrators apply to INT8 only; press {f} to switch to it")
	case n == pane.NeedsCalibrator && replay:
		return a.onlyRecorded("with "+pane.Label(a.snap), func(c config.Config) bool { return otherCalibrator(c, a.want) })
	case n == pane.NeedsQuantization && pane.OwnRanges(a.snap):
		return a.quantised("how is in it")
	case n == pane.NeedsChoice && pane.OwnRanges(a.snap):
		return a.quantised("its layers keep their precision")
	case n == pane.NeedsOwnRanges && a.snap.Model != nil && a.snap.Model.Kind == "engine":
		return "an engine is quantised as it was built: open the model that it is of"
	case n == pane.NeedsOwnRanges && !pane.OwnRanges(a.snap) && (a.snap.Model == nil || !a.snap.Model.Requantized):
		return "the model brings no quantisation that could be dropped"
	case n == pane.NeedsChanged && a.snap.Changed == "":
		return "the model is as it was read: its files have not changed"
	case n == pane.NeedsJob && !a.front && !a.unrecorded && !working(a.snap):
		return "nothing is running"
	case replay && a.front && slices.Contains([]pane.Need{pane.NeedsModel, pane.NeedsRun, pane.NeedsDevice, pane.NeedsChoice, pane.NeedsQuantization, pane.NeedsPercentile}, n):
		return inFrontReplay
	case replay && slices.Contains([]pane.Need{pane.NeedsModel, pane.NeedsRun, pane.NeedsDevice, pane.NeedsChoice, pane.NeedsQuantization, pane.NeedsPercentile}, n):
		return inReplay
	case n == pane.NeedsDevice && a.snap.Device.Estimated:
		return "this backend has no device: times come from a cost model, and there is nothing to measure"
	case n == pane.NeedsPercentile && !calibration.HasParameter(a.want.Calibrator):
		return "the active calibrator is " + a.want.Calibrator + a.look.Keys("; press {c} for percentile or entropy")
	}
	return ""
}

// quantised says what follows of a model's own quantisation, and which key drops that where one does.
func (a available) quantised(what string) string {
	what = "the model is already quantised: " + what
	if a.requantises {
		what += a.look.Keys("; {ctrl+t} drops that")
	}
	return what
}

// onlyRecorded says that no recorded configuration is of the kind that is wanted.
func (a available) onlyRecorded(what string, wanted func(config.Config) bool) string {
	if slices.ContainsFunc(recordedConfigs(a.timeline), wanted) {
		return ""
	}
	return "the model was recorded " + what + " only"
}

// working reports whether something is being done that can be stopped.
func working(s *report.Snapshot) bool { return s.Busy != nil && s.Replay == "" }

// intentNeeds are the needs of the keys of the whole program.
func intentNeeds(i ui.Intent) (pane.Need, bool) {
	switch i {
	case ui.NextPrecision:
		return pane.NeedsPrecision, true
	case ui.NextCalibrator:
		return pane.NeedsCalibrator, true
	case ui.Rerun, ui.Rebuild:
		return pane.NeedsRun, true
	case ui.Undo:
		return pane.NeedsPast, true
	case ui.Redo:
		return pane.NeedsFuture, true
	case ui.Record:
		return pane.NeedsRecorder, true
	case reload:
		return pane.NeedsChanged, true
	case requantise:
		return pane.NeedsOwnRanges, true
	case ui.Cancel:
		return pane.NeedsJob, true
	}
	return 0, false
}

// recordedConfigs returns the configurations that a replay has, newest first, each once.
func recordedConfigs(t recordings.Timeline) []config.Config {
	if t == nil {
		return nil
	}
	var list []config.Config
	for _, s := range slices.Backward(t.Steps()) {
		if !slices.ContainsFunc(list, func(c config.Config) bool { return reflect.DeepEqual(c, s.Config) }) {
			list = append(list, s.Config)
		}
	}
	return list
}

// otherCalibrator reports whether a configuration differs from the one that is asked for by its calibrator.
func otherCalibrator(c, want config.Config) bool {
	return c.Quantizes() && c.Precision == want.Precision && c.Calibrator != want.Calibrator
}

// nextRecorded returns the recorded configuration for which of gives what follows what it gives for the one that is asked
// for, in the order of all; one that is otherwise alike, if there is one, and the newest otherwise.
func nextRecorded(recorded []config.Config, want config.Config, all []string, of func(config.Config) string, among func(config.Config) bool) (config.Config, bool) {
	at := slices.Index(all, of(want))
	for k := range all {
		name := all[(at+1+k+len(all))%len(all)]
		best, found := config.Config{}, false
		for _, c := range recorded {
			if of(c) != name || !among(c) {
				continue
			}
			if !found || alike(c, want) > alike(best, want) {
				best, found = c, true
			}
		}
		if found {
			return best, true
		}
	}
	return config.Config{}, false
}

// alike counts what two configurations have in common besides precision and calibrator.
func alike(a, b config.Config) int {
	n := 0
	if a.Calibrator == b.Calibrator {
		n++
	}
	if slices.Equal(a.Disable, b.Disable) {
		n++
	}
	if slices.Equal(a.LayerPrecisions, b.LayerPrecisions) {
		n++
	}
	if len(a.Pin) == len(b.Pin) && len(a.Forbid) == len(b.Forbid) {
		n++
	}
	return n
}
