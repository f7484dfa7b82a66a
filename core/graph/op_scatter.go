package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ScatterAttrs are the attributes of ScatterElements and ScatterND.
type ScatterAttrs struct {
	Axis      int    // of ScatterElements
	Reduction string // how an update meets what is there: none (the last one stays), add, mul, max, min
}

// scattered is the movement of what is scattered: updates take the place of data, or meet it in a sum or the like.
func scattered(l *Layer) Movement {
	if l.Attrs.(ScatterAttrs).Reduction != "none" {
		return Computed
	}
	return Moved
}

// ScatterElements returns data with y[indices[i, j], j] = updates[i, j] for axis 0, and so on.
var ScatterElements = &Op{
	Name:  "ScatterElements",
	Attrs: ScatterAttrs{},
	Reals: AsStored,
	Onnx:  []string{"ScatterElements", "Scatter"},
	Class: ClassLookup, Inputs: []Role{Data, Indices, Data}, Memory: Written,
	Moves:  scattered,
	FLOPs:  scatterFLOPs,
	Chosen: gatherExtents,
	Infer: func(l *Layer) error {
		x, indices, updates, err := l.needScattered()
		if err != nil {
			return err
		}
		axis, err := axisIn(l.axis(), len(x.Dims))
		if err != nil {
			return err
		}
		if err := checkElementIndices(x, indices, axis); err != nil {
			return err
		}
		if !SameShape(indices.Dims, updates.Dims) {
			return fmt.Errorf("updates %s do not have the shape of indices %s", updates, indices)
		}
		return l.inferMoved(0, x, x.Dims, x.Range.Axis)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		copy(out[0].Data, in[0].Data)
		put := scatter(l, out[0], in[2])
		return eachIndexed(l, in[0], in[1], func(i, at int) { put(at, i) })
	},
	Import: importScatter,
	Export: exportScatter,
}

// ScatterND returns data [d...] with the slices that the rows of indices [i..., k] name replaced by those of updates.
var ScatterND = &Op{
	Name:  "ScatterND",
	Attrs: ScatterAttrs{},
	Reals: AsStored,
	Onnx:  []string{"ScatterND"},
	Class: ClassLookup, Inputs: []Role{Data, Indices, Data}, Memory: Written,
	Moves:  scattered,
	FLOPs:  scatterFLOPs,
	Chosen: func(l *Layer) []symbolic.Dim { return tupleExtents(l, 0) },
	Infer: func(l *Layer) error {
		x, indices, updates, err := l.needScattered()
		if err != nil {
			return err
		}
		k, err := tupleLength(x, indices, 0)
		if err != nil {
			return err
		}
		want := append(append([]symbolic.Dim(nil), indices.Dims[:len(indices.Dims)-1]...), x.Dims[k:]...)
		if !SameShape(want, updates.Dims) {
			return fmt.Errorf("updates %s do not have the shape %s", updates, symbolic.Format(want))
		}
		return l.inferMoved(0, x, x.Dims, x.Range.Axis)
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		x := in[0]
		copy(out[0].Data, x.Data)
		put := scatter(l, out[0], in[2])
		slice := numeric.Count(x.Dims[in[1].Dims[len(in[1].Dims)-1]:])
		return eachTuple(x.Dims, in[1], func(row, at int) {
			for i := range slice {
				put(at+i, row*slice+i)
			}
		})
	},
	Import: importScatter,
	Export: exportScatter,
}

func importScatter(n *Node) (any, []*Tensor, error) {
	a := ScatterAttrs{Reduction: n.String("reduction", "none")}
	if n.OpType == "ScatterND" {
		return a, n.Inputs, nil
	}
	rank, err := n.rank(0)
	if err != nil {
		return nil, nil, err
	}
	a.Axis, err = axisIn(n.Int("axis", 0), rank)
	return a, n.Inputs, err
}

func exportScatter(e *Exporter) error {
	a := e.Layer.Attrs.(ScatterAttrs)
	attrs := Attributes{"reduction": a.Reduction}
	if e.Layer.Op.Name == "ScatterElements" {
		attrs["axis"] = a.Axis
	}
	return e.Node(e.Layer.Op.Name, attrs)
}

// needScattered returns the data, the integer indices and the updates of a scattering op.
func (l *Layer) needScattered() (x, indices, updates *Tensor, err error) {
	if x, indices, _, err = l.needIndexed(); err != nil {
		return nil, nil, nil, err
	}
	if updates, err = l.need(2); err != nil {
		return nil, nil, nil, err
	}
	a := l.Attrs.(ScatterAttrs)
	op, known := scatterOps[a.Reduction]
	switch {
	case updates.Type != x.Type || !updates.Range.Equal(x.Range):
		err = fmt.Errorf("updates %s are of another type than %s", updates, x)
	case a.Reduction != "none" && !known:
		err = fmt.Errorf("reduction %q is unknown; it is none, add, mul, max or min", a.Reduction)
	case a.Reduction != "none" && x.Quantized():
		err = fmt.Errorf("reduction %s of the quantised %s", a.Reduction, x)
	case a.Reduction != "none":
		_, err = elementwise.Binary(op).Types([]numeric.DataType{x.Type, x.Type})
	}
	return x, indices, updates, err
}

// SameShape reports whether two shapes may be equal: only constants that differ tell them apart.
func SameShape(a, b []symbolic.Dim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if _, err := sameDim(a[i], b[i]); err != nil {
			return false
		}
	}
	return true
}

var scatterOps = map[string]elementwise.Op{"add": elementwise.Add, "mul": elementwise.Mul, "max": elementwise.Max, "min": elementwise.Min}

// scatter returns the function that brings element i of updates to place at of y.
func scatter(l *Layer, y, updates numeric.Value) func(at, i int) {
	size := y.Type.Size()
	op, reduces := scatterOps[l.Attrs.(ScatterAttrs).Reduction]
	element := func(v numeric.Value, i int) numeric.Value {
		return numeric.Value{Type: v.Type, Dims: nil, Data: v.Data[i*size : (i+1)*size]}
	}
	return func(at, i int) {
		dst, src := element(y, at), element(updates, i)
		if !reduces {
			copy(dst.Data, src.Data)
			return
		}
		// Types and shapes were checked by Infer, so that the program cannot fail.
		if err := elementwise.Binary(op).ApplyTyped([]numeric.Value{dst, src}, dst); err != nil {
			panic("graph: " + err.Error())
		}
	}
}
