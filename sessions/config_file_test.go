package sessions_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions"
)

// What is saved is read back as it was, over whatever another configuration says.
func TestConfigFileRoundTrip(t *testing.T) {
	others := []sessions.Config{
		{Precision: sessions.FP32, Calibrator: "entropy", Batch: 1},
		{
			Precision: sessions.INT8, Calibrator: "mse", Batch: 7, Shapes: map[string][]int{"x": {7, 3}}, Disable: []string{"no-op"}, Until: 3,
			LayerPrecisions: []string{"*:fp16"}, Constraints: sessions.Obey, Pin: map[string]string{"a": "b"}, Forbid: map[string][]string{"": {"eval"}},
		},
	}
	for _, c := range append(others, sessions.Config{
		Precision: sessions.INT8, Calibrator: "percentile:99.9", Batch: 2, Shapes: map[string][]int{"x": {2, 3, 8, 8}},
		Disable: []string{"fuse-activation:a,b%2Cc", "dead-code"}, LayerPrecisions: []string{"*head*:fp32", "conv:int8"}, Constraints: sessions.Ignore,
		Pin: map[string]string{"conv + relu": "conv_f32"}, Forbid: map[string][]string{"": {"eval"}, "conv<1>": {"a", "b"}},
	}) {
		saver := sessions.NewConfigSaver(t.TempDir(), "models/net.v1.onnx")
		path, err := saver.Save(c)
		if err != nil || filepath.Base(path) != "net.v1.config.json" {
			t.Fatal(path, err)
		}
		f, err := sessions.ReadConfigFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, base := range append(others, sessions.Config{}) {
			if got := f.Over(base); !reflect.DeepEqual(got, c) {
				t.Errorf("%+v, want %+v", got, c)
			}
		}
	}
}

// A saver writes its own file anew and leaves those of others.
func TestConfigSaver(t *testing.T) {
	folder := t.TempDir()
	c := sessions.Config{Precision: sessions.FP32, Calibrator: "mse", Batch: 1}
	first, second := sessions.NewConfigSaver(folder, "net.onnx"), sessions.NewConfigSaver(folder, "net.onnx")
	for _, step := range []struct {
		saver *sessions.ConfigSaver
		batch int
		file  string
	}{{first, 1, "net.config.json"}, {second, 2, "net.config-2.json"}, {first, 3, "net.config.json"}, {second, 4, "net.config-2.json"}} {
		c.Batch = step.batch
		path, err := step.saver.Save(c)
		if err != nil || path != filepath.Join(folder, step.file) {
			t.Fatal(path, err)
		}
		if f, err := sessions.ReadConfigFile(path); err != nil || f.Over(sessions.Config{}).Batch != step.batch {
			t.Error(path, err)
		}
	}
	if _, err := sessions.NewConfigSaver(filepath.Join(folder, "none"), "net.onnx").Save(c); err == nil {
		t.Error("a file in a folder that there is not")
	}
}

// A field that is missing leaves what there is; tactics are of one precision.
func TestConfigFileOver(t *testing.T) {
	base := sessions.Config{Precision: sessions.INT8, Calibrator: "mse", Batch: 4, Pin: map[string]string{"a": "b"}, LayerPrecisions: []string{"a:fp32"}}
	change := func(f func(*sessions.Config)) sessions.Config { c := base; f(&c); return c }
	for _, c := range []struct {
		text string
		want sessions.Config
	}{
		{`{}`, base},
		{`{"calibrator": "entropy"}`, change(func(c *sessions.Config) { c.Calibrator = "entropy" })},
		{`{"precision": "int8"}`, base},
		{`{"precision": "fp16"}`, change(func(c *sessions.Config) { c.Precision, c.Pin = sessions.FP16, nil })},
		{`{"tactics": {}, "layer_precisions": []}`, change(func(c *sessions.Config) { c.Pin, c.LayerPrecisions = nil, nil })},
		{`{"forbid_tactics": {"*": ["eval"]}}`, change(func(c *sessions.Config) { c.Forbid = map[string][]string{"": {"eval"}} })},
	} {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := sessions.ReadConfigFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Over(base); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestConfigFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "want a JSON object",
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
		`{"shapes": {"x": [1, -1]}}`:       "shapes: x [1 -1]",
	} {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := sessions.ReadConfigFile(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	folder := t.TempDir()
	if _, err := sessions.ReadConfigFile(folder); err == nil || err.Error() != "configuration "+folder+" is a directory; name the file, as the workbench's W writes it" {
		t.Errorf("a directory: %v", err)
	}
}
