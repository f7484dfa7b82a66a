package cmd

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// An engine runs on the backend that it was built for, unless another one is named, and tells of what its file consists.
func TestEngineKeepsItsBackend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.engine")
	table := testTable()
	out, err := call(t, buildCommand(tables{backends: table}), "--backend", "sim", "--precision", "fp16", "--keep-source", "-o", file)
	if err != nil || !strings.Contains(out, "source weights") || !strings.Contains(out, "the plan's own weights") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct{ args, want, not string }{
		{"--duration 1ms", "on sim (", "planned again"},
		{"--duration 1ms --backend cpu", "on cpu (", "on sim"},
		{"--duration 1ms --backend cpu", "planned again: the engine was built for sim 1", "on sim"},
	} {
		out, err := call(t, benchCommand(tables{backends: table}), append(strings.Fields(c.args), file)...)
		if err != nil || !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("bench %s: %v, want %q and no %q\n%s", c.args, err, c.want, c.not, out)
		}
	}
	if out, err := call(t, runCommand(tables{backends: table}), "--items", "1", file); err != nil || !strings.Contains(out, "sim: a simulated device") {
		t.Errorf("run: %v\n%s", err, out)
	}
	gone := table[:len(table)-1]
	if out, err := call(t, benchCommand(tables{backends: gone}), "--duration", "1ms", file); err != nil || !strings.Contains(out, "planned again") {
		t.Errorf("bench without that backend: %v\n%s", err, out)
	}
	out, err = call(t, inspectEngine(tables{backends: table}), "--format", "json", "-q", file)
	var got struct {
		Contents map[string]int `json:"contents"`
	}
	if err != nil || json.Unmarshal([]byte(out), &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := got.Contents
	if sum := c["source_weights_bytes"] + c["plan_weights_bytes"] + c["kernels_bytes"] + c["description_bytes"]; sum == 0 || sum != c["file_bytes"] ||
		c["source_weights_bytes"] < 3*c["plan_weights_bytes"]/2 {
		t.Errorf("contents of an engine in FP16: %v", c)
	}
}

// TestEngineAtOtherShapes: an engine of one shape that is run at another one says that it is planned again, on standard error and in the
// reports; as trtexec, exec refuses.
func TestEngineAtOtherShapes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.engine")
	command(t, 0, "build", "-q", "-o", file)
	const said = "the engine was built for image:1x1x32x32 alone: its tactics were chosen again for image:3x1x32x32"
	quick := []string{"--iterations", "1", "--duration", "1ms"}
	for _, args := range [][]string{
		append([]string{"bench", file, "--batch", "3"}, quick...), append([]string{"bench", file, "--shapes", "image:3x1x32x32", "--format", "json"}, quick...),
		{"run", file, "--batch", "3", "--items", "3"}, {file, "--batch", "3"},
	} {
		if out, errs := command(t, 0, args...); !strings.Contains(strings.Join(strings.Fields(out), " "), said) || strings.Count(errs, said) != 1 && len(args) > 3 {
			t.Errorf("%v:\n%s\n%s", args, out, errs)
		}
	}
	if _, errs := command(t, exitFailure, "exec", "--loadEngine="+file, "--shapes=image:3x1x32x32"); !strings.Contains(errs, "is 3, the engine was built for 1 alone") {
		t.Errorf("exec: %s", errs)
	}
	for _, args := range [][]string{append([]string{"bench", file}, quick...), {"exec", "--loadEngine=" + file, "--iterations=1", "--duration=0", "--warmUp=0", "--shapes=image:1x1x32x32"}} {
		if out, errs := command(t, 0, args...); strings.Contains(out+errs, "chosen again") {
			t.Errorf("%v:\n%s\n%s", args, out, errs)
		}
	}
}
