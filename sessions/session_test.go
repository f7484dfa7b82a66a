package sessions_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// pictures are a few of the embedded images.
type pictures struct {
	*testdata.Images
	n int
}

func (p pictures) Len() int { return p.n }

func (p pictures) Inputs(i int) (map[string]numeric.Value, error) {
	return map[string]numeric.Value{"image": numeric.Values(numeric.F32, p.Batch(i, i+1), 1, 1, testdata.Padded, testdata.Padded)}, nil
}

func (p pictures) Labels(i int) []int { return p.Images.Labels[i : i+1] }

func (p pictures) Name() string { return "embedded digits" }

func (p pictures) Random() bool { return false }

// open starts a session on the embedded model with a few pictures.
func open(t *testing.T, cfg config.Config) *sessions.Session {
	t.Helper()
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	s := sessions.Open(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 2,
		Data: pictures{testdata.TestImages(), 10}, CalData: pictures{testdata.CalibrationImages(), 3},
	}, cfg)
	t.Cleanup(func() { s.Close(); b.Close() })
	return s
}

// await returns the first snapshot for which done holds.
func await(t *testing.T, s *sessions.Session, done func(*report.Snapshot) bool) *report.Snapshot {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		select {
		case snap := <-s.Events():
			if snap.Err != "" {
				t.Fatal(snap.Err)
			}
			if done(snap) {
				return snap
			}
		case <-timeout:
			t.Fatal("no such snapshot came")
		}
	}
}

func settled(cfg config.Config) func(*report.Snapshot) bool {
	return func(s *report.Snapshot) bool {
		return s.Config.Precision == cfg.Precision && s.Config.Calibrator == cfg.Calibrator && s.Stale == 0
	}
}

func TestToggleRefreshesEveryReport(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	s := open(t, fp32)
	a := await(t, s, settled(fp32))
	if a.Accuracy.Labels.Agreement != 1 || a.Accuracy.FirstBad != "" {
		t.Errorf("FP32 differs from FP32: %+v", a.Accuracy.Labels)
	}
	int8 := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried}
	s.Set(int8)
	b := await(t, s, settled(int8))
	if len(b.Passes.Ledger) != len(b.Model.Layers) {
		t.Errorf("%d ledger entries for %d source layers", len(b.Passes.Ledger), len(b.Model.Layers))
	}
	if b.Passes.Kept+b.Passes.Fused+b.Passes.Folded+b.Passes.Eliminated != len(b.Model.Layers) {
		t.Error("the ledger does not sum to all layers")
	}
	quantized := 0
	for _, l := range b.Passes.Engine {
		if l.Precision == "i8" {
			quantized++
		}
	}
	t.Logf("%d of %d layers in INT8", quantized, len(b.Passes.Engine))
	if quantized == 0 && len(b.Calibration.Tensors) > 0 && b.Accuracy.Outputs[0].SQNR > 100 {
		t.Log("nothing is quantised: the backend has no INT8 tactics")
	}
	if m := b.Memory; m.Peak < m.LowerBound || float64(m.Peak) > 1.05*float64(m.LowerBound) || m.Naive < m.Peak {
		t.Errorf("memory: peak %d, lower bound %d, naive %d", m.Peak, m.LowerBound, m.Naive)
	}
}

// TestRetimeAndDrop times the tactics of a layer again, cancels that, and empties the timing cache and its file.
func TestRetimeAndDrop(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	cache, path := build.NewTimingCache(), filepath.Join(t.TempDir(), "timing.jsonl")
	cache.Put(build.CacheEntry{Target: "another device", Tactic: "conv", Layer: "Conv", Time: time.Microsecond})
	cfg := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: cache, SaveTo: path, TapItems: 1,
		Data: pictures{testdata.TestImages(), 2}, CalData: pictures{testdata.CalibrationImages(), 2}}, cfg)
	defer s.Close()
	idle := func(want string) *report.Snapshot {
		t.Helper()
		return await(t, s, func(snap *report.Snapshot) bool {
			return snap.Busy == nil && snap.Settled() && slices.ContainsFunc(snap.Log, func(l report.LogLine) bool { return strings.Contains(l.Text, want) })
		})
	}
	idle("built fp32")
	for _, e := range cache.Entries() {
		e.Time = time.Hour
		cache.Put(e)
	}
	layer := s.Snapshot().Tactics.Layers[1].Layer
	s.Retime(layer)
	snap := idle("tactics timed again")
	for _, l := range snap.Tactics.Layers {
		for _, c := range l.Candidates {
			if l.Layer == layer && c.Timed && c.Time >= time.Hour {
				t.Errorf("%s: %s still takes %v", l.Layer, c.Tactic, c.Time)
			}
		}
	}
	if now := snap.Timings; now.Samples == 0 {
		t.Error("nothing was measured with the new plan")
	}
	s.Retime(layer)
	s.Rerun() // cancels it, whether it has begun or not
	s.DropTimings(false)
	snap = idle("dropped 1 entries")
	for _, e := range snap.Tactics.Cache {
		if e.Stale {
			t.Errorf("%s of %s is still there", e.Tactic, e.Target)
		}
	}
	if back, err := build.OpenTimingCache(path); err != nil || len(back.Entries()) == 0 || len(back.Entries()) != len(snap.Tactics.Cache) {
		t.Errorf("the file has %d entries, the cache %d: %v", len(back.Entries()), len(snap.Tactics.Cache), err)
	}
	s.DropTimings(true)
	snap = idle("it has 0")
	if back, err := build.OpenTimingCache(path); err != nil || len(back.Entries())+len(snap.Tactics.Cache) != 0 {
		t.Errorf("the file still has %d entries, the cache %d: %v", len(back.Entries()), len(snap.Tactics.Cache), err)
	}
}
