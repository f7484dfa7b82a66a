package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// GatherAttrs are the attributes of Gather and GatherElements.
type GatherAttrs struct {
	Axis int // Import counts it from 0; Infer and Eval take a negative one too
}

// Gather takes the slices of data at the given indices of an axis: y[..., i..., ...] = data[..., indices[i...], ...],
// where the axes of indices take the place of the axis. A negative index counts from the end; one out of range is an
// error.
var Gather = &Op{
	Name:  "Gather",
	Attrs: GatherAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Gather"},
	Class: ClassLookup, Inputs: []Role{Data, Indices}, Memory: Written,
	Moves:  moved,
	FLOPs:  noFLOPs,
	Chosen: gatherExtents,
	Infer: func(l *Layer) error {
		x, indices, axis, err := l.needIndexed()
		if err != nil {
			return err
		}
		channel := x.Range.Axis
		switch {
		case channel == axis:
			channel = -1
		case channel > axis:
			channel += len(indices.Dims) - 1
		}
		if err := l.inferMoved(0, x, slices.Concat(x.Dims[:axis], indices.Dims, x.Dims[axis+1:]), channel); err != nil {
			return err
		}
		l.moveKnown(0)
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x := in[0]
		axis, err := axisIn(l.Attrs.(GatherAttrs).Axis, len(x.Dims))
		if err != nil {
			return err
		}
		index, err := indicesIn(in[1], x.Dims[axis])
		if err != nil {
			return err
		}
		inner := numeric.Count(x.Dims[axis+1:])
		flat := numeric.Value{Type: out[0].Type, Dims: []int{numeric.Count(x.Dims[:axis]), len(index), inner}, Data: out[0].Data}
		s := []int{x.Dims[axis] * inner, inner, 1}
		tables := wholeTables(flat.Dims)
		tables[0] = table(flat.Dims[0], s[0], func(i int) int { return i })
		tables[1] = table(len(index), inner, func(i int) int { return index[i] })
		move(flat, x, tables)
		return nil
	},
	Import: importGather,
	Export: exportGather,
}

// gatherExtents returns the extent of the axis that indices choose along.
func gatherExtents(l *Layer) []symbolic.Dim {
	axis, err := axisIn(l.axis(), len(l.Inputs[0].Dims))
	if err != nil {
		return nil
	}
	return l.Inputs[0].Dims[axis : axis+1]
}

// tupleExtents returns the extents of the axes that a row of indices chooses along, behind so many batch axes.
func tupleExtents(l *Layer, batch int) []symbolic.Dim {
	k, err := tupleLength(l.Inputs[0], l.Inputs[1], batch)
	if err != nil {
		return nil
	}
	return l.Inputs[0].Dims[batch : batch+k]
}

func importGather(n *Node) (any, []*Tensor, error) {
	rank, err := n.rank(0)
	if err != nil {
		return nil, nil, err
	}
	axis, err := axisIn(n.Int("axis", 0), rank)
	return GatherAttrs{axis}, n.Inputs, err
}

func exportGather(e *Exporter) error {
	return e.Node(e.Layer.Op.Name, Attributes{"axis": e.Layer.Attrs.(GatherAttrs).Axis})
}

// needIndexed returns inputs 0 and 1, data and integer indices, and the axis in the attributes.
func (l *Layer) needIndexed() (x, indices *Tensor, axis int, err error) {
	if x, err = l.need(0); err != nil {
		return nil, nil, 0, err
	}
	if indices, err = l.need(1); err != nil {
		return nil, nil, 0, err
	}
	if !indices.Type.IsInteger() {
		return nil, nil, 0, fmt.Errorf("indices %s must be integers", indices)
	}
	if a, ok := l.Attrs.(GatherAttrs); ok {
		axis, err = axisIn(a.Axis, len(x.Dims))
	}
	return x, indices, axis, err
}

// IndexError is an index that names none of the elements that there are.
type IndexError struct {
	Index  int64 // negative: from the end
	Extent int
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %d is outside %d elements", e.Index, e.Extent)
}

// indicesIn returns indices into n elements, negative ones counted from the end.
func indicesIn(v numeric.Value, n int) ([]int, error) {
	list := make([]int, v.Len())
	for i, at := range v.Ints() {
		j := int(at)
		if j < 0 {
			j += n
		}
		if j < 0 || j >= n {
			return nil, &IndexError{at, n}
		}
		list[i] = j
	}
	return list, nil
}

// GatherElements takes single elements: y[i, j, k] = data[indices[i, j, k], j, k] for axis 0, and so on.
var GatherElements = &Op{
	Name:  "GatherElements",
	Attrs: GatherAttrs{},
	Reals: AsStored,
	Onnx:  []string{"GatherElements"},
	Class: ClassLookup, Inputs: []Role{Data, Indices}, Memory: Written,
	Moves:  moved,
	FLOPs:  noFLOPs,
	Chosen: gatherExtents,
	Infer: func(l *Layer) error {
		x, indices, axis, err := l.needIndexed()
		if err != nil {
			return err
		}
		if err := checkElementIndices(x, indices, axis); err != nil {
			return err
		}
		return l.inferMoved(0, x, indices.Dims, -1)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		size := in[0].Type.Size()
		return eachIndexed(l, in[0], in[1], func(i, at int) {
			copy(out[0].Data[i*size:(i+1)*size], in[0].Data[at*size:])
		})
	},
	Import: importGather,
	Export: exportGather,
}

// checkElementIndices checks that indices have x's rank and no more than x's extent on other axes than the given one.
func checkElementIndices(x, indices *Tensor, axis int) error {
	if len(indices.Dims) != len(x.Dims) {
		return fmt.Errorf("indices %s do not have the rank of %s", indices, x)
	}
	for i, d := range indices.Dims {
		n, ok := d.IsConst()
		m, ok2 := x.Dims[i].IsConst()
		if i != axis && ok && ok2 && n > m {
			return fmt.Errorf("indices %s are larger than %s on axis %d", indices, x, i)
		}
	}
	return nil
}

// eachIndexed calls f for each element i of indices with the place in x that it names along the axis.
func eachIndexed(l *Layer, x, indices numeric.Value, f func(i, at int)) error {
	axis, err := axisIn(l.axis(), len(x.Dims))
	if err != nil {
		return err
	}
	index, err := indicesIn(indices, x.Dims[axis])
	if err != nil {
		return err
	}
	s := strides(x.Dims)
	base := slices.Clone(s)
	base[axis] = 0
	for i, at := range places(indices.Dims, base) {
		f(i, at+index[i]*s[axis])
	}
	return nil
}

// axis returns the axis that gathering and scattering attributes name.
func (l *Layer) axis() int {
	if a, ok := l.Attrs.(ScatterAttrs); ok {
		return a.Axis
	}
	return l.Attrs.(GatherAttrs).Axis
}

// GatherNDAttrs are the attributes of GatherND.
type GatherNDAttrs struct{ BatchDims int }

// GatherND takes the slices of data [b..., d...] that the rows of indices [b..., i..., k] name by their first k indices
// behind the batch axes: y [b..., i..., rest of d].
var GatherND = &Op{
	Name:  "GatherND",
	Attrs: GatherNDAttrs{},
	Reals: AsStored,
	Onnx:  []string{"GatherND"},
	Class: ClassLookup, Inputs: []Role{Data, Indices}, Memory: Written,
	Moves:  moved,
	FLOPs:  noFLOPs,
	Chosen: func(l *Layer) []symbolic.Dim { return tupleExtents(l, l.Attrs.(GatherNDAttrs).BatchDims) },
	Infer: func(l *Layer) error {
		x, indices, _, err := l.needIndexed()
		if err != nil {
			return err
		}
		b := l.Attrs.(GatherNDAttrs).BatchDims
		k, err := tupleLength(x, indices, b)
		if err != nil {
			return err
		}
		last := len(indices.Dims) - 1
		return l.inferMoved(0, x, slices.Concat(indices.Dims[:last], x.Dims[b+k:]), -1)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x, indices := in[0], in[1]
		b := l.Attrs.(GatherNDAttrs).BatchDims
		batch := numeric.Count(x.Dims[:b])
		rows := numeric.Count(indices.Dims[:len(indices.Dims)-1])
		size := numeric.Count(x.Dims[b+indices.Dims[len(indices.Dims)-1]:]) * x.Type.Size()
		perBatch := numeric.Count(x.Dims[b:]) * x.Type.Size()
		return eachTuple(x.Dims[b:], indices, func(row, at int) {
			from := at * x.Type.Size()
			if rows > 0 && batch > 0 {
				from += row * batch / rows * perBatch
			}
			copy(out[0].Data[row*size:(row+1)*size], x.Data[from:])
		})
	},
	Export: func(e *Exporter) error {
		return e.Node("GatherND", Attributes{"batch_dims": e.Layer.Attrs.(GatherNDAttrs).BatchDims})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return GatherNDAttrs{n.Int("batch_dims", 0)}, n.Inputs, nil
	},
}

// tupleLength returns the extent of the last axis of indices, which names so many axes of x behind its batch axes.
func tupleLength(x, indices *Tensor, batch int) (int, error) {
	if len(indices.Dims) <= batch || batch < 0 || len(x.Dims) < batch {
		return 0, fmt.Errorf("indices %s and data %s do not have %d batch axes", indices, x, batch)
	}
	if !SameShape(indices.Dims[:batch], x.Dims[:batch]) {
		return 0, fmt.Errorf("indices %s and data %s differ on the %d batch axes", indices, x, batch)
	}
	k, ok := indices.Dims[len(indices.Dims)-1].IsConst()
	if !ok || batch+k > len(x.Dims) {
		return 0, fmt.Errorf("the last axis of indices %s must be known and at most the rank of %s", indices, x)
	}
	return k, nil
}

// eachTuple calls f for each row of indices with the place in a shape that it names.
func eachTuple(dims []int, indices numeric.Value, f func(row, at int)) error {
	k := indices.Dims[len(indices.Dims)-1]
	s := strides(dims)
	ints := indices.Ints()
	for row := range numeric.Count(indices.Dims[:len(indices.Dims)-1]) {
		at := 0
		for j := range k {
			i := int(ints[row*k+j])
			if i < 0 {
				i += dims[j]
			}
			if i < 0 || i >= dims[j] {
				return fmt.Errorf("axis %d: %w", j, &IndexError{ints[row*k+j], dims[j]})
			}
			at += i * s[j]
		}
		f(row, at)
	}
	return nil
}
