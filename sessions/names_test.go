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

// Names that there are not are errors that name what is close.
func TestUnknownNames(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	r := sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Data: pictures{testdata.TestImages(), 1}}, nil)
	base := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	for _, c := range []struct {
		change func(*config.Config)
		want   []string
	}{
		{func(c *config.Config) { c.Disable = []string{"no-opp", "dead-code"} }, []string{`"no-opp"; did you mean "no-op"?`}},
		{func(c *config.Config) { c.Disable = []string{"fuse-activation:stem/conv/Konv"} }, []string{`no layer "stem/conv/Konv"; did you mean "stem/conv/Conv"`}},
		{func(c *config.Config) { c.LayerPrecisions = []string{"stem/conv/Conf:fp16"} }, []string{`"stem/conv/Conf"; did you mean "stem/conv/Conv`}},
		{func(c *config.Config) { c.Shapes = map[string][]int{"imago": {1, 1, 32, 32}} }, []string{`no input "imago"; did you mean "image"?`}},
		{func(c *config.Config) { c.Pin = map[string]string{"stem/conv/Convv": "eval"} }, []string{`layer "stem/conv/Convv"`, `did you mean "stem/conv/Conv`}},
		{func(c *config.Config) { c.Pin = map[string]string{"stem/norm/BatchNormalization": "evil"} }, []string{`evil is pinned, but cpu has no such tactic for stem/conv/Conv`}},
		{func(c *config.Config) { c.Pin = map[string]string{"Second": "eval"} }, []string{`with that in their names there are "block1/second/conv/Conv`}},
		{func(c *config.Config) { c.Forbid = map[string][]string{"": {"evil"}} }, []string{`evil is forbidden, but cpu has no such tactic for any layer; did you mean "eval"?`}},
	} {
		cfg := base
		c.change(&cfg)
		_, err := r.Report(t.Context(), cfg, report.PartTactics, run.Profiling{})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %s", cfg, err, want)
			}
		}
	}
	base.Forbid = map[string][]string{"": {other(t, b)}} // of layers that this model does not have
	if _, err := r.Report(t.Context(), base, report.PartTactics, run.Profiling{}); err != nil {
		t.Error(err)
	}
}

// other returns a tactic for which the embedded model has no layer.
func other(t *testing.T, b run.Backend) string {
	t.Helper()
	for _, tactic := range b.Tactics(graph.ConvTranspose) {
		if !tactic.Reference {
			return tactic.Name
		}
	}
	t.Fatal("the CPU has no tactic for ConvTranspose")
	return ""
}

// A configuration whose names are wrong does not build where a session begins with it; later, when toggles made it so, it
// does, with a warning.
func TestUnknownNamesInSession(t *testing.T) {
	b := cpu.Open(0)
	defer b.Close()
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1, Forbid: map[string][]string{"none": {"eval"}}}
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache()}, cfg)
	defer s.Close()
	for snap := range s.Events() {
		if snap.Settled() {
			t.Fatal("built")
		}
		if snap.Err != "" {
			if !strings.Contains(snap.Err, `layer "none"`) || snap.Passes == nil {
				t.Errorf("%s, graph %v", snap.Err, snap.Passes != nil)
			}
			break
		}
	}
	cfg.Batch = 2
	s.Set(cfg)
	for snap := range s.Events() {
		if snap.Config.Batch == 2 && snap.Err != "" {
			t.Fatal(snap.Err)
		}
		if snap.Config.Batch == 2 && snap.Tactics != nil && !snap.Stale.Has(report.PartTactics) {
			break
		}
	}
	log := s.Snapshot().Log
	if !slices.ContainsFunc(log, func(l report.LogLine) bool { return l.Level == "warning" && strings.Contains(l.Text, `layer "none"`) }) {
		t.Errorf("log %v", log)
	}
}
