package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trtexecFiles are what trtexec writes of an engine.
func trtexecFiles(t *testing.T) (layers, profile, times string) {
	t.Helper()
	folder := filepath.Join("..", "sessions", "exchange", "testdata")
	return filepath.Join(folder, "layers10.json"), filepath.Join(folder, "profile10.json"), filepath.Join(folder, "times10.json")
}

// TestViewed shows the files of trtexec without a screen, as text and as JSON.
func TestViewed(t *testing.T) {
	layers, profile, times := trtexecFiles(t)
	out, _ := command(t, 0, layers, profile, times)
	for _, want := range []string{"layers10.json  int8  TensorRT", "median of 6", "Conv_0 +1", "29.9 µs"} {
		if !strings.Contains(out, want) {
			t.Errorf("the overview lacks %q:\n%s", want, out)
		}
	}
	if out, _ = command(t, 0, profile, layers); !strings.Contains(out, "sum of layers: no times of whole inferences were given") || strings.Contains(out, "p99") {
		t.Errorf("without times:\n%s", out)
	}
	if out, _ = command(t, 0, layers); !strings.Contains(out, "3 layers of 4 source layers") {
		t.Errorf("layers alone:\n%s", out)
	}
	names := filepath.Join(t.TempDir(), "names.json")
	if err := os.WriteFile(names, []byte(`{"Layers": ["a"], "Bindings": ["x", "y"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ = command(t, 0, names); !strings.Contains(out, "binding x\nbinding y\n") || strings.Contains(out, "input") {
		t.Errorf("names alone:\n%s", out)
	}
	if out, _ = command(t, 0, "inspect", "layers", times, layers, profile); !strings.Contains(out, "sm80_xmma") || !strings.Contains(out, "50.2") {
		t.Errorf("inspect layers:\n%s", out)
	}
	if out, _ = command(t, 0, "inspect", "layers", layers, profile, "--format", "json"); !strings.Contains(out, `"viewed": "TensorRT layer information, 10 or older"`) || !strings.Contains(out, `"summed": true`) {
		t.Errorf("as JSON: %.600s", out)
	}
}

// TestViewedErrors says what a file of JSON is where it is none of those.
func TestViewedErrors(t *testing.T) {
	layers, profile, _ := trtexecFiles(t)
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"version": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"neither layer information":                {layers, other},
		"x.onnx: no such file":                     {"x.onnx", profile},
		"--config takes a configuration":           {other},
		"accepts between 1 and 3":                  {"inspect", "layers"},
		"has no times: name the profile beside it": {layers, layers},
		"no such file":                             {"inspect", "layers", filepath.Join(t.TempDir(), "none.json")},
		"trtui inspect layers shows what trtexec":  {"bench", layers},
	} {
		if _, got := command(t, exitFailure, args...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
}
