package sessions

import (
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// twoConfigs are compared, on a runner without data.
func twoConfigs(t *testing.T) (*Runner, []config.Config) {
	t.Helper()
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	r := NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache()}, func(report.Progress) {})
	t.Cleanup(func() { r.stages.Release(); b.Close() })
	return r, []config.Config{{Precision: config.FP32, Batch: 1}, {Precision: config.FP16, Batch: 1}}
}

// TestLanesAlternate measures two engines, which take turns: neither is a round ahead of the other, and each begins as often.
func TestLanesAlternate(t *testing.T) {
	r, configs := twoConfigs(t)
	s := r.stages
	var order, told []int
	s.Told.Progress = func(p report.Progress) {
		if p.Phase == "measuring" && p.Total == compare.Rounds {
			told = append(told, p.Done)
		}
	}
	var lanes []*compare.Lane
	for i, cfg := range configs {
		l, err := s.Engines.Load(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Inferences.Ready(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		lanes = append(lanes, &compare.Lane{Context: c, Turn: run.Profiling{Iterations: 2}, Each: func(run.Sample) { order = append(order, i) }})
	}
	if err := s.Device.Alternate(t.Context(), lanes); err != nil {
		t.Fatal(err)
	}
	if len(order) != 4*compare.Rounds || len(lanes[0].Medians) != compare.Rounds || len(lanes[1].Medians) != compare.Rounds {
		t.Fatalf("%d samples in %d and %d rounds", len(order), len(lanes[0].Medians), len(lanes[1].Medians))
	}
	if len(told) != compare.Rounds {
		t.Errorf("progress tells of rounds %v", told)
	}
	for round := range compare.Rounds {
		first := round % 2
		for i, want := range []int{first, first, 1 - first, 1 - first} {
			if order[4*round+i] != want {
				t.Fatalf("round %d has %v", round+1, order[4*round:4*round+4])
			}
		}
	}
}

// TestCompare measures two configurations side by side, and one after the other where they cannot be.
func TestCompare(t *testing.T) {
	r, configs := twoConfigs(t)
	p := run.Profiling{WarmUp: time.Millisecond, Iterations: 30}
	list, err := r.Compare(t.Context(), configs, report.PartOverview, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Speed != nil || list[1].Speed == nil {
		t.Fatalf("%+v", list)
	}
	if s := list[1].Speed; !s.SideBySide || !(s.Low > 0 && s.Low <= s.Ratio && s.Ratio <= s.High) {
		t.Errorf("the second one is %+v", s)
	}
	for i, c := range list {
		if c.Overview.Latency.Count < 30 || c.Timings.Samples != c.Overview.Latency.Count || c.Overview.BuildTime == 0 {
			t.Errorf("configuration %d: %d samples, %d in the overview", i+1, c.Timings.Samples, c.Overview.Latency.Count)
		}
	}
	many := make([]config.Config, stages.MemoSize+1)
	for i := range many {
		many[i] = configs[i%2]
	}
	reports, speeds, err := r.stages.Timing.All(t.Context(), many, p, nil)
	if err != nil || len(reports) != len(many) || speeds[0] != nil {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	for _, s := range speeds[1:] {
		if s.SideBySide || s.Ratio <= 0 {
			t.Errorf("too many engines: %+v", *s)
		}
	}
}

// TestRoundsAdd: engines that are measured side by side once more go on with the rounds that they have, in whatever order they are asked
// for; with another one beside them they begin anew.
func TestRoundsAdd(t *testing.T) {
	r, configs := twoConfigs(t)
	kept, p := new(stages.Together), run.Profiling{Iterations: 2 * compare.Rounds}
	swapped := []config.Config{configs[1], configs[0]}
	for i, c := range []struct {
		configs []config.Config
		want    int
	}{{configs, 1}, {configs, 2}, {swapped, 3}, {append(swapped, config.Config{Precision: config.FP16, Batch: 1, Disable: []string{"fuse-activation"}}), 1}, {configs, 1}} {
		columns, err := columnsOn(t.Context(), r, c.configs, p, kept)
		if err != nil {
			t.Fatal(err)
		}
		for k := range columns.Columns {
			got := columns.Columns[k].Timings
			if len(got.Rounds) != c.want*compare.Rounds || len(got.Layers[0].Rounds) != c.want*compare.Rounds || got.Samples != c.want*2*compare.Rounds {
				t.Errorf("measurement %d, column %d: %d rounds, %d of a layer, %d samples; want %d times as many as one has", i, k, len(got.Rounds), len(got.Layers[0].Rounds), got.Samples, c.want)
			}
		}
	}
}
