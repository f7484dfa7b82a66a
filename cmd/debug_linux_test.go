package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reduceTo runs trtui debug reduce; trtui run is this test's binary in its role.
func reduceTo(t *testing.T, code int, args ...string) (file, out, errs string) {
	t.Helper()
	t.Setenv(roleVar, "program")
	file = filepath.Join(t.TempDir(), "small.onnx")
	out, errs = command(t, code, append([]string{"debug", "reduce", "-q", "-o", file}, args...)...)
	return file, out, errs
}

const digitsFile = "../testdata/digits.onnx"

// A command of a person's own is what fails; what is left still makes it fail.
func TestReduceCheck(t *testing.T) {
	file, out, _ := reduceTo(t, 0, digitsFile, "--check", "! grep -q Softmax {} && test -d {data}", "--format", "json")
	keys := checkJSON(t, out)
	for _, k := range []string{"failure", "command", "before", "after", "nodes", "elements", "tries", "finished"} {
		if !keys[k] {
			t.Errorf("the output has no %q", k)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), "Softmax") || len(data) > 400 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := os.Stat(filepath.Join(file+".data", "test_data_set_0", "input_0.pb")); err != nil {
		t.Error(err)
	}
}

// What is beside the result and is none of an earlier run stays, and so does the model itself.
func TestReduceSpares(t *testing.T) {
	dir := t.TempDir()
	model, kept := filepath.Join(dir, "model.onnx"), filepath.Join(dir, "small.onnx.data", "mine.txt")
	digits, err := os.ReadFile(digitsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(kept), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{model: digits, kept: []byte("kept")} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{"small.onnx": "holds mine.txt", "model.onnx": "is the file that is read", "none/small.onnx": "no such file"} {
		_, errs := command(t, exitFailure, "debug", "reduce", model, "-q", "-o", filepath.Join(dir, file), "--check", "false")
		if !strings.Contains(errs, want) {
			t.Errorf("-o %s: want %q in\n%s", file, want, errs)
		}
	}
	if data, err := os.ReadFile(kept); err != nil || string(data) != "kept" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := os.ReadFile(model); err != nil || len(data) != len(digits) {
		t.Errorf("the model has %d bytes, %v", len(data), err)
	}
}

// The same error of trtui run is what stays, and the command that is printed shows it.
func TestReduceError(t *testing.T) {
	file, out, _ := reduceTo(t, 0, "../sessions/testdata/unsupported.onnx")
	if !strings.Contains(out, "Sift") || !strings.Contains(out, "trtui run "+file) {
		t.Error(out)
	}
	if _, errs := command(t, exitFailure, "run", file, "--data", file+".data", "-q"); !strings.Contains(errs, "operator is not supported") {
		t.Error(errs)
	}
}

func TestReduceRefused(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--check true", "nothing is wrong with ../testdata/digits.onnx on the item that it was run on"},
		{"--check true --time 0s", "--time 0s: want a time of more than 0"},
		{"--limit -1s", "--limit -1s: want"},
		{"--backends cpu,tpu", `--backends "tpu": this program has`},
		{"--check false --expect nothing", "nothing is wrong"},
	} {
		if _, _, errs := reduceTo(t, exitFailure, append([]string{digitsFile}, strings.Fields(c.args)...)...); !strings.Contains(errs, c.want) {
			t.Errorf("%s: %s", c.args, errs)
		}
	}
	// What does not end is a failure, too, where a limit is given.
	if _, out, _ := reduceTo(t, 0, digitsFile, "--check", "if grep -q Softmax {}; then sleep 5; fi", "--limit", "150ms", "--time", "1s"); !strings.Contains(out, "no end within 150ms") {
		t.Error(out)
	}
	if _, errs := command(t, exitFailure, "debug", "reduce", digitsFile); !strings.Contains(errs, "-o is missing") {
		t.Error(errs)
	}
}

// What is the same error in a smaller model.
func TestFailureText(t *testing.T) {
	j := judge{names: map[string]bool{"conv1": true, "b/c": true}}
	for _, pair := range [][2]string{
		{"layer conv1 (Conv): input [1,3,8] has 3 channels", "layer b/c (Conv): input [2,4] has 12 channels"},
		{"Sift (2 nodes: conv1, b/c): no", "Sift (1 node: b/c): no"},
	} {
		if a, b := j.plain(pair[0]), j.plain(pair[1]); a != b {
			t.Errorf("%q, %q", a, b)
		}
	}
}
