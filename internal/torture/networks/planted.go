package networks

import "github.com/trtui/trtui/core/graph/numeric"

// The planted defects of this package.
const (
	TileEdge = "tile-edge" // the elements behind the last whole tile of a row are not computed
	Leak     = "leak"      // arenas are not freed
)

// plant makes a result wrong where a test wants to see that it is found.
func (c *check) plant(out map[string]numeric.Value) {
	if c.bench.Planted != TileEdge {
		return
	}
	const tile = 16
	for _, v := range out {
		if v.Type != numeric.F32 || len(v.Dims) < 2 || v.Dims[len(v.Dims)-1] <= tile {
			continue
		}
		row := v.Dims[len(v.Dims)-1]
		for at := range v.F32() {
			if at%row >= row/tile*tile {
				v.F32()[at] = 0
			}
		}
	}
}
