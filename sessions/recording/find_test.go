package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestFind looks states up by number and by time.
func TestFind(t *testing.T) {
	start := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	r, in := &film{file: &file{path: "a.trtui"}}, &contents{}
	r.held.Store(in)
	for _, after := range []time.Duration{0, 1200 * time.Millisecond, 1230 * time.Millisecond, 65 * time.Second} {
		in.steps = append(in.steps, step{Step: report.Step{Time: start.Add(after), After: after}})
	}
	for _, c := range []struct {
		text string
		want int
	}{
		{"1", 0}, {"4", 3}, {"00:00", 0}, {"0s", 0}, {"00:01.1", 0}, {"00:01.2", 2}, {"1.2s", 1}, {"00:01", 2}, {"01:04", 2}, {"01:05", 3}, {"01:05.0", 3}, {"65s", 3},
	} {
		if got, err := r.Find(c.text); err != nil || got != c.want {
			t.Errorf("%s is state %d, %v; want %d", c.text, got, err, c.want)
		}
	}
	int8 := config.Config{Precision: config.INT8, Calibrator: "mse"}
	in.configs = map[int64]config.Config{7: int8}
	in.tried = []report.RecordedConfig{{Name: "int8/mse", Config: int8}}
	in.steps[1].config, in.steps[1].Settled, in.steps[2].config = 7, true, 7
	if got, err := r.Find("int8/mse"); err != nil || got != 1 || r.Last() != 1 {
		t.Errorf("int8/mse is state %d, %v; the last that is complete %d", got, err, r.Last())
	}
	beside := config.Config{Precision: config.FP16}
	in.tried = append(in.tried, report.RecordedConfig{Name: "fp16", Config: beside, Aside: true},
		report.RecordedConfig{Name: "fp32", Config: config.Config{Precision: config.FP32}}, report.RecordedConfig{Name: "fp32, batch 2", Config: config.Config{Precision: config.FP32, Batch: 2}},
		report.RecordedConfig{Name: "fp32, batch 22", Config: config.Config{Precision: config.FP32, Batch: 22}})
	if got, err := r.Find("int8"); err != nil || got != 1 {
		t.Errorf("int8, of which there is int8/mse alone, is state %d, %v", got, err)
	}
	for _, c := range []struct{ text, says string }{
		{"fp16", "recording a.trtui: fp16 was measured beside others alone, and has no states; there are some of int8/mse; fp32; fp32, batch 2; fp32, batch 22"},
		{"fp32, batch", `"fp32, batch" may be fp32, batch 2; fp32, batch 22: name one of them`}, {"int", "nor a configuration of a.trtui, which has int8/mse; fp32;"},
		{"0", "no state 0; it has 1 to 4"}, {"5", "no state 5"}, {"-1", "no state -1"}, {"soon", "neither a state's number nor a time"},
		{"9:00:00", "recording a.trtui: 9:00:00 is past its end: it is 01:05.0 long, with states 1 to 4"}, {"01:05.1", "is past its end"}, {"66s", "is past its end"},
	} {
		if i, err := r.Find(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is state %d, %v", c.text, i, err)
		}
	}
	if got, want := r.Moment(3).String(), "state 4/4, 01:05.0 after start, 2025-03-04 05:07:12"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSeekCountsOn steps on faster than states are read, and finds every snapshot where it says it is.
func TestSeekCountsOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.trtui")
	if err := os.WriteFile(path, smallRecording(t), 0o644); err != nil {
		t.Fatal(err)
	}
	r := opened(t, path)
	if at := r.Snapshot().At; at == nil || *at != r.Moment(r.Position()) || at.State != 2 || at.States != 2 {
		t.Errorf("a recording opens at %v", at)
	}
	for i := range 200 {
		r.Seek(i % 2)
		if got := r.Position(); got != i%2 {
			t.Fatalf("state %d after asking for %d", got, i%2)
		}
	}
	r.Seek(0)
	for snap := r.Snapshot(); ; snap = <-r.Events() {
		if snap.At.State == 1 && snap.Config.Precision == config.FP32 {
			break
		}
	}
}

// TestTimesCountFromTheStart counts from when the recording began, not from its first state, and not backwards where the
// clock was set back.
func TestTimesCountFromTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "late.trtui")
	r, err := Create(path, "trtui 1234", false)
	if err != nil {
		t.Fatal(err)
	}
	var began string
	if err := r.writer.conn.QueryRowContext(t.Context(), "SELECT started FROM session").Scan(&began); err != nil {
		t.Fatal(err)
	}
	start, err := time.Parse(time.RFC3339Nano, began)
	if err != nil {
		t.Fatal(err)
	}
	for i, after := range []time.Duration{7 * time.Second, 9500 * time.Millisecond, -time.Hour} {
		s := stamped{&report.Snapshot{Seq: i + 1, Config: config.Config{Precision: config.FP32, Batch: i}}, start.Add(after), fmt.Sprint(i), true}
		if err := r.writer.write(pending{settled: []stamped{s}}, false); err != nil {
			t.Fatal(err)
		}
	}
	p := closed(t, r, path)
	for i, want := range []time.Duration{7 * time.Second, 9500 * time.Millisecond, 0} {
		if got, step := p.Moment(i).After, p.Steps()[i].After; got != want || step != want {
			t.Errorf("state %d is %v and %v after the start, want %v", i+1, got, step, want)
		}
	}
	if i, err := p.Find("7s"); err != nil || i != 0 {
		t.Errorf("7 s after the start is state %d, %v", i+1, err)
	}
	if rep, err := p.Report(); err != nil || rep.Program != "trtui 1234" {
		t.Errorf("the report is %+v, %v", rep, err)
	}
}

// TestFolderNew names a recording after its model and when it begins, in a folder that is made for it.
func TestFolderNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	path, err := Folder(dir).New("net", time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC))
	if want := filepath.Join(dir, "net-20250304-050607.trtui"); path != want || err != nil {
		t.Errorf("%q, %v; want %q", path, err, want)
	}
	if list, err := Folder(dir).List(); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Error("there is no folder for it")
	}
}
