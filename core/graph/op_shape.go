package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ShapeAttrs are the attributes of the Shape op.
type ShapeAttrs struct {
	Start int
	End   int // behind the last axis; Import counts both from 0
}

// ShapeOf is ONNX's Shape: the I64 list of its input's extents, from axis Start up to End.
var ShapeOf = &Op{
	Name:  "Shape",
	Attrs: ShapeAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Shape"},
	Class: ClassSource, Inputs: []Role{Extents}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a, rank := l.Attrs.(ShapeAttrs), len(x.Dims)
		if a.Start < 0 || a.Start > a.End || a.End > rank {
			return fmt.Errorf("axes %d to %d are not among %d", a.Start, a.End, rank)
		}
		out := l.Outputs[0]
		out.Type, out.Dims = numeric.I64, symbolic.Shape(a.End-a.Start)
		out.Value = append([]symbolic.Dim{}, x.Dims[a.Start:a.End]...)
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a := l.Attrs.(ShapeAttrs)
		for i, n := range in[0].Dims[a.Start:a.End] {
			out[0].I64()[i] = int64(n)
		}
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(ShapeAttrs)
		return e.Node("Shape", Attributes{"start": a.Start, "end": a.End})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		rank, err := n.rank(0)
		if err != nil {
			return nil, nil, err
		}
		clamp := func(i int) int {
			if i < 0 {
				i += rank
			}
			return max(0, min(rank, i))
		}
		start, end := clamp(n.Int("start", 0)), clamp(n.Int("end", rank))
		return ShapeAttrs{start, max(start, end)}, n.Inputs, nil
	},
}

// SizeOf is ONNX's Size: the I64 number of its input's elements.
var SizeOf = &Op{
	Name:  "Size",
	Reals: AsStored,
	Onnx:  []string{"Size"},
	Class: ClassSource, Inputs: []Role{Extents}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = numeric.I64, nil
		l.Outputs[0].Value = []symbolic.Dim{productOf(x.Dims)}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		out[0].I64()[0] = int64(in[0].Len())
		return nil
	},
}

// FillAttrs are the attributes of ConstantOfShape.
type FillAttrs struct {
	Type  numeric.DataType
	Value []byte // of one element; nil for 0
}

// ConstantOfShape returns a tensor of one value and of the shape that its input, an I64 list, says; the shape must be
// known from constants and the inputs' shapes.
var ConstantOfShape = &Op{
	Name:  "ConstantOfShape",
	Attrs: FillAttrs{},
	Reals: AsStored,
	Onnx:  []string{"ConstantOfShape"},
	Class: ClassSource, Inputs: []Role{Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		dims, err := l.knownInput(0, "shape")
		if err != nil {
			return err
		}
		a, out := l.Attrs.(FillAttrs), l.Outputs[0]
		if a.Type.Size() == 0 || a.Type == numeric.Str || a.Value != nil && len(a.Value) != a.Type.Size() {
			return fmt.Errorf("%d bytes are no value of type %s", len(a.Value), a.Type)
		}
		out.Type, out.Dims, out.Value = a.Type, dims, nil
		if n, ok := countDims(dims); ok && n <= maxKnownValue && (a.Type == numeric.I64 || a.Type == numeric.I32 || a.Type == numeric.Bool) {
			value := numeric.NewValue(a.Type)
			copy(value.Data, a.Value)
			out.Value = make([]symbolic.Dim, n)
			for i := range out.Value {
				out.Value[i] = symbolic.Const(int(value.Ints()[0]))
			}
		}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a := l.Attrs.(FillAttrs)
		for i := 0; a.Value != nil && i < len(out[0].Data); i += len(a.Value) {
			copy(out[0].Data[i:], a.Value)
		}
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(FillAttrs)
		v := numeric.NewValue(a.Type, 1)
		copy(v.Data, a.Value)
		return e.Node("ConstantOfShape", Attributes{"value": v})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		v, ok := n.Tensor("value")
		if !ok {
			return FillAttrs{Type: numeric.F32}, n.Inputs, nil
		}
		if v.Len() != 1 {
			return nil, nil, fmt.Errorf("value has %d elements, want 1", v.Len())
		}
		return FillAttrs{v.Type, append([]byte(nil), v.Data...)}, n.Inputs, nil
	},
}

// Sequence is ONNX's Range: start, start+delta, ... up to limit, without it. The number of elements must follow from
// constants and the inputs' shapes.
var Sequence = &Op{
	Name:  "Range",
	Reals: AsStored,
	Onnx:  []string{"Range"},
	Class: ClassSource, Inputs: []Role{Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		var t [3]*Tensor
		for i := range t {
			var err error
			if t[i], err = l.need(i); err != nil {
				return err
			}
			if n, ok := countDims(t[i].Dims); !ok || n != 1 || t[i].Type != t[0].Type {
				return fmt.Errorf("inputs %s and %s: want scalars of one type", t[0], t[i])
			}
		}
		n, err := sequenceLength(t)
		if err != nil {
			return err
		}
		out := l.Outputs[0]
		out.Type, out.Dims, out.Value = t[0].Type, []symbolic.Dim{n}, nil
		if count, ok := n.IsConst(); ok && count <= maxKnownValue && t[0].Value != nil && t[2].Value != nil {
			out.Value = make([]symbolic.Dim, count)
			for i := range out.Value {
				out.Value[i] = t[0].Value[0].Add(t[2].Value[0].MulN(i))
			}
		}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		n := out[0].Len()
		if in[0].Type.IsFloat() {
			x, start, delta := make([]float64, n), in[0].Float64s()[0], in[2].Float64s()[0]
			for i := range x {
				x[i] = start + float64(i)*delta
			}
			out[0].SetFloats(x)
			return nil
		}
		x, start, delta := make([]int64, n), in[0].Ints()[0], in[2].Ints()[0]
		for i := range x {
			x[i] = start + int64(i)*delta
		}
		out[0].SetInts(x, in[0].Type == numeric.U64)
		return nil
	},
}

// sequenceLength returns max(0, ceil((limit - start) / delta)), of reals with the roundings of float64.
func sequenceLength(t [3]*Tensor) (symbolic.Dim, error) {
	var f [3]symbolic.Real
	for i, x := range t {
		left := followed
		if v, ok := x.computed(&left, maxKnownValue); ok {
			f[i] = symbolic.RealConst(v.Float64s()[0])
			continue
		}
		left = followed
		list, ok := x.reals(&left)
		if !ok {
			return symbolic.Dim{}, fmt.Errorf("input %d (%s) does not follow from constants and the inputs' shapes", i, x.Name)
		}
		f[i] = list[0]
	}
	if t[0].Type.IsInteger() {
		if delta, ok := t[2].Ints(); ok && delta[0] != 0 && t[0].Value != nil && t[1].Value != nil {
			n, by := t[1].Value[0].Sub(t[0].Value[0]), delta[0]
			if by < 0 {
				n, by = n.MulN(-1), -by
			}
			return n.AtLeast0().AddN(by - 1).DivN(by), nil
		}
	}
	n, err := symbolic.Do("sub", true, f[1], f[0])
	if err == nil {
		n, err = symbolic.Do("quo", true, n, f[2])
	}
	if err == nil {
		n, err = symbolic.Do("ceil", true, n)
	}
	if err != nil {
		return symbolic.Dim{}, err
	}
	if v, ok := n.Const(); ok {
		if delta, ok := f[2].Const(); v != v || v > maxExtent || ok && delta == 0 {
			return symbolic.Dim{}, fmt.Errorf("from %s to %s by %s", f[0], f[1], f[2])
		}
		v = max(0, v)
		return symbolic.Const(int(v)), nil
	}
	if v, ok := f[2].Const(); !ok || v == 0 {
		return symbolic.Dim{}, fmt.Errorf("a sequence of symbolic length must have a constant delta other than 0")
	}
	return n.Trunc().AtLeast0(), nil
}

// EyeAttrs are the attributes of EyeLike.
type EyeAttrs struct {
	Type numeric.DataType
	K    int // which diagonal
}

// EyeLike returns a matrix of its input's shape with ones on diagonal K (positive: above the main one), else zeros.
var EyeLike = &Op{
	Name:  "EyeLike",
	Attrs: EyeAttrs{},
	Reals: AsStored,
	Onnx:  []string{"EyeLike"},
	Class: ClassSource, Inputs: []Role{Extents}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		if t := l.Attrs.(EyeAttrs).Type; len(x.Dims) != 2 || t.Size() == 0 || t == numeric.Str {
			return fmt.Errorf("input %s and type %s: want a matrix and numbers", x, t)
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = l.Attrs.(EyeAttrs).Type, x.Dims
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		rows, columns := out[0].Dims[0], out[0].Dims[1]
		x := make([]int64, rows*columns)
		for i := range rows {
			if j := i + l.Attrs.(EyeAttrs).K; j >= 0 && j < columns {
				x[i*columns+j] = 1
			}
		}
		out[0].SetInts(x, false)
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(EyeAttrs)
		return e.Node("EyeLike", Attributes{"dtype": a.Type, "k": a.K})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		if _, err := n.rank(0); err != nil {
			return nil, nil, err
		}
		a := EyeAttrs{Type: n.Inputs[0].Type, K: n.Int("k", 0)}
		err := n.elementType(&a.Type)
		return a, n.Inputs, err
	},
}
