package sessions_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestCacheErrorIsSaidOnce: what is wrong with the timing cache stands in the log once, however often is built.
func TestCacheErrorIsSaidOnce(t *testing.T) {
	m, err := model.Parse(graph.Ops(), model.Embedded, testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), CacheError: errors.New("line 5 is damaged")}, config.Config{Precision: config.FP32, Batch: 1})
	defer s.Close()
	for _, precision := range []config.Precision{config.FP32, config.FP16, config.FP32} {
		s.Set(config.Config{Precision: precision, Batch: 1})
		timeout := time.After(time.Minute)
		for done := false; !done; {
			select {
			case snap := <-s.Events():
				done = snap.Config.Precision == precision && snap.Busy == nil && snap.Settled()
			case <-timeout:
				t.Fatal("the session does not come to rest")
			}
		}
	}
	said := 0
	for _, l := range s.Snapshot().Log {
		if strings.Contains(l.Text, "line 5 is damaged") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
}
