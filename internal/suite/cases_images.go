package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// images are decoders of a portable image, and of bytes that are none.
func (m *maker) images() {
	for i, file := range []string{"P6 3 2 255\nabcdefghijklmnopqr", "none"} {
		for _, pixels := range []string{graph.PixelsRGB, graph.PixelsBGR, graph.PixelsGrey} {
			x := &graph.Tensor{Name: "w", Type: numeric.U8, Dims: symbolic.Shape(len(file)), Weights: []byte(file)}
			l := m.several(graph.ImageDecoder, graph.ImageDecoderAttrs{Pixels: pixels, Most: 9}, 3, x)
			m.add(fmt.Sprintf("image_%d_%s", i, pixels), l, Tolerance{})
		}
	}
}
