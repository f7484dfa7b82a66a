package graph

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Reads returns how many elements of input i a layer looks at, at the given values of the symbols: all of them, but where shapes alone
// say that it cannot be as many. A gather looks at as much of its data as it writes, and windows that lie apart at what is in them.
func Reads(l *Layer, i int, env map[string]int) int64 {
	t := l.Inputs[i]
	if t == nil || l.Role(i) == Extents {
		return 0
	}
	dims := symbolic.Eval(t.Dims, env)
	if i >= len(l.OpInputs()) || l.Role(i) != Data {
		return int64(numeric.Count(dims))
	}
	if l.Op.Class == ClassMove || l.Op.Chosen != nil {
		return min(int64(numeric.Count(dims)), Writes(l, env))
	}
	if kernel := windowExtents(l, dims, env); i == 0 && kernel != nil {
		out := symbolic.Eval(l.Outputs[0].Dims, env)
		for a, k := range kernel {
			dims[2+a] = min(dims[2+a], out[2+a]*k)
		}
	}
	return int64(numeric.Count(dims))
}

// Writes returns how many elements all outputs of a layer have.
func Writes(l *Layer, env map[string]int) (n int64) {
	for _, t := range l.Outputs {
		n += int64(numeric.Count(symbolic.Eval(t.Dims, env)))
	}
	return n
}

// windowExtents returns the extents of the window that slides over the spatial axes of input 0; nil where there is none.
func windowExtents(l *Layer, dims []int, env map[string]int) []int {
	switch a := l.Attrs.(type) {
	case ConvAttrs:
		if l.Op.Product == nil || len(dims) < 3 {
			return nil
		}
		if w := weightDims(l, env); len(w) == len(dims) {
			return w[2:]
		}
	case PoolAttrs:
		if len(dims) < 3 {
			return nil
		}
		var kernel []int
		for _, w := range a.Windows(dims[2:]) {
			kernel = append(kernel, w.Kernel)
		}
		return kernel
	}
	return nil
}

// Arithmetic returns the type of the numbers that a layer's arithmetic begins with: I8 where any of its data has a byte an element, F16
// where any has two, else F32. Products of bytes are summed in integers, and what follows the sum is another's.
func Arithmetic(l *Layer) numeric.DataType {
	narrow := numeric.F32
	for i, t := range l.OpInputs() {
		switch {
		case t == nil || l.Role(i) != Data:
		case t.Type.Size() == 1:
			return numeric.I8
		case t.Type.Size() == 2:
			narrow = numeric.F16
		}
	}
	if l.Op == DynamicQuantizeMatMul {
		return numeric.I8
	}
	return narrow
}
