package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestChosenOnce toggles a rule in INT8: how weights are rounded and channels equalised is not tried again, and the ledger says as
// before what was compared. Another calibrator has trials of its own.
func TestChosenOnce(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	place := stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 8}, CalData: pictures{testdata.CalibrationImages(), 32},
	}
	trials := 0
	r := sessions.NewRunner(m, place, func(p report.Progress) {
		if strings.HasPrefix(p.Phase, "trying ") {
			trials++
		}
	})
	of := func(calibrator string, disable ...string) (compared int) {
		t.Helper()
		cfg := config.Config{Precision: config.INT8, Calibrator: calibrator, Batch: 1, Disable: disable}
		snap, err := r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range snap.Passes.Steps {
			for _, c := range s.Fired {
				if strings.Contains(fmt.Sprint(c), "held out") {
					compared++
				}
			}
		}
		return compared
	}
	first := of("mse")
	if trials == 0 || first == 0 {
		t.Fatalf("%d trials, %d places say what was compared", trials, first)
	}
	before := trials
	if again := of("mse", "fuse-residual"); trials != before || again == 0 {
		t.Errorf("with a rule off %d trials more, %d places say what was compared", trials-before, again)
	}
	if of("minmax"); trials == before {
		t.Error("another calibrator has no trials")
	}
}
