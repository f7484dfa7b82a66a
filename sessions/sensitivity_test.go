package sessions_test

import (
	"context"
	"errors"
	"math"
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

// studied returns a runner on the embedded model with twenty digits, which are calibrated with, too.
func studied(t *testing.T) *sessions.Runner {
	t.Helper()
	m, err := model.Parse(graph.Ops(), model.Embedded, testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(2)
	t.Cleanup(func() { b.Close() })
	few := pictures{testdata.TestImages(), 20}
	return sessions.NewRunner(m, stages.Workplace{Backend: b, Data: few, CalData: few, Cache: build.NewTimingCache()}, nil)
}

// TestSensitivity compares what is said of layers with engines in which they alone are raised, or alone quantised, on the same
// items and without correction of biases, so that nothing but the arithmetic differs.
func TestSensitivity(t *testing.T) {
	sessions.NotUnderRace(t)
	r := studied(t)
	cfg := config.Default()
	cfg.Quantization.BiasCorrection = "off"
	names := []string{"separable/depthwise/conv/Conv", "inception/one/conv/Conv", "inception/reduce/conv/Conv", "head/classify/Gemm"}
	for _, n := range names {
		cfg.SetLayerPrecision(n, config.INT8)
	}
	grown := 0
	s, err := r.Sensitivity(context.Background(), cfg, config.FP32, func(now *report.Sensitivity) {
		if len(now.Layers) < grown {
			t.Errorf("%d layers are known after %d", len(now.Layers), grown)
		}
		grown = len(now.Layers)
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Total != 5 || len(s.Layers) != 5 || grown != 5 || s.Items != 20 {
		t.Fatalf("%d of %d layers on %d items", len(s.Layers), s.Total, s.Items)
	}
	noise := func(cfg config.Config) float64 {
		snap, err := r.Report(context.Background(), cfg, report.PartScore, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		return snap.Accuracy.Outputs[0].SQNR
	}
	groups := 0
	for _, l := range s.Layers {
		if l.Group {
			groups++
			if len(l.Layers) != 2 {
				t.Errorf("group %v", l.Layers)
			}
		}
		if l.Layers[0] != "inception/one/conv/Conv" || !l.Group {
			continue
		}
		raised, alone := cfg.Clone(), config.Default()
		alone.Quantization = cfg.Quantization
		for _, n := range l.Layers {
			raised.SetLayerPrecision(n, config.FP32)
			alone.SetLayerPrecision(n, config.INT8)
		}
		// Engines are compared behind the Softmax, where the same errors are others: so loosely, but both in one way.
		for _, c := range []struct {
			what      string
			said, got float64
		}{{"raised", l.Raised - s.SQNR, noise(raised) - noise(cfg)}, {"alone", l.Alone - s.SQNR, noise(alone) - noise(cfg)}} {
			if math.Abs(c.said-c.got) > 4 {
				t.Errorf("%s: %.2f dB more is said, an engine gives %.2f", c.what, c.said, c.got)
			}
		}
	}
	if groups != 1 {
		t.Errorf("%d groups", groups)
	}
	if l := s.Raise; l == nil || l.Measured == nil || l.Predicted.Gain() < 2.5 || l.Measured.Gain() < 0 || l.Items != 20 {
		t.Errorf("list of what to raise: %+v", l)
	}
}

func TestSensitivityRefused(t *testing.T) {
	r := studied(t)
	none := func(*report.Sensitivity) {}
	if _, err := r.Sensitivity(context.Background(), config.Default(), config.FP32, none); !errors.As(err, new(*stages.NotQuantized)) {
		t.Errorf("FP32: %v", err)
	}
	cfg := config.Default()
	cfg.Precision = config.INT8
	if _, err := r.Sensitivity(context.Background(), cfg, config.INT8, none); err == nil {
		t.Error("layers are raised to INT8")
	}
}
