package views

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// studied is the fixture with what a study and a search have found.
func studied(t *testing.T) *report.Snapshot {
	snap := *panetest.Fixture(t)
	snap.Sensitivity = &report.Sensitivity{
		Config: snap.Config, To: "fp32", Output: "scores", Items: 25, SQNR: 26.1, Total: 3, Time: 100 * time.Microsecond,
		Layers: []report.Sensitive{
			{Name: "stem + relu", Layers: []string{"stem"}, Alone: 31, Raised: 29.2, Gain: 3.1, Time: 4 * time.Microsecond, Weights: 2048},
			{Name: "left, right", Layers: []string{"left", "right"}, Group: true, Alone: 40, Raised: 27, Gain: 0.9, Time: -2 * time.Microsecond},
			{Name: "head", Layers: []string{"head"}, Alone: 45, Raised: 25.3, Gain: -0.8, Time: time.Microsecond},
		},
		Raise: &report.RaiseList{Names: []string{"stem + relu"}, Layers: []string{"stem"}, Items: 700,
			Predicted: report.Effect{SQNR: 26.1, RaisedSQNR: 29.2, Time: 100 * time.Microsecond, RaisedTime: 104 * time.Microsecond},
			Measured:  &report.Effect{SQNR: 26, RaisedSQNR: 29, Time: 100 * time.Microsecond, RaisedTime: 104 * time.Microsecond}},
	}
	goal, low, high := 28.0, 26.0, 29.0
	snap.Search = &report.Search{Base: snap.Config, Goal: report.Goal{MinSQNR: &goal}, Predictions: 120}
	snap.Search.Add(report.SearchPoint{Point: report.Point{Config: snap.Config, SQNR: &low, Latency: 90 * time.Microsecond}, Tuned: 100 * time.Microsecond})
	raised := snap.Config.Clone()
	raised.SetLayerPrecision("stem", config.FP32)
	snap.Search.Add(report.SearchPoint{Point: report.Point{Config: raised, SQNR: &high, Latency: 95 * time.Microsecond}, Tuned: 104 * time.Microsecond, Raised: 1})
	return &snap
}

// TestSensitivity goes through the views of layers on the Accuracy screen, raises what is listed, and takes a point over.
func TestSensitivity(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b := newBench(t, ui.Options{NoColor: true}, studied(t))
		b.size(size[0], size[1])
		b.press("6", "v")
		b.wants("what raising each wins", "stem +1", "left +1, one scale", "+3.10", "-0.80", "raise 1 layer: predicted 26.1 to 29.2 dB", "scores at 26.1 dB", "on 700 items", "longer: stem")
		b.press("A")
		if c := b.last(); !slices.Equal(c.LayerPrecisions, []string{"stem:fp32"}) {
			t.Errorf("raised: %v", c.LayerPrecisions)
		}
		b.press("u")
		if c := b.last(); len(c.LayerPrecisions) != 0 {
			t.Errorf("taken back: %v", c.LayerPrecisions)
		}
		b.press("v")
		b.wants("search for their precisions", "29.0", "best", "2 engines")
		if size[0] > 80 {
			b.wants("120 predictions")
		}
		b.press("down", "enter")
		if c := b.last(); !slices.Equal(c.LayerPrecisions, []string{"stem:fp32"}) {
			t.Errorf("taken over: %v", c.LayerPrecisions)
		}
		b.press("S")
		b.press("B")
		b.wants("least time with SQNR of 30 dB at least")
		b.press("enter")
		if asked := strings.Join(b.ctl.asked, "; "); !strings.Contains(asked, "study false") || !strings.HasSuffix(asked, "study true") {
			t.Errorf("asked for %s", asked)
		}
		bare := studied(t)
		bare.Sensitivity, bare.Search = nil, nil
		b.publish(bare)
		b.wants("B chooses a goal")
		b.press("v", "v")
		b.wants("what raising each layer wins", "S measures it")
	}
}

// TestReferences: each heading names what is compared with, and of the engine that outputs are compared with it is said why they are
// exact and its layers are not.
func TestReferences(t *testing.T) {
	snap := *panetest.Fixture(t)
	own := *snap.Accuracy
	snap.Accuracy = &own
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(120, 40)
	b.press("6")
	b.wants("Layers: SQNR dB against the FP32 model", "Outputs against the FP32 engine")
	b.lacks("this engine itself", "which this is")
	engine, whole := own, snap
	engine.Reference, whole.Accuracy = true, &engine
	b.publish(&whole)
	b.wants("Outputs against the FP32 engine", "which this is", "outputs are compared with this engine itself, layers with the model's: they differ by what fusion rounds")
	quantized := engine
	quantized.OwnQuantization, whole.Accuracy = true, &quantized
	b.publish(&whole)
	b.wants("against the FP32 model with the model's Q/DQ")
}
