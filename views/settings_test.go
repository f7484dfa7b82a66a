package views

import (
	"testing"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestSettings: the palette has every setting of a configuration; a value that is typed behind its name is taken, or refused with the
// reason, and without one it is asked for.
func TestSettings(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(160, 50)
	typed := func(text string) {
		b.press(":")
		for _, r := range text {
			if r == ' ' {
				b.press("space")
				continue
			}
			b.press(string(r))
		}
	}
	for _, s := range config.Settings(config.Default()) {
		if settingDocs[s.Name] == "" {
			t.Errorf("nothing says what %s is", s.Name)
		}
		typed(s.Name)
		b.wants(s.Name + ": ")
		b.press("esc")
	}
	typed("batch 4")
	b.press("enter")
	if got := b.last().Batch; got != 4 {
		t.Errorf("batch %d", got)
	}
	typed("cal percentile:99.9")
	b.press("enter")
	if got := b.last().Calibrator; got != "percentile:99.9" {
		t.Errorf("calibrator %s", got)
	}
	typed("layer-precisions *head*:fp32,stem/conv/Conv:fp16")
	b.press("enter")
	if got := b.last().LayerPrecisions; len(got) != 2 {
		t.Errorf("layer precisions %q", got)
	}
	typed("batch many")
	b.wants("\"many\" is no number")
	b.press("enter")
	b.wants("\"many\" is no number")
	typed("state h=h_out")
	b.wants("it is chosen at the start")
	b.press("enter")
	typed("batch")
	b.wants("now 4")
	b.press("enter")
	b.wants("a number", "> 4")
	b.press("backspace", "2", "enter")
	if got := b.last().Batch; got != 2 {
		t.Errorf("batch %d", got)
	}
}

// TestOwnSettings: a program's own calibrator is a value of the setting.
func TestOwnSettings(t *testing.T) {
	snap := panetest.Fixture(t)
	w := &workbench{o: Options{Look: ui.NewLook(ui.Options{}), Set: func(c config.Config, name, value string) (config.Config, error) {
		return config.Set(c, name, value, quant.Method{Name: "mine", New: func(float64, quant.Scheme) quant.Calibrator { return nil }})
	}}, snap: snap}
	w.config.want = snap.Config
	for _, e := range settings(w) {
		if e.Setting.Name != "calibrator" {
			continue
		}
		if err := e.Setting.Check("mine"); err != nil {
			t.Error(err)
		}
		if err := e.Setting.Check("yours"); err == nil {
			t.Error("a calibrator that nobody has is taken")
		}
		return
	}
	t.Error("there is no setting of the calibrator")
}
