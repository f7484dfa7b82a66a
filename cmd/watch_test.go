package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/supervisor"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// An inference on the simulated device says which launch it is at and how far that is, and is ended within it.
func TestSimulatedInferenceEnds(t *testing.T) {
	host := cpu.Open(0)
	defer host.Close()
	b, err := cuda.OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	m, err := new(modelFlags).openModel("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last report.Progress
	var ended time.Time
	share := 0.0
	r := sessions.NewRunner(m, stages.Workplace{Backend: b, Host: host, Cache: build.NewTimingCache()}, func(p report.Progress) {
		if p.Phase != "estimating" {
			return
		}
		if p.Share < share {
			t.Errorf("%+v after a share of %g", p, share)
		}
		last, share = p, p.Share
		if p.Done == 3 && strings.HasPrefix(p.Item, "block ") && ended.IsZero() {
			ended = time.Now()
			cancel()
		}
	})
	_, err = r.Report(ctx, config.Config{Precision: config.FP32, Batch: 8}, report.PartTimings, run.Profiling{Iterations: 1, PerStep: true})
	if !errors.Is(err, context.Canceled) || ended.IsZero() || time.Since(ended) > 10*time.Second {
		t.Errorf("%v, at %+v", err, last)
	}
	if last.Done != 3 || last.Total < 10 || last.Share <= 0 || last.Share >= 1 {
		t.Errorf("the last word is %+v", last)
	}
}

// A selftest on the simulated device that is stopped within a kernel ends there, and calls it no failure.
func TestSelftestEnds(t *testing.T) {
	o := &selftestFlags{filter: "conv_f32_simt_32x32x64_s3 ", repetitions: 1000} // more than there is time for
	o.device.table, o.device.backend = backends, "cudasim"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	err := o.check(ctx, 0, nil, func(e supervisor.Event) {
		switch {
		case e.Launch:
			time.AfterFunc(300*time.Millisecond, cancel)
		case e.Row != nil && !e.Row.OK:
			t.Errorf("%+v", e.Row)
		}
	})
	if !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
