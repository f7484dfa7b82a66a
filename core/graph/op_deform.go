package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// DeformAttrs are the attributes of the columns of a deformable convolution. Empty lists mean 1 for strides and dilations and 0
// for pads.
type DeformAttrs struct {
	Kernel, Strides, Dilations []int
	Pads                       []int // begin of both spatial axes, then end of both
	Offsets                    int   // groups of input channels that share offsets
	Group                      int   // of the convolution
}

// DeformColumns has the elements that a deformable convolution (Dai et al., 2017) multiplies with its weights: x [N,C,H,W] at the
// taps of its window [k1,k2], each moved by an offset of its own: y [N,Group,E1*E2,C/Group*k1*k2], whose last axis is of channels
// and the taps of each. Offsets are [N,Offsets*k1*k2*2,E1,E2], of rows and then of columns; the mask [N,Offsets*k1*k2,E1,E2],
// which may be left out, is a factor. Between elements x is interpolated along both axes, and it is 0 outside.
//
// With a matrix product behind it, it is ONNX's DeformConv of two spatial axes.
var DeformColumns = &Op{
	Name:  "DeformColumns",
	Attrs: DeformAttrs{},
	Class: ClassResampling, Inputs: []Role{Data, Parameter, Parameter}, Memory: Written,
	Moves:  computed,
	FLOPs:  func(l *Layer, env map[string]int) int64 { return 9 * outputCount(l, env) },
	Infer:  inferDeform,
	Eval:   evalDeform,
	Export: exportDeform,
}

func inferDeform(l *Layer) error {
	x, err := l.needNumber(0)
	if err != nil {
		return err
	}
	offset, err := l.needNumber(1)
	if err != nil {
		return err
	}
	a := l.Attrs.(DeformAttrs)
	if len(x.Dims) != 4 || len(offset.Dims) != 4 || len(a.Kernel) != 2 || offset.Quantized() {
		return fmt.Errorf("input %s with offsets %s and a kernel of %v: only two spatial axes are supported", x.TypeString(), offset.TypeString(), a.Kernel)
	}
	if err := checkList("kernel_shape", a.Kernel, 2, 1); err != nil {
		return err
	}
	places, err := windowDims(a.Kernel, a.Strides, a.Dilations, a.Pads, AutoPadNone, x.Dims[2:])
	if err != nil {
		return err
	}
	taps, channels := numeric.Count(a.Kernel), x.Dims[1]
	if taps > maxWindow {
		return fmt.Errorf("kernel %v is too large", a.Kernel)
	}
	if n, ok := channels.IsConst(); a.Group < 1 || a.Offsets < 1 || a.Offsets > maxWindow || ok && (n%a.Group != 0 || n%a.Offsets != 0) {
		return fmt.Errorf("group %d and offset_group %d do not divide the %s channels", a.Group, a.Offsets, channels)
	}
	fits := func(t *Tensor, rows int) bool {
		return SameShape(t.Dims, append([]symbolic.Dim{x.Dims[0], symbolic.Const(rows)}, places...))
	}
	if !fits(offset, 2*taps*a.Offsets) {
		return fmt.Errorf("offsets %s: want [%s,%d,%s,%s]", offset.TypeString(), x.Dims[0], 2*taps*a.Offsets, places[0], places[1])
	}
	if mask := l.Input(2); mask != nil {
		if mask, err = l.needNumber(2); err != nil {
			return err
		}
		if mask.Quantized() || !fits(mask, taps*a.Offsets) {
			return fmt.Errorf("mask %s: want [%s,%d,%s,%s]", mask.TypeString(), x.Dims[0], taps*a.Offsets, places[0], places[1])
		}
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), []symbolic.Dim{x.Dims[0], symbolic.Const(a.Group), productOf(places), channels.DivN(a.Group).MulN(taps)}
	return nil
}

// DeformTap is one of up to four elements of a plane and its share in what lies between them.
type DeformTap struct {
	Index  int
	Weight float32
}

// PlaneTaps returns the elements of a plane that a place, in elements, lies between, those outside with no weight.
func PlaneTaps(y, x float32, height, width int) (taps [4]DeformTap) {
	if !(y > -1 && y < float32(height) && x > -1 && x < float32(width)) {
		return taps
	}
	top, left := float32(math.Floor(float64(y))), float32(math.Floor(float64(x)))
	dy, dx, row, column := y-top, x-left, int(top), int(left)
	for i, w := range [4]float32{(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx} {
		r, c := row+i/2, column+i%2
		if r >= 0 && r < height && c >= 0 && c < width {
			taps[i] = DeformTap{r*width + c, w}
		}
	}
	return taps
}

// Place returns where a tap of the window at a place of the output lies, without its offset.
func (a DeformAttrs) Place(axis, place, tap int) int {
	return place*at(a.Strides, axis, 1) + tap*at(a.Dilations, axis, 1) - at(a.Pads, axis, 0)
}

func evalDeform(l *Layer, in, out []numeric.Value) error {
	a, x, offset := l.Attrs.(DeformAttrs), in[0], in[1].Float64s()
	channels, height, width, places, columns := x.Dims[1], x.Dims[2], x.Dims[3], in[1].Dims[2:], in[1].Dims[3]
	taps, plane, points := numeric.Count(a.Kernel), height*width, numeric.Count(places)
	per, each := channels/a.Group, channels/a.Offsets
	src, y := x.Float64s(), make([]float64, out[0].Len())
	var mask []float64
	if len(in) > 2 && in[2].Data != nil {
		mask = in[2].Float64s()
	}
	for i := range x.Dims[0] * a.Offsets * taps * points {
		p, k, g := i%points, i/points%taps, i/points/taps // g counts items and groups of offsets
		moved := offset[(g*taps+k)*2*points+p:]
		row := float32(a.Place(0, p/columns, k/a.Kernel[1])) + float32(moved[0])
		column := float32(a.Place(1, p%columns, k%a.Kernel[1])) + float32(moved[points])
		list := PlaneTaps(row, column, height, width)
		for c := range each {
			c, sum := g%a.Offsets*each+c, 0.0
			for _, t := range list {
				if t.Weight != 0 {
					sum += float64(t.Weight) * src[(g/a.Offsets*channels+c)*plane+t.Index]
				}
			}
			if mask != nil {
				sum *= mask[i]
			}
			y[(((g/a.Offsets*a.Group+c/per)*points+p)*per+c%per)*taps+k] = sum
		}
	}
	out[0].SetFloats(y)
	return nil
}

// exportDeform writes a DeformConv in which each of the window's taps of each channel is a channel of the output.
func exportDeform(e *Exporter) error {
	a, x := e.Layer.Attrs.(DeformAttrs), e.Layer.Inputs[0]
	channels, ok := x.Dims[1].IsConst()
	if !ok {
		return fmt.Errorf("the number of channels of %s is open", x)
	}
	taps := numeric.Count(a.Kernel)
	w := numeric.NewValue(numeric.F32, append([]int{channels * taps, 1}, a.Kernel...)...)
	for i := range channels * taps {
		w.F32()[i*taps+i%taps] = 1
	}
	typ, mixed := x.RealType(), false
	for _, t := range e.Layer.OpInputs() {
		mixed = mixed || t != nil && t.Type != typ
	}
	input := e.Input
	if mixed { // ONNX's operator takes one type
		typ = numeric.F32
		input = func(i int) string {
			if t := e.Layer.Input(i); t == nil || t.Type == numeric.F32 {
				return e.Input(i)
			}
			return e.Step("Cast", Attributes{"to": numeric.F32}, e.Input(i))
		}
	}
	weights := numeric.NewValue(typ, w.Dims...)
	weights.SetFloats(w.Float64s())
	y := e.Step("DeformConv", Attributes{"kernel_shape": a.Kernel, "strides": a.Strides, "dilations": a.Dilations, "pads": a.Pads,
		"group": channels, "offset_group": a.Offsets}, input(0), e.Constant("weights", weights), input(1), "", input(2))
	points := -1
	if n, ok := e.Layer.Outputs[0].Dims[2].IsConst(); ok {
		points = n
	}
	y = e.Step("Reshape", nil, y, e.list("shape", []int{0, a.Group, channels * taps / a.Group, points}))
	transposed := Attributes{"perm": []int{0, 1, 3, 2}}
	if mixed {
		return e.Node("Cast", Attributes{"to": e.Layer.Outputs[0].Type}, e.Step("Transpose", transposed, y))
	}
	return e.Node("Transpose", transposed, y)
}
