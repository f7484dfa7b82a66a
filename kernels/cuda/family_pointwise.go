package cuda

import "slices"

// pointwiseFamily returns the kernels of the family, for each op the best guess first.
func pointwiseFamily() []tactic {
	return slices.Concat(pointwiseTactics(), integerTactics(), quantizeTactics(), castTactics(), normalizeTactics())
}
