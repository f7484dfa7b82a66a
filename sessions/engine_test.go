package sessions_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/testdata"
)

// noise is data that calls itself random.
type noise struct{ pictures }

func (noise) Name() string { return "random input" }

func (noise) Random() bool { return true }

// written writes an engine and opens the file.
func written(t *testing.T, e *run.Engine) *model.Model {
	t.Helper()
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.engine")
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(graph.Ops(), path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Ranges that were given do not come from random input; where some were not given, those do.
func TestRangesGiven(t *testing.T) {
	host := cpu.Open(0)
	defer host.Close()
	w := workplace(t, host)
	w.CalData = noise{pictures{testdata.TestImages(), 2}}
	m := embedded(t)
	given := map[string][]float64{}
	for _, l := range m.Network.Layers {
		for _, x := range l.Outputs {
			given[x.Name] = []float64{-4, 4}
		}
	}
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: config.Quantization{Ranges: given}}
	badge := func() string {
		snap, err := sessions.NewRunner(m, w, nil).Report(t.Context(), cfg, report.PartOverview, run.Profiling{Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range snap.Overview.Badges {
			if b.Text == report.RandomCalibration {
				return b.Why
			}
		}
		return ""
	}
	if why := badge(); !strings.Contains(why, "the ranges that were not given come from random input") {
		t.Errorf("without those of inputs: %q", why)
	}
	for _, x := range m.Network.Inputs {
		given[x.Name] = []float64{-4, 4}
	}
	if why := badge(); why != "" {
		t.Errorf("with all ranges given: %q", why)
	}
}

// The ranges in an engine file are used unless they come from random input and there is better data; what is built from
// an engine brings the ranges that it uses.
func TestRangesOfEngines(t *testing.T) {
	sessions.NotUnderRace(t)
	host := cpu.Open(0)
	defer host.Close()
	real := pictures{testdata.CalibrationImages(), 3}
	made := noise{pictures{testdata.TestImages(), 2}}
	cfg := config.Config{Precision: config.INT8, Calibrator: "percentile", Batch: 2}
	for _, c := range []struct {
		name          string
		built, opened dataset.Data
		again         bool   // planned again
		data          string // that the ranges come from
		random        bool
	}{
		{"real, nothing better", real, made, false, "embedded digits", false},
		{"random, nothing better", made, made, false, "random input", true},
		{"random, real data", made, real, true, "embedded digits", false},
	} {
		w := workplace(t, host)
		w.CalData = c.built
		e, err := sessions.NewRunner(embedded(t), w, nil).Engine(t.Context(), cfg, true)
		if err != nil {
			t.Fatal(err)
		}
		w.CalData = c.opened
		r := sessions.NewRunner(written(t, e), w, nil)
		snap, err := r.Report(t.Context(), cfg, report.PartOverview, run.Profiling{Iterations: 3, Duration: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		badges := ""
		for _, b := range snap.Overview.Badges {
			badges += b.Text + ": " + b.Why + "\n"
		}
		if strings.Contains(badges, "calibrated on random input") != c.again || strings.Contains(badges, "random calibration") != c.random {
			t.Errorf("%s: %s", c.name, badges)
		}
		if got, want := snap.Overview.Throughput*snap.Overview.Latency.Median.Seconds(), 2.0; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %g items in the mean latency, want %g", c.name, got, want)
		}
		second, err := r.Engine(t.Context(), cfg, true)
		if err != nil {
			t.Fatal(err)
		}
		if !c.again && !bytes.Equal(second.Report, e.Report) {
			t.Errorf("%s: an engine made of the engine tells another making:\n%.300s\n%.300s", c.name, e.Report, second.Report)
		}
		if !strings.Contains(string(second.Report), `"Data":"`+c.data+`"`) {
			t.Errorf("%s: %.300s", c.name, second.Report)
		}
	}
}
