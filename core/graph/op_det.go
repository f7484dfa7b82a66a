package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Det is the determinant of each matrix of x [..., n, n]: 1 of a matrix without elements.
var Det = &Op{
	Name:  "Det",
	Onnx:  []string{"Det"},
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		n := inputDims(l, env)[len(l.Inputs[0].Dims)-1]
		return outputCount(l, env) * int64(n) * int64(n) * int64(n) * 2 / 3
	},
	Infer: func(l *Layer) error {
		x, err := l.needNumber(0)
		if err != nil {
			return err
		}
		rank := len(x.Dims)
		if rank < 2 || conflict(x.Dims[rank-2], x.Dims[rank-1]) {
			return fmt.Errorf("input %s: want square matrices", x.TypeString())
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), x.Dims[:rank-2]
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x, n := in[0].Float64s(), in[0].Dims[len(in[0].Dims)-1]
		y := make([]float64, out[0].Len())
		for i := range y {
			y[i] = determinant(slices.Clone(x[i*n*n:][:n*n]), n)
		}
		out[0].SetFloats(y)
		return nil
	},
}

// determinant eliminates the elements of an n x n matrix below its diagonal, which it overwrites, with the largest of a column
// as pivot.
func determinant(a []float64, n int) float64 {
	det := 1.0
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[pivot*n+k]) {
				pivot = i
			}
		}
		if pivot != k {
			det = -det
			for j := k; j < n; j++ {
				a[k*n+j], a[pivot*n+j] = a[pivot*n+j], a[k*n+j]
			}
		}
		p := a[k*n+k]
		if det *= p; p == 0 {
			return det
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / p
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
		}
	}
	return det
}

// needNumber returns the op's input i, or an error if it is left out or holds no real numbers.
func (l *Layer) needNumber(i int) (*Tensor, error) {
	t, err := l.need(i)
	if err == nil && !isReal(t) && t.Type != numeric.F64 {
		return nil, fmt.Errorf("input %d is %s, want real numbers", i, t.TypeString())
	}
	return t, err
}
