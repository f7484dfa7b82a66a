package pointwise

import (
	"slices"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Tactics returns the kernels of the family, for each op the best guess first.
func Tactics() []emit.Tactic {
	return slices.Concat(pointwiseTactics(), integerTactics(), quantizeTactics(), castTactics(), normalizeTactics(), rotaryTactics())
}
