package views

import (
	"reflect"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestQuantizationKeys changes how is quantised by keys, and takes it back.
func TestQuantizationKeys(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(120, 40)
	b.press("5")
	step := func(want config.Quantization, keys ...string) {
		t.Helper()
		b.press(keys...)
		if got := b.last().Quantization.Full(); !reflect.DeepEqual(got, want.Full()) {
			t.Errorf("%v: %+v, want %+v", keys, got, want)
		}
	}
	step(config.Quantization{Activations: "symmetric"}, "A")
	step(config.Quantization{}, "u")
	step(config.Quantization{BiasCorrection: "off"}, "B")
	step(config.Quantization{BiasCorrection: "fast"}, "B")
	step(config.Quantization{}, "B")
	step(config.Quantization{Equalization: "off"}, "E")
	step(config.Quantization{Equalization: "weights"}, "E")
	step(config.Quantization{Equalization: "activations"}, "E")
	step(config.Quantization{}, "E")
	step(config.Quantization{Rounding: "nearest"}, "Z")
	step(config.Quantization{Rounding: "gptq"}, "Z")
	step(config.Quantization{Rounding: "compensated"}, "Z")
	step(config.Quantization{}, "Z")
	for _, want := range []string{"int8", "int8:asymmetric", "int4", "int4:asymmetric", ""} {
		if b.press("I"); b.last().Weights != want {
			t.Errorf("weights in %q, want %q", b.last().Weights, want)
		}
	}
	b.press("Q")
	b.wants("Quantisation", "* activations asymmetric:auto", "* bias correction exact", "  the first layers in floating point")
	step(config.Quantization{Activations: "symmetric"}, "enter")
	step(config.Quantization{Activations: "symmetric", WeightRanges: "mse"}, "Q", "down", "down", "down", "down", "down", "down", "down", "down", "down", "down", "down", "enter")
	b.press("u", "u")
	tensor := snap.Calibration.Tensors[0].Tensor
	b.press("<")
	r := b.last().Quantization.Ranges[tensor]
	if len(r) != 2 || r[0] > 0 || r[1] <= 0 {
		t.Fatalf("the range of %s is %v", tensor, r)
	}
	b.press("Q")
	b.wants("* range of " + tensor)
	b.press("esc")
	step(config.Quantization{}, "=")
	b.press("=")
	b.wants("is the calibrator's")
	b.press("v", "B") // on the weights' side as well
	step(config.Quantization{BiasCorrection: "off"})
}
