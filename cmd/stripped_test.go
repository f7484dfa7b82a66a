package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/testdata"
)

// An engine without its model is smaller, runs as it was built in every command that runs one, tells of what it was made, and
// says what it takes to do what needs the model.
func TestStrippedEngine(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	file, kept := filepath.Join(dir, "a.engine"), filepath.Join(dir, "kept.engine")
	build := append(rough(t), "build", "--precision", "int8", "--calibrator", "minmax", "-o")
	command(t, 0, append(build, file)...)
	command(t, 0, append(build, kept, "--keep-source")...)
	small, large := fileSize(t, file), fileSize(t, kept)
	if source := len(testdata.Model()) / 2; large-small < int64(source) {
		t.Errorf("%d bytes, with the model %d", small, large)
	}
	out, _ := command(t, 0, "inspect", "engine", file)
	for _, want := range []string{"int8", "built from ", "as int8", "on 2023-11-14T22:13:20Z", "the model is not in the file", "of source layers that are not in the engine"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, wrong := range []string{"changes nothing", "0 source layers", "7 source layers"} {
		if strings.Contains(out, wrong) {
			t.Errorf("%q, though nobody knows the source, in\n%s", wrong, out)
		}
	}
	out, _ = command(t, 0, "inspect", "engine", "--format", "json", file)
	var got struct {
		Origin struct {
			Model  string `json:"model"`
			Hash   string `json:"model_sha256"`
			Device string `json:"device"`
			Kept   bool   `json:"source_kept"`
		} `json:"origin"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Origin.Model == "" || len(got.Origin.Hash) != 64 || got.Origin.Device == "" || got.Origin.Kept {
		t.Errorf("%v: %+v", err, got)
	}
	out, _ = command(t, 0, "bench", file, "--iterations", "1", "--duration", "1ms", "--format", "json")
	if !strings.Contains(out, `"precision": "int8"`) || strings.Contains(out, "planned again") {
		t.Errorf("%s", out)
	}
	for _, args := range [][]string{{"eval", file}, {"bench", file, "--precision", "fp32"}, {"calibrate", file}} {
		_, errs := command(t, exitFailure, args...)
		if !strings.Contains(errs, "needs the source network") || !strings.Contains(errs, "--keep-source") {
			t.Errorf("%v: %s", args, errs)
		}
	}
	data := filepath.Join(dir, "labelled.npz")
	labelled(t, data, 40)
	out, _ = command(t, 0, "eval", file, "--data", data)
	if !strings.Contains(out, "not compared with FP32: the engine has not got its model") || !strings.Contains(out, "ranges: the engine's own") {
		t.Errorf("of labels:\n%s", out)
	}
	top1 := func(path string, row int) float64 {
		var got struct {
			Rows []struct{ Top1, Agreement *float64 }
		}
		out, _ := command(t, 0, "eval", path, "--data", data, "--format", "json")
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Rows) != row+1 || got.Rows[row].Top1 == nil {
			t.Fatalf("%v: %s", err, out)
		}
		if alone := path == file; alone != (got.Rows[row].Agreement == nil) {
			t.Errorf("agreement with FP32 of %s:\n%s", path, out)
		}
		return *got.Rows[row].Top1
	}
	if own, same := top1(file, 0), top1(kept, 1); own != same || own < 80 {
		t.Errorf("top-1 %g, of the engine with its model %g", own, same)
	}
	command(t, 0, "eval", kept, "--items", "8")
	if out, _ = command(t, 0, "inspect", "engine", kept); !strings.Contains(out, "of 65 source layers") {
		t.Errorf("with the model, no source layers in\n%s", out)
	}
}

// labelled writes the first n of the digits to test on with their labels.
func labelled(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	digits := testdata.TestImages()
	classes := numeric.NewValue(numeric.I64, n)
	for i, label := range digits.Labels[:n] {
		classes.I64()[i] = int64(label)
	}
	images := numeric.Values(numeric.F32, digits.Batch(0, n), n, 1, testdata.Padded, testdata.Padded)
	if err := dataset.WriteNpz(f, map[string]numeric.Value{"image": images, "labels": classes}); err != nil {
		t.Fatal(err)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// An engine that a Go program wrote, which has no report, opens as what it is.
func TestEngineOfGoProgram(t *testing.T) {
	net, err := trtui.Parse("digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	x := testdata.CalibrationImages().Batch(0, 4)
	image := trtui.Inputs{"image": numeric.Values(numeric.F32, x, 4, 1, testdata.Padded, testdata.Padded)}
	for _, keep := range []bool{false, true} {
		e, err := trtui.Build(t.Context(), net, trtui.Options{
			Precision: trtui.INT8, Shapes: map[string][]int{"image": {4, 1, testdata.Padded, testdata.Padded}}, Untimed: true, KeepSource: keep,
			Calibration: func(yield func(trtui.Inputs, error) bool) { yield(image, nil) },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		file := filepath.Join(t.TempDir(), "go.engine")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.WriteTo(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		out, _ := command(t, 0, "bench", file, "--iterations", "1", "--duration", "1ms", "--format", "json")
		var got struct {
			Config struct {
				Precision string `json:"precision"`
				Batch     int    `json:"batch"`
			} `json:"config"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Config.Precision != "int8" || got.Config.Batch != 4 || strings.Contains(out, "planned again") {
			t.Errorf("source kept %v: %v: %+v\n%.600s", keep, err, got, out)
		}
		command(t, 0, "inspect", "engine", file)
	}
}
