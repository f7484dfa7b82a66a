package model

import (
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// What a model is shown of where nobody says: the first that its layers take. Sizes of images are in pixels along either side; models
// whose embeddings have a place for each patch take one of them alone. A second of sound has 16,000 samples, and thirty have 3,000
// frames of features.
var (
	usualSizes    = []int{224, 256, 384, 512, 640, 448, 518, 336, 299, 192, 160, 128, 112, 96, 64, 48, 32, 28, 16, 8}
	usualChannels = []int{3, 1, 4, 2}
	usualSamples  = []int{16000}
	usualFrames   = []int{3000, 1500, 1000, 100}
)

// UsualShapes returns shapes for the open inputs of a model of images or of sounds, where nobody gave any, and what they are of, as in
// "an image of a usual size"; nil where none fit. Those of models of texts are generate.UsualShapes.
func UsualShapes(n *graph.Network) (shapes map[string][]int, what string) {
	for _, t := range n.Inputs {
		if channel, ok := channelsOf(t); ok {
			if shapes = usualImage(n, t, channel); shapes != nil {
				return shapes, "an image of a usual size"
			}
		}
	}
	for _, t := range n.Inputs {
		last := len(t.Dims) - 1
		switch {
		case !t.Type.IsFloat() || !isSound(t.Name):
		case last == 1:
			shapes = fittingShapes(n, usualSamples, func(samples int) map[int]int { return map[int]int{last: samples} }, t)
		case last == 2:
			shapes = fittingShapes(n, usualFrames, func(frames int) map[int]int { return map[int]int{last: frames} }, t)
		}
		if shapes != nil {
			return shapes, "a sound of the usual length"
		}
	}
	return nil, ""
}

// channelsOf returns the axis of an image's channels: the last where that alone is known to be one of few, else the second; ok is false
// where an input is no image.
func channelsOf(t *graph.Tensor) (axis int, ok bool) {
	if len(t.Dims) != 4 || !t.Type.IsFloat() && t.Type != numeric.U8 {
		return 0, false
	}
	_, known := t.Dims[1].IsConst()
	if n, few := t.Dims[3].IsConst(); few && n <= 4 && !known {
		return 3, true
	}
	return 1, true
}

func usualImage(n *graph.Network, t *graph.Tensor, channel int) map[string][]int {
	height := 3 - channel // 2 behind channels, else 1
	if channel == 3 {
		height = 1
	}
	for _, channels := range usualChannels {
		shapes := fittingShapes(n, usualSizes, func(size int) map[int]int {
			return map[int]int{channel: channels, height: size, height + 1: size}
		}, t)
		if shapes != nil {
			return shapes
		}
	}
	return nil
}

// isSound reports whether an input's name is one that models of sounds have.
func isSound(name string) bool {
	name = strings.ToLower(name)
	for _, of := range []string{"audio", "wav", "sound", "speech", "input_values", "input_features", "mel", "signal"} {
		if strings.Contains(name, of) {
			return true
		}
	}
	return false
}

// fittingShapes returns the shapes of inputs at the first of several extents that the layers take, where axes of t that are open have
// the extents that at says, and one item is meant; nil where there is none, or where others stay open.
func fittingShapes(n *graph.Network, extents []int, at func(int) map[int]int, t *graph.Tensor) map[string][]int {
	for _, extent := range extents {
		env := map[string]int{}
		for _, in := range n.Inputs {
			if len(in.Dims) > 0 {
				bind(env, in.Dims[0], 1)
			}
		}
		for axis, of := range at(extent) {
			bind(env, t.Dims[axis], of)
		}
		if len(n.Unbound(env)) > 0 {
			return nil
		}
		shapes := map[string][]int{}
		for _, in := range n.Inputs {
			shapes[in.Name] = symbolic.Eval(in.Extents(), env)
		}
		if env, err := n.BindShapes(shapes); err == nil && n.CheckShapes(env) == nil {
			return shapes
		}
	}
	return nil
}

// bind gives an extent's symbol a value, where it is one.
func bind(env map[string]int, d symbolic.Dim, extent int) {
	if name, symbol := d.SymbolName(); symbol {
		env[name] = extent
	}
}
