package cuda

import "slices"

// reductionFamily returns the kernels of the family, for each op the best guess first.
func reductionFamily() []tactic {
	return slices.Concat(
		integerReduceTactics(),
		reduceTactics(),
		softmaxTactics(),
		momentTactics(),
		responseTactics(),
		orderTactics(),
		cumulateTactics(),
	)
}
