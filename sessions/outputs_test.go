package sessions_test

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// twoOutputs returns a runner on a model of an output a, which is a sum and loses little in 8 bits, and one b, which is a difference of
// large numbers and loses much, each by a layer of its own.
func twoOutputs(t *testing.T, task stages.Task) *sessions.Runner {
	t.Helper()
	n := graph.NewNetwork("two")
	add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
		l, err := n.Add(name, op, attrs, in, name+"_out")
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	sum, difference := numeric.NewValue(numeric.F32, 256, 32), numeric.NewValue(numeric.F32, 256, 32)
	for i := range sum.F32() {
		v := float32(i*37%101+20) / 101
		sum.F32()[i] = v
		if difference.F32()[i] = v; i/32%2 == 1 {
			difference.F32()[i] = -v
		}
	}
	x := n.AddInput("x", numeric.F32, symbolic.Shape(1, 256)...)
	n.MarkOutput(add("a", graph.MatMul, nil, x, n.AddConst("sum", sum)))
	n.MarkOutput(add("b", graph.MatMul, nil, add("shares", graph.Softmax, graph.SoftmaxAttrs{Axis: 1}, x), n.AddConst("difference", difference)))
	var items flat
	for i := range 16 {
		v := numeric.NewValue(numeric.F32, 1, 256)
		for k := range v.F32() {
			v.F32()[k] = float32((k*k+i*k)%97) / 97
		}
		items = append(items, v)
	}
	b := cpu.Open(1)
	t.Cleanup(func() { b.Close() })
	return sessions.NewRunner(model.Defined(n), stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Data: items, CalData: items, Task: task}, nil)
}

// TestFirstOutput: of a model with two outputs, what is predicted and what is measured are of the first, and layers are raised for that.
func TestFirstOutput(t *testing.T) {
	sessions.NotUnderRace(t)
	r, cfg := twoOutputs(t, stages.Task{}), config.Default()
	cfg.Precision = config.INT8
	s, err := r.Sensitivity(t.Context(), cfg, config.FP32, func(*report.Sensitivity) {})
	if err != nil {
		t.Fatal(err)
	}
	if s.Output != "a_out" || s.Raise == nil || s.Raise.Measured == nil || !slices.Equal(s.Raise.Names, []string{"a"}) {
		t.Fatalf("of %q raise %+v of %+v", s.Output, s.Raise, s.Layers)
	}
	if p, m := s.Raise.Predicted, s.Raise.Measured; math.Abs(p.SQNR-m.SQNR) > 1 {
		t.Errorf("%.1f dB predicted, %.1f measured", p.SQNR, m.SQNR)
	}
	for _, l := range s.Layers {
		if wins := l.Name == "a"; wins != (l.Gain > 3) || !wins && math.Abs(l.Gain) > 0.01 {
			t.Errorf("raising %s wins %.2f dB", l.Name, l.Gain)
		}
	}
	goal := s.SQNR + 3
	found, err := r.Tune(t.Context(), cfg, stages.Tuning{Goal: report.Goal{MinSQNR: &goal}, To: []config.Precision{config.FP32}, Most: 4})
	if err != nil || found.Best == nil || found.Output != "a_out" || found.AllPredicted {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, p := range found.Points {
		if math.Abs(p.Predicted-*p.SQNR) > 3 && min(p.Predicted, *p.SQNR) < 100 {
			t.Errorf("%.1f dB predicted of an engine of %.1f", p.Predicted, *p.SQNR)
		}
	}
}

// TestBoxesGoByAllOutputs: a bound of how boxes are found goes by all outputs, of which they come, and the report says so.
func TestBoxesGoByAllOutputs(t *testing.T) {
	cfg := config.Default()
	cfg.Precision = config.INT8
	for task, want := range map[string]bool{"": false, report.TaskDetection: true} {
		var first *report.Search
		_, err := twoOutputs(t, stages.Task{Kind: task}).Tune(t.Context(), cfg, stages.Tuning{Goal: report.Goal{MaxDrop: new(float64)}, Most: 1, Each: func(s *report.Search) { first = s }})
		if first == nil || first.AllPredicted != want { // what is no detector ends with an error behind that
			t.Errorf("task %q: %+v, %v", task, first, err)
		}
	}
}
