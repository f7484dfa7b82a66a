package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// GridSampleAttrs are the attributes of GridSample.
type GridSampleAttrs struct {
	Mode         string // nearest, linear or cubic, along each axis
	Padding      string // outside of the input: zeros, border (its nearest element) or reflection (at its borders)
	AlignCorners bool   // -1 and 1 are the centres of the outermost elements, not their outer edges
}

// GridSample takes x [N,C,D1,...,Dk] at the points of a grid [N,E1,...,Ek,k], whose coordinates go from -1 to 1 along each axis,
// the last axis first: y [N,C,E1,...,Ek]. Its rules are those of ONNX's operator. A point that is no number is outside of
// everything: the result is 0.
var GridSample = &Op{
	Name:  "GridSample",
	Attrs: GridSampleAttrs{},
	Onnx:  []string{"GridSample"},
	Class: ClassResampling, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves:  computed,
	FLOPs:  gridSampleFLOPs,
	Infer:  inferGridSample,
	Eval:   evalGridSample,
	Import: importGridSample,
	Export: exportGridSample,
}

func importGridSample(n *Node) (any, []*Tensor, error) {
	mode := "linear"
	if n.Version < 20 {
		mode = "bilinear"
	}
	a := GridSampleAttrs{n.String("mode", mode), n.String("padding_mode", "zeros"), n.Flag("align_corners", false)}
	switch a.Mode { // the names of operator set 16
	case "bilinear":
		a.Mode = "linear"
	case "bicubic":
		a.Mode = "cubic"
	}
	return a, n.Inputs, nil
}

func exportGridSample(e *Exporter) error {
	a := e.Layer.Attrs.(GridSampleAttrs)
	return e.Node("GridSample", Attributes{"mode": a.Mode, "padding_mode": a.Padding, "align_corners": a.AlignCorners})
}

// maxGridAxes bounds the spatial axes of a sampled tensor: a point reads 4 elements along each with cubic interpolation.
const maxGridAxes = 3

func inferGridSample(l *Layer) error {
	x, err := l.needNumber(0)
	if err != nil {
		return err
	}
	grid, err := l.needNumber(1)
	if err != nil {
		return err
	}
	a, k := l.Attrs.(GridSampleAttrs), len(x.Dims)-2
	last := len(grid.Dims) - 1
	switch {
	case !slices.Contains([]string{"nearest", "linear", "cubic"}, a.Mode):
		return fmt.Errorf("mode %q is unknown", a.Mode)
	case !slices.Contains([]string{"zeros", "border", "reflection"}, a.Padding):
		return fmt.Errorf("padding_mode %q is unknown", a.Padding)
	case k < 1 || k > maxGridAxes:
		return fmt.Errorf("input %s: want 1 to %d spatial axes", x.TypeString(), maxGridAxes)
	case last != k+1 || conflict(grid.Dims[last], symbolic.Const(k)) || conflict(grid.Dims[0], x.Dims[0]):
		return fmt.Errorf("grid %s is not one of points on the %d spatial axes of %s", grid.TypeString(), k, x.TypeString())
	case grid.Quantized():
		return fmt.Errorf("the grid %s is quantised", grid)
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), slices.Concat(x.Dims[:2], grid.Dims[1:last])
	return nil
}

// Taps returns how many elements of each spatial axis a point is made of.
func (a GridSampleAttrs) Taps() int {
	switch a.Mode {
	case "nearest":
		return 1
	case "linear":
		return 2
	}
	return 4
}

// gridSampleFLOPs counts the multiply-adds of all elements that a point is made of.
func gridSampleFLOPs(l *Layer, env map[string]int) int64 {
	if l.Attrs.(GridSampleAttrs).Mode == "nearest" {
		return 0
	}
	taps := int64(1)
	for range len(l.Inputs[0].Dims) - 2 {
		taps *= int64(l.Attrs.(GridSampleAttrs).Taps())
	}
	return 2 * taps * outputCount(l, env)
}

func evalGridSample(l *Layer, in, out []numeric.Value) error {
	a, x, grid := l.Attrs.(GridSampleAttrs), in[0], in[1]
	dims := x.Dims[2:]
	if slices.Contains(dims, 0) {
		return fmt.Errorf("samples of %v, which has no elements", x.Dims)
	}
	k, plane, points := len(dims), numeric.Count(dims), numeric.Count(out[0].Dims[2:])
	src, at, y := x.Float64s(), grid.Float64s(), make([]float64, out[0].Len())
	taps := make([][]GridTap, k)
	for i := range x.Dims[0] * points {
		n, p := i/points, i%points
		for axis, extent := range dims {
			taps[axis] = a.AxisTaps(taps[axis][:0], float32(at[i*k+k-1-axis]), extent)
		}
		for c := range x.Dims[1] {
			y[(n*x.Dims[1]+c)*points+p] = sampled(src[(n*x.Dims[1]+c)*plane:][:plane], dims, taps)
		}
	}
	out[0].SetFloats(y)
	return nil
}

// sampled returns the sum of the elements of a plane that taps along each axis name, each with the product of their weights.
func sampled(plane []float64, dims []int, taps [][]GridTap) (sum float64) {
	if len(dims) == 0 {
		return plane[0]
	}
	rest := numeric.Count(dims[1:])
	for _, t := range taps[0] {
		sum += float64(t.Weight) * sampled(plane[t.Index*rest:][:rest], dims[1:], taps[1:])
	}
	return sum
}

// GridTap is an index of an axis and its share in a point.
type GridTap struct {
	Index  int
	Weight float32
}

// AxisTaps appends the indices of an axis of n elements that a coordinate is made of, at most [GridSampleAttrs.Taps] of them:
// those outside are left out, or are others by the padding mode. Coordinates are computed with as ONNX Runtime computes with
// them, in float32, since where a coordinate lies on a border, the last bit decides.
func (a GridSampleAttrs) AxisTaps(taps []GridTap, coordinate float32, n int) []GridTap {
	extent, x := float32(n), float32(0)
	low, high := float32(-0.5), extent-0.5
	if a.AlignCorners {
		x = (coordinate + 1) / 2 * (extent - 1)
		low, high = 0, extent-1
	} else {
		x = (float32((coordinate+1)*extent) - 1) / 2
	}
	if a.Mode == "nearest" {
		x = float32(math.RoundToEven(float64(x)))
	}
	if x < low || x > high {
		switch {
		case a.Padding == "border" && a.Mode != "cubic": // of which the elements are those at the border, not the place
			x = max(0, min(extent-1, x))
		case a.Padding == "reflection":
			x = reflected(x, low, high)
		}
	}
	if !(x > -1e9 && x < 1e9) { // not a number, or further outside than any axis is long
		return taps
	}
	first := float32(math.Floor(float64(x)))
	i, ratio := int(first), x-first
	weights := [4]float32{1}
	switch a.Mode {
	case "linear":
		weights = [4]float32{1 - ratio, ratio}
	case "cubic":
		i, weights = i-1, cubicWeights(ratio)
	}
	for _, w := range weights[:a.Taps()] {
		at := i
		if i++; at < 0 || at >= n {
			switch a.Padding {
			case "zeros":
				continue
			case "reflection":
				at = int(reflected(float32(at), low, high))
			}
			at = max(0, min(n-1, at))
		}
		taps = append(taps, GridTap{at, w})
	}
	return taps
}

// reflected returns x reflected at two borders until it lies between them.
func reflected(x, low, high float32) float32 {
	span := high - low
	if span <= 0 {
		return low
	}
	over, from, other := x-high, high, low
	if x < low {
		over, from, other = low-x, low, high
	}
	if !(over > 0) {
		return x
	}
	times := float32(math.Trunc(float64(over / span)))
	rest := over - float32(times*span)
	if math.Mod(float64(times), 2) != 0 {
		from, other = other, from
	}
	if from < other {
		return from + rest
	}
	return from - rest
}

// cubicWeights are those of cubic convolution with the parameter -0.75 (Keys, Cubic convolution interpolation, 1981) of the four
// elements around a place so far behind the second of them.
func cubicWeights(ratio float32) [4]float32 {
	const a = -0.75
	outer := func(x float32) float32 { return ((a*x-5*a)*x+8*a)*x - 4*a }
	inner := func(x float32) float32 { return ((a+2)*x-(a+3))*x*x + 1 }
	return [4]float32{outer(ratio + 1), inner(ratio), inner(1 - ratio), outer(2 - ratio)}
}
