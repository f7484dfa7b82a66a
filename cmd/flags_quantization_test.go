package cmd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// TestQuantizationFlags reads the flags that say how is quantised, over the defaults and over what an engine was built with.
func TestQuantizationFlags(t *testing.T) {
	built := engine(t, config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1, Quantization: config.Quantization{Activations: "symmetric", Keep: []string{"last"}}})
	for _, c := range []struct {
		args  string
		model *model.Model
		want  config.Quantization
	}{
		{"", &model.Model{}, config.Quantization{}},
		{"--activations asymmetric:auto --bias-correction exact", &model.Model{}, config.Quantization{}},
		{"--activations asymmetric", &model.Model{}, config.Quantization{Activations: "asymmetric"}},
		{"--activations symmetric:u8 --bias-correction fast --equalization activations:0.50 --weight-scales tensor --weight-ranges percentile --keep first,Gemm", &model.Model{},
			config.Quantization{Activations: "symmetric:u8", BiasCorrection: "fast", Equalization: "activations:0.5", WeightScales: "tensor", WeightRanges: "percentile:99.9", Keep: []string{"Gemm", "first"}}},
		{"--range a=b=2 --range x:0=-1:3.5", &model.Model{}, config.Quantization{Ranges: map[string][]float64{"a=b": {-2, 2}, "x:0": {-1, 3.5}}}},
		{"", built, config.Quantization{Activations: "symmetric", Keep: []string{"last"}}},
		{"--activations asymmetric:auto --bias-correction off", built, config.Quantization{BiasCorrection: "off", Keep: []string{"last"}}},
	} {
		got, err := parsed(t, c.args).configFor(c.model)
		if err != nil || !reflect.DeepEqual(got.Quantization, c.want) {
			t.Errorf("%q: %+v, %v, want %+v", c.args, got.Quantization, err, c.want)
		}
	}
	for args, want := range map[string]string{
		"--activations dynamic":                         "symmetric:token or asymmetric:token find ranges as tokens come, one for each",
		"--activations symmetric:i16":                   "layers that need more bits are computed in fp16 or fp32",
		"--equalization smoothquant":                    "SmoothQuant is activations:A",
		"--activations i8":                              "--activations \"i8\": want symmetric",
		"--activations symmetric:":                      "behind the colon is i8, u8, token or auto",
		"--weight-scales row":                           "--weight-scales \"row\": want channel or tensor",
		"--weight-ranges entropy":                       "want minmax, mse, percentile",
		"--keep Conf":                                   "did you mean \"Conv\"",
		"--equalization both":                           "--equalization \"both\": want off, weights, activations",
		"--bias-correction on":                          "--bias-correction \"on\": want off, fast or exact",
		"--rounding compensated --bias-correction off":  "--rounding compensated is done with bias-correction exact, and bias-correction is off: set that to exact",
		"--rounding compensated --bias-correction fast": "bias-correction is fast",
		"--range x":                                     "want TENSOR=AMAX",
		"--range x=1:2":                                 "with zero between them",
		"--range x=nan":                                 "with zero between them",
		"--range x=-3":                                  "with zero between them",
	} {
		if err := parsed(t, args).check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
