package moves

import (
	"slices"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Tactics returns the kernels of the family, for each op the best guess first.
func Tactics() []emit.Tactic {
	return slices.Concat(
		reformatTactics(),
		oneHotTactics(),
		resizeTactics(),
		gatherTactics(),
		scatterTactics(),
		transposeTactics(),
		moveTactics(),
		pieceTactics(),
		[]emit.Tactic{reverseTactic()},
	)
}

// Known returns the kernels of what is known beforehand, of any op: these need nothing else, and come before all others.
func Known() []emit.Tactic { return slices.Concat(nothingTactics(), knownTactics()) }
