package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// slowed is a backend with tactics that take as long as they are told to.
type slowed struct {
	run.Backend
	took map[string]func(rows int) time.Duration // by tactic
}

func (b slowed) Tactics(op *graph.Op) (list []kernels.Tactic) {
	all := b.Backend.Tactics(op)
	for name, took := range b.took {
		t := all[len(all)-1] // the reference takes any layer
		bind := t.Bind
		t.Name, t.Reference = name, false
		t.Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := bind(b)
			return slowKernel{k, took(b.In[0].Dims[0])}, err
		}
		list = append(list, t)
	}
	return list
}

type slowKernel struct {
	kernels.Kernel
	took time.Duration
}

func (k slowKernel) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	for begin := time.Now(); time.Since(begin) < k.took; {
	}
	return k.Kernel.Launch(s, in, out, workspace)
}

// TestSplit: where a tactic is faster at one end of the range and another at the other, two profiles are told, and an engine that is built
// with both has one of the tactics in each; where one is faster everywhere one range is enough, and nothing is measured.
func TestSplit(t *testing.T) {
	d := graph.Define("rows")
	d.Output("y", d.Named("exp").Exp(d.Input("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Const(4))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Network: n, Path: "rows"}
	at := func(rows int) map[string][]int { return map[string][]int{"x": {rows, 4}} }
	cfg := config.Config{Precision: config.FP32, Batch: 4, Shapes: at(4), MinShapes: at(1), MaxShapes: at(64)}
	host := cpu.Open(1)
	defer host.Close()
	runner := func(far func(int) time.Duration) *sessions.Runner {
		near := func(rows int) time.Duration { return time.Duration(rows) * 30 * time.Microsecond }
		b := slowed{host, map[string]func(int) time.Duration{"near": near, "far": far}}
		return sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache()}, func(report.Progress) {})
	}
	p := run.Profiling{Iterations: 15}
	r := runner(func(int) time.Duration { return 400 * time.Microsecond })
	told := 0
	s, err := r.Split(t.Context(), cfg, "", nil, p, func(s *report.Split) {
		if told++; s.Left == 0 || len(s.Medians) != told {
			t.Errorf("in between: %+v", s)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Found
	if f == nil || s.Opt != 4 || fmt.Sprint(s.Values) != "[1 2 4 8 16 32 64]" || told != 7 {
		t.Fatalf("%s: %+v", s.Verdict(), s)
	}
	if rest, own := f.Profiles[0], f.Profiles[1]; own.Max != 64 || own.Min < 16 || own.Min > 32 || rest.Min != 1 || rest.Max != own.Min-1 || rest.Opt != 4 {
		t.Errorf("%s: %+v", s.Verdict(), f.Profiles)
	}
	if value, most := f.Most(); value < 32 || most.Ratio < 1.5 || !most.Significant { // of which is most a busy machine is not sure
		t.Errorf("%s", s.Verdict())
	}
	for k, want := range []string{"near", "far"} {
		snap, err := r.Report(t.Context(), config.OfProfile(f.Config, k), report.PartTactics, run.Profiling{})
		if err != nil || snap.Tactics.Layers[0].Chosen != want {
			t.Errorf("profile %d: %v, %v", k, snap, err)
		}
	}
	one, err := runner(func(rows int) time.Duration { return time.Duration(rows) * 60 * time.Microsecond }).Split(t.Context(), cfg, "rows", nil, p, nil)
	if err != nil || one.Found != nil || len(one.Medians) != 0 || len(one.Elsewhere) == 0 {
		t.Errorf("%+v, %v", one, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := r.Split(ctx, cfg, "rows", nil, p, func(*report.Split) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := r.Split(t.Context(), cfg, "columns", nil, p, nil); err == nil {
		t.Error("of an axis that there is not")
	}
}
