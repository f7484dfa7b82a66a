package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// importResize reads Resize of opset 10 (x, scales), of 11 and newer (x, roi, scales, sizes) and Upsample, whose scales are
// an attribute (opset 7) or input 1.
func importResize(n *Node) (any, []*Tensor, error) {
	rank, err := n.rank(0)
	if err != nil {
		return nil, nil, err
	}
	a := ResizeAttrs{
		Mode: n.String("mode", "nearest"), Coordinates: n.String("coordinate_transformation_mode", "half_pixel"),
		Nearest: n.String("nearest_mode", "round_prefer_floor"), CubicA: n.Float("cubic_coeff_a", -0.75),
		ExcludeOutside: n.Flag("exclude_outside", false), Antialias: n.Flag("antialias", false),
		Extrapolation: n.Float("extrapolation_value", 0),
	}
	if a.Mode == "bilinear" {
		a.Mode = "linear"
	}
	policy, axes := n.String("keep_aspect_ratio_policy", "stretch"), n.Ints("axes")
	if axes == nil {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	if axes, err = axesIn(axes, rank); err != nil {
		return nil, nil, err
	}
	scales, region, sizes := 2, 1, 3
	if n.OpType == "Upsample" || n.Version < 11 {
		a.Coordinates, a.Nearest = "asymmetric", "floor"
		scales, region, sizes = 1, -1, -1
		a.Scales = n.Floats("scales")
	}
	if region >= 0 && a.Coordinates == "tf_crop_and_resize" {
		list, _, err := n.knownFloats(region, "roi")
		if err != nil {
			return nil, nil, err
		}
		if len(list) != 2*len(axes) {
			return nil, nil, fmt.Errorf("roi has %d elements for %d axes, want two for each", len(list), len(axes))
		}
		zeros, ones := slices.Repeat([]float32{0}, rank), slices.Repeat([]float32{1}, rank)
		a.Region = append(onAxes(list[:len(axes)], axes, zeros), onAxes(list[len(axes):], axes, ones)...)
	}
	list, given, err := n.knownFloats(scales, "scales")
	if err != nil {
		return nil, nil, err
	}
	if given {
		if len(list) != len(axes) {
			return nil, nil, fmt.Errorf("%d scales for %d axes", len(list), len(axes))
		}
		a.Scales = onAxes(list, axes, slices.Repeat([]float32{1}, rank))
	}
	if a.Scales != nil {
		fraction := func(s float32) bool { return s != float32(math.Trunc(float64(s))) }
		a.Whole = a.Coordinates == "align_corners" && meansWhole(n.Producer) && slices.ContainsFunc(a.Scales, fraction)
		if n.OpType == "Resize" && n.Version < 11 {
			a.Nearest = a.byDirection()
		}
		return a, n.Inputs[:1], nil
	}
	if sizes < 0 || n.Input(sizes) == nil {
		return nil, nil, fmt.Errorf("there are neither scales nor sizes")
	}
	return n.importSizes(a, n.Inputs[sizes], policy, axes)
}

// meansWhole reports whether a producer's scales with align_corners stand for extents. ONNX's definition, and its cases, take the product
// of scale and extent as it is, of 1.7 and 10 elements 17 or of 1.7 and 9 elements 15.3; PyTorch aligns the last of 15 elements, as do the
// runtimes that its models are made for.
func meansWhole(producer string) bool {
	return strings.HasPrefix(producer, "pytorch") || strings.HasPrefix(producer, "onnxruntime") || producer == "onnx.quantize"
}

// byDirection returns ByDirection, or the nearest_mode that is the same for the scales: where the axes that do not stay all grow
// or all shrink.
func (a ResizeAttrs) byDirection() string {
	switch {
	case slices.Max(a.Scales) <= 1:
		return "ceil"
	case slices.Min(a.Scales) >= 1:
		return "floor"
	}
	return ByDirection
}

// exportResize writes what importResize reads. Where both scales and sizes are given, as a policy on the aspect ratio makes
// them, the scales alone are written if they give the sizes, and otherwise there is no form for it.
func exportResize(e *Exporter) error {
	a, x := e.Layer.Attrs.(ResizeAttrs), e.Layer.Inputs[0]
	attrs := Attributes{
		"mode": a.Mode, "coordinate_transformation_mode": a.Coordinates, "nearest_mode": a.Nearest, "cubic_coeff_a": a.CubicA,
		"exclude_outside": a.ExcludeOutside, "antialias": a.Antialias, "extrapolation_value": a.Extrapolation,
	}
	if a.Mode == "nearest" && a.Nearest == ByDirection {
		return e.resizeByDirection(a, attrs)
	}
	region, scales, sizes := "", "", e.Input(1)
	if a.Region != nil {
		region = e.Constant("roi", numeric.Values(numeric.F32, a.Region, len(a.Region)))
	}
	if a.Sizes != nil {
		sizes = e.list("sizes", a.Sizes)
	}
	dims := e.Layer.Outputs[0].Dims
	if a.Whole && !slices.ContainsFunc(dims, func(d symbolic.Dim) bool { _, fixed := d.IsConst(); return !fixed }) {
		a.Scales, sizes = nil, e.list("sizes", symbolic.Eval(dims, nil))
	}
	if a.Scales != nil {
		scales, sizes = e.Constant("scales", numeric.Values(numeric.F32, a.Scales, len(a.Scales))), ""
	}
	for i, want := range a.Sizes {
		n, ok := x.Dims[i].IsConst()
		if a.Scales != nil && (!ok || int(float64(n)*float64(a.Scales[i])) != want) {
			return fmt.Errorf("scale %v makes another extent of axis %d of %s than %d", a.Scales[i], i, x, want)
		}
	}
	return e.Node("Resize", attrs, e.Input(0), region, scales, sizes)
}

// resizeByDirection writes two nodes, as the newer Resize rounds alike on all axes: one for those that shrink, then one for those
// that grow.
func (e *Exporter) resizeByDirection(a ResizeAttrs, attrs Attributes) error {
	if a.Scales == nil || a.Sizes != nil || a.Coordinates == "tf_crop_and_resize" {
		return fmt.Errorf("nearest_mode %s has no form but with scales alone", a.Nearest)
	}
	parts := [2][]float32{}
	for _, s := range a.Scales {
		parts[0], parts[1] = append(parts[0], min(s, 1)), append(parts[1], max(s, 1))
	}
	ceil := maps.Clone(attrs)
	ceil["nearest_mode"], attrs["nearest_mode"] = "ceil", "floor"
	less := e.Step("Resize", ceil, e.Input(0), "", e.Constant("scales", numeric.Values(numeric.F32, parts[0], len(parts[0]))))
	return e.Node("Resize", attrs, less, "", e.Constant("scales", numeric.Values(numeric.F32, parts[1], len(parts[1]))))
}

// importSizes reads t, the input that says the extents of the given axes.
func (n *Node) importSizes(a ResizeAttrs, t *Tensor, policy string, axes []int) (any, []*Tensor, error) {
	x := n.Inputs[0]
	sizes, ok := t.Ints()
	if !ok {
		if len(axes) != len(x.Dims) || policy != "stretch" {
			return nil, nil, fmt.Errorf("sizes (%s) must be constant with attributes axes or keep_aspect_ratio_policy", t.Name)
		}
		return a, []*Tensor{x, t}, nil
	}
	if len(sizes) != len(axes) {
		return nil, nil, fmt.Errorf("%d sizes for %d axes", len(sizes), len(axes))
	}
	extents := make([]int, len(x.Dims))
	for i, d := range x.Dims {
		e, ok := d.IsConst()
		if !ok && (policy != "stretch" || !slices.Contains(axes, i)) {
			return a, nil, fmt.Errorf("sizes of some axes of %s, whose others are symbolic, are not supported", x)
		}
		extents[i] = e
	}
	if policy != "stretch" {
		scale := keepAspect(sizes, axes, extents, policy == "not_larger")
		a.Scales = onAxes(slices.Repeat([]float32{float32(scale)}, len(axes)), axes, slices.Repeat([]float32{1}, len(extents)))
	}
	a.Sizes = onAxes(sizes, axes, extents)
	return a, n.Inputs[:1], nil
}

// keepAspect replaces sizes by those of one scale for all axes, the smallest or the largest of theirs, and returns it.
func keepAspect(sizes, axes, extents []int, smallest bool) float64 {
	scale := math.NaN()
	for i, axis := range axes {
		s := float64(sizes[i]) / float64(extents[axis])
		if i == 0 || smallest == (s < scale) {
			scale = s
		}
	}
	for i, axis := range axes {
		sizes[i] = int(math.Floor(scale*float64(extents[axis]) + 0.5))
	}
	return scale
}

// onAxes returns rest with the elements for the given axes replaced.
func onAxes[T any](list []T, axes []int, rest []T) []T {
	rest = slices.Clone(rest)
	for i, a := range axes {
		rest[a] = list[i]
	}
	return rest
}

// knownFloats returns the elements of a constant input of real numbers; given is false if it is left out or empty.
func (n *Node) knownFloats(i int, what string) (list []float32, given bool, err error) {
	t := n.Input(i)
	if t == nil {
		return nil, false, nil
	}
	if size, ok := countDims(t.Dims); ok && size == 0 {
		return nil, false, nil
	}
	v, ok := t.Const()
	if !ok || !v.Type.IsFloat() {
		return nil, true, fmt.Errorf("%s (input %d, %s) must be constant", what, i, t.Name)
	}
	return v.Floats(), true, nil
}
