package cuda

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// TestExtremeWindows: a tactic that matches a layer of a large window is bound to it, and every such layer has one. Of the tiles,
// which are many and differ in no more than their size, each layer is bound to one in tilesApart. What takes the simulator no
// longer than a moment is computed, too.
func TestExtremeWindows(t *testing.T) {
	const tilesApart, moment = 37, 1 << 19
	b := simulatedOn(t, simulator.Device())
	tiles := map[string]int{}
	for i, e := range products.Tiled() {
		tiles[e.Name] = i
	}
	var quick []suite.Case
	for i, c := range suite.Extreme() {
		used := false
		for _, tac := range b.Tactics(c.Layer.Op) {
			binding, ok := suite.Bind(c.Layer, tac, 0)
			at, tile := tiles[tac.Name]
			if tac.Reference || !ok || tac.Match(binding) != nil || tile && at%tilesApart != 5*i%tilesApart {
				continue
			}
			k, err := tac.Bind(binding)
			if err != nil {
				t.Errorf("%s: %s matches and is not bound: %v", c.Name, tac.Name, err)
				continue
			}
			kernels.Close(k)
			used = used || !tile
		}
		if !used {
			t.Errorf("no kernel computes %s", c.Name)
		}
		if work(c.Layer) <= moment {
			quick = append(quick, c)
		}
	}
	runtest.Tactics(t, b, quick, func(_, tactic string) bool {
		_, tile := tiles[tactic]
		return !tile
	})
}

// work returns how many elements all windows of a pooling or convolution meet.
func work(l *graph.Layer) int {
	places := numeric.Count(symbolic.Eval(l.Outputs[0].Dims, nil))
	switch a := l.Attrs.(type) {
	case graph.PoolAttrs:
		if !a.Global {
			return places * numeric.Count(a.Kernel)
		}
		return numeric.Count(symbolic.Eval(l.Inputs[0].Dims, nil))
	default: // the weights of one filter, or of one channel where it is transposed
		return places * numeric.Count(symbolic.Eval(l.Inputs[1].Dims[1:], nil))
	}
}
