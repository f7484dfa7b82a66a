package sessions_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/testdata"
)

// louder is the CPU with a softmax whose results are half as large again.
type louder struct{ run.Backend }

func (b louder) Tactics(op *graph.Op) []kernels.Tactic {
	var list []kernels.Tactic
	for _, t := range b.Backend.Tactics(op) {
		if op == graph.Softmax {
			bind := t.Bind
			t.Bind = func(b kernels.Binding) (kernels.Kernel, error) {
				k, err := bind(b)
				return loud{k}, err
			}
		}
		list = append(list, t)
	}
	return list
}

type loud struct{ kernels.Kernel }

func (l loud) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	if err := l.Kernel.Launch(s, in, out, workspace); err != nil {
		return err
	}
	err := s.Wait()
	for i, v := range numeric.View[float32](out[0].Host) {
		numeric.View[float32](out[0].Host)[i] = 1.5 * v
	}
	return err
}

// twoAxes is a network with items along the first axis of one output and along the second of another.
func twoAxes(t *testing.T) *model.Model {
	t.Helper()
	d := graph.Define("two")
	y := d.Softmax(d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(5)), 1)
	d.Output("y", y)
	d.Output("columns", d.Transpose(y, 1, 0))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return &model.Model{Network: n, Path: "two"}
}

// Every item counts once, whatever the batch: what fills up the last batch is in no number of a comparison.
func TestCompareCountsItemsOnce(t *testing.T) {
	m := twoAxes(t)
	set, err := dataset.Random(m.Network.Inputs, map[string]int{"n": 1}, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := workplace(t, nil)
	if w.Data, err = set.Bind(m.Network.Inputs); err != nil {
		t.Fatal(err)
	}
	b := louder{cpu.Open(1)}
	defer b.Close()
	on := []sessions.Contender{{Name: "host", Backend: w.Host}, {Name: "louder", Backend: b}}
	var want *report.Comparison
	for _, batch := range []int{1, 2, 3, 4, 7, 10} {
		cfg := config.Config{Precision: config.FP32, Batch: batch}
		got, err := sessions.Compare(context.Background(), m, w, cfg, on, compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 0.05}}, PerLayer: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Items != 7 {
			t.Errorf("batch %d: %d items", batch, got.Items)
		}
		for _, r := range got.Runs {
			if o := r.Outputs[0]; o.Count != 35 || len(r.Classes) != 7 {
				t.Errorf("batch %d: %s: %d elements and classes of %d items", batch, r.Name, o.Count, len(r.Classes))
			}
		}
		if want == nil {
			want = got
		}
		for i, o := range append(got.Pairs[0].Outputs, got.Pairs[0].Layers...) {
			sameDifference(t, fmt.Sprintf("batch %d: %s", batch, o.Name), o, append(want.Pairs[0].Outputs, want.Pairs[0].Layers...)[i])
		}
		for i, r := range got.Runs {
			if o, first := r.Outputs[1], want.Runs[i].Outputs[1]; o.MaxAt.Item != first.MaxAt.Item || !reflect.DeepEqual(o.MaxAt.Index, first.MaxAt.Index) {
				t.Errorf("batch %d: %s: largest column at %v, want %v", batch, r.Name, o.MaxAt, first.MaxAt)
			}
		}
	}
}

// sameDifference checks that two reports are of the same elements.
func sameDifference(t *testing.T, name string, got, want report.TensorDifference) {
	t.Helper()
	if got.Count != 35 || got.Count != want.Count || got.Over != want.Over || got.Differ != want.Differ || !reflect.DeepEqual(got.Histogram, want.Histogram) {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
	if math.Abs(got.SQNR-want.SQNR) > 1e-4 || math.Abs(got.MeanAbs-want.MeanAbs) > 1e-6 {
		t.Errorf("%s: SQNR %g, mean %g, want %g and %g", name, got.SQNR, got.MeanAbs, want.SQNR, want.MeanAbs)
	}
	for i, e := range got.Worst {
		if w := want.Worst[i]; e.Item != w.Item || !reflect.DeepEqual(e.Index, w.Index) {
			t.Errorf("%s: worst %d is at item %d %v, want item %d %v", name, i, e.Item, e.Index, w.Item, w.Index)
		}
	}
}

// Accuracy and the ranges found for it are those of every item once, whatever the batch.
func TestAccuracyCountsItemsOnce(t *testing.T) {
	sessions.NotUnderRace(t)
	w := workplace(t, nil)
	w.Backend, w.Host = w.Host, nil
	w.Data, w.CalData, w.TapItems = pictures{testdata.TestImages(), 7}, pictures{testdata.CalibrationImages(), 5}, 4
	var want *report.Accuracy
	for _, batch := range []int{1, 3, 8} {
		cfg := config.Config{Precision: config.INT8, Calibrator: "entropy", Batch: batch, Quantization: untried}
		snap, err := sessions.NewRunner(embedded(t), w, nil).Report(context.Background(), cfg, report.PartAccuracy|report.PartCalibration, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		got := snap.Accuracy
		if want == nil {
			want = got
		}
		if got.Items != 7 || got.TapItems != 4 || snap.Calibration.Batches != 5 {
			t.Errorf("batch %d: %d items, layers on %d, calibrated on %d", batch, got.Items, got.TapItems, snap.Calibration.Batches)
		}
		if a, b := got.Outputs[0], want.Outputs[0]; math.Abs(a.SQNR-b.SQNR) > 0.01 || math.Abs(a.MeanAbs-b.MeanAbs) > 1e-6 {
			t.Errorf("batch %d: output %+v, want %+v", batch, a.Errors, b.Errors)
		}
		for i, l := range got.Layers {
			if b := want.Layers[i]; math.Abs(l.Accumulated.SQNR-b.Accumulated.SQNR) > 0.01 || math.Abs(l.Local.SQNR-b.Local.SQNR) > 0.01 {
				t.Errorf("batch %d: layer %s: %g and %g dB, want %g and %g", batch, l.Name, l.Accumulated.SQNR, l.Local.SQNR, b.Accumulated.SQNR, b.Local.SQNR)
			}
		}
	}
}
