package sessions_test

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestPreview opens a model in INT8: its figures by the nearest integers are there before anything is tried, are no figures of the
// configuration, and give way to those of what was chosen. A rule that is toggled then has no preview: nothing is tried again.
func TestPreview(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	cfg := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}
	s := sessions.Open(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 8}, CalData: pictures{testdata.CalibrationImages(), 32},
	}, cfg)
	t.Cleanup(func() { s.Close(); b.Close() })
	tried := func(snap *report.Snapshot) bool {
		return snap.Busy != nil && strings.HasPrefix(snap.Busy.Phase, "trying ")
	}
	whole := report.PartPasses | report.PartTactics | report.PartMemory | report.PartTimings | report.PartOverview | report.PartAccuracy
	first := await(t, s, func(snap *report.Snapshot) bool { return tried(snap) || snap.Preview == whole })
	if first.Preview != whole {
		t.Fatalf("something is tried before there are figures: preview %b", first.Preview)
	}
	if first.Timings == nil || first.Accuracy == nil || first.Settled() {
		t.Errorf("the preview lacks figures, or is taken for the configuration")
	}
	if p, ok := report.PointOf(first); ok {
		t.Errorf("the preview is a point of the configuration: %+v", p)
	}
	last := await(t, s, settled(cfg))
	if last.Preview != 0 || last.Accuracy == first.Accuracy || len(last.Accuracy.Layers) == 0 {
		t.Errorf("the preview stays: %b", last.Preview)
	}
	cfg.Disable = []string{"fuse-residual"}
	s.Set(cfg)
	await(t, s, func(snap *report.Snapshot) bool {
		if snap.Preview != 0 || tried(snap) {
			t.Fatalf("a toggle has a preview of %b, or trials", snap.Preview)
		}
		return len(snap.Config.Disable) > 0 && snap.Stale == 0
	})
}
