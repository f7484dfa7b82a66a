package views

import (
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestBlocks: what repeats is one line with the time of all, which unfolds into a line of each, and those into their layers;
// both sides go along, and a filter looks at all layers.
func TestBlocks(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Repeated(t))
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
