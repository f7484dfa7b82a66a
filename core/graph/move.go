package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// strides returns the row-major strides of a shape, in elements.
func strides(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// move fills dst from src, which is of the same type: the element at place p of dst is src's at the sum of
// tables[axis][p[axis]]. A negative entry leaves dst's elements there as they are.
func move(dst, src numeric.Value, tables [][]int) {
	switch dst.Type.Size() {
	case 1:
		moveAxis(dst.Data, src.Data, tables, 0, 0)
	case 2:
		moveAxis(numeric.View[uint16](dst.Data), numeric.View[uint16](src.Data), tables, 0, 0)
	case 4:
		moveAxis(numeric.View[uint32](dst.Data), numeric.View[uint32](src.Data), tables, 0, 0)
	default:
		moveAxis(numeric.View[uint64](dst.Data), numeric.View[uint64](src.Data), tables, 0, 0)
	}
}

// moveAxis moves the elements from axis 0 of tables on, from place i of dst, and returns the place after them.
func moveAxis[T numeric.Element](dst, src []T, tables [][]int, i, from int) int {
	switch len(tables) {
	case 0:
		if len(dst) > 0 && len(src) > 0 {
			dst[i] = src[from]
		}
		return i + 1
	case 1:
		for _, off := range tables[0] {
			if off >= 0 {
				dst[i] = src[from+off]
			}
			i++
		}
		return i
	}
	rest := 1
	for _, t := range tables[1:] {
		rest *= len(t)
	}
	for _, off := range tables[0] {
		if off < 0 {
			i += rest
			continue
		}
		i = moveAxis(dst, src, tables[1:], i, from+off)
	}
	return i
}

// table returns the offsets of n indices of an axis, index(i) being the source index for i, or negative to skip.
func table(n, stride int, index func(i int) int) []int {
	t := make([]int, n)
	for i := range t {
		if j := index(i); j >= 0 {
			t[i] = j * stride
		} else {
			t[i] = -1
		}
	}
	return t
}

// wholeTables returns the tables that copy all of src as it is.
func wholeTables(dims []int) [][]int {
	s := strides(dims)
	tables := make([][]int, len(dims))
	for a, n := range dims {
		tables[a] = table(n, s[a], func(i int) int { return i })
	}
	return tables
}

// inferMoved gives output i the type and the range of t, whose quantisation axis moves to the given place; a negative
// place says that no axis of the output is that axis.
func (l *Layer) inferMoved(i int, t *Tensor, dims []symbolic.Dim, axis int) error {
	out := l.Outputs[i]
	out.Type, out.Dims, out.Range, out.Value = t.Type, dims, t.Range, nil
	if t.Quantized() && t.Range.PerChannel() {
		if axis < 0 {
			return fmt.Errorf("input %s is quantised per channel on axis %d, which the output does not have", t.Name, t.Range.Axis)
		}
		out.Range.Axis = axis
	}
	return nil
}
