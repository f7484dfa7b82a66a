package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputsAreSpared: no command writes over the model that it reads, by whatever name; a refit is in place where that is asked for.
func TestInputsAreSpared(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.onnx")
	data, err := os.ReadFile(filepath.Join("..", "testdata", "digits.onnx"))
	if err == nil {
		err = os.WriteFile(model, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(model), "link.onnx")
	if err := os.Symlink(model, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"build", model, "-o", link}, {"export", model, "-o", model}, {"export", "csv", model, "-o", model}, {"export", "svg", link, "-o", model},
		{"run", model, "--save-outputs", model}, {"calibrate", model, "-o", model}, {"calibrate", model, "--calibration-cache", model},
		{"tune-precision", model, "-o", model}, {"exec", "--onnx=" + model, "--saveEngine=" + link}, {"exec", "--onnx=" + model, "--exportTimes=" + model},
	} {
		if _, text := command(t, exitFailure, args...); !strings.Contains(text, "is the file that is read") {
			t.Errorf("%q: %q", args, text)
		}
	}
	other := filepath.Join(filepath.Dir(model), "other")
	if err := os.WriteFile(other, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"calibrate", model, "--ranges", other, "-o", other}, {"calibrate", model, "--data", other, "-o", other}, {"tune-precision", model, "--config", other, "-o", other},
		{"build", model, "--calib-data", other, "-o", other}, {"export", "csv", model, "--rules", "x", "--rules", other, "-o", other}, {"run", model, "--data", other, "--save-outputs", other},
		{"exec", "--onnx=" + model, "--calib=" + other, "--exportTimes=" + other}, {"export", "png", model, "--theme", other, "-o", other},
	} {
		if _, text := command(t, exitFailure, args...); !strings.Contains(text, "is the file that is read") {
			t.Errorf("%q: %q", args, text)
		}
	}
	if now, err := os.ReadFile(other); err != nil || string(now) != "{}" {
		t.Errorf("%v: what flags name is lost", err)
	}
	if now, err := os.ReadFile(model); err != nil || string(now) != string(data) {
		t.Errorf("%v: the model is lost", err)
	}
	if _, text := command(t, exitFailure, "refit", model, "--weights", model, "-o", model); strings.Contains(text, "is the file that is read") {
		t.Errorf("refit: %q", text)
	}
}
