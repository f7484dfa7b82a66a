package sessions_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// device is the CPU in the role of another device, whose times are estimates.
type device struct {
	run.Backend
	fingerprint string
	without     []*graph.Op // that it has no tactics for
}

func (d *device) Info() run.Info {
	i := d.Backend.Info()
	i.Name, i.Device, i.Fingerprint, i.Estimated = "sim", "a simulated device", d.fingerprint, true
	return i
}

func (d *device) Tactics(op *graph.Op) []kernels.Tactic {
	if slices.Contains(d.without, op) {
		return nil
	}
	return d.Backend.Tactics(op)
}

// workplace is one with a device beside the host.
func workplace(t *testing.T, b run.Backend) stages.Workplace {
	t.Helper()
	host := cpu.Open(0)
	t.Cleanup(func() { host.Close() })
	return stages.Workplace{
		Backend: b, Host: host, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 4}, CalData: pictures{testdata.CalibrationImages(), 3},
	}
}

func embedded(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// On a device whose times are estimates every report is made, labelled so, with the host's FP32 as reference.
func TestEstimatedDevice(t *testing.T) {
	sessions.NotUnderRace(t)
	d := &device{Backend: cpu.Open(0), fingerprint: "sim 1"}
	defer d.Close()
	cfg := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}
	s := sessions.Open(embedded(t), workplace(t, d), cfg)
	defer s.Close()
	snap := await(t, s, func(s *report.Snapshot) bool { return s.Settled() && s.Busy == nil })
	if !snap.Device.Estimated || !snap.Timings.Estimated || snap.Timings.Samples != 1 {
		t.Errorf("the times are not labelled as estimates: %+v, %d samples", snap.Device, snap.Timings.Samples)
	}
	if len(snap.Overview.Badges) == 0 || snap.Overview.Badges[len(snap.Overview.Badges)-1].Text != "estimated" {
		t.Errorf("badges: %+v", snap.Overview.Badges)
	}
	if snap.Accuracy.Items != 4 || snap.Accuracy.Labels.Agreement < 0.5 {
		t.Errorf("accuracy: %+v", snap.Accuracy.Labels)
	}
	priced := 0
	for _, l := range snap.Tactics.Layers {
		for _, c := range l.Candidates {
			if c.Timed {
				t.Fatalf("%s: %s was timed", l.Layer, c.Tactic)
			}
			if c.Chosen && c.Ratio > 0 {
				priced++
			}
		}
	}
	if priced == 0 {
		t.Error("no chosen tactic has an estimate")
	}
}

// Compare gives every contender the same ranges, so that INT8 is the same to the bit.
func TestCompare(t *testing.T) {
	sessions.NotUnderRace(t)
	d := &device{Backend: cpu.Open(0), fingerprint: "sim 1"}
	defer d.Close()
	w := workplace(t, nil)
	for _, p := range []config.Precision{config.FP32, config.INT8} {
		cfg := config.Config{Precision: p, Calibrator: "entropy", Batch: 2}
		on := []sessions.Contender{{Name: "host", Backend: w.Host}, {Name: "sim", Backend: d}, {Name: "eval"}}
		r, err := sessions.Compare(context.Background(), embedded(t), w, cfg, on, compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 1e-5, Rel: 1e-4}}, PerLayer: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Passed || r.Items != 4 || len(r.Runs) != 3 || len(r.Pairs) != 2 {
			t.Fatalf("%s: %+v", p, r)
		}
		for _, pair := range r.Pairs {
			if len(pair.Layers) < 20 {
				t.Errorf("%s, %s: %d layers compared, %d not", p, pair.Second, len(pair.Layers), pair.Unmatched)
			}
			for _, l := range pair.Layers {
				if l.Type == "i8" && l.SecondType == "i8" && l.Differ != 0 {
					t.Errorf("%s, %s: %s differs in %d elements", p, pair.Second, l.Layer, l.Differ)
				}
			}
			if o := pair.Outputs[0]; o.Count != 40 {
				t.Errorf("%s: %d elements compared", p, o.Count)
			}
		}
		if c := r.Runs[0].Classes; len(c) != 4 || c[0].Label != 7 || c[0].Top[0].Class != 7 || len(c[0].Top) != 5 {
			t.Errorf("classes: %+v", c)
		}
	}
}

// An engine that was built for another device, or by a program with other tactics, is planned again and says so.
func TestEngineIsPlannedAgain(t *testing.T) {
	sessions.NotUnderRace(t)
	host := cpu.Open(0)
	defer host.Close()
	w := workplace(t, host)
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	e, err := sessions.NewRunner(embedded(t), w, nil).Engine(context.Background(), cfg, true)
	if err != nil {
		t.Fatal(err)
	}
	reopen := func(change func(e *run.Engine)) *model.Model {
		altered, plan := *e, *e.Plans[0]
		plan.Steps = slices.Clone(plan.Steps)
		altered.Plans = []*run.Plan{&plan}
		change(&altered)
		return written(t, &altered)
	}
	for _, c := range []struct {
		name   string
		change func(*run.Engine)
		want   string
	}{
		{"the same", func(*run.Engine) {}, ""},
		{"another device", func(e *run.Engine) { e.Plans[0].Target = "cuda sm_90" }, "built for cuda sm_90"},
		{"another program", func(e *run.Engine) {
			for i := range e.Plans[0].Steps {
				if s := &e.Plans[0].Steps[i]; s.Tactic != run.InMemory {
					s.Tactic = "gone"
				}
			}
		}, "by another version of the program"},
	} {
		s := sessions.Open(reopen(c.change), w, cfg)
		snap := await(t, s, func(s *report.Snapshot) bool { return s.Settled() })
		s.Close()
		said := ""
		for _, l := range snap.Log {
			if l.Level == "warning" && !strings.Contains(l.Text, "unstable") { // which is said of the machine
				said += l.Text
			}
		}
		for _, b := range snap.Overview.Badges {
			if b.Text == "planned again" && b.Why != said {
				t.Errorf("%s: the badge says %q, the log %q", c.name, b.Why, said)
			}
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q, want %q", c.name, said, c.want)
		}
	}
}

// What the device has no tactics for is listed, by layer.
func TestUnsupportedLayersAreListed(t *testing.T) {
	d := &device{Backend: cpu.Open(0), fingerprint: "sim 1", without: []*graph.Op{graph.Softmax, graph.Gemm}}
	defer d.Close()
	s := sessions.Open(embedded(t), workplace(t, d), config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1})
	defer s.Close()
	for snap := range s.Events() {
		if snap.Err == "" {
			continue
		}
		want := "no tactic of sim computes 2 layers:\n  head/classify/Gemm (Gemm): there is none for the op\n  softmax/Softmax (Softmax): there is none for the op"
		if snap.Err != want {
			t.Errorf("the error is %q, want %q", snap.Err, want)
		}
		if n := len(snap.Log); n < 3 || snap.Log[n-1].Layer != "softmax/Softmax" || snap.Log[n-3].Level != "error" {
			t.Errorf("the log is %+v", snap.Log)
		}
		return
	}
}
