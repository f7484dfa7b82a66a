package sessions_test

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestBestOnHeldOut judges calibrators on items that they have not seen: a tensor's SQNR is that of those items, quantised
// value by value.
// Items that were calibrated on are left out, wherever they come from, and without others no calibrator is the best.
func TestBestOnHeldOut(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	seen := pictures{testdata.CalibrationImages(), 8}
	of := func(data pictures) *report.Calibration {
		t.Helper()
		r := sessions.NewRunner(m, stages.Workplace{Backend: b, TapItems: 1, Data: data, CalData: seen}, nil)
		snap, err := r.Report(t.Context(), config.Config{Precision: config.FP32, Calibrator: "mse", Batch: 1}, report.PartCalibration, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		return snap.Calibration
	}
	c := of(pictures{testdata.CalibrationImages(), 12})
	if c.HeldOut != 4 {
		t.Fatalf("of 12 items %d are held out, want those 4 that were not calibrated on", c.HeldOut)
	}
	tensor := c.Tensors[1] // of the first layer: pixels are integers
	ref := build.NewReference(t.Context(), m.Network, b)
	defer ref.Close()
	errs := make([]quant.ErrorAccumulator, len(tensor.By))
	for item := 8; item < 12; item++ {
		in, _ := seen.Inputs(item)
		all, err := ref.Tensors(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		x := all[tensor.Tensor]
		for i, by := range tensor.By {
			r := numeric.Range{Scale: []float32{by.Scale}, Zero: []int32{by.Zero}}
			q := numeric.NewValue(numeric.I8, x.Dims...)
			numeric.FromReal(q, x.Floats(), r)
			if err := errs[i].Add(x.Floats(), numeric.ToReal(q, r).Floats()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, by := range tensor.By {
		if by.HeldOut == nil {
			t.Fatalf("%s has nothing held out", c.Calibrators[i])
		}
		if want := errs[i].Errors().SQNRdB; math.Abs(*by.HeldOut-want) > 0.3 {
			t.Errorf("%s: %.2f dB of what was held out, want %.2f", c.Calibrators[i], *by.HeldOut, want)
		}
	}
	best := 0
	for i := range tensor.By {
		if tensor.Best(i) {
			best++
		}
	}
	if best == 0 {
		t.Error("no calibrator is the best")
	}
	if c = of(seen); c.HeldOut != 0 || c.Tensors[0].By[0].HeldOut != nil || c.Tensors[0].Best(0) {
		t.Errorf("%d items held out of those that were calibrated on", c.HeldOut)
	}
}
