package sessions_test

import (
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// BenchmarkToggle is the time from a change of precision or calibrator to the moment when every report fits it, over the
// whole of the embedded data: "first" for a configuration that the session has not seen, with a warm timing cache,
// "again" for one that it has.
func BenchmarkToggle(b *testing.B) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		b.Fatal(err)
	}
	backend := cpu.Open(0)
	defer backend.Close()
	cache := build.NewTimingCache()
	open := func() *sessions.Session {
		return sessions.Open(m, stages.Workplace{
			Backend: backend, Cache: cache,
			Data: pictures{testdata.TestImages(), 1000}, CalData: pictures{testdata.CalibrationImages(), 300},
		}, config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1})
	}
	set := func(s *sessions.Session, p config.Precision, calibrator string) {
		cfg := config.Config{Precision: p, Calibrator: calibrator, Batch: 1}
		s.Set(cfg)
		for snap := range s.Events() {
			if snap.Err != "" {
				b.Fatal(snap.Err)
			}
			if settled(cfg)(snap) {
				return
			}
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s := open()
			set(s, config.FP32, "entropy")
			set(s, config.INT8, "minmax")
			b.StartTimer()
			set(s, config.INT8, "mse")
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
	})
	b.Run("again", func(b *testing.B) {
		s := open()
		defer s.Close()
		set(s, config.INT8, "minmax")
		set(s, config.FP32, "minmax")
		for b.Loop() {
			set(s, config.INT8, "minmax")
			set(s, config.FP32, "minmax")
		}
	})
}
