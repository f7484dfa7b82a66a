package products

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// shape returns what tells a kernel whose blocks or threads compute a by b at a time from the others of its family.
func shape(family string, a, b int) kernels.Variant {
	return kernels.Variant{Family: family, Tile: fmt.Sprintf("%dx%d", a, b)}
}

// Tactics returns the kernels of the family, for each op the best guess first.
func Tactics() []emit.Tactic {
	return slices.Concat(
		plainConvTactics(),
		stemTactics(),
		Tiled(),
		skinnyTactics(),
		depthwiseTactics(),
		directTactics(),
		volumeTactics(),
		transposedTactics(),
		givenTactics(),
		batchedTactics(),
		multiplyTactics(),
		integerProductTactics(),
		plainPoolTactics(),
		poolTactics(),
	)
}
