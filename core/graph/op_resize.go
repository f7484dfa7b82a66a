package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ResizeAttrs are the attributes of Resize. Scales, Sizes and Region are for every axis. With both scales and sizes, the
// sizes are the extents and the scales map coordinates; with neither, the layer's input 1, an I64 list, says the sizes.
type ResizeAttrs struct {
	Scales         []float32 // output extents are floor(input * scale), if there are no sizes
	Sizes          []int     // output extents
	Mode           string    // nearest, linear or cubic
	Coordinates    string    // how an output index maps to an input coordinate: ONNX's coordinate_transformation_mode
	Whole          bool      // with align_corners: the last element is that of the output's extent, not of the scale's product with the input's
	Nearest        string    // how a coordinate rounds to an index: ONNX's nearest_mode, or ByDirection
	CubicA         float32   // cubic_coeff_a
	ExcludeOutside bool      // weights of indices outside count 0, and the others are normalised
	Antialias      bool      // when it shrinks, the filter widens
	Region         []float32 // with tf_crop_and_resize: begin of every axis, then end of every axis, from 0 to 1
	Extrapolation  float32   // with tf_crop_and_resize: the value outside the input
}

// Resize resamples along each axis, one after the other; the coordinate rules are those of ONNX's operator. It imports
// Upsample as well.
var Resize = &Op{
	Name:  "Resize",
	Attrs: ResizeAttrs{},
	Onnx:  []string{"Resize", "Upsample"},
	Class: ClassResampling, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves:  resizeMovement,
	FLOPs:  resizeFLOPs,
	Infer:  inferResize,
	Eval:   evalResize,
	Import: importResize,
	Export: exportResize,
}

// ByDirection rounds down along axes that grow and up along those that shrink, as Resize of opset 10 does.
const ByDirection = "by_direction"

var resizeCoordinates = []string{
	"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn",
}

// resizeMovement: nearest takes elements as they are, but for what a crop reaches outside them.
func resizeMovement(l *Layer) Movement {
	if a := l.Attrs.(ResizeAttrs); a.Mode == "nearest" && a.Coordinates != "tf_crop_and_resize" {
		return Moved
	}
	return Computed
}

func inferResize(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	a, rank := l.Attrs.(ResizeAttrs), len(x.Dims)
	switch {
	case !slices.Contains([]string{"nearest", "linear", "cubic"}, a.Mode):
		return fmt.Errorf("mode %q is unknown", a.Mode)
	case !slices.Contains(resizeCoordinates, a.Coordinates):
		return fmt.Errorf("coordinate_transformation_mode %q is unknown", a.Coordinates)
	case a.Mode == "nearest" && !slices.Contains([]string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", ByDirection}, a.Nearest):
		return fmt.Errorf("nearest_mode %q is unknown", a.Nearest)
	case a.Coordinates == "tf_crop_and_resize" && len(a.Region) != 2*rank:
		return fmt.Errorf("roi has %d elements, want 2 for each of %d axes", len(a.Region), rank)
	}
	var dims []symbolic.Dim
	switch {
	case a.Sizes != nil:
		dims = symbolic.Shape(a.Sizes...)
	case a.Scales != nil:
		for i, s := range a.Scales {
			if i < rank {
				d, err := scaledDim(x.Dims[i], s)
				if err != nil {
					return fmt.Errorf("axis %d: %w", i, err)
				}
				dims = append(dims, d)
			}
		}
	default:
		if dims, err = l.knownInput(1, "sizes"); err != nil {
			return err
		}
	}
	if len(dims) != rank || a.Scales != nil && len(a.Scales) != rank {
		return fmt.Errorf("scales or sizes for %d axes, the input has %d", max(len(dims), len(a.Scales)), rank)
	}
	for i, d := range dims {
		if x.Dims[i].Is(0) && !d.Is(0) {
			return fmt.Errorf("axis %d of %s is empty", i, x)
		}
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), dims
	return nil
}

// scaledDim returns floor(d * scale).
func scaledDim(d symbolic.Dim, scale float32) (symbolic.Dim, error) {
	if !(scale > 0) || scale > 1<<20 {
		return symbolic.Dim{}, fmt.Errorf("scale %v", scale)
	}
	scaled, err := symbolic.Do("mul", true, symbolic.RealOf(d), symbolic.RealConst(float64(scale)))
	return scaled.Trunc(), err
}

func evalResize(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(ResizeAttrs)
	dims, data := slices.Clone(in[0].Dims), in[0].Float64s()
	for axis, n := range out[0].Dims {
		from := dims[axis]
		r := a.resampler(axis, len(dims), from, n)
		if r.idle() {
			continue
		}
		outer, inner := numeric.Count(dims[:axis]), numeric.Count(dims[axis+1:])
		next := make([]float64, outer*n*inner)
		for i := range n {
			taps, inside := r.taps(i)
			for o := range outer {
				row := next[(o*n+i)*inner:][:inner]
				for k := range row {
					if !inside {
						row[k] = float64(a.Extrapolation)
					}
					for _, t := range taps {
						row[k] += t.Weight * data[(o*from+t.Index)*inner+k]
					}
				}
			}
		}
		data, dims[axis] = next, n
	}
	if t := out[0].Type; t.IsInteger() {
		for i, v := range data {
			data[i] = math.RoundToEven(v)
		}
	}
	out[0].SetFloats(data)
	return nil
}

// ResizeTap is an index of an axis of the input and its share in an index of the output.
type ResizeTap struct {
	Index  int
	Weight float64
}

// Taps returns, for each of the to indices of an axis of the output, the indices of the input's from that it is made of;
// none where the value is the extrapolation. The result is nil where the axis stays as it is.
func (a ResizeAttrs) Taps(axis, rank, from, to int) [][]ResizeTap {
	r := a.resampler(axis, rank, from, to)
	if r.idle() {
		return nil
	}
	list := make([][]ResizeTap, to)
	for i := range list {
		list[i], _ = r.taps(i)
	}
	return list
}

// resampler returns the resampler of an axis.
func (a ResizeAttrs) resampler(axis, rank, from, to int) resampler {
	r := resampler{ResizeAttrs: a, in: from, out: to, scale: float64(to) / float64(max(1, from)), begin: 0, end: 1}
	if a.Scales != nil {
		r.scale = float64(a.Scales[axis])
	}
	if a.Coordinates == "tf_crop_and_resize" {
		r.begin, r.end = float64(a.Region[axis]), float64(a.Region[rank+axis])
	}
	return r
}

// idle reports whether the axis stays as it is.
func (r resampler) idle() bool {
	return r.Coordinates != "tf_crop_and_resize" && r.scale == 1 && r.in == r.out
}

// resampler computes one axis.
type resampler struct {
	ResizeAttrs
	in, out    int
	scale      float64
	begin, end float64 // of the region
}

// taps returns the weights of input indices for output index i; inside is false where the value is the extrapolation.
func (r resampler) taps(i int) (taps []ResizeTap, inside bool) {
	x := r.coordinate(float64(i))
	if r.Coordinates == "tf_crop_and_resize" && (x < 0 || x > float64(r.in-1)) {
		return nil, false
	}
	if r.Mode == "nearest" {
		return []ResizeTap{{r.clamp(r.round(x)), 1}}, true
	}
	// An x on an index belongs to the interval on its left, as in ONNX's definition.
	base := math.Ceil(x) - 1
	ratio, scale := x-base, 1.0
	if r.Antialias {
		scale = min(1, r.scale)
	}
	support, kernel := 1.0, r.linear
	if r.Mode == "cubic" {
		support, kernel = 2, r.cubic
	}
	first := math.Floor(-support/scale) + 1
	sum := 0.0
	for k := first; k <= 1-first; k++ {
		t := ResizeTap{int(base + k), kernel((k - ratio) * scale)}
		if r.ExcludeOutside && (t.Index < 0 || t.Index >= r.in) {
			t.Weight = 0
		}
		t.Index = r.clamp(t.Index)
		taps = append(taps, t)
		sum += t.Weight
	}
	for k := range taps {
		taps[k].Weight /= sum
	}
	return taps, true
}

func (r resampler) clamp(i int) int { return max(0, min(r.in-1, i)) }

// coordinate returns where output index i lies on the input.
func (r resampler) coordinate(i float64) float64 {
	in, length := float64(r.in), r.scale*float64(r.in)
	switch r.Coordinates {
	case "align_corners":
		if r.Whole {
			length = float64(r.out)
		}
		if length == 1 {
			return 0
		}
		return i * (in - 1) / (length - 1)
	case "asymmetric":
		return float64(float32(i / r.scale)) // scales of F32 are rarely what was meant: 3/0.6 is 5
	case "tf_crop_and_resize":
		if length == 1 {
			return (r.begin + r.end) * (in - 1) / 2
		}
		return r.begin*(in-1) + i*(r.end-r.begin)*(in-1)/(length-1)
	case "tf_half_pixel_for_nn":
		return (i + 0.5) / r.scale
	case "half_pixel_symmetric":
		return in/2*(1-float64(r.out)/length) + (i+0.5)/r.scale - 0.5
	case "pytorch_half_pixel":
		if length == 1 {
			return -0.5
		}
	}
	return (i+0.5)/r.scale - 0.5
}

// round returns the index that is nearest to x.
func (r resampler) round(x float64) int {
	switch mode := r.Nearest; {
	case mode == "round_prefer_ceil":
		x = math.Floor(x + 0.5)
	case mode == "floor", mode == ByDirection && r.scale >= 1:
		x = math.Floor(x)
	case mode == "ceil", mode == ByDirection:
		x = math.Ceil(x)
	default:
		x = math.Ceil(x - 0.5)
	}
	return int(max(-1, min(float64(r.in), x)))
}

// linear is the triangle filter.
func (r resampler) linear(x float64) float64 { return max(0, 1-math.Abs(x)) }

// cubic is the cubic convolution filter with parameter A (Keys, Cubic convolution interpolation, 1981).
func (r resampler) cubic(x float64) float64 {
	x, a := math.Abs(x), float64(r.CubicA)
	switch {
	case x <= 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((a*x-5*a)*x+8*a)*x - 4*a
	}
	return 0
}
