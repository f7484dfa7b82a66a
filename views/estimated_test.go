package views

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// estimated returns the fixture as a device without measurements would give it.
func estimated(t *testing.T) *report.Snapshot {
	t.Helper()
	snap := panetest.Fixture(t)
	snap.Device.Backend, snap.Device.Estimated = "sim", true
	snap.Timings.Estimated = true
	for i := range snap.Tactics.Layers {
		for k := range snap.Tactics.Layers[i].Candidates {
			snap.Tactics.Layers[i].Candidates[k].Timed = false
		}
	}
	return snap
}

// Every pane with times says that they are estimates.
func TestEstimatedTimesAreLabelled(t *testing.T) {
	b := newBench(t, ui.Options{}, estimated(t))
	b.size(200, 60)
	for _, c := range []struct {
		screen string
		want   []string
	}{
		{"1", []string{"estimated from simulated counts", "Slowest layers", "estimated"}},
		{"3", []string{"estimated from what the simulator counted"}},
		{"7", []string{"untimed", "cost model's prices", "~"}},
	} {
		b.press(c.screen)
		b.wants(c.want...)
	}
}

// What the device tells of itself is in the header where there is room.
func TestTelemetryInHeader(t *testing.T) {
	snap := panetest.Fixture(t)
	snap.Telemetry = &report.Telemetry{Clock: 1980, Power: 411.6, Temperature: 61, Throttle: []string{"power"}}
	b := newBench(t, ui.Options{}, snap)
	b.size(200, 60)
	b.wants("1980 MHz 412 W 61C", "throttled: power")
	b.size(80, 24)
	b.wants("throttled: power", "INT8")
	if s := b.screen(); strings.Contains(s, "412 W") {
		t.Errorf("there is no room for it:\n%s", s)
	}
	idle := *snap
	idle.Telemetry = &report.Telemetry{Temperature: 40}
	b.size(200, 60)
	b.publish(&idle)
	b.wants("40C")
	if s := b.screen(); strings.Contains(s, "MHz") || strings.Contains(s, "throttled") {
		t.Errorf("what the device does not tell is shown:\n%s", s)
	}
}

// An error over several lines: the panes have all of it, the line at the bottom the first.
func TestLayersWithoutTactics(t *testing.T) {
	full := panetest.Fixture(t)
	snap := &report.Snapshot{Seq: 1, Schema: full.Schema, Config: full.Config, Model: full.Model, Device: full.Device}
	snap.Err = "no tactic of cuda:0 computes 2 layers:\n  head/classify/Gemm (Gemm): there is none for the op\n  softmax/Softmax (Softmax): softmax_f32: the type is f64"
	b := newBench(t, ui.Options{}, snap)
	b.size(160, 40)
	b.press("7")
	b.wants("no tactic of cuda:0 computes 2 layers", "head/classify/Gemm (Gemm): there is none for the op", "softmax_f32: the type is f64", "ERROR")
}
