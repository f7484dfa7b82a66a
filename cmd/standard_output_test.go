package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/recording"
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

// TestRecordingsAreSpared: no command writes over a recording, whatever its name and through whatever link.
func TestRecordingsAreSpared(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "session.json")
	r, err := recording.Create(session, "test", false)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("session.json", link); err != nil {
		t.Fatal(err)
	}
	model := "--onnx=" + digitsFile
	for _, file := range []string{session, link} {
		for _, args := range [][]string{
			{"export", "html", digitsFile, "-o", file}, {"export", "md", digitsFile, "-o", file}, {"export", "trace", digitsFile, "-o", file},
			{"export", "netron", digitsFile, "-o", file}, {"export", "svg", digitsFile, "-o", file}, {"export", "png", digitsFile, "-o", file},
			{"export", "csv", digitsFile, "-o", file}, {"export", "trex", digitsFile, "-o", file}, {"export", digitsFile, "--optimized", "-o", file},
			{"build", digitsFile, "-o", file}, {"run", digitsFile, "--save-outputs", file}, {"calibrate", digitsFile, "-o", file},
			{"calibrate", digitsFile, "--calibration-cache", file}, {"tune-precision", digitsFile, "-o", file}, {"record", digitsFile, "-o", file},
			{"refit", digitsFile, "--weights", digitsFile, "-o", file},
			{"exec", model, "--saveEngine=" + file}, {"exec", model, "--exportTimes=" + file}, {"exec", model, "--exportOutput=" + file},
			{"exec", model, "--exportProfile=" + file}, {"exec", model, "--exportLayerInfo=" + file},
		} {
			if _, text := command(t, exitFailure, args...); !strings.Contains(text, file+" is a recording") {
				t.Errorf("%q: %q", args, text)
			}
		}
	}
	if now, err := os.ReadFile(session); err != nil || string(now) != string(data) {
		t.Errorf("%v: the recording is lost", err)
	}
}
