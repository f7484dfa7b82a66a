package sessions_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// TestRecordUntilKilled is the process that TestKilledRecordingOpens kills: it records and toggles without end.
func TestRecordUntilKilled(t *testing.T) {
	path := os.Getenv("TRTUI_TEST_RECORD_TO")
	if path == "" {
		t.Skip("runs only as a process of TestKilledRecordingOpens")
	}
	cfg := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	s := open(t, cfg)
	if err := s.Record(path); err != nil {
		t.Fatal(err)
	}
	fmt.Println("recording")
	for {
		await(t, s, settled(cfg))
		fmt.Println("settled")
		time.Sleep(700 * time.Millisecond)
		cfg.Precision = cfg.Precision.Next()
		s.Set(cfg)
	}
}

// killAfter records in a process of its own and kills it a while after it has printed a word.
func killAfter(t *testing.T, path, word string, later time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestRecordUntilKilled$")
	c.Env = append(os.Environ(), "TRTUI_TEST_RECORD_TO="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Wait() }()
	var seen []byte
	buffer := make([]byte, 1000)
	for !bytes.Contains(seen, []byte(word)) {
		n, err := out.Read(buffer)
		if seen = append(seen, buffer[:n]...); err != nil {
			t.Fatalf("the recording process ended: %s", seen)
		}
	}
	time.Sleep(later)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

func TestKilledRecordingOpens(t *testing.T) {
	sessions.NotUnderRace(t)
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, tt := range []struct {
		word    string
		later   time.Duration
		settled bool // there must be a settled state, with samples
	}{
		{"recording", 1200 * time.Millisecond, false}, // in the first build
		{"settled", 1300 * time.Millisecond, true},    // in the second build, after a second to write the first
		{"settled", 1900 * time.Millisecond, true},
	} {
		t.Run(fmt.Sprintf("%v after %s", tt.later, tt.word), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "killed.trtui")
			killAfter(t, path, tt.word, tt.later)
			r, err := recording.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			steps := r.Steps()
			last, err := r.At(len(steps) - 1)
			if err != nil {
				t.Fatal(err)
			}
			if last.Model == nil || last.Model.Path != "embedded" || len(last.Model.Layers) == 0 || last.Replay != path {
				t.Errorf("the last state does not show the model")
			}
			some := false
			for _, s := range steps {
				some = some || s.Settled
			}
			if tt.settled && !some {
				t.Errorf("no state of %d is settled", len(steps))
			}
			if n := countRows(t, path, "SELECT count(*) FROM session WHERE ended IS NULL AND model_sha256 <> ''"); n != 1 || !r.CutShort() {
				t.Error("the recording does not say that it was cut short")
			}
			if tt.settled {
				checkDocumented(t, path, nil)
			}
		})
	}
}

func openSQLite(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func countRows(t *testing.T, path, query string) int {
	t.Helper()
	n := 0
	if err := openSQLite(t, path).QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// jsonOf is what two snapshots must have in common: a recording keeps their JSON form, not where they were recorded.
func jsonOf(t *testing.T, s *report.Snapshot) string {
	t.Helper()
	c := *s
	c.Seq, c.Replay, c.At, c.Recording = 0, "", nil, ""
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReplayEqualsRecording(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	int8 := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried}
	path := filepath.Join(t.TempDir(), "a session?#%.trtui")
	s := open(t, fp32)
	await(t, s, func(s *report.Snapshot) bool { return s.Timings != nil && s.Timings.Samples >= 20 })
	if err := s.Record(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(path + "2"); err == nil {
		t.Error("a second recording begins")
	}
	want := map[config.Precision]string{}
	var settledStates []*report.Snapshot
	for _, cfg := range []config.Config{fp32, int8} {
		s.Set(cfg)
		snap := await(t, s, func(s *report.Snapshot) bool { return settled(cfg)(s) && s.Busy == nil })
		if snap.Recording != path {
			t.Errorf("Recording is %q", snap.Recording)
		}
		want[cfg.Precision] = jsonOf(t, snap)
		settledStates = append(settledStates, snap)
		time.Sleep(600 * time.Millisecond)
	}
	if err := s.StopRecording(); err != nil {
		t.Fatal(err)
	}
	if err := s.StopRecording(); err == nil {
		t.Error("a recording ends twice")
	}
	if _, err := recording.Create(path, "test", false); err == nil {
		t.Error("an existing file is written over")
	}
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, cfg := range []config.Config{fp32, int8} {
		r.Set(cfg)
		got := awaitReplay(t, r, func(s *report.Snapshot) bool { return s.Config.Precision == cfg.Precision })
		if jsonOf(t, got) != want[cfg.Precision] {
			t.Errorf("%s: the replayed snapshot is not the recorded one", cfg.Precision)
		}
	}
	beside, tried := settledStates[1].Timings.Beside, r.Tried()[1]
	if beside == nil || beside.Config.Precision != config.FP32 || !beside.SideBySide || beside.Low > beside.Ratio || settledStates[0].Timings.Beside != nil {
		t.Errorf("INT8 was measured beside %+v", beside)
	} else if got := tried.Measured(); got.Beside == nil || got.Beside.Speed != beside.Speed {
		t.Errorf("the replay compares it by %+v", got)
	}
	r.Set(config.Config{Precision: config.FP16, Batch: 1})
	if got := awaitReplay(t, r, func(s *report.Snapshot) bool { return s.Err != "" }); !got.Stale.Has(report.PartTimings) || !strings.Contains(got.Err, "fp16 was not recorded") {
		t.Errorf("a configuration that was not recorded: %q", got.Err)
	}
	r.Seek(0)
	awaitReplay(t, r, func(s *report.Snapshot) bool { return s.Err == "" && s.Config.Precision == config.FP32 })
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d bytes", len(r.Steps()), info.Size())
	if info.Size() > 8<<20 {
		t.Errorf("two configurations take %d bytes", info.Size())
	}
	if n := countRows(t, path, "SELECT count(*) FROM session WHERE ended IS NOT NULL"); n != 1 {
		t.Error("the recording is not complete")
	}
	if n := countRows(t, path, "SELECT count(*) FROM configs WHERE id NOT IN (SELECT config FROM runs WHERE steps IS NOT NULL)"); n != 0 {
		t.Error("a configuration that was measured before the recording began has no samples")
	}
	checkDocumented(t, path, settledStates)
}

func awaitReplay(t *testing.T, r *recording.Replay, done func(*report.Snapshot) bool) *report.Snapshot {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case s := <-r.Events():
			if done(s) {
				return s
			}
		case <-timeout:
			t.Fatal("no such snapshot came")
		}
	}
}

// TestRecordWhileToggling starts and stops recordings while the configuration changes.
func TestRecordWhileToggling(t *testing.T) {
	cfg := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	s := open(t, cfg)
	dir := t.TempDir()
	var all sync.WaitGroup
	all.Go(func() {
		for range 8 {
			cfg.Precision = cfg.Precision.Next()
			s.Set(cfg)
			time.Sleep(60 * time.Millisecond)
		}
	})
	all.Go(func() {
		for i := range 4 {
			if err := s.Record(filepath.Join(dir, fmt.Sprint(i, ".trtui"))); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond)
			if err := s.StopRecording(); err != nil {
				t.Error(err)
			}
		}
	})
	all.Go(func() {
		for range 100 {
			_ = s.Snapshot()
			time.Sleep(5 * time.Millisecond)
		}
	})
	all.Wait()
	list, err := recording.List(dir)
	if err != nil || len(list) != 4 {
		t.Fatalf("%d recordings, %v", len(list), err)
	}
	for _, r := range list {
		if r.Err != "" || !r.Complete {
			t.Errorf("%s: %s", r.Path, r.Err)
		}
	}
	if err := s.Record(filepath.Join(dir, "none", "x.trtui")); err == nil || s.Snapshot().Recording != "" {
		t.Errorf("recording in a folder that does not exist: %v", err)
	}
}
