package views

import (
	"fmt"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// repeated returns the fixture with a network of a stem, 5 blocks of 4 layers and a head, its engine and its times.
func repeated(t *testing.T) *report.Snapshot {
	snap := *fixture(t)
	passes, timings := *snap.Passes, *snap.Timings
	var layers []report.Layer
	add := func(name, op string) {
		layers = append(layers, report.Layer{Name: name, Op: op, Precision: "f32", From: []string{name}, Outputs: []report.Tensor{{Type: "f32", Dims: "[1,8]"}}})
	}
	add("stem", "Conv")
	for i := range 5 {
		for _, op := range []string{"MatMul", "Attention", "MatMul", "LayerNorm"} {
			add(fmt.Sprintf("block.%d/%s%d", i, op, len(layers)), op)
		}
	}
	add("head", "Gemm")
	passes.Source, passes.Engine, passes.Ledger, timings.Layers = layers, layers, nil, nil
	for _, l := range layers {
		passes.Ledger = append(passes.Ledger, report.LedgerEntry{Layer: l.Name, Op: l.Op, Fate: "kept", Into: l.Name})
		timings.Layers = append(timings.Layers, report.LayerTiming{Name: l.Name, Latency: report.Latency{Median: time.Millisecond}, Share: 1. / float64(len(layers))})
	}
	snap.Passes, snap.Timings = &passes, &timings
	return &snap
}

// TestBlocks: what repeats is one line with the time of all, which unfolds into a line of each, and those into their layers;
// both sides go along, and a filter looks at all layers.
func TestBlocks(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, repeated(t))
	b.size(160, 50)
	b.press("2", "down")
	b.wants("5 × block of 4 layers  block.0 to block.4", "20.00 ms", "5 of 4 layers, 20 in all", "2 MatMul, 1 Attention, 1 LayerNorm")
	b.press(";")
	b.wants("4.00 ms to 4.00 ms", "90.9% of the layers")
	b.press(";")
	b.lacks("block.2", "Attention2")
	b.press("enter")
	b.wants("block.2")
	b.press("down", "enter", "down", "down")
	b.wants("▸· block.0/Attention2", "Layer block.0/Attention2")
	b.press(";", "down")
	b.wants("▸· f32 head")
	b.press("/", "a", "t", "t", "enter")
	b.wants("5 of 22 layers", "block.4/Attention18")
	b.press("esc")
	b.lacks("block.4/Attention18")
}

// TestShowFolded: a layer that is asked for is shown though it was folded away.
func TestShowFolded(t *testing.T) {
	s := graphScreen(ui.NewLook(ui.Options{}), &fakeDesk{}, nil)
	for _, v := range s.Views {
		v.Update(repeated(t))
	}
	engine := s.Views[1].(*networkView)
	engine.Update(showLayerMsg{"block.3/LayerNorm16"})
	if l := engine.net.layer(); l == nil || l.Name != "block.3/LayerNorm16" {
		t.Errorf("the cursor is on %+v", l)
	}
}
