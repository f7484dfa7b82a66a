package sessions_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// Of a model that brings its own quantisation, and of one in FP32 that has no data but made-up ones, activations are collected when the
// report of calibration is asked for, and from then on.
func TestCalibrateOnDemand(t *testing.T) {
	t.Run("own quantisation", func(t *testing.T) { testCalibrateOnDemand(t, true, false) })
	t.Run("made-up data", func(t *testing.T) { testCalibrateOnDemand(t, false, true) })
}

func testCalibrateOnDemand(t *testing.T, quantized, random bool) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	m.Quantized = quantized
	b := cpu.Open(0)
	defer b.Close()
	cal := &counted{pictures: pictures{testdata.CalibrationImages(), 4}, random: random}
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Data: pictures{testdata.TestImages(), 2}, CalData: cal}, cfg)
	defer s.Close()
	settled := func(batch int, calibrated bool) {
		t.Helper()
		for snap := range s.Events() {
			if snap.Err != "" {
				t.Fatal(snap.Err)
			}
			if snap.Settled() && snap.Config.Batch == batch && (snap.Calibration != nil) == calibrated {
				return
			}
		}
	}
	settled(1, false)
	if cal.reads != 0 {
		t.Errorf("%d items were read before anyone asked", cal.reads)
	}
	s.Ask(report.PartCalibration)
	settled(1, true)
	if cal.reads == 0 {
		t.Error("no items were read")
	}
	cfg.Batch = 2
	s.Set(cfg)
	settled(2, true)
}

// Accuracy of the configuration that others are compared with, and what runs over its shapes, do not wait for calibration, which
// another needs; its layers are compared when that is asked for.
func TestReferenceOnDemand(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	cfg := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 2}, CalData: pictures{testdata.CalibrationImages(), 2}}, cfg)
	defer s.Close()
	early := false
	for snap := range s.Events() {
		if snap.Err != "" {
			t.Fatal(snap.Err)
		}
		early = early || snap.Calibration == nil && snap.Accuracy != nil && snap.Runtime != nil
		if a := snap.Accuracy; a == nil || !snap.Settled() {
			continue
		} else if len(a.Layers) > 0 {
			break
		} else if !a.Reference || a.Labels.Agreement != 1 || a.Outputs[0].SQNR != report.MaxDB || !early {
			t.Fatalf("accuracy and runtime before calibration: %v; %+v", early, a)
		}
		s.Ask(report.PartAccuracy)
	}
	int8 := cfg
	int8.Precision = config.INT8
	s.Set(int8)
	if snap := await(t, s, settled(int8)); snap.Accuracy.Reference || len(snap.Accuracy.Layers) == 0 {
		t.Errorf("of INT8: %+v", snap.Accuracy)
	}
}

// counted counts the items that are read.
type counted struct {
	pictures
	reads  int // by the session's own goroutine
	random bool
}

func (c *counted) Random() bool { return c.random }

func (c *counted) Inputs(i int) (map[string]numeric.Value, error) {
	c.reads++
	return c.pictures.Inputs(i)
}

// TestCalibratedAreActivations: what is computed of constants alone is no tensor to calibrate, unless an engine computes it.
func TestCalibratedAreActivations(t *testing.T) {
	d := graph.Define("folded")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(3))
	w, b := d.Weights("w", []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3), d.Neg(d.Weights("b", []float32{1, -2, 3}, 3))
	bias := b.Name
	d.Output("y", d.Relu(d.Add(d.MatMul(x, w), b)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := onnx.Export(&file, n); err != nil {
		t.Fatal(err)
	}
	m, err := model.Parse(graph.Ops(), "folded", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	work := workplace(t, nil)
	work.Backend = work.Host
	set, err := dataset.Random(m.Network.Inputs, nil, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := set.Bind(m.Network.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	work.Data, work.CalData = data, data
	for disable, want := range map[string]bool{"": false, "fold-constants,late-fold-constants": true} {
		cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried}
		if disable != "" {
			cfg.Disable = strings.Split(disable, ",")
		}
		snap, err := sessions.NewRunner(m, work, nil).Report(t.Context(), cfg, report.PartCalibration, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(snap.Calibration.Tensors, func(c report.TensorCalibration) bool { return c.Tensor == name })
		}
		if !has("x") || !has("y") || has(bias) != want {
			t.Errorf("without %q: %+v", disable, snap.Calibration.Tensors)
		}
	}
}
