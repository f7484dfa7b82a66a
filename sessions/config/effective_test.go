package config_test

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

func TestSameEngine(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32, Calibrator: "mse", Batch: 1}
	int8 := config.Config{Precision: config.INT8, Calibrator: "percentile:99.99", Batch: 1}
	with := func(c config.Config, edit func(*config.Config)) config.Config {
		edit(&c)
		return c
	}
	for _, c := range []struct {
		name      string
		a, b      config.Config
		quantized bool
		want      bool
	}{
		{"a calibrator without INT8", fp32, with(fp32, func(c *config.Config) { c.Calibrator = "entropy" }), false, true},
		{"a percentile without INT8", fp32, with(fp32, func(c *config.Config) { c.Calibrator = "percentile:99.9" }), false, true},
		{"a calibrator for one layer in INT8",
			with(fp32, func(c *config.Config) { c.LayerPrecisions = []string{"Conv_1:int8"} }),
			with(fp32, func(c *config.Config) { c.LayerPrecisions, c.Calibrator = []string{"Conv_1:int8"}, "entropy" }), false, false},
		{"a calibrator", int8, with(int8, func(c *config.Config) { c.Calibrator = "mse" }), false, false},
		{"a calibrator of a quantised model", int8, with(int8, func(c *config.Config) { c.Calibrator = "mse" }), true, true},
		{"the default percentile", int8, with(int8, func(c *config.Config) { c.Calibrator = "percentile" }), false, true},
		{"to obey nothing", fp32, with(fp32, func(c *config.Config) { c.Constraints = config.Obey }), false, true},
		{"to prefer, said or not", fp32, with(fp32, func(c *config.Config) { c.Constraints = config.Prefer }), false, true},
		{"to obey a layer's precision",
			with(int8, func(c *config.Config) { c.LayerPrecisions = []string{"Conv_1:fp32"} }),
			with(int8, func(c *config.Config) { c.LayerPrecisions, c.Constraints = []string{"Conv_1:fp32"}, config.Obey }), false, false},
		{"fp32 for a layer in fp32", fp32, with(fp32, func(c *config.Config) { c.LayerPrecisions = []string{"Conv_1:fp32"} }), false, true},
		{"rules that are ignored", int8, with(int8, func(c *config.Config) { c.LayerPrecisions, c.Constraints = []string{"Conv_1:fp32"}, config.Ignore }), false, true},
		{"a rule that is overruled",
			with(int8, func(c *config.Config) { c.LayerPrecisions = []string{"Conv_1:fp16", " Conv_1:fp32"} }),
			with(int8, func(c *config.Config) { c.LayerPrecisions = []string{"Conv_1:fp32"} }), false, true},
		{"rules in another order",
			with(int8, func(c *config.Config) { c.LayerPrecisions = []string{"*:fp16", "Conv_1:fp32"} }),
			with(int8, func(c *config.Config) { c.LayerPrecisions = []string{"Conv_1:fp32", "*:fp16"} }), false, false},
		{"what is off, in another order",
			with(fp32, func(c *config.Config) { c.Disable = []string{"b", "a"} }),
			with(fp32, func(c *config.Config) { c.Disable = []string{"a", "b"} }), false, true},
		{"nothing off", fp32, with(fp32, func(c *config.Config) { c.Disable, c.Forbid = []string{}, map[string][]string{"Conv_1": {}} }), false, true},
		{"a pin", fp32, with(fp32, func(c *config.Config) { c.Pin = map[string]string{"Conv_1": "gemm"} }), false, false},
		{"no batch is a batch of one", fp32, with(fp32, func(c *config.Config) { c.Batch = 0 }), false, true},
		{"a batch", fp32, with(fp32, func(c *config.Config) { c.Batch = 2 }), false, false},
		{"shapes", fp32, with(fp32, func(c *config.Config) { c.Shapes = map[string][]int{"x": {1, 3}} }), false, false},
		{"a range", fp32, with(fp32, func(c *config.Config) { c.MaxShapes = map[string][]int{"x": {1, 3}} }), false, false},
		{"another profile", fp32, with(fp32, func(c *config.Config) { c.Profiles = []config.Profile{{MaxShapes: map[string][]int{"x": {1, 3}}}} }), false, false},
		{"profiles of the same shapes", with(fp32, func(c *config.Config) { c.Profiles = []config.Profile{{MaxShapes: map[string][]int{"x": {1, 3}}}} }),
			with(fp32, func(c *config.Config) {
				c.Profiles = []config.Profile{{MaxShapes: map[string][]int{"x": {1, 3}}, Shapes: map[string][]int{}}}
			}), false, true},
		{"rule files", fp32, with(fp32, func(c *config.Config) { c.RuleFiles = []string{"a.rules"} }), false, false},
		{"passes", fp32, with(fp32, func(c *config.Config) { c.Until = 3 }), false, false},
	} {
		if got := c.a.SameEngine(c.b, c.quantized); got != c.want {
			t.Errorf("%s: the same engine is %v", c.name, got)
		}
		if labels := config.Labels([]config.Config{c.a, c.b}, c.quantized); (labels[0] == labels[1]) != c.want {
			t.Errorf("%s: labelled %q", c.name, labels)
		}
	}
}

func TestLabels(t *testing.T) {
	base := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}
	rich := base
	rich.Batch, rich.Until, rich.Shapes = 8, 1, map[string][]int{"x": {1, 3, 8}}
	rich.LayerPrecisions, rich.Constraints = []string{"a:fp32", "b:fp32", "*head*:fp16"}, config.Obey
	rich.Pin, rich.Forbid = map[string]string{"a": "gemm"}, map[string][]string{"b": {"x", "y"}}
	rich.Disable, rich.RuleFiles = []string{"fuse-activation"}, []string{"some/mine.rules"}
	if got, want := rich.Label(false), "int8/mse, batch 8, x 1x3x8, after 1 pass, *head* in fp16, 2 layers in fp32, 1 pin, 2 tactics forbidden, rules of mine.rules, fuse-activation off, obey"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := base.Label(true), "int8"; got != want {
		t.Errorf("a quantised model: %s, want %s", got, want)
	}
	one, other := base, base
	one.Pin, one.Disable = map[string]string{"a": "gemm"}, []string{"r", "s"}
	other.Pin, other.Disable = map[string]string{"b": "gemm"}, []string{"r", "s"}
	got := config.Labels([]config.Config{base, one, other}, false)
	want := []string{"int8/mse", "int8/mse, gemm pinned to a, 2 rules off", "int8/mse, gemm pinned to b, 2 rules off"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	site := base
	site.Disable = []string{"fuse-conv-bn:Conv_1,Bn_1"}
	if got, want := site.Label(false), "int8/mse, 1 site off"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
