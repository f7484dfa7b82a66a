package graph

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// graphLine is a layer, something that is unfolded below it, or blocks of layers.
type graphLine struct {
	layer   int    // of blocks the first
	layers  int    // how many a line of blocks stands for, 0 for one of a layer
	blocks  int    // how many blocks
	changed rune   // '+' new, '~' changed by the pass that is shown, 0 neither
	text    string // of what is unfolded; empty for the layer itself
	last    bool
}

// The things of blocks that are unfolded: the line of all of them into one of each, and that of one into its layers.
const (
	unfoldBlocks = "blocks"
	unfoldBlock  = "block"
)

// unfoldInside is what a layer with bodies is unfolded into: the layers in them.
const unfoldInside = "inside"

// below returns what unfolds a line of blocks.
func (l *graphLine) below() string {
	if l.blocks > 1 {
		return unfoldBlocks
	}
	return unfoldBlock
}

// repeated are the blocks of a list of layers, which are the same for as long as that is.
type repeated struct {
	layers []report.Layer
	blocks []report.Block
}

func (r *repeated) of(layers []report.Layer) []report.Block {
	if len(layers) != len(r.layers) || len(layers) > 0 && &layers[0] != &r.layers[0] {
		r.layers, r.blocks = layers, report.Blocks(layers)
	}
	return r.blocks
}

// blockText is what a line of blocks says: how many they are, and what their layers' names begin with.
func blockText(layers []report.Layer, line *graphLine) string {
	size := line.layers / line.blocks
	first := report.CommonPath(layers[line.layer : line.layer+size])
	if line.blocks == 1 {
		return "  " + cmp.Or(first, words.ShortName(layers[line.layer].Name)+" …")
	}
	text := fmt.Sprintf("%d × block of %s", line.blocks, words.Plural(size, "layer"))
	end := line.layer + line.layers - size
	switch last := report.CommonPath(layers[end : end+size]); {
	case first == "":
	case last == "" || last == first: // a block may go over into the next one's path
		text += "  " + first
	default:
		text += fmt.Sprintf("  %s to %s", first, last)
	}
	return text
}

// fitBlock is blockText in at most so many cells: rather without the paths than without the numbers.
func fitBlock(layers []report.Layer, line *graphLine, w int) string {
	text := blockText(layers, line)
	if count, _, ok := strings.Cut(strings.TrimLeft(text, " "), "  "); ok && ui.Width(text) > w {
		return count
	}
	return text
}

// hasLayer reports whether want holds for any of some layers.
func hasLayer(layers []report.Layer, want func(*report.Layer) bool) bool {
	for i := range layers {
		if want(&layers[i]) {
			return true
		}
	}
	return false
}
