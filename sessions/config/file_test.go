package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

// What is saved is read back as it was, over whatever another configuration says.
func TestFileRoundTrip(t *testing.T) {
	others := []config.Config{
		{Precision: config.FP32, Calibrator: "entropy", Batch: 1},
		{
			Precision: config.INT8, Calibrator: "mse", Batch: 7, Shapes: map[string][]int{"x": {7, 3}}, Disable: []string{"no-op"}, Until: 3,
			LayerPrecisions: []string{"*:fp16"}, Constraints: config.Obey, Pin: map[string]string{"a": "b"}, Forbid: map[string][]string{"": {"eval"}},
		},
	}
	for _, c := range append(others, config.Config{
		Precision: config.INT8, Calibrator: "percentile:99.9", Batch: 2, Shapes: map[string][]int{"x": {2, 3, 8, 8}},
		Disable: []string{"fuse-activation:a,b%2Cc", "dead-code"}, LayerPrecisions: []string{"*head*:fp32", "conv:int8"}, Constraints: config.Ignore,
		Pin: map[string]string{"conv + relu": "conv_f32"}, Forbid: map[string][]string{"": {"eval"}, "conv<1>": {"a", "b"}},
	}) {
		saver := config.NewSaver(t.TempDir(), "models/net.v1.onnx")
		path, err := saver.Save(c)
		if err != nil || filepath.Base(path) != "net.v1.config.json" {
			t.Fatal(path, err)
		}
		f, err := config.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, base := range append(others, config.Config{}) {
			if got := f.Over(base); !reflect.DeepEqual(got, c) {
				t.Errorf("%+v, want %+v", got, c)
			}
		}
	}
}

// A saver writes its own file anew and leaves those of others.
func TestSaver(t *testing.T) {
	folder := t.TempDir()
	c := config.Config{Precision: config.FP32, Calibrator: "mse", Batch: 1}
	first, second := config.NewSaver(folder, "net.onnx"), config.NewSaver(folder, "net.onnx")
	for _, step := range []struct {
		saver *config.Saver
		batch int
		file  string
	}{{first, 1, "net.config.json"}, {second, 2, "net.config-2.json"}, {first, 3, "net.config.json"}, {second, 4, "net.config-2.json"}} {
		c.Batch = step.batch
		path, err := step.saver.Save(c)
		if err != nil || path != filepath.Join(folder, step.file) {
			t.Fatal(path, err)
		}
		if f, err := config.ReadFile(path); err != nil || f.Over(config.Config{}).Batch != step.batch {
			t.Error(path, err)
		}
	}
	if _, err := config.NewSaver(filepath.Join(folder, "none"), "net.onnx").Save(c); err == nil {
		t.Error("a file in a folder that there is not")
	}
}

// A field that is missing leaves what there is; tactics are of one precision.
func TestFileOver(t *testing.T) {
	base := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 4, Pin: map[string]string{"a": "b"}, LayerPrecisions: []string{"a:fp32"}}
	change := func(f func(*config.Config)) config.Config { c := base; f(&c); return c }
	for _, c := range []struct {
		text string
		want config.Config
	}{
		{`{}`, base},
		{`{"calibrator": "entropy"}`, change(func(c *config.Config) { c.Calibrator = "entropy" })},
		{`{"precision": "int8"}`, base},
		{`{"precision": "fp16"}`, change(func(c *config.Config) { c.Precision, c.Pin = config.FP16, nil })},
		{`{"tactics": {}, "layer_precisions": []}`, change(func(c *config.Config) { c.Pin, c.LayerPrecisions = nil, nil })},
		{`{"forbid_tactics": {"*": ["eval"]}}`, change(func(c *config.Config) { c.Forbid = map[string][]string{"": {"eval"}} })},
	} {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := config.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Over(base); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "want a JSON object",
		`null`:                             "the file has null: want a JSON object",
		`[]`:                               "line 1: the file cannot be a JSON array: want a JSON object",
		"{\n\"batch\": 1,\n}":              "line 3",
		"{\n\"batch\": \"x\"}":             `line 2: field "batch" cannot be a JSON string`,
		`{"calibrater": "mse"}`:            `unknown field "calibrater"; did you mean "calibrator"?`,
		`{"version": 9}`:                   "version 9 is not known",
		`{"precision": "bf16"}`:            `precision "bf16": want fp32, fp16 or int8`,
		`{"calibrator": "kl"}`:             "calibrator: ",
		`{"batch": 0}`:                     "batch 0: want 1 to",
		`{"passes_until": 99}`:             "passes_until 99",
		`{"layer_precisions": ["a"]}`:      "layer_precisions: ",
		`{"precision_constraints": "yes"}`: `precision_constraints "yes": want prefer, obey or none`,
		`{"shapes": {"x": [1, -2]}}`:       "shapes: x [1 -2]",
		`{"rounding": "compensated", "bias_correction": "off"}`: "rounding compensated is done with bias_correction exact, and bias_correction is off: set that to exact",
	} {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := config.ReadFile(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	folder := t.TempDir()
	if _, err := config.ReadFile(folder); err == nil || err.Error() != "configuration: "+folder+" is a directory; name a file" {
		t.Errorf("a directory: %v", err)
	}
}
