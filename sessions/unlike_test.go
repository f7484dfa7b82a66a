package sessions_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// TestUnlikeSizes compares an engine in INT8 with FP32 where how many elements an output has depends on the rounding: that output has an
// error on the items on which it has FP32's size, and all else is told.
func TestUnlikeSizes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	weights := make([]float32, 32*32)
	for i := range weights {
		weights[i] = float32(rnd.NormFloat64())
	}
	d := graph.Define("selected")
	y := d.MatMul(d.Input("x", numeric.F32, symbolic.Shape(1, 32, 32)...), d.Weights("w", weights, 32, 32))
	limit := d.Constant("limit", numeric.Values(numeric.F32, []float32{0.1}, 1))
	d.Output("large", d.Relu(d.GatherND(y, d.Transpose(d.NonZero(d.Greater(y, limit)), 1, 0), 0)))
	d.Output("y", y)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Random(n.Inputs, nil, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := workplace(t, nil)
	if w.Data, err = set.Bind(n.Inputs); err != nil {
		t.Fatal(err)
	}
	w.Backend, w.CalData, w.TapItems = w.Host, w.Data, 8
	r := sessions.NewRunner(&model.Model{Network: n, Path: "selected"}, w, nil)
	snap, err := r.Report(t.Context(), config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}, report.PartOverview|report.PartAccuracy, run.Profiling{Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := snap.Accuracy
	if len(a.Unlike) != 1 || a.Unlike[0].Name != "large" || a.Unlike[0].Items < 1 || a.Unlike[0].OfItems != 8 || !strings.Contains(a.Unlike[0].Why(), " of 8 items") {
		t.Fatalf("unlike: %+v", a.Unlike)
	}
	last := a.Outputs[len(a.Outputs)-1]
	if last.Name != "y" || last.SQNR < 20 || snap.Overview.Latency.Median <= 0 {
		t.Errorf("y: %+v, latency %v", last, snap.Overview.Latency.Median)
	}
	if first := a.First(); (first == nil) != (a.Unlike[0].Items == 8) || first != nil && first.Name != "large" {
		t.Errorf("the first output has %+v, and is unlike on %d items", first, a.Unlike[0].Items)
	}
	if len(a.UnlikeLayers) == 0 || len(a.Layers) == 0 {
		t.Errorf("layers %d, of other sizes %v", len(a.Layers), a.UnlikeLayers)
	}
}
