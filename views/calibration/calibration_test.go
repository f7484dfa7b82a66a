package calibration

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/words"
)

func TestWeightTexts(t *testing.T) {
	w := report.WeightCalibration{
		Layer: "fc", Tensor: "w", Dims: []int{10000, 8}, Channels: 10000, Group: 3, Amax: []float32{1, 0.001, 2, 0.5}, SQNR: []float64{40, 200, 41, 42}, Shared: []float64{34, 1, 41, 30},
		PerChannel: 41, PerTensor: 28, Spread: 20, Dead: []int{1, 4, 5, 6, 7, 8, 9}, DeadCount: 300,
	}
	if got, want := channelText(&w, 3), "channels 9 to 11: amax 0.5, scale 0.00394, 42.0 dB; per tensor 30.0 dB"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := deadText(&w), "300: 1, 4, 5, 6, 7, 8, ..."; got != want {
		t.Errorf("got %q", got)
	}
	if weightLoss(&w) != 13 || lossStyle(13) != ui.Bad || lossStyle(7) != ui.Warn || channelLoss(&w, 1) != words.ExactSQNR-1 {
		t.Error("the loss of one scale is wrong")
	}
	if got := largest(w.Amax, 2); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("largest gave %v", got)
	}
}

func TestCureText(t *testing.T) {
	for want, c := range map[string]*report.Cure{
		"":                                  nil,
		"it cannot be equalised: no reader": {Why: "no reader"},
		"raise a, b to have it read as a float; it cannot be equalised: no reader": {Why: "no reader", Raise: []string{"a", "b"}},
		"its channels are equalised already":                                       {Done: true},
		"E equalises by weights with a, b":                                         {Equalization: "weights", With: []string{"a", "b"}},
		"E equalises by weights with a: +3.0 dB expected":                          {Equalization: "weights", With: []string{"a"}, Gain: 3},
	} {
		if got := CureText(c, "E"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestMeasureTexts writes what is not known as such, and what is next to nothing so that its column is of one form.
func TestMeasureTexts(t *testing.T) {
	if got := decibels(heldOut(&report.CalibratorResult{})); got != "·" {
		t.Errorf("of nothing held out %q", got)
	}
	for share, want := range map[float64]string{0: "0.000%", 2e-6: "<.001%", 2e-5: "0.002%", 0.0832: "8.320%"} {
		if got := clipText(share); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
}

// TestMarks: a calibrator is the best by what it loses of items that it did not see, and its mark is there and nowhere else.
func TestMarks(t *testing.T) {
	look := ui.NewLook(ui.Options{})
	v := newTensorsView(look, &panetest.Desk{}, false)
	held := []float64{40, 30}
	r := &report.TensorCalibration{Used: true, By: []report.CalibratorResult{{SQNR: 20, HeldOut: &held[0]}, {SQNR: 25, HeldOut: &held[1]}}}
	v.report = &report.Calibration{Calibrators: []string{"mse", "minmax"}, Tensors: []report.TensorCalibration{*r}}
	for i := range measures {
		got := strings.ContainsRune(v.cell(&measures[i], r, 0).Text, look.Glyphs.Good)
		if want := measures[i].name == "held out dB"; got != want {
			t.Errorf("%s: marked %v, want %v", measures[i].name, got, want)
		}
	}
}

// TestQuantizationKeys go round what can be chosen: weights that compensate need exact bias correction.
func TestQuantizationKeys(t *testing.T) {
	d := &panetest.Desk{}
	v := newTensorsView(ui.NewLook(ui.Options{}), d, false)
	press := func(key rune) tea.Cmd {
		cmd, _ := pressQuantization(v, tea.KeyPressMsg{Code: key, Text: string(key)})
		return cmd
	}
	for _, bias := range config.BiasCorrections() {
		d.Asked.Quantization = config.Quantization{BiasCorrection: bias}
		for range config.Roundings() {
			press('Z')
			if err := d.Asked.Quantization.Check(); err != nil {
				t.Errorf("bias correction %s: %v", bias, err)
			}
		}
	}
	d.Asked.Quantization = config.Quantization{Rounding: "compensated"}
	if cmd := press('B'); cmd == nil || d.Asked.Quantization.Check() != nil || d.Asked.Quantization.Rounding != "compensated" {
		t.Errorf("B makes %+v, and says nothing", d.Asked.Quantization)
	}
}

// TestOwn: the range that a model brings is a column, a row of the tensor's ranges and a threshold, may be the best, and enter on it gives
// all tensors theirs.
func TestOwn(t *testing.T) {
	look, d := ui.NewLook(ui.Options{}), &panetest.Desk{}
	v := newTensorsView(look, d, false)
	r := newRangesView(v)
	h := &histogramView{of: v}
	held := []float64{40, 44}
	v.in.Snap = &report.Snapshot{Calibration: &report.Calibration{Calibrators: []string{"minmax"}, Active: "minmax", Tensors: []report.TensorCalibration{
		{Tensor: "a", By: []report.CalibratorResult{{High: 8, Scale: 8.0 / 255, HeldOut: &held[0]}}, Histogram: report.HistogramBins{High: 8, Counts: make([]int64, 160)},
			Own: &report.OwnRange{CalibratorResult: report.CalibratorResult{High: 6, Scale: 6.0 / 255, HeldOut: &held[1]}, Type: "u8"}},
		{Tensor: "b", By: []report.CalibratorResult{{High: 2, Scale: 2.0 / 255}}},
	}}}
	v.build()
	text := v.Render(120, 20) + r.Render(100, 9) + h.Render(100, 16)
	if n := strings.Count(text, report.OwnName); n != 3 {
		t.Errorf("%d times in\n%s", n, text)
	}
	if a := v.report.Tensors[0]; a.Best(0) || !a.Best(1) || v.report.Tensors[1].Best(1) {
		t.Error("the best is another one")
	}
	r.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	r.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if got := d.Asked.Quantization.Ranges; len(got) != 1 || len(got["a"]) != 2 || got["a"][1] != 6 {
		t.Errorf("enter gives %v", got)
	}
}
