package products

import (
	"slices"

	"github.com/trtui/trtui/kernels/cuda/emit"
)

// Tactics returns the kernels of the family, for each op the best guess first.
func Tactics() []emit.Tactic {
	return slices.Concat(
		plainConvTactics(),
		stemTactics(),
		Tiled(),
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
