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
	dir, few := t.TempDir(), append([]string{"calibrate", "-q"}, few(t)...)
	file := filepath.Join(dir, "ranges.json")
	out, _ := command(t, 0, append(few, "-o", file)...)
	if !strings.Contains(out, "66 tensors by mse on few.npz") {
		t.Errorf("it prints %q", out)
	}
	rows := func(out string) string { // but what items that calibration did not see say, of which a file tells nothing
		_, rows, _ := strings.Cut(out, "\n\n")
		rows, _, _ = strings.Cut(rows, "\n\n")
		lines, last := strings.Split(rows, "\n"), strings.Index(rows, "held out dB")
		for i, line := range lines {
			if last >= 0 {
				line = line[:min(last, len(line))]
			}
			lines[i] = strings.TrimRight(line, " ")
		}
		return strings.Join(lines, "\n")
	}
	table := func(args ...string) string {
		out, _ := command(t, 0, append(few, args...)...)
		return rows(out)
	}
	out, _ = command(t, 0, "calibrate", "-q", "--ranges", file)
	if rows(out) != table() || !strings.Contains(out, "12 items of few.npz, as "+file+" says") {
		t.Errorf("by the file:\n%s", out)
	}
	if a, b := table("--calibrator", "percentile:99"), table("--ranges", file, "--calibrator", "percentile:99"); a != b {
		t.Errorf("percentile:99 by the file:\n%s\non the data:\n%s", b, a)
	}
	for _, c := range []struct {
		data  []string
		lacks bool
	}{{few[2:], false}, {nil, true}} { // what a file has does for means of channels, and no more
		_, told := command(t, 0, append([]string{"inspect", "passes", "-v", "--precision", "int8", "--ranges", file, "--rounding", "gptq", "--equalization", "off"}, c.data...)...)
		if strings.Contains(told, "gptq needs the data") != c.lacks {
			t.Errorf("with %v it tells\n%s", c.data, told)
		}
	}
	equalised := func(code int, args ...string) string {
		_, told := command(t, code, append([]string{"inspect", "passes", "--precision", "int8", "--ranges", file, "--rounding", "nearest", "--bias-correction", "off"}, args...)...)
		return told
	}
	for _, c := range []struct { // channels are not equalised by themselves, which is said; where that is asked for, on items
		says string
		code int
		args []string
	}{
		{"are not equalised, first of all \"block1/first/act/Relu_output_0\": the ranges that were given hold for channels as they are", 0, nil},
		{"ranges that were given are not used, since channels are equalised", 0, append([]string{"--equalization", "activations"}, few[2:]...)},
		{"channels cannot be equalised by weights: " + file + " has the ranges of channels as they are", exitFailure, []string{"--equalization", "weights"}},
	} {
		if told := equalised(c.code, c.args...); strings.Count(told, c.says) != 1 {
			t.Errorf("with %v it says\n%s", c.args, told)
		}
	}
	if told := equalised(0, "--equalization", "off"); strings.Contains(told, "equalised") { // a slow machine is told of the progress, too
		t.Errorf("with --equalization off it says\n%s", told)
	}
	hand := filepath.Join(dir, "hand.json")
	if err := os.WriteFile(hand, []byte(`{"version": 1, "tensors": [{"name": "image", "range": [-0.25, 0.5]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out = table("--ranges", hand); !strings.Contains(strings.Join(strings.Fields(out), " "), "image mse -0.25 0.5 0.0029412") {
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

// TestCalibrationCacheFile writes a calibration cache of TensorRT, which gives the scales that it was made of.
func TestCalibrationCacheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates the embedded model")
	}
	dir, few := t.TempDir(), few(t)
	file := filepath.Join(dir, "calib.cache")
	out, _ := command(t, 0, append(few, "calibrate", "--calibration-cache", file, "--calibrator", "entropy", "--trt-version", "8.6.1", "-q")...)
	if !strings.Contains(out, "66 tensors by entropy on few.npz, as TRT-8601-EntropyCalibration2") {
		t.Errorf("it prints %q", out)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(first), "TRT-8601-EntropyCalibration2\nimage: 3") {
		t.Errorf("%.200s", first)
	}
	// Where the file has all ranges calibrators have no say: there is one row, which is called after neither.
	if out, _ = command(t, 0, append(rough(t), "eval", "-q", "--items", "20", "--ranges", file)...); strings.Count(out, "\nint8 ") != 1 || !strings.Contains(out, "int8       file") || strings.Contains(out, "minmax") || !strings.Contains(out, "ranges: those of "+file) {
		t.Errorf("it compares\n%s", out)
	}
	// Of the file, whatever calibrator is asked for, come the ranges that are in it.
	foreign := append(first, "(Unnamed Layer* 3) [Shuffle]_output: 3f800000\n"...)
	if err := os.WriteFile(file, foreign, 0o600); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "again.cache")
	_, notes := command(t, 0, append(few, "calibrate", "--ranges", file, "--calibration-cache", again, "--trt-version", "8.6.1", "-q")...)
	if !strings.Contains(notes, "1 tensor left out that digits does not have, such as \"(Unnamed Layer* 3)") {
		t.Errorf("it says %q", notes)
	}
	second, err := os.ReadFile(again)
	if err != nil || string(second) != string(first) {
		t.Errorf("read and written again: %v\n%.300s\nwas\n%.300s", err, second, first)
	}
	for text, says := range map[string]string{
		"TRT-8601-A\nimage 3f\n":          "line 2",
		"TRT-8601-A\nnowhere: 3f800000\n": "digits has none of its tensors, such as \"nowhere\"",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, got := command(t, exitFailure, "calibrate", "-q", "--ranges", file); !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q", text, got, says)
		}
	}
	for says, args := range map[string][]string{
		"--trt-version":          {"--trt-version", "ten"},
		"--trt-calibrator":       {"--trt-calibrator", "Legacy"},
		"give one of the two":    {"-o", "x.json"},
		"want three numbers, as": {"--trt-version", "10"},
	} {
		if _, got := command(t, exitFailure, append([]string{"calibrate", "--calibration-cache", file}, args...)...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
}

// TestCalibrateLabels: flags that calibration has no use of are taken, since the line is that of trtui eval, and said to be idle.
func TestCalibrateLabels(t *testing.T) {
	_, errs := command(t, 0, append(few(t), "calibrate", "--task", "classes", "--calibrator", "minmax")...)
	if !strings.Contains(errs, "--task: ranges are found without labels; trtui eval judges by them") {
		t.Error(errs)
	}
}
