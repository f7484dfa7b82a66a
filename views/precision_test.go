package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestLayerPrecision sets a layer's precision from each pane with layers, takes that back, and shows it by the layer.
func TestLayerPrecision(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true, ASCII: true}, snap)
	b.size(160, 50)
	want := func(rules ...string) {
		t.Helper()
		if got := b.last().LayerPrecisions; !slices.Equal(got, rules) {
			t.Errorf("asked for %q, want %q", got, rules)
		}
	}
	b.press("2", "down", "P") // a BatchNormalization, which is part of a convolution but folded into it
	b.wants("Precision of stem/norm/BatchNormalization", "auto: as the builder chooses for INT8")
	b.press("g", "enter")
	want("stem/norm/BatchNormalization:fp32")
	b.wants("1 layer set", " fp32*  [batch,24,32,32]", "i8* stem/conv/Conv +2", "fp32 by stem/norm/BatchNormalization:fp32", "1 layer in fp32: rebuilding")
	b.press("u")
	want()
	b.press("tab", "P", "g", "down", "enter")
	want("stem/conv/Conv:fp16") // of the members, the one with the most arithmetic
	b.press("3", "g", "down", "P")
	b.wants("reset: clear the precision of all layers (1 rule set)")
	b.press("g", "enter")
	want("stem/conv/Conv:fp32")
	b.wants("*stem/conv/Conv +2")
	b.press("6", "g", "down", "down", "P", "g", "enter")
	if got := b.last().LayerPrecisions; len(got) != 2 || !strings.HasSuffix(got[1], ":fp32") {
		t.Errorf("asked for %q", got)
	}
	b.wants("2 layers set")
	off := *snap
	off.Config.Disable = []string{"fuse-activation"}
	newBench(t, ui.Options{}, &off).wants("fuse-activation off") // on the first line, whatever the screen
	b.press("P", "G", "enter")
	want()
	b.press("3", "g", "P") // the first layer of the engine was put there by quantisation
	b.wants("Quantize_image is not one of the model's own layers")
	b.press("a", "P")
	b.wants("press a until the rows are layers")
	if len(snap.Config.LayerPrecisions) != 0 {
		t.Error("the snapshot's configuration was changed")
	}
	own := *snap
	model := *snap.Model
	model.Ops = map[string]int{"QuantizeLinear": 1}
	own.Model = &model
	b = newBench(t, ui.Options{}, &own)
	b.press("2", "P")
	b.wants("the model is already quantised")
}

// TestUnmetLayerPrecision says on the Graph why a layer does not have the precision that was set for it, and chooses
// whether that is an error.
func TestUnmetLayerPrecision(t *testing.T) {
	snap := panetest.Fixture(t)
	const rule = "softmax/Softmax:int8"
	snap.Config.LayerPrecisions = []string{rule}
	passes := *snap.Passes
	passes.Unmet = []report.UnmetPrecision{{Layer: "softmax/Softmax", Rule: rule, Precision: "f32", Reason: "Softmax has no 8-bit form"}}
	snap.Passes = &passes
	b := newBench(t, ui.Options{NoColor: true, ASCII: true}, snap)
	b.size(160, 50)
	b.press("2", "tab", "G")
	b.wants("f32*", "int8 by "+rule+", but it runs in f32: Softmax has no")
	b.press("P")
	b.wants("obey: a precision that is not available becomes an error")
	b.press("G", "up", "enter")
	if got := b.last(); got.Constraints != config.Obey || !slices.Equal(got.LayerPrecisions, []string{rule}) {
		t.Errorf("asked for %+v", got)
	}
	b.wants("1 layer in int8, obey")
	b.press("P")
	b.wants("prefer: a precision that is not available becomes a warning")
	b.press("G", "up", "enter")
	if got := b.last().Constraints; got != "" {
		t.Errorf("asked for constraints %q", got)
	}
}
