package views

import (
	"reflect"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
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
	snap       *report.Snapshot // the newest
	want       config.Config
	timeline   Timeline // nil for a session
	front      bool     // a replay in front of a live session
	recordable bool
	unrecorded bool // a recording ended by itself, which is still said
	readOnly   bool
	undo, redo bool // there is something to undo, or redo
}

// lacks says what the state at hand lacks of what a key needs; "" where the key works.
func (a available) lacks(n need) string {
	replay := a.snap.Replay != "" || a.timeline != nil
	switch {
	case a.readOnly:
		return inReadOnly
	case n != needsJob && a.snap.Viewed() != "":
		return inView
	case n == needsRecorder && a.front:
		return "this is a recording already: esc leads back to the live session, which can be recorded"
	case n == needsRecorder && !a.recordable:
		return "this is a recording already: open the model to record another"
	case a.snap.Refused() && slices.Contains([]need{needsRun, needsDevice, needsChoice, needsPrecision, needsCalibrator, needsQuantization, needsPercentile}, n):
		return "the model is not runnable: " + a.snap.Model.NotRunnable
	case n == needsPast && !a.undo:
		return "nothing to undo"
	case n == needsFuture && !a.redo:
		return "nothing to redo"
	case n == needsPrecision && replay:
		return a.onlyRecorded("in "+string(a.want.Precision), func(c config.Config) bool { return c.Precision != a.want.Precision })
	case n == needsCalibrator && ownRanges(a.snap):
		return "the model is already quantised: calibrators do not apply"
	case n == needsCalibrator && replay && !a.want.Quantizes():
		return "calibrators apply to INT8 only; press f to switch to it"
	case n == needsCalibrator && replay:
		return a.onlyRecorded("with "+snapshotLabel(a.snap), func(c config.Config) bool { return otherCalibrator(c, a.want) })
	case n == needsQuantization && ownRanges(a.snap):
		return "the model is already quantised: how is in it"
	case n == needsChoice && ownRanges(a.snap):
		return "the model is already quantised: its layers keep their precision"
	case n == needsChanged && a.snap.Changed == "":
		return "the model is as it was read: its files have not changed"
	case n == needsJob && !a.front && !a.unrecorded && !working(a.snap):
		return "nothing is running"
	case replay && a.front && slices.Contains([]need{needsModel, needsRun, needsDevice, needsChoice, needsQuantization, needsPercentile}, n):
		return inFrontReplay
	case replay && slices.Contains([]need{needsModel, needsRun, needsDevice, needsChoice, needsQuantization, needsPercentile}, n):
		return inReplay
	case n == needsDevice && a.snap.Device.Estimated:
		return "this backend has no device: times come from a cost model, and there is nothing to measure"
	case n == needsPercentile && !hasParameter(a.want.Calibrator):
		return "the active calibrator is " + a.want.Calibrator + "; press c for percentile or entropy"
	}
	return ""
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

// when returns the key with what the state at hand lacks for it.
func when(d desk, n need, k ui.Key) ui.Key {
	k.Off = d.Lacks(n)
	return k
}

// intentNeeds are the needs of the keys of the whole program.
func intentNeeds(i ui.Intent) (need, bool) {
	switch i {
	case ui.NextPrecision:
		return needsPrecision, true
	case ui.NextCalibrator:
		return needsCalibrator, true
	case ui.Rerun, ui.Rebuild:
		return needsRun, true
	case ui.Undo:
		return needsPast, true
	case ui.Redo:
		return needsFuture, true
	case ui.Record:
		return needsRecorder, true
	case reload:
		return needsChanged, true
	case ui.Cancel:
		return needsJob, true
	}
	return 0, false
}

// recordedConfigs returns the configurations that a replay has, newest first, each once.
func recordedConfigs(t Timeline) []config.Config {
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
