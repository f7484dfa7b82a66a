package stages

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
)

// notFinite says which layer's weights or bias hold NaN or infinities, as what is computed of them does; "" where none do. Attention
// masks, which hold infinities on purpose, are neither.
func notFinite(n *graph.Network) (text string) {
	layers := 0
	for _, l := range n.Layers {
		bad := 0
		for i, t := range l.OpInputs() {
			if r := l.Role(i); t != nil && (r == graph.Weights || r == graph.Bias) {
				if v, ok := t.Const(); ok {
					bad += v.NotFinite()
				}
			}
		}
		if bad == 0 {
			continue
		}
		if layers++; layers == 1 {
			text = fmt.Sprintf("weights of layer %s are NaN or infinite: %d of them", l.Name, bad)
		}
	}
	if layers > 1 {
		text += fmt.Sprintf("; and so are some of %d layers more", layers-1)
	}
	return text
}
