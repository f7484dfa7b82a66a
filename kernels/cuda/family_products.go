package cuda

import "slices"

// productFamily returns the kernels of the family, for each op the best guess first.
func productFamily() []tactic {
	return slices.Concat(
		plainConvTactics(),
		stemTactics(),
		productTactics(),
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
