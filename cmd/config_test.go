package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// parsed returns the flags of a command after args.
func parsed(t *testing.T, args string) *modelFlags {
	t.Helper()
	o, c := onBackends(tables{backends: backends}), &cobra.Command{}
	o.register(c, takeAll)
	if err := c.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return o
}

// engine returns an engine file's model, built with cfg.
func engine(t *testing.T, cfg config.Config) *model.Model {
	t.Helper()
	cfg.Quantization = cfg.Quantization.Full()
	report, err := json.Marshal(struct{ Config config.Config }{cfg})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Model{Engine: &run.Engine{Report: report}}
}

// A batch can be chosen where the first axis is open; where it is fixed another one is refused, and an item is a whole input.
func TestFixedBatch(t *testing.T) {
	model := func(first symbolic.Dim) *model.Model {
		return &model.Model{Network: &graph.Network{Inputs: []*graph.Tensor{{Name: "x", Dims: []symbolic.Dim{first, symbolic.Const(3)}}}}}
	}
	for _, c := range []struct {
		args  string
		first symbolic.Dim
		want  int // 0: refused
	}{
		{"--batch 16", symbolic.Const(1), 0},
		{"--batch 2", symbolic.Const(4), 0},
		{"--batch 4", symbolic.Const(4), 1},
		{"", symbolic.Const(4), 1},
		{"--batch 16", symbolic.Symbol("N"), 16},
	} {
		o := parsed(t, c.args)
		cfg, err := o.config.shaped(model(c.first), config.Config{Batch: max(1, o.config.batch)}, nil)
		switch {
		case c.want == 0:
			if !errors.As(err, new(usageError)) {
				t.Errorf("%q, first axis %v: %v, want a usage error", c.args, c.first, err)
			}
		case err != nil || cfg.Batch != c.want:
			t.Errorf("%q, first axis %v: batch %d, %v; want %d", c.args, c.first, cfg.Batch, err, c.want)
		}
	}
}

// What an engine was built with counts, but for the flags that were given.
func TestConfigFor(t *testing.T) {
	built := config.Config{
		Precision: config.INT8, Calibrator: "mse", Batch: 4, Disable: []string{"fuse-conv-bn"}, Until: 20,
		LayerPrecisions: []string{"head:fp32"}, Pin: map[string]string{"conv": "direct"}, Shapes: map[string][]int{"x": {4, 3}},
	}
	change := func(f func(*config.Config)) config.Config { c := built; f(&c); return c }
	file := func(quantized bool) *model.Model { return &model.Model{Quantized: quantized} }
	plain := config.Config{Precision: config.FP32, Calibrator: config.DefaultCalibrator, Batch: 1, Disable: []string{}, LayerPrecisions: []string{}}
	for _, c := range []struct {
		args  string
		model *model.Model
		want  config.Config
	}{
		{"", engine(t, built), built},
		{"--precision int8 --batch 4", engine(t, built), built},
		{"--batch 1", engine(t, built), change(func(c *config.Config) { c.Batch, c.Shapes = 1, nil })},
		{"--calibrator minmax", engine(t, built), change(func(c *config.Config) { c.Calibrator = "minmax" })},
		{"--precision fp16", engine(t, built), change(func(c *config.Config) { c.Precision, c.Pin = config.FP16, nil })},
		{"--disable a,b --passes-until 3", engine(t, built), change(func(c *config.Config) { c.Disable, c.Until = []string{"a", "b"}, 3 })},
		{"--tactic conv=a --tactic b=c=d --forbid-tactic eval --forbid-tactic conv=x", engine(t, built), change(func(c *config.Config) {
			c.Pin, c.Forbid = map[string]string{"conv": "a", "b=c": "d"}, map[string][]string{"": {"eval"}, "conv": {"x"}}
		})},
		{"--disable fuse-residual:a,b:0,no-op --disable dead-code:c", engine(t, built), change(func(c *config.Config) {
			c.Disable = []string{"fuse-residual:a,b:0", "no-op", "dead-code:c"}
		})},
		{"--shapes x:2x5,y:1", engine(t, built), change(func(c *config.Config) { c.Shapes = map[string][]int{"x": {2, 5}, "y": {1}} })},
		{"--layer-precisions x:fp16", engine(t, built), change(func(c *config.Config) { c.LayerPrecisions = []string{"x:fp16"} })},
		{"", file(false), plain},
		{"", file(true), func() config.Config { c := plain; c.Precision = config.INT8; return c }()},
		{"--precision fp32", file(true), plain},
		{"--batch 2", file(true), func() config.Config { c := plain; c.Precision, c.Batch = config.INT8, 2; return c }()},
	} {
		got, err := parsed(t, c.args).configFor(c.model)
		if err != nil || !reflect.DeepEqual(compact(got), compact(c.want)) {
			t.Errorf("%q: %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

// What a file says goes before what an engine was built with, and flags go before both.
func TestConfigFileFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	text := `{"precision": "int8", "calibrator": "percentile:99.9", "tactics": {"conv": "direct"}, "layer_precisions": ["head:fp32"]}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	saved := config.Config{
		Precision: config.INT8, Calibrator: "percentile:99.9", Batch: 1, Pin: map[string]string{"conv": "direct"}, LayerPrecisions: []string{"head:fp32"},
	}
	change := func(f func(*config.Config)) config.Config { c := saved; f(&c); return c }
	built := engine(t, config.Config{Precision: config.FP16, Calibrator: "mse", Batch: 4, Pin: map[string]string{"conv": "other"}})
	for _, c := range []struct {
		args  string
		model *model.Model
		want  config.Config
	}{
		{"", &model.Model{}, saved},
		{"", built, change(func(c *config.Config) { c.Batch = 4 })},
		{"--precision fp32", &model.Model{}, change(func(c *config.Config) { c.Precision, c.Pin = config.FP32, nil })},
		{"--calibrator mse --tactic a=b", &model.Model{}, change(func(c *config.Config) { c.Calibrator, c.Pin = "mse", map[string]string{"a": "b"} })},
	} {
		got, err := parsed(t, "--config "+path+" "+c.args).configFor(c.model)
		if err != nil || !reflect.DeepEqual(compact(got), c.want) {
			t.Errorf("%q: %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

// compact makes empty lists nil.
func compact(c config.Config) config.Config {
	if len(c.Disable) == 0 {
		c.Disable = nil
	}
	if len(c.LayerPrecisions) == 0 {
		c.LayerPrecisions = nil
	}
	return c
}

// What is recorded is what a model or an engine begins with; what was listed where it was.
func TestRecordedConfigs(t *testing.T) {
	built := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 2}
	all := []string{"minmax", "entropy"}
	for _, c := range []struct {
		args  string
		model *model.Model
		want  []string
	}{
		{"", &model.Model{}, []string{"fp32 minmax 1", "int8 minmax 1", "int8 entropy 1"}},
		{"", &model.Model{Quantized: true}, []string{"int8 minmax 1"}},
		{"", engine(t, built), []string{"int8 mse 2"}},
		{"--calibrator minmax,entropy", engine(t, built), []string{"int8 minmax 2", "int8 entropy 2"}},
		{"--precision fp32,int8", engine(t, built), []string{"fp32 mse 2", "int8 mse 2"}},
		{"--batch 1", engine(t, built), []string{"int8 mse 1"}},
	} {
		o, cmd := onBackends(tables{backends: backends}), &cobra.Command{}
		o.register(cmd, takeAll)
		o.config.several("record")
		o.config.calibrators = all
		if err := cmd.ParseFlags(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		configs, err := o.config.recorded(c.model, nil)
		var got []string
		for _, f := range configs {
			got = append(got, strings.Join([]string{string(f.Precision), f.Calibrator, string(rune('0' + f.Batch))}, " "))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.args, got, err, c.want)
		}
	}
}

// An engine stays what it is in every command.
func TestEngineStaysInt8(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.engine"), filepath.Join(dir, "b.engine")
	common := append(few(t), "--format", "json")
	command(t, 0, append(common, "build", "--precision", "int8", "--calibrator", "minmax", "--keep-source", "-o", file)...)
	for _, args := range [][]string{
		{"build", file, "--keep-source", "-o", again},
		{"bench", file, "--batch", "1", "--iterations", "1", "--duration", "1ms"},
		{"bench", again, "--calibrator", "mse", "--iterations", "1", "--duration", "1ms"},
		{"run", file, "--backends", "cpu,eval", "--batch", "1"},
	} {
		out, _ := command(t, 0, append(args, common...)...)
		if !strings.Contains(out, `"precision": "int8"`) {
			t.Errorf("%v:\n%.400s", args, out)
		}
	}
}

// A saved configuration builds the engine that it was saved from.
func TestSavedConfigBuildsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	calibrated := few(t)
	build := func(file string, args ...string) []byte {
		file = filepath.Join(dir, file)
		command(t, 0, slices.Concat(args, calibrated, []string{"build", "-o", file})...)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	open := func(file string) *model.Model {
		m, err := model.Open(graph.Ops(), filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	args := []string{
		"--precision", "int8", "--calibrator", "percentile:99.9", "--layer-precisions", "*head*:fp32", "--batch", "2", "--disable", "fuse-residual",
	}
	build("first.engine", args...)
	for _, s := range open("first.engine").Engine.Plans[0].Steps {
		for _, c := range s.Candidates {
			if c.Timed && c.Tactic != s.Tactic && len(args) < 12 {
				args = append(args, "--tactic", s.Name+"="+c.Tactic)
				break
			}
		}
	}
	want := build("want.engine", args...)
	cfg, err := open("want.engine").BuiltWith()
	if err != nil || len(cfg.Pin) == 0 {
		t.Fatal(cfg, err)
	}
	path, err := config.NewSaver(dir, "net").Save(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := build("got.engine", "--config", path); !bytes.Equal(got, want) {
		t.Error("the engines differ")
	}
	_, text := command(t, exitFailure, "build", "--config", path, "--disable", "fuse-residul", "-o", filepath.Join(dir, "x.engine"))
	if !strings.Contains(text, `did you mean "fuse-residual"?`) {
		t.Error(text)
	}
}
