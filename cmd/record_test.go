package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// command runs a command line and returns what it prints.
func command(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	if got := executeOn(t.Context(), quick, args, &out, &errOut); got != code {
		t.Fatalf("trtui %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, &errOut)
	}
	return out.String(), errOut.String()
}

// TestRecordDuration: each configuration is measured as long, in as many rounds, as is asked for.
func TestRecordDuration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digits.trtui")
	begin := time.Now()
	command(t, 0, "record", "--precision", "fp32", "--items", "2", "--duration", "700ms", "--rounds", "3", "-v", "-o", path)
	if took := time.Since(begin); took < 700*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	if _, errs := command(t, exitFailure, "record", "--rounds", "0", "-o", path+".trtui"); !strings.Contains(errs, "--rounds 0: want 1 to") {
		t.Errorf("no rounds: %s", errs)
	}
	if _, errs := command(t, exitFailure, "record", "--duration", "0", "-o", path+".trtui"); !strings.Contains(errs, "--duration 0s: want") {
		t.Errorf("no time: %s", errs)
	}
	if out, _ := command(t, 0, "inspect", "recording", path, "-q"); !strings.Contains(out, "fp32") {
		t.Errorf("the summary: %s", out)
	}
}

func TestRecordAndReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	path := filepath.Join(t.TempDir(), "digits.trtui")
	out, _ := command(t, 0, append(rough(t), "record", "--precision", "int8", "--calibrator", "minmax", "-o", path)...)
	for _, want := range []string{"digits (embedded", "complete, ", "int8/minmax"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary lacks %q:\n%s", want, out)
		}
	}
	out, _ = command(t, 0, "inspect", "recording", path, "--format", "json")
	checkJSON(t, out)
	var rep struct {
		Program  string
		Complete bool
		Configs  []struct {
			Settled bool
			Runs    int
			Median  *float64 `json:"median_ms"`
		}
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatal(err)
	}
	if !rep.Complete || len(rep.Configs) != 1 || !rep.Configs[0].Settled || rep.Configs[0].Runs < 200 || rep.Configs[0].Median == nil {
		t.Errorf("the report is %+v", rep)
	}
	if want, _ := command(t, 0, "version"); !strings.HasPrefix(want, rep.Program+",") {
		t.Errorf("the recording was written by %q, the program is %s", rep.Program, want)
	}
	out, _ = command(t, 0, "replay", path)
	if !strings.Contains(out, "int8/minmax") || !strings.Contains(out, "slowest layers") {
		t.Errorf("the replay shows\n%s", out)
	}
	out, _ = command(t, 0, "replay", path, "--format", "json", "--at", "1")
	for _, k := range []string{"states", "after_ms", "time"} {
		if keys := checkJSON(t, out); !keys[k] {
			t.Errorf("the state has no %q", k)
		}
	}
	var snap struct {
		Replay string
		Config struct{ Precision config.Precision }
		At     struct{ State int }
	}
	if err := json.Unmarshal([]byte(out), &snap); err != nil || snap.Replay != path || snap.Config.Precision != config.INT8 || snap.At.State != 1 {
		t.Errorf("state 1 is %+v, %v", snap, err)
	}
	out, _ = command(t, 0, "replay", path, "--at", "00:00.0")
	if !strings.Contains(out, "state 1/") || !strings.Contains(out, " after start, ") || !strings.Contains(out, "this state is not complete") {
		t.Errorf("the first state is\n%s", out)
	}
	if _, errOut := command(t, 0, "replay", path, "--at", "0.000001s"); !strings.Contains(errOut, "nothing was recorded by 0.000001s: this is the first state, ") {
		t.Errorf("of a moment before the first state it says %q", errOut)
	}
	_, errOut := command(t, exitFailure, "replay", path, "--at", "soon")
	if !strings.Contains(errOut, `"soon" is neither a state's number nor a time`) {
		t.Errorf("a time that is none: %s", errOut)
	}
	out, _ = command(t, 0, "inspect", "recording", filepath.Dir(path))
	if !strings.Contains(out, "digits.trtui") || !strings.Contains(out, "complete") {
		t.Errorf("the folder's list is\n%s", out)
	}
	_, errOut = command(t, exitFailure, "replay", path, "--at", "1000")
	if !strings.Contains(errOut, "there is no state 1000") {
		t.Errorf("a state that there is not: %s", errOut)
	}
	_, errOut = command(t, exitFailure, "record", "-o", path)
	if !strings.Contains(errOut, path+" is a recording") {
		t.Errorf("an existing recording: %s", errOut)
	}
}

func TestReplayRefuses(t *testing.T) {
	dir := t.TempDir()
	text, empty, budget := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "empty.onnx"), filepath.Join(dir, "b.yaml")
	for path, content := range map[string]string{text: "not a recording", empty: "", budget: "limits:\n  arena: 1 MiB\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"replay"}, exitFailure, "accepts 1 arg"},
		{[]string{"replay", text}, exitFailure, text + ": not a recording"},
		{[]string{"replay", filepath.Join(dir, "none")}, exitFailure, "no such file"},
		{[]string{"replay", dir}, exitFailure, "not a file"},
		{[]string{"bench", empty}, exitFailure, empty + " is an empty file, not an ONNX model or an engine"},
		{[]string{"bench", os.DevNull}, exitFailure, os.DevNull + " is a device"},
		{[]string{"check", empty, "--budget", budget}, exitFailure, empty + " is an empty file, not an ONNX model or an engine"},
		{[]string{"replay", text, "--format", "xml"}, exitFailure, `--format "xml"`},
		{[]string{"inspect", "recording", text}, exitFailure, "not a recording"},
		{[]string{"inspect", "recording", dir}, exitFailure, "no recordings"},
		{[]string{"record"}, exitFailure, "-o FILE is missing"},
	} {
		var errOut bytes.Buffer
		if code := execute(t.Context(), c.args, io.Discard, &errOut); code != c.code || !strings.Contains(errOut.String(), c.says) {
			t.Errorf("%v: exit code %d, want %d and %q in\n%s", c.args, code, c.code, c.says, &errOut)
		}
	}
}
