package views

import (
	"cmp"
	"reflect"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// calibrators are what c cycles through, unless the report says which there are.
var calibrators = []string{"minmax", "entropy", "percentile:99.99", "mse"}

// Want returns the configuration that is asked for.
func (w *workbench) Want() config.Config { return w.config.want }

// Change asks for the configuration that edit makes of the one that is asked for.
func (w *workbench) Change(edit func(*config.Config)) tea.Cmd {
	was := w.config.want
	if w.o.ReadOnly {
		return pane.Say(ui.Warn, inReadOnly)
	}
	if !w.config.change(edit) {
		return nil
	}
	return w.set(was)
}

// step goes back or forth in the history.
func (w *workbench) step(move func() bool, nothing string) tea.Cmd {
	was := w.config.want
	if !move() {
		return pane.Say(ui.Plain, nothing)
	}
	return w.set(was)
}

// set asks the controller for the configuration that is wanted now. One that builds the same engine as it was, which is
// there or being made, begins no work.
func (w *workbench) set(was config.Config) tea.Cmd {
	cfg, own := w.config.want, pane.OwnRanges(w.snap)
	w.ctl.Set(cfg)
	if w.snap.Replay == "" && w.snap.Err == "" && !w.snap.Stopped && cfg.SameEngine(was, own) {
		h := w.header()
		return tea.Batch(func() tea.Msg { return h }, pane.Say(ui.Warn, withoutSay(w.o.Look, was, cfg)))
	}
	w.work.before = w.timed
	begun := w.begin(cfg.Label(own) + ": rebuilding; esc stops")
	w.work.label = cfg.Label(own)
	return begun
}

// withoutSay says why a change of the configuration changes no engine.
func withoutSay(look *ui.Look, was, cfg config.Config) string {
	switch {
	case was.Calibrator != cfg.Calibrator:
		return cfg.Calibrator + look.Keys(": calibrators apply to INT8 only; press {f} to switch to it")
	case was.Quantization.Rounding != cfg.Quantization.Rounding && cfg.Weights == "":
		return look.Keys("rounding of weights applies where there are integers: INT8 ({f}), or weights in few bits ({Calibration I})")
	case !reflect.DeepEqual(was.Quantization.Full(), cfg.Quantization.Full()):
		return look.Keys("how is quantised applies to INT8 only; press {f} to switch to it")
	case was.Constraints != cfg.Constraints:
		return string(cmp.Or(cfg.Constraints, config.Prefer)) + ": it applies where the precision of a layer is set; nothing to rebuild"
	}
	return "the engine stays the same: nothing to rebuild"
}

func (w *workbench) nextPrecision() tea.Cmd {
	if w.o.Timeline == nil {
		return w.Change(func(c *config.Config) { c.Precision = c.Precision.Next() })
	}
	var all []string
	for _, p := range pane.Precisions {
		all = append(all, string(p))
	}
	precision := func(c config.Config) string { return string(c.Precision) }
	return w.showRecorded(all, precision, func(config.Config) bool { return true })
}

func (w *workbench) nextCalibrator() tea.Cmd {
	list := calibrators
	if r := w.snap.Calibration; r != nil && len(r.Calibrators) > 0 {
		list = r.Calibrators
	}
	if w.o.Timeline != nil {
		calibrator := func(c config.Config) string { return c.Calibrator }
		return w.showRecorded(list, calibrator, func(c config.Config) bool { return otherCalibrator(c, w.config.want) })
	}
	at := slices.Index(list, w.config.want.Calibrator)
	return w.Change(func(c *config.Config) { c.Calibrator = list[(at+1)%len(list)] })
}

// showRecorded shows the recorded configuration that is the next one by what of gives.
func (w *workbench) showRecorded(all []string, of func(config.Config) string, among func(config.Config) bool) tea.Cmd {
	next, ok := nextRecorded(recordedConfigs(w.o.Timeline), w.config.want, all, of, among)
	if !ok {
		return nil
	}
	return w.Change(func(c *config.Config) { *c = next.Clone() })
}
