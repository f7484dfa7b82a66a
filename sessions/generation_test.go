package sessions_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// A session shows the text of each configuration, and why there is none in one; the other reports follow all the same.
func TestLanguage(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	s := sessions.Open(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(),
		Language: func(_ context.Context, cfg config.Config, _ build.Rounded, _ func(report.Progress), show func(*report.Generation)) error {
			if cfg.Precision == config.FP16 {
				return errors.New("it does not speak")
			}
			show(&report.Generation{Text: "Once"})
			show(&report.Generation{Text: "Once upon", Ended: "length"})
			return nil
		},
	}, config.Config{Precision: config.FP32, Batch: 1})
	t.Cleanup(func() { s.Close(); b.Close() })
	snap := await(t, s, func(s *report.Snapshot) bool { return s.Settled() && s.Busy == nil })
	if g := snap.Generation; g == nil || g.Text != "Once upon" {
		t.Errorf("the session shows %+v", g)
	}
	s.Set(config.Config{Precision: config.FP16, Batch: 1})
	snap = await(t, s, func(s *report.Snapshot) bool {
		return s.Config.Precision == config.FP16 && s.Settled() && s.Busy == nil
	})
	if g := snap.Generation; g == nil || g.Refused != "it does not speak" || snap.Err != "" {
		t.Errorf("the session shows %+v, error %q", g, snap.Err)
	}
}
