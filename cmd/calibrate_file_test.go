package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCalibrationFile writes what calibration finds, and finds by the file what it finds on the data.
func TestCalibrationFile(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates the embedded model")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "ranges.json")
	out, _ := command(t, 0, "calibrate", "-o", file, "-q")
	if !strings.Contains(out, "66 tensors by mse on 300 embedded digits") {
		t.Errorf("it prints %q", out)
	}
	table := func(args ...string) string {
		out, _ := command(t, 0, append([]string{"calibrate", "-q"}, args...)...)
		_, rows, _ := strings.Cut(out, "\n\n")
		return rows
	}
	out, _ = command(t, 0, "calibrate", "-q", "--ranges", file)
	if _, b, _ := strings.Cut(out, "\n\n"); b != table() || !strings.Contains(out, "300 items of 300 embedded digits, as "+file+" says") {
		t.Errorf("by the file:\n%s", out)
	}
	if a, b := table("--calibrator", "percentile:99"), table("--ranges", file, "--calibrator", "percentile:99"); a != b {
		t.Errorf("percentile:99 by the file:\n%s\non the data:\n%s", b, a)
	}
	hand := filepath.Join(dir, "hand.json")
	if err := os.WriteFile(hand, []byte(`{"version": 1, "tensors": [{"name": "image", "range": [-0.25, 0.5]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out = table("--ranges", hand); !strings.Contains(strings.Join(strings.Fields(out), " "), "image mse 0.37353 0.0029412") {
		t.Errorf("a range by hand: %.300s", out)
	}
	for text, says := range map[string]string{
		`{"version": 1}`: "has no tensors",
		`{"version": 2, "tensors": [{"name": "image"}]}`:                                "version 2 is not known",
		`{"version": 1, "tensors": [{"name": "image"}]}`:                                "neither range nor histogram",
		`{"version": 1, "tensors": [{"name": "image", "range": [1, 2]}]}`:               "have zero between them",
		`{"version": 1, "tensors": [{"name": "none", "range": [-1, 2]}]}`:               "no tensor \"none\"",
		`{"version": 1, "tensors": [{"name": "image", "histogram": {"count": 1}}]}`:     "whose bins hold 0",
		`{"version": 1, "tensors": [{"name": "a", "range": [-1, 2]}, {"name": "a"}]}`:   "stands twice",
		`{"version": 1, "tensors": [{"name": "a", "range": [0,1], "channel_axis":-1}]}`: "channel axis -1",
	} {
		if err := os.WriteFile(hand, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, got := command(t, exitFailure, "calibrate", "-q", "--ranges", hand); !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q", text, got, says)
		}
	}
}
