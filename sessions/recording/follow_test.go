package recording

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestFollow: a recording that is being written says so, and its replay shows each new state until another one is chosen.
func TestFollow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("whether a file is being written is told on Linux alone")
	}
	path := filepath.Join(t.TempDir(), "session.trtui")
	rec, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	state := func(seq int, p config.Precision) {
		cfg := config.Default()
		cfg.Precision = p
		rec.Snapshot(&report.Snapshot{Seq: seq, Config: cfg, Busy: &report.Progress{Phase: "fusing"}})
	}
	state(1, config.FP32)
	r, err := Open(path)
	for ; err != nil; r, err = Open(path) { // nothing is written yet
		if t.Context().Err() != nil || !strings.Contains(err.Error(), "it is being written") {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer r.Close()
	next := func() *report.Snapshot { return <-r.Events() }
	if first := next(); first.At.States != 1 || !r.Writing() || r.CutShort() {
		t.Fatalf("%v, being written: %t, cut short: %t", first.At, r.Writing(), r.CutShort())
	}
	if sum, err := r.Report(); err != nil || !sum.Writing || sum.Complete {
		t.Errorf("the summary is %+v, %v", sum, err)
	}
	state(2, config.INT8)
	if s := next(); s.At.State != 2 || s.At.States != 2 || s.Config.Precision != config.INT8 {
		t.Errorf("shown is %v of %v", s.At, s.Config.Precision)
	}
	r.Seek(0)
	next()
	state(3, config.FP16)
	if s := next(); s.At.State != 1 || s.At.States != 3 || s.Config.Precision != config.FP32 {
		t.Errorf("a state that was chosen gives way: %v of %v", s.At, s.Config.Precision)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	for r.Writing() {
		next()
	}
	list, err := List(filepath.Dir(path))
	if err != nil || len(list) != 1 || list[0].Writing || !list[0].Complete {
		t.Errorf("when it is closed the list is %+v, %v", list, err)
	}
}
