package sessions_test

import (
	"context"
	"fmt"
	"log"

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

// A Runner makes reports for a program; another configuration repeats only what it changes.
func ExampleRunner() {
	m, err := model.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		log.Fatal(err)
	}
	device := cpu.Open(1)
	defer device.Close()
	r := sessions.NewRunner(m, stages.Workplace{Backend: device, Cache: build.NewTimingCache()}, nil)
	for _, rules := range [][]string{nil, {"fuse-activation"}} {
		cfg := config.Config{Precision: config.FP32, Batch: 1, Disable: rules}
		snap, err := r.Report(context.Background(), cfg, report.PartPasses, run.Profiling{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d layers of %d\n", cfg.Label(false), len(snap.Passes.Engine), len(snap.Passes.Source))
	}
	// Output:
	// fp32: 26 layers of 65
	// fp32, fuse-activation off: 42 layers of 65
}
