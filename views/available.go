package views

import (
	"reflect"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
)

// need is what a key's work needs. Whether that is there is decided in one place, [desk.lacks]: keys that lack something
// are in no footer and no help, and pressing one tells why.
type need int

// The needs.
const (
	needsModel  need = iota // to change what is built from the model, or to measure it
	needsRun                // to run it anew
	needsDevice             // to measure: estimates do not get better
	needsChoice             // of the precision of layers: the model must leave one
	needsRecorder
	needsPast
	needsFuture
	needsPrecision  // another precision to go to
	needsCalibrator // another calibrator to go to
	needsPercentile // the calibrator with that parameter
	needsJob        // something that runs and can be stopped, or that can be left
)

// What says why a replay does nothing of that kind: one alone, and one in front of a live session.
const (
	inReplay      = "a replay shows what was recorded: open the model to change or measure it"
	inFrontReplay = "a replay shows what was recorded: esc leads back to the live session"
)

// lacks says what the state at hand lacks of what a key needs; "" where the key works.
func (d *desk) lacks(n need) string {
	replay := d.snap.Replay != "" || d.Timeline != nil
	switch {
	case n == needsRecorder && d.Live != nil:
		return "this is a recording already: esc leads back to the live session, which can be recorded"
	case n == needsRecorder && d.Recorder == nil:
		return "this is a recording already: open the model to record another"
	case d.snap.Refused() && slices.Contains([]need{needsRun, needsDevice, needsChoice, needsPrecision, needsCalibrator, needsPercentile}, n):
		return "the model is not runnable: " + d.snap.Model.NotRunnable
	case n == needsPast && len(d.past) == 0:
		return "nothing to undo"
	case n == needsFuture && len(d.future) == 0:
		return "nothing to redo"
	case n == needsPrecision && replay:
		return d.onlyRecorded("in "+string(d.want.Precision), func(c config.Config) bool { return c.Precision != d.want.Precision })
	case n == needsCalibrator && ownRanges(d.snap):
		return "the model brings its own quantisation: no calibrator has a say"
	case n == needsCalibrator && replay && !d.want.Quantizes():
		return "calibrators matter for INT8 only; press f to get there"
	case n == needsCalibrator && replay:
		return d.onlyRecorded("with "+snapshotLabel(d.snap), d.otherCalibrator)
	case n == needsChoice && ownRanges(d.snap):
		return "the model brings its own quantisation: its layers keep the precision that it gives them"
	case n == needsJob && d.Live == nil && !d.working():
		return "nothing is running that could be stopped"
	case replay && d.Live != nil && slices.Contains([]need{needsModel, needsRun, needsDevice, needsChoice, needsPercentile}, n):
		return inFrontReplay
	case replay && slices.Contains([]need{needsModel, needsRun, needsDevice, needsChoice, needsPercentile}, n):
		return inReplay
	case n == needsDevice && d.snap.Device.Estimated:
		return "this backend has no device: times are a cost model's, and there is nothing to measure"
	case n == needsPercentile && !strings.HasPrefix(d.want.Calibrator, "percentile"):
		return "the active calibrator is " + d.want.Calibrator + "; press c for the percentile calibrator"
	}
	return ""
}

// when returns the key with what the state at hand lacks for it.
func (d *desk) when(n need, k ui.Key) ui.Key {
	k.Off = d.lacks(n)
	return k
}

// lacksFor is lacks for the keys of the whole program.
func (d *desk) lacksFor(i ui.Intent) string {
	needs := map[ui.Intent]need{
		ui.NextPrecision: needsPrecision, ui.NextCalibrator: needsCalibrator, ui.Rerun: needsRun, ui.Rebuild: needsRun,
		ui.Undo: needsPast, ui.Redo: needsFuture, ui.Record: needsRecorder, ui.Cancel: needsJob,
	}
	if n, ok := needs[i]; ok {
		return d.lacks(n)
	}
	return ""
}

// recorded returns the configurations that a replay has, newest first, each once.
func (d *desk) recorded() []config.Config {
	if d.Timeline == nil {
		return nil
	}
	var list []config.Config
	for _, s := range slices.Backward(d.Timeline.Steps()) {
		if !slices.ContainsFunc(list, func(c config.Config) bool { return reflect.DeepEqual(c, s.Config) }) {
			list = append(list, s.Config)
		}
	}
	return list
}

// onlyRecorded says that no recorded configuration is of the kind that is wanted.
func (d *desk) onlyRecorded(what string, wanted func(config.Config) bool) string {
	if slices.ContainsFunc(d.recorded(), wanted) {
		return ""
	}
	return "the model was recorded " + what + " only"
}

// otherCalibrator reports whether a configuration differs from the one that is asked for by its calibrator.
func (d *desk) otherCalibrator(c config.Config) bool {
	return c.Quantizes() && c.Precision == d.want.Precision && c.Calibrator != d.want.Calibrator
}

// nextRecorded returns the recorded configuration for which of gives what follows what it gives now, in the order of all;
// one that is otherwise as it is now, if there is one, or else the newest.
func (d *desk) nextRecorded(all []string, of func(config.Config) string, among func(config.Config) bool) (config.Config, bool) {
	at := slices.Index(all, of(d.want))
	for k := range all {
		name := all[(at+1+k+len(all))%len(all)]
		best, found := config.Config{}, false
		for _, c := range d.recorded() {
			if of(c) != name || !among(c) {
				continue
			}
			if !found || alike(c, d.want) > alike(best, d.want) {
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
