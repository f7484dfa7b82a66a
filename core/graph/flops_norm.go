package graph

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Normalisations count by the formulas of their ops. Of n elements the mean takes n operations, the variance 3n, the root of
// it and an epsilon 2, and each element a difference, which the variance has computed, and a quotient.

// batchNormFLOPs: the statistics are given.
func batchNormFLOPs(l *Layer, env map[string]int) int64 {
	return 4*outputCount(l, env) + 2*int64(numeric.Count(symbolic.Eval(l.Inputs[4].Dims, env)))
}

func instanceNormFLOPs(l *Layer, env map[string]int) int64 {
	return lineFLOPs(l, env, numeric.Count(inputDims(l, env)[2:]), normalised)
}

func groupNormFLOPs(l *Layer, env map[string]int) int64 {
	return lineFLOPs(l, env, numeric.Count(inputDims(l, env)[1:])/max(1, l.Attrs.(GroupNormAttrs).Groups), normalised)
}

// normalised is of n elements that a scale and a bias follow.
func normalised(n int) int { return 7*n + 2 }

// layerNormFLOPs is of so many operations for each element: 6, or 4 without a mean; a bias is one more.
func layerNormFLOPs(each int) func(*Layer, map[string]int) int64 {
	return func(l *Layer, env map[string]int) int64 {
		each := each
		if l.Input(2) != nil {
			each++
		}
		length := lineLength(inputDims(l, env), l.Attrs.(LayerNormAttrs).Axis, true)
		return lineFLOPs(l, env, length, func(n int) int { return each*n + 2 })
	}
}

func meanVarianceFLOPs(l *Layer, env map[string]int) int64 {
	dims, n := inputDims(l, env), 1
	for _, axis := range l.Attrs.(MeanVarianceNormAttrs).Axes {
		n *= lineLength(dims, axis, false)
	}
	return lineFLOPs(l, env, n, func(n int) int { return 5*n + 2 })
}

func lpNormFLOPs(l *Layer, env map[string]int) int64 {
	a := l.Attrs.(LpNormAttrs)
	return lineFLOPs(l, env, lineLength(inputDims(l, env), a.Axis, false), func(n int) int {
		if a.P == 1 {
			return 3*n - 1 // without a root
		}
		return 3 * n
	})
}

// lrnFLOPs: a square for each element, the sum of those around it, a factor, a term, a power and a quotient.
func lrnFLOPs(l *Layer, env map[string]int) int64 {
	return int64(l.Attrs.(LRNAttrs).Size+4) * outputCount(l, env)
}
