package sessions_test

import (
	"context"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestInMemory has one name for the steps that launch nothing, in plans and in reports.
func TestInMemory(t *testing.T) {
	if report.InMemory != run.InMemory {
		t.Errorf("reports say %q, plans %q", report.InMemory, run.InMemory)
	}
}

// TestCountsAddUp compares the counts with what every report lists, which is where a person counts again.
func TestCountsAddUp(t *testing.T) {
	sessions.NotUnderRace(t)
	b := cpu.Open(2)
	defer b.Close()
	r := sessions.NewRunner(embedded(t), stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), CalData: pictures{testdata.CalibrationImages(), 4},
	}, nil)
	all := report.PartPasses | report.PartOverview | report.PartTimings | report.PartMemory | report.PartTactics
	for _, cfg := range []config.Config{
		{Precision: config.FP32, Batch: 1},
		{Precision: config.FP16, Batch: 2},
		{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried},
		{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried, Disable: []string{"fuse-activation"}},
	} {
		snap, err := r.Report(context.Background(), cfg, all, run.Profiling{Iterations: 1, PerStep: true})
		if err != nil {
			t.Fatal(err)
		}
		c, p := snap.Overview.Counts, snap.Passes
		launched, moved := 0, 0
		for _, l := range snap.Timings.Layers {
			if l.Tactic != report.InMemory {
				launched++
			}
			if l.Reformat {
				moved++
			}
		}
		split := 0
		for _, e := range snap.Overview.Split {
			split += e.Layers
		}
		for _, e := range []struct {
			what      string
			got, want int
		}{
			{"source layers of the overview and of the model", c.Source, len(p.Source)},
			{"source layers of the overview and of the ledger", c.Source, p.Kept + p.Fused + p.Folded + p.Eliminated},
			{"engine layers of the overview and of the graph", c.Engine + c.Known, len(p.Engine)},
			{"engine layers of the overview and of the tactics", c.Engine, len(snap.Tactics.Layers)},
			{"layers saved by the passes", p.KernelsSaved, c.Source - c.Engine - c.Known},
			{"steps of the overview and of the timings", c.Steps, len(snap.Timings.Layers)},
			{"steps of the overview and of the memory plan", c.Steps, len(snap.Memory.Steps)},
			{"steps of the overview and of its split by precision", c.Steps, split},
			{"steps as engine layers and reformats", c.Steps, c.Engine + c.Reformats},
			{"steps as launches and arrangements of memory", c.Steps, c.Launches + c.InMemory},
			{"launches of the overview and of the timings", c.Launches, launched},
			{"reformats of the overview and of the timings", c.Reformats, moved},
		} {
			if e.got != e.want {
				t.Errorf("%s, rules off %v: %s: %d and %d", cfg.Precision, cfg.Disable, e.what, e.got, e.want)
			}
		}
	}
}

func TestCountsText(t *testing.T) {
	for _, c := range []struct {
		counts report.Counts
		want   string
	}{
		{report.Counts{Launches: 28, Source: 65, Engine: 26, Reformats: 4, Steps: 30, InMemory: 2}, "28 launches = 26 engine layers + 4 reformats - 2 in memory"},
		{report.Counts{Launches: 1, Source: 1, Engine: 1, Steps: 1}, "1 launch = 1 engine layer"},
		{report.Counts{Launches: 2, Engine: 1, Reformats: 1, Steps: 2}, "2 launches = 1 engine layer + 1 reformat"},
		{report.Counts{Launches: 28, Source: 65}, "28 launches"}, // of an older recording
	} {
		if got := c.counts.Text(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.counts, got, c.want)
		}
	}
}
