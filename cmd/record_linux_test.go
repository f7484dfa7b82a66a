package cmd

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestRecordOnFullDisk: record ends when its file cannot grow any more, and says so.
func TestRecordOnFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digits.trtui")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `ulimit -f 400; exec "$0" "$@"`, os.Args[0], "record", "--precision", "fp32,fp16,int8", "--timing-cache", "none", "-o", path)
	cmd.Env = append(os.Environ(), roleVar+"=program", "XDG_CACHE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); err == nil || code != exitFailure {
		t.Errorf("exit code %d, %v", code, err)
	}
	for _, want := range []string{path, "the disk"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestRecordStoppedBetween: a recording that was stopped when one of its configurations was done and the next not begun is
// no complete one.
func TestRecordStoppedBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	path := filepath.Join(t.TempDir(), "digits.trtui")
	o, b := onBackends(tables{backends: backends}), cpu.Open(1)
	defer b.Close()
	m, err := model.Parse(graph.Ops(), model.Embedded, testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	configs := []config.Config{{Precision: config.FP32, Batch: 1}}
	s := sessions.Open(m, stages.Workplace{Backend: b, Live: quick.live, Cache: build.NewTimingCache()}, configs[0])
	defer s.Close()
	if err := s.Record(path); err != nil {
		t.Fatal(err)
	}
	if _, err := runConfigs(t.Context(), &o.output, s, configs, os.Stderr); err != nil {
		t.Fatal(err)
	}
	s.Unfinished("configuration 2 of 2: stopped")
	if err := s.StopRecording(); err != nil {
		t.Fatal(err)
	}
	list, err := recording.List(filepath.Dir(path))
	if err != nil || len(list) != 1 || !list[0].Stopped || !strings.Contains(list[0].Unfinished, "configuration 2 of 2") {
		t.Errorf("%+v, %v", list, err)
	}
	out, _ := command(t, 0, "inspect", "recording", path)
	if !strings.Contains(out, "stopped, ") {
		t.Error(out)
	}
	text, _ := command(t, 0, "inspect", "recording", path, "--format", "json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc["stopped"] != true {
		t.Errorf("%v\n%s", err, text)
	}
}
