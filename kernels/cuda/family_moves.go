package cuda

import "slices"

// moveFamily returns the kernels of the family, for each op the best guess first.
func moveFamily() []tactic {
	return slices.Concat(
		reformatTactics(),
		oneHotTactics(),
		resizeTactics(),
		gatherTactics(),
		scatterTactics(),
		transposeTactics(),
		moveTactics(),
		pieceTactics(),
	)
}

// knownFamily returns the kernels of what is known beforehand, of any op: these need nothing else, and come before all others.
func knownFamily() []tactic { return slices.Concat(nothingTactics(), knownTactics()) }
