package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/quant"
)

// everything is a configuration in which every field says something.
func everything() Config {
	return Config{
		Precision: INT8, Calibrator: "percentile:99.9", Weights: "int4:32", Batch: 4, Until: 3, Constraints: Obey,
		Quantization: Quantization{Activations: "symmetric:u8", WeightScales: "tensor", WeightRanges: "mse", Keep: []string{"Softmax", "first"},
			Ranges: map[string][]float64{"a": {-1.5, 2}, "b": {0, 6}}, BiasCorrection: quant.BiasCorrections()[0], Equalization: "off", Rounding: "nearest"},
		Shapes: map[string][]int{"x": {1, 3, 8, 8}, "y": {}}, MinShapes: map[string][]int{"x": {1, 3, 8, 8}}, MaxShapes: map[string][]int{"x": {8, 3, 8, 8}},
		Profiles: []Profile{{MaxShapes: map[string][]int{"x": {2, 3, 8, 8}}}}, State: map[string]string{"h": "h_out", "c": "c_out"},
		RuleFiles: []string{"a.rules", "b.rules"}, Disable: []string{"fuse-pad", "fold-scale:a,b"}, LayerPrecisions: []string{"*head*:fp32", "c:fp16"},
		Pin: map[string]string{"conv1": "t1", "conv2": "t2"}, Forbid: map[string][]string{"": {"eval"}, "conv1": {"t2", "t3"}},
	}
}

// TestSettings: every field of a configuration is a setting, written as it is read.
func TestSettings(t *testing.T) {
	want := everything()
	delete(want.Shapes, "y")
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the example says nothing of %s", v.Type().Field(i).Name)
		}
	}
	got := Default()
	for _, s := range Settings(want) {
		to, err := Set(got, s.Name, s.Value)
		if err != nil {
			t.Errorf("%s %q: %v", s.Name, s.Value, err)
		}
		if s.Value == "" || s.Form == "" {
			t.Errorf("%+v", s)
		}
		got = to
	}
	if !Same(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for name, value := range map[string]string{"batch": "many", "precision": "fp12", "shapes": "x", "ranges": "a=1..b", "profiles": "x", "calibrator": "percentile:200", "colour": "red", "version": "1"} {
		if _, err := Set(Default(), name, value); err == nil || strings.Contains(err.Error(), "json") {
			t.Errorf("%s %s: %v", name, value, err)
		}
	}
}
