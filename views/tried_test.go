package views

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestWithoutSay changes what has no say: the configuration is asked for, and nothing looks as if it were rebuilt.
func TestWithoutSay(t *testing.T) {
	snap := panetest.Fixture(t)
	snap.Config.Precision = config.FP32
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"c"}, "minmax: calibrators apply to INT8 only; press f to switch to it"},
		{[]string{"2", "down", "P", "G", "enter"}, "obey: it applies where the precision of a layer is set"},
	} {
		b := newBench(t, ui.Options{NoColor: true}, snap)
		b.size(120, 40)
		b.press(c.keys...)
		b.wants(c.want)
		next := *snap
		next.Config = b.last()
		b.publish(&next)
		if s := b.screen(); strings.Contains(s, "rebuilding") || strings.Contains(s, "as fast as") {
			t.Errorf("%v rebuilds:\n%s", c.keys, s)
		}
		b.press("1")
		if n := strings.Count(b.screen(), " fp32 "); n != 1 {
			t.Errorf("%v: %d rows:\n%s", c.keys, n, b.screen())
		}
	}
}

// TestStaleIsNamed marks what is of an older configuration by what it is of.
func TestStaleIsNamed(t *testing.T) {
	snap := panetest.Fixture(t)
	passes := *snap.Passes
	passes.Precision = config.INT8
	snap.Passes = &passes
	snap.Config.Precision, snap.Stale = config.FP32, report.PartAccuracy
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(120, 40)
	b.wants("99.1% stale", "48.5 dB stale")
	b.size(80, 24)
	b.wants("99.1% stale")
	b.size(120, 40)
	b.press("2")
	b.wants("Engine FP32")
	next := *snap
	next.Stale |= report.PartPasses
	b.publish(&next)
	b.wants("Engine INT8")
	older := passes
	older.Precision = ""
	next.Passes = &older
	b.publish(&next)
	if s := b.screen(); strings.Contains(s, "Engine FP32") || strings.Contains(s, "Engine INT8") {
		t.Errorf("an engine of a precision that is not known is named:\n%s", s)
	}
}

// TestFilteredSamples says why there are no samples to see.
func TestFilteredSamples(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	b.press("3", "/", "q", "q", "q", "enter")
	b.wants("the filter hides all rows")
	if s := b.screen(); strings.Contains(s, "for this model") {
		t.Errorf("blames the model:\n%s", s)
	}
}

// TestChangedEarly asks for another configuration before all is known of the one that is shown: what came of the change is said all the
// same, of what was timed.
func TestChangedEarly(t *testing.T) {
	early := *panetest.Fixture(t)
	early.Stale, early.Busy = report.PartAccuracy|report.PartCalibration, &report.Progress{Phase: "comparing"}
	b := newBench(t, ui.Options{NoColor: true}, &early)
	b.size(160, 40)
	b.press("f")
	now, timings := *panetest.Fixture(t), *early.Timings
	timings.EndToEnd.Median *= 2
	timings.Beside = &report.Beside{Config: early.Config, Speed: report.NewSpeed(0.5, 0.49, 0.51, true)}
	now.Config, now.Timings, now.Busy = b.last(), &timings, nil
	b.publish(&now)
	b.wants("fp32: ", "2.00x slower than int8/mse (")
}
