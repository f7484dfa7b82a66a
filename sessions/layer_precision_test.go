package sessions_test

import (
	"slices"
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

// TestMovedBytes: a layer that is to be in FP32 and moves the bytes of layers around it is told of as what the engine has.
func TestMovedBytes(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	r := sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), CalData: pictures{testdata.CalibrationImages(), 2}}, nil)
	const flatten = "head/flatten/Flatten"
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, LayerPrecisions: []string{flatten + ":fp32"}}
	snap, err := r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range snap.Passes.Unlowered {
		if u.Layer != flatten {
			continue
		}
		if u.Precision != "int8" || !strings.Contains(u.Reason, "asked for by "+flatten+":fp32, but between layers in int8 it moves their bytes") {
			t.Errorf("it says %q: %s", u.Precision, u.Reason)
		}
		return
	}
	t.Errorf("it is not among %+v", snap.Passes.Unlowered)
}

// TestLayerPrecisions runs the embedded model in each precision with layers set to every other one: those layers and no
// others have it, and the result is as close to FP32 as the coarsest of the precisions lets it be.
func TestLayerPrecisions(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	r := sessions.NewRunner(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 4}, CalData: pictures{testdata.CalibrationImages(), 8},
	}, nil)
	types := map[config.Precision]string{config.FP32: "f32", config.FP16: "f16", config.INT8: "i8"}
	for whole := range types {
		for set := range types {
			cfg := config.Config{Precision: whole, Calibrator: "minmax", Batch: 1, LayerPrecisions: []string{"block2/*:" + string(set), "block3/first/*:" + string(set)}}
			snap, err := r.Report(t.Context(), cfg, report.PartPasses|report.PartAccuracy, run.Profiling{Iterations: 1})
			if err != nil {
				t.Fatalf("%s with layers in %s: %v", whole, set, err)
			}
			for _, l := range snap.Passes.Engine {
				if l.Op != "Conv" {
					continue
				}
				want := types[whole]
				if strings.Contains(l.Name, "block2/") || strings.Contains(l.Name, "block3/first/") {
					want = types[set]
				}
				if !slices.ContainsFunc(snap.Accuracy.Layers, func(e report.LayerError) bool { return e.Name == l.Name && e.Precision == want }) {
					t.Errorf("%s with layers in %s: there is no error of %s", whole, set, l.Name)
				}
				if l.Precision != want {
					t.Errorf("%s with layers in %s: %s is %s, want %s", whole, set, l.Name, l.Precision, want)
				}
			}
			least := 15.0
			if whole != config.INT8 && set != config.INT8 {
				least = 55
			}
			if got := snap.Accuracy.Outputs[0].SQNR; got < least {
				t.Errorf("%s with layers in %s: %.1f dB, want at least %.0f", whole, set, got, least)
			}
			if quantizes := whole == config.INT8 || set == config.INT8; cfg.Quantizes() != quantizes || (snap.Accuracy.Calibrator != "") != quantizes {
				t.Errorf("%s with layers in %s: quantizes %v with calibrator %q", whole, set, cfg.Quantizes(), snap.Accuracy.Calibrator)
			}
		}
	}
}
