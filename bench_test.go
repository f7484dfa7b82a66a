package trtui_test

import (
	"context"
	"maps"
	"sync"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/testdata"
)

// benchEngine returns the engine of the embedded model for sessions of one thread, and an input of it.
func benchEngine(b *testing.B) (*trtui.Engine, trtui.Inputs) {
	n, err := trtui.Parse("digits", testdata.Model())
	if err != nil {
		b.Fatal(err)
	}
	image := trtui.ValueOf(testdata.CalibrationImages().Batch(0, 1), 1, 1, 32, 32)
	return built(b, n, trtui.Options{Threads: 1}), trtui.Inputs{"image": image}
}

// BenchmarkSessions runs sessions of one thread each: with a processor for each, two do twice the inferences of one in the
// same time. ns/op is that of one inference of all.
func BenchmarkSessions(b *testing.B) {
	e, given := benchEngine(b)
	for _, c := range []struct {
		name            string
		sessions, owned int
	}{{"one", 1, 1}, {"two", 2, 1}, {"two_sharing", 2, 0}} {
		b.Run(c.name, func(b *testing.B) {
			var sessions []*trtui.Session
			for range c.sessions {
				sessions = append(sessions, session(b, e, trtui.SessionOptions{Threads: c.owned}))
			}
			b.ResetTimer()
			var wg sync.WaitGroup
			for i, s := range sessions {
				wg.Go(func() {
					in, out := maps.Clone(given), s.NewOutputs()
					for k := i; k < b.N; k += len(sessions) {
						if err := s.RunInto(context.Background(), in, out); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
