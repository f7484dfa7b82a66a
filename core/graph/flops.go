package graph

import (
	"math/bits"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// FLOPs returns the operations of a layer's products at the given values of the symbols, two for each multiply-add, as they are
// stated of models everywhere; 0 for layers without any, whose time is not arithmetic's.
func FLOPs(l *Layer, env map[string]int) int64 {
	switch {
	case l.Op.Product != nil:
		return l.Op.FLOPs(l, env)
	case l.Op.Products != nil:
		return l.Op.Products(l, env)
	}
	return 0
}

// Operations returns all arithmetic of any layer, its epilogue included: what takes time where a processor does one
// operation after the other. See [Op].FLOPs for what counts.
func Operations(l *Layer, env map[string]int) int64 {
	n := l.Op.FLOPs(l, env)
	if l.Epilogue.Args > 0 {
		n += l.Epilogue.Operations() * outputCount(l, env)
	}
	return n
}

func outputCount(l *Layer, env map[string]int) int64 {
	return int64(numeric.Count(symbolic.Eval(l.Outputs[0].Dims, env)))
}

func inputDims(l *Layer, env map[string]int) []int { return symbolic.Eval(l.Inputs[0].Dims, env) }

func noFLOPs(*Layer, map[string]int) int64 { return 0 }

// elementFLOPs returns the arithmetic of an op that takes n operations for each element of its input.
func elementFLOPs(n int64) func(*Layer, map[string]int) int64 {
	return func(l *Layer, env map[string]int) int64 { return n * int64(numeric.Count(inputDims(l, env))) }
}

func programFLOPs(l *Layer, env map[string]int) int64 {
	return l.Attrs.(Elementwise).Program.Operations() * outputCount(l, env)
}

// weightDims returns the shape of a product's weights.
func weightDims(l *Layer, env map[string]int) []int {
	return symbolic.Eval(l.Inputs[l.Op.Input(Weights)].Dims, env)
}

func convFLOPs(l *Layer, env map[string]int) int64 {
	return 2 * outputCount(l, env) * int64(numeric.Count(weightDims(l, env)[1:]))
}

// transposedFLOPs counts what each element of the input adds to the output, what is then cut off included.
func transposedFLOPs(l *Layer, env map[string]int) int64 {
	return 2 * int64(numeric.Count(inputDims(l, env))) * int64(numeric.Count(weightDims(l, env)[1:]))
}

func matrixFLOPs(l *Layer, env map[string]int) int64 {
	_, in := l.Op.Product.Axes(l)
	return 2 * outputCount(l, env) * int64(weightDims(l, env)[in])
}

// poolFLOPs returns the arithmetic of a pooling that takes one operation for each place of a window, and some more.
func poolFLOPs(more int64) func(*Layer, map[string]int) int64 {
	return func(l *Layer, env map[string]int) int64 {
		window := int64(1)
		for _, w := range l.Attrs.(PoolAttrs).Windows(inputDims(l, env)[2:]) {
			window *= int64(w.Kernel)
		}
		return (window + more) * outputCount(l, env)
	}
}

// reduceFLOPs returns the arithmetic of an op that makes each element of its output of n of its input by f(n) operations.
func reduceFLOPs(f func(n int) int) func(*Layer, map[string]int) int64 {
	return func(l *Layer, env map[string]int) int64 {
		y := outputCount(l, env)
		return y * perLine(f, int64(numeric.Count(inputDims(l, env))), y)
	}
}

// perLine returns f of the length of a line, of which there are some in so many elements.
func perLine(f func(n int) int, elements, lines int64) int64 {
	if elements == 0 || lines == 0 {
		return 0
	}
	return int64(f(int(elements / lines)))
}

// lineFLOPs returns the arithmetic of an op that takes f(n) operations for each line of n elements of its input.
func lineFLOPs(l *Layer, env map[string]int, n int, f func(n int) int) int64 {
	if n == 0 {
		return 0
	}
	lines := int64(numeric.Count(inputDims(l, env)) / n)
	return lines * int64(f(n))
}

// lineLength returns the elements along an axis, or of all axes from it on.
func lineLength(dims []int, axis int, flatten bool) int {
	if axis < 0 {
		axis += len(dims)
	}
	if flatten {
		return numeric.Count(dims[axis:])
	}
	return dims[axis]
}

// softmaxFLOPs: the maximum, the differences, their exponentials and the sum of these; then quotients, or the logarithm of
// the sum and differences again.
func softmaxFLOPs(l *Layer, env map[string]int) int64 {
	a := l.Attrs.(SoftmaxAttrs)
	return lineFLOPs(l, env, lineLength(inputDims(l, env), a.Axis, a.Flatten), func(n int) int {
		if a.Log {
			return 5*n - 1
		}
		return 5*n - 2
	})
}

func hardmaxFLOPs(l *Layer, env map[string]int) int64 {
	a := l.Attrs.(HardmaxAttrs)
	return lineFLOPs(l, env, lineLength(inputDims(l, env), a.Axis, a.Flatten), func(n int) int { return n - 1 })
}

// orderFLOPs counts the comparisons of a sort by merging.
func orderFLOPs(l *Layer, env map[string]int) int64 {
	return lineFLOPs(l, env, lineLength(inputDims(l, env), l.Attrs.(TopKAttrs).Axis, false), func(n int) int { return n * bits.Len(uint(n-1)) })
}

func scatterFLOPs(l *Layer, env map[string]int) int64 {
	if l.Movement() == Moved {
		return 0
	}
	return int64(numeric.Count(symbolic.Eval(l.Inputs[2].Dims, env)))
}

// resizeFLOPs counts the multiply-adds of the taps, axis after axis.
func resizeFLOPs(l *Layer, env map[string]int) (sum int64) {
	dims, a := inputDims(l, env), l.Attrs.(ResizeAttrs)
	for axis, n := range symbolic.Eval(l.Outputs[0].Dims, env) {
		taps := 0
		if a.Mode != "nearest" {
			for _, t := range a.Taps(axis, len(dims), dims[axis], n) {
				taps += len(t)
			}
		}
		dims[axis] = n
		if n > 0 {
			sum += 2 * int64(numeric.Count(dims)) / int64(n) * int64(taps)
		}
	}
	return sum
}
