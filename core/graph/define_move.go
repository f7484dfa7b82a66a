package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Shuffle says what [Definition.Shuffle] does, in this order; nil leaves a step out.
type Shuffle struct {
	First   []int // permutation of the axes
	Reshape []int // 0 is the extent on the same axis, one -1 what is left
	Second  []int // permutation of the new axes
}

// Shuffle adds up to three layers that permute axes, reshape, and permute again; the last of them has the name given by
// [Definition.Named].
func (d *Definition) Shuffle(x *Tensor, s Shuffle) *Tensor {
	var steps []func(d *Definition) *Tensor
	if s.First != nil {
		steps = append(steps, func(d *Definition) *Tensor { return d.Transpose(x, s.First...) })
	}
	if s.Reshape != nil {
		steps = append(steps, func(d *Definition) *Tensor { return d.Reshape(x, s.Reshape...) })
	}
	if s.Second != nil {
		steps = append(steps, func(d *Definition) *Tensor { return d.Transpose(x, s.Second...) })
	}
	for i, add := range steps {
		step := d
		if i < len(steps)-1 {
			step = d.suffixed(fmt.Sprintf("_%d", i))
		}
		x = add(step)
	}
	return x
}

// Transpose permutes the axes; none given reverses them.
func (d *Definition) Transpose(x *Tensor, perm ...int) *Tensor {
	return d.Layer(Transpose, TransposeAttrs{perm}, x)
}

// Reshape gives x another shape: 0 is the extent on the same axis, one -1 what is left.
func (d *Definition) Reshape(x *Tensor, dims ...int) *Tensor {
	return d.Layer(Reshape, ReshapeAttrs{}, x, d.list("Reshape", "shape", dims))
}

// Concat joins tensors along an axis.
func (d *Definition) Concat(axis int, inputs ...*Tensor) *Tensor {
	return d.Layer(Concat, ConcatAttrs{axis}, inputs...)
}

// Slice takes indices start, start+step, ... below end of each of the axes that the attributes name.
func (d *Definition) Slice(x *Tensor, a SliceAttrs) *Tensor { return d.Layer(Slice, a, x) }

// Pad adds constant elements around x: pads[i] at the begin of axis i, pads[rank+i] at its end.
func (d *Definition) Pad(x *Tensor, value float32, pads ...int) *Tensor {
	return d.Layer(Pad, PadAttrs{Mode: "constant", Pads: pads, Value: value}, x)
}

// Identity adds a copy.
func (d *Definition) Identity(x *Tensor) *Tensor { return d.Layer(Identity, nil, x) }

// Flatten makes a matrix of x: the axes before axis are its rows, those from it on its columns.
func (d *Definition) Flatten(x *Tensor, axis int) *Tensor {
	return d.Layer(Flatten, FlattenAttrs{axis}, x)
}

// Squeeze removes axes of extent 1: those given, or all of them.
func (d *Definition) Squeeze(x *Tensor, axes ...int) *Tensor {
	return d.Layer(Squeeze, SqueezeAttrs{axes}, x)
}

// Unsqueeze adds axes of extent 1 at the given places of the result.
func (d *Definition) Unsqueeze(x *Tensor, axes ...int) *Tensor {
	return d.Layer(Unsqueeze, UnsqueezeAttrs{axes}, x)
}

// Expand broadcasts x with a shape.
func (d *Definition) Expand(x *Tensor, dims ...int) *Tensor {
	return d.Layer(Expand, nil, x, d.list("Expand", "shape", dims))
}

// Tile repeats x so many times along each axis.
func (d *Definition) Tile(x *Tensor, repeats ...int) *Tensor {
	return d.Layer(Tile, TileAttrs{repeats}, x)
}

// Split cuts x along an axis into tensors of the given extents.
func (d *Definition) Split(x *Tensor, axis int, sizes ...int) []*Tensor {
	return d.Layers(Split, SplitAttrs{axis, sizes}, len(sizes), x)
}

// DepthToSpace moves channels of x [N,C*b*b,H,W] into blocks of b x b places.
func (d *Definition) DepthToSpace(x *Tensor, a BlockAttrs) *Tensor {
	return d.Layer(DepthToSpace, a, x)
}

// SpaceToDepth moves blocks of b x b places of x [N,C,H,W] into channels.
func (d *Definition) SpaceToDepth(x *Tensor, a BlockAttrs) *Tensor {
	return d.Layer(SpaceToDepth, a, x)
}

// Trilu keeps a triangle of the last two axes and sets the rest to 0.
func (d *Definition) Trilu(x *Tensor, a TriluAttrs) *Tensor { return d.Layer(Trilu, a, x) }

// Resize resamples x. What the attributes leave open is ONNX's default: nearest, half_pixel, round_prefer_floor and, for
// cubic, -0.75.
func (d *Definition) Resize(x *Tensor, a ResizeAttrs) *Tensor {
	for _, open := range []struct {
		text *string
		def  string
	}{{&a.Mode, "nearest"}, {&a.Coordinates, "half_pixel"}, {&a.Nearest, "round_prefer_floor"}} {
		if *open.text == "" {
			*open.text = open.def
		}
	}
	if a.CubicA == 0 {
		a.CubicA = -0.75
	}
	return d.Layer(Resize, a, x)
}

// Gather takes the slices of x at the given indices of an axis; the axes of indices take its place.
func (d *Definition) Gather(x, indices *Tensor, axis int) *Tensor {
	return d.Layer(Gather, GatherAttrs{axis}, x, indices)
}

// GatherElements takes single elements: along the axis, the one at the index of each place.
func (d *Definition) GatherElements(x, indices *Tensor, axis int) *Tensor {
	return d.Layer(GatherElements, GatherAttrs{axis}, x, indices)
}

// GatherND takes the slices of x that the rows of indices name, behind so many batch axes.
func (d *Definition) GatherND(x, indices *Tensor, batchDims int) *Tensor {
	return d.Layer(GatherND, GatherNDAttrs{batchDims}, x, indices)
}

// ScatterElements puts single elements of updates into x. A Reduction of "" counts as "none".
func (d *Definition) ScatterElements(x, indices, updates *Tensor, a ScatterAttrs) *Tensor {
	return d.Layer(ScatterElements, a.whole(), x, indices, updates)
}

// ScatterND puts slices of updates into x. A Reduction of "" counts as "none".
func (d *Definition) ScatterND(x, indices, updates *Tensor, a ScatterAttrs) *Tensor {
	return d.Layer(ScatterND, a.whole(), x, indices, updates)
}

// TensorScatter writes update over data along an axis, from the place on that each item of the batch has in places, which may be
// nil.
func (d *Definition) TensorScatter(data, update, places *Tensor, a TensorScatterAttrs) *Tensor {
	return d.Layer(TensorScatter, a, data, update, places)
}

func (a ScatterAttrs) whole() ScatterAttrs {
	if a.Reduction == "" {
		a.Reduction = "none"
	}
	return a
}

// OneHot adds a new axis of extent a.Depth to indices, with values[1] at the index and values[0] elsewhere.
func (d *Definition) OneHot(indices, values *Tensor, a OneHotAttrs) *Tensor {
	return d.Layer(OneHot, a, indices, values)
}

// TopK takes the K largest or smallest elements along an axis, in order, and their I64 indices.
func (d *Definition) TopK(x *Tensor, a TopKAttrs) (values, indices *Tensor) {
	list := d.Layers(TopK, a, 2, x)
	return list[0], list[1]
}

// ShapeInput adds an input, a list of I64, on whose elements shapes depend: symbols and constants, whose values are given where shapes
// of inputs are.
func (d *Definition) ShapeInput(name string, elements ...symbolic.Dim) *Tensor {
	t := d.Input(name, numeric.I64, symbolic.Const(len(elements)))
	if err := t.MakeShape(elements...); err != nil && d.net.IsInput(t) {
		d.fail(err)
	}
	return t
}

// ReshapeTo is [Definition.Reshape] to the extents that the elements of shape are, as of a [Definition.ShapeInput].
func (d *Definition) ReshapeTo(x, shape *Tensor) *Tensor {
	return d.Layer(Reshape, ReshapeAttrs{}, x, shape)
}

// ExpandTo is [Definition.Expand] to the extents that the elements of shape are.
func (d *Definition) ExpandTo(x, shape *Tensor) *Tensor { return d.Layer(Expand, nil, x, shape) }

// ShapeOf adds the I64 list of x's extents.
func (d *Definition) ShapeOf(x *Tensor) *Tensor {
	rank := 0
	if x != nil {
		rank = len(x.Dims)
	}
	return d.Layer(ShapeOf, ShapeAttrs{0, rank}, x)
}

// SizeOf adds the I64 number of x's elements.
func (d *Definition) SizeOf(x *Tensor) *Tensor { return d.Layer(SizeOf, nil, x) }

// ConstantOfShape adds a tensor of the shape that an I64 list says, filled with the only element of a value.
func (d *Definition) ConstantOfShape(shape *Tensor, v numeric.Value) *Tensor {
	if v.Len() != 1 || v.Check() != nil {
		d.fail(fmt.Errorf("layer %s (ConstantOfShape): the value is %s%v, want one element", d.name, v.Type, v.Dims))
		return d.none()
	}
	return d.Layer(ConstantOfShape, FillAttrs{v.Type, v.Data}, shape)
}

// Sequence adds start, start+delta, ... up to limit, without it: ONNX's Range.
func (d *Definition) Sequence(start, limit, delta *Tensor) *Tensor {
	return d.Layer(Sequence, nil, start, limit, delta)
}

// EyeLike adds a matrix of x's shape with ones on a diagonal; a type that is not given is x's.
func (d *Definition) EyeLike(x *Tensor, a EyeAttrs) *Tensor {
	if a.Type == numeric.Invalid && x != nil {
		a.Type = x.Type
	}
	return d.Layer(EyeLike, a, x)
}

// Cast converts x to another type.
func (d *Definition) Cast(x *Tensor, to numeric.DataType) *Tensor {
	return d.Layer(Cast, CastAttrs{To: to}, x)
}

// BitCast adds elements of another type with the bits of x's.
func (d *Definition) BitCast(x *Tensor, to numeric.DataType) *Tensor {
	return d.Layer(BitCast, BitCastAttrs{To: to}, x)
}

// Quantize adds the integers of type t that stand for x by a range: ONNX's QuantizeLinear.
func (d *Definition) Quantize(x *Tensor, r numeric.Range, t numeric.DataType) *Tensor {
	return d.Layer(Quantize, QuantAttrs{Range: r, Type: t}, x)
}

// Dequantize adds the real numbers of type t that x's integers stand for by a range: ONNX's DequantizeLinear.
func (d *Definition) Dequantize(x *Tensor, r numeric.Range, t numeric.DataType) *Tensor {
	return d.Layer(Dequantize, QuantAttrs{Range: r, Type: t}, x)
}

// DynamicQuantize adds x in U8, by a range that is computed from it, with the scale and the zero point.
func (d *Definition) DynamicQuantize(x *Tensor) (y, scale, zero *Tensor) {
	list := d.Layers(DynamicQuantize, nil, 3, x)
	return list[0], list[1], list[2]
}

// Reformat adds a copy in another memory format, which a builder chooses. Networks need none.
func (d *Definition) Reformat(x *Tensor) *Tensor { return d.Layer(Reformat, nil, x) }

// RandomUniform adds numbers between a.A and a.B, of the shape that an I64 list says.
func (d *Definition) RandomUniform(shape *Tensor, a RandomAttrs) *Tensor {
	return d.Layer(RandomUniform, a, shape)
}

// RandomNormal adds numbers of mean a.A and standard deviation a.B, of the shape that an I64 list says.
func (d *Definition) RandomNormal(shape *Tensor, a RandomAttrs) *Tensor {
	return d.Layer(RandomNormal, a, shape)
}

// Places adds the places that a list has of as many elements as x says, an integer of one element that data decide: so it becomes an
// extent.
func (d *Definition) Places(x *Tensor, a PlacesAttrs) *Tensor {
	return d.Layer(Places, a, x)
}
