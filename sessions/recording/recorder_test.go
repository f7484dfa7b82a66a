package recording

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// opened opens a recording until the test ends.
func opened(t *testing.T, path string) *Replay {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // it was read
	return r
}

// closed ends a recording and opens it.
func closed(t *testing.T, r *Recorder, path string) *Replay {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return opened(t, path)
}

// TestInterruptedWriteIsUndone copies a recording and its journal in the middle of a write, as a killed process leaves
// them.
func TestInterruptedWriteIsUndone(t *testing.T) {
	dir := t.TempDir()
	path, killed := filepath.Join(dir, "whole.trtui"), filepath.Join(dir, "killed.trtui")
	if err := os.WriteFile(path, smallRecording(t), 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path+"?_pragma=cache_size(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		"DELETE FROM snapshots", "DELETE FROM reports", "DELETE FROM configs",
		"WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO log SELECT i, 'x', 'x', NULL, 'line' FROM n",
	} {
		if _, err := tx.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil || len(data) == 0 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		if err := os.WriteFile(killed+suffix, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" { // which tells that somebody is writing, whose journal is nobody else's to undo
		writer, err := os.OpenFile(killed, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		hold(writer)
		if f, err := openFile(killed); err == nil {
			f.Close()
			t.Error("half a write is read")
		}
		if info, err := os.Stat(killed + "-journal"); err != nil || info.Size() == 0 {
			t.Errorf("the journal of a write that is under way is gone: %v", err)
		}
		writer.Close()
	}
	r := opened(t, killed)
	if n := len(r.Steps()); n != 2 {
		t.Errorf("%d states, want 2", n)
	}
	if snap := r.Snapshot(); snap.Err != "" || snap.Model == nil || len(snap.Log) != 2 {
		t.Errorf("the last state is not what was there: %+v", snap)
	}
}

// TestRecorderDoesNotWait hands snapshots and samples over while a reader keeps the recorder from writing.
func TestRecorderDoesNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range []string{"BEGIN", "SELECT count(*) FROM configs"} {
		if _, err := conn.ExecContext(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
	steps := make([]time.Duration, 1000)
	const configs = 100
	for i := range 5000 {
		cfg := config.Config{Precision: config.FP32, Batch: 1 + i*configs/5000}
		snap := &report.Snapshot{Seq: i + 1, Schema: report.Schema, Config: cfg, Timings: &report.Timings{Samples: i}}
		if i%50 == 0 {
			snap.Busy, snap.Stale = &report.Progress{Phase: "timing"}, report.PartTimings
		}
		r.Snapshot(snap)
		r.Sample(r.key(cfg), cfg, run.Sample{Latency: 1, Steps: steps})
	}
	r.mu.Lock()
	held, samples := len(r.pending.settled), r.pending.samples
	r.mu.Unlock()
	if held > configs || samples > maxPendingSamples {
		t.Errorf("%d snapshots of %d configurations and %d samples are held", held, configs, samples)
	}
	if _, err := conn.ExecContext(context.Background(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	p := closed(t, r, path)
	settled := map[int]bool{}
	for _, s := range p.Steps() {
		if s.Settled {
			settled[s.Config.Batch] = true
		}
	}
	if len(settled) != configs {
		t.Errorf("%d of %d settled states are recorded", len(settled), configs)
	}
}

// TestFullRecordingEnds: a recording that can grow no more says so and what is kept: what was recorded before; and where that
// is nothing, no file is in the way of the next.
func TestFullRecordingEnds(t *testing.T) {
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("kept=%v", kept), func(t *testing.T) { fullRecordingEnds(t, kept) })
	}
}

func fullRecordingEnds(t *testing.T, kept bool) {
	path := filepath.Join(t.TempDir(), "full.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	if _, err := r.writer.conn.ExecContext(context.Background(), "PRAGMA max_page_count = 80"); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	if kept {
		s := stamped{&report.Snapshot{Seq: 1, Model: &report.Model{Name: "m"}}, time.Now(), "c", true}
		if err := r.writer.write(pending{settled: []stamped{s}}, false); err != nil {
			t.Fatal(err)
		}
		r.kept = true
	}
	for i := range 200 {
		s := stamped{&report.Snapshot{Seq: i + 1, Model: &report.Model{Name: fmt.Sprint(i)}, Err: strings.Repeat("x", 10000)}, time.Now(), fmt.Sprint(i), true}
		r.pending.settled = append(r.pending.settled, s)
	}
	r.mu.Unlock()
	<-r.done
	r.OnFailure(func(err error) { failed <- err }) // that comes late is told, too
	if err := <-failed; !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "the disk is full") || strings.Contains(err.Error(), "is kept") != kept {
		t.Errorf("not told that it is full, and what is kept: %v", err)
	}
	r.Snapshot(&report.Snapshot{Seq: 1000})
	if err := r.Close(); err == nil {
		t.Error("a recording that failed closes without an error")
	}
	if !kept {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("a file is left of nothing: %v", err)
		}
		return
	}
	if n := len(opened(t, path).Steps()); n != 1 {
		t.Errorf("%d states are kept, want 1", n)
	}
}

func TestLiveStatesReplaceOneAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	model := &report.Model{Name: "m"}
	for i := range 100 {
		live := i > 0 && i < 99
		s := stamped{&report.Snapshot{Seq: i + 1, Model: model, Timings: &report.Timings{Samples: i, Live: live}}, time.Now(), "c", !live}
		if err := r.writer.write(pending{settled: []stamped{s}}, false); err != nil {
			t.Fatal(err)
		}
	}
	p := closed(t, r, path)
	if n := len(p.Steps()); n != 2 {
		t.Errorf("%d states, want the first and the last", n)
	}
	if s := p.Snapshot(); s.Timings == nil || s.Timings.Samples != 99 {
		t.Errorf("the last state shows %+v", s.Timings)
	}
	n := 0
	if err := p.file.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM reports").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d reports are kept, want 3 (%v)", n, err)
	}
}

func TestReplayFromSeveralGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.trtui")
	if err := os.WriteFile(path, smallRecording(t), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 20 {
				r.Seek(i)
				r.Set(config.Config{Precision: config.FP16})
				r.Rerun()
				if _, err := r.At((g + i) % 2); err != nil {
					t.Error(err)
				}
				_ = r.Snapshot()
				select {
				case <-r.Events():
				default:
				}
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	list, err := List(filepath.Dir(path))
	if err != nil || len(list) != 1 || !list[0].Complete || list[0].Stopped || list[0].Model != "m" || len(list[0].Configs) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A recording that was closed before its last configuration was done was stopped; one that was cut short was not closed.
func TestRecordingStopped(t *testing.T) {
	done, failed, open := report.RecordedConfig{Settled: true}, report.RecordedConfig{Err: "no"}, report.RecordedConfig{}
	for _, c := range []struct {
		complete bool
		configs  []report.RecordedConfig
		want     bool
	}{
		{true, []report.RecordedConfig{done}, false},
		{true, []report.RecordedConfig{open, done}, false}, // another one was chosen
		{true, []report.RecordedConfig{done, failed}, false},
		{true, []report.RecordedConfig{done, open}, true},
		{true, nil, true},
		{false, []report.RecordedConfig{open}, false},
	} {
		r := report.Recording{Complete: c.complete}
		if r.SetConfigs(c.configs); r.Stopped != c.want || len(r.Configs) != len(c.configs) {
			t.Errorf("%v %+v: stopped %v", c.complete, c.configs, r.Stopped)
		}
	}
}

// TestConfigurationsInOrder: one that was broken off before it had a state is recorded before the next, whatever of both is written first.
func TestConfigurationsInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	first := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	next := first
	next.Precision = config.FP16
	r.Sample(r.key(first), first, run.Sample{Latency: time.Millisecond})
	r.Snapshot(&report.Snapshot{Seq: 1, Schema: report.Schema, Config: next})
	if tried := closed(t, r, path).Tried(); len(tried) != 2 || tried[0].Config.Precision != config.FP32 {
		t.Errorf("recorded were %+v", tried)
	}
}
