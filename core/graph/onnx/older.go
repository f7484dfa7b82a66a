package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Operators changed between the operator sets 1 and 7, and ops know them as they are since then. What a node of an older set says
// otherwise is said anew here before its op imports it.

// modernSet is the first operator set in which nodes are what ops know.
const modernSet = 7

// older rewrites the nodes of an operator set before modernSet, by operator. One that is not here only loses consumed_inputs,
// which said what may be overwritten.
var older = map[string]func(im *importer, n *graph.Node) error{
	"Add": alignSecond, "And": alignSecond, "Div": alignSecond, "Equal": alignSecond, "Greater": alignSecond, "Less": alignSecond,
	"Mul": alignSecond, "Or": alignSecond, "Pow": alignSecond, "Sub": alignSecond, "Xor": alignSecond,
	"BatchNormalization": without("is_test"), // which the number of outputs says as well
	"Cast":               castByName,
	"Concat":             concatChannels,
	"Dropout":            without("is_test"), // which only training asks for
	"Gemm":               without("broadcast"),
	"GlobalLpPool":       wholePower,
	"GRU":                without("output_sequence"), // that is asked for by the output
	"LSTM":               without("output_sequence"),
	"LpPool":             wholePower,
	"Pad":                padsByOldName,
	"PRelu":              alignSlopes,
	"RNN":                without("output_sequence"),
	"Reshape":            shapeAsInput,
	"Selu":               seluAsRounded,
	"Split":              splitByInput,
	"Tile":               tileAxis,
	"Upsample":           upsampleImages,
}

// modernise rewrites a node of an older operator set as one of modernSet. Layers and constants that this takes are added to the
// network, with names that begin with the node's.
func (im *importer) modernise(n *graph.Node) error {
	delete(n.Attrs, "consumed_inputs")
	if rewrite := older[n.OpType]; rewrite != nil {
		if err := rewrite(im, n); err != nil {
			return fmt.Errorf("operator set %d: %w", n.Version, err)
		}
	}
	n.Version = modernSet
	return nil
}

func intAttribute(v int) graph.Attr { return graph.Attr{Kind: graph.AttrInt, Int: int64(v)} }

// without drops an attribute that says nothing to an inference.
func without(attribute string) func(*importer, *graph.Node) error {
	return func(_ *importer, n *graph.Node) error {
		delete(n.Attrs, attribute)
		return nil
	}
}

// operands returns the first two inputs, both of which a node needs.
func operands(n *graph.Node) (a, b *graph.Tensor, err error) {
	if a, b = n.Input(0), n.Input(1); a == nil || b == nil {
		return nil, nil, fmt.Errorf("an input is missing")
	}
	return a, b, nil
}

// alignSecond does what broadcast and axis say: the first axis of the second input meets that axis of the first one; without axis
// the last ones meet, as in today's broadcasting.
func alignSecond(im *importer, n *graph.Node) error {
	a, b, err := operands(n)
	if err != nil {
		return err
	}
	rank := len(a.Dims)
	axis, behind := n.Int("axis", rank-len(b.Dims)), 0
	if axis < 0 && n.Has("axis") {
		axis += rank
	}
	if behind = rank - axis - len(b.Dims); axis < 0 || behind < 0 {
		return fmt.Errorf("inputs %s and %s do not meet at axis %d", a.TypeString(), b.TypeString(), axis)
	}
	if !n.Flag("broadcast", false) && !alike(a, b) {
		return fmt.Errorf("inputs %s and %s differ, and broadcast is 0", a.TypeString(), b.TypeString())
	}
	n.Inputs[1], err = im.unsqueezed(n, b, behind)
	return err
}

// alike reports whether both tensors have one shape, as far as it is known.
func alike(a, b *graph.Tensor) bool {
	return slices.EqualFunc(a.Dims, b.Dims, func(x, y symbolic.Dim) bool {
		m, known := x.IsConst()
		k, both := y.IsConst()
		return !known || !both || m == k
	})
}

// alignSlopes lets a list of slopes, which is one for each channel, meet axis 1.
func alignSlopes(im *importer, n *graph.Node) error {
	x, slope, err := operands(n)
	if err != nil || len(slope.Dims) != 1 || len(x.Dims) < 2 || slope.Dims[0].Is(1) {
		return err
	}
	n.Inputs[1], err = im.unsqueezed(n, slope, len(x.Dims)-2)
	return err
}

// unsqueezed returns t with so many axes of extent 1 behind its own.
func (im *importer) unsqueezed(n *graph.Node, t *graph.Tensor, behind int) (*graph.Tensor, error) {
	if behind == 0 {
		return t, nil
	}
	name := im.freshName(n.Name + "/Unsqueeze")
	if v, ok := t.Const(); ok {
		v.Dims = slices.Concat(v.Dims, slices.Repeat([]int{1}, behind))
		return im.net.AddConst(name, v), nil
	}
	var a graph.UnsqueezeAttrs
	for i := range behind {
		a.Axes = append(a.Axes, len(t.Dims)+i)
	}
	l, err := im.net.Add(name, graph.Unsqueeze, a, []*graph.Tensor{t})
	if err != nil {
		return nil, unwrapLayer(err)
	}
	return l.Outputs[0], nil
}

// integers adds a constant list of integers, an input that was an attribute once.
func (im *importer) integers(n *graph.Node, what string, elements ...int64) *graph.Tensor {
	return im.net.AddConst(im.freshName(n.Name+"/"+what), numeric.Values(numeric.I64, elements, len(elements)))
}

// freshName returns a name that no node or value of the model has, nor anything of the network.
func (im *importer) freshName(name string) string {
	for i, s := 2, name; ; i++ {
		if im.net.Tensor(s) == nil && im.net.Layer(s) == nil && !im.isReserved(s) {
			return s
		}
		s = fmt.Sprintf("%s_%d", name, i)
	}
}

// castByName reads the type's name.
func castByName(_ *importer, n *graph.Node) error {
	to, ok := n.Attrs["to"]
	if !ok || to.Kind != graph.AttrString {
		return nil
	}
	for i, t := range dataTypes {
		if strings.EqualFold(t.name, to.String) && i > 0 {
			n.Attrs["to"] = intAttribute(i)
			return nil
		}
	}
	return fmt.Errorf("there is no type %q to cast to", to.String)
}

// concatChannels sets the axis, which was 1 unless another was given.
func concatChannels(_ *importer, n *graph.Node) error {
	if !n.Has("axis") && n.Version < 4 {
		n.Attrs["axis"] = intAttribute(1)
	}
	return nil
}

// wholePower makes an exponent that is a float an int.
func wholePower(_ *importer, n *graph.Node) error {
	p, ok := n.Attrs["p"]
	if !ok || p.Kind != graph.AttrFloat {
		return nil
	}
	if float64(p.Float) != math.Trunc(float64(p.Float)) || p.Float < 0 || p.Float > 1<<20 {
		return fmt.Errorf("p is %g; only whole numbers are supported", p.Float)
	}
	n.Attrs["p"] = intAttribute(int(p.Float))
	return nil
}

func padsByOldName(_ *importer, n *graph.Node) error {
	if pads, ok := n.Attrs["paddings"]; ok {
		delete(n.Attrs, "paddings")
		n.Attrs["pads"] = pads
	}
	return nil
}

// shapeAsInput makes the attribute of a Reshape its input.
func shapeAsInput(im *importer, n *graph.Node) error {
	shape, ok := n.Attrs["shape"]
	if !ok || len(n.Inputs) != 1 {
		return nil
	}
	delete(n.Attrs, "shape")
	if shape.Kind != graph.AttrInts {
		return fmt.Errorf("attribute shape is no list of ints")
	}
	n.Inputs = append(n.Inputs, im.integers(n, "shape", shape.Ints...))
	return nil
}

// seluAsRounded sets the first version's parameters, which have fewer digits.
func seluAsRounded(_ *importer, n *graph.Node) error {
	if n.Version >= 6 {
		return nil
	}
	for name, v := range map[string]float32{"alpha": 1.6732, "gamma": 1.0507} {
		if !n.Has(name) {
			n.Attrs[name] = graph.Attr{Kind: graph.AttrFloat, Float: v}
		}
	}
	return nil
}

// splitByInput makes the first version's optional input of sizes an attribute.
func splitByInput(_ *importer, n *graph.Node) error {
	if n.Input(1) == nil {
		return nil
	}
	sizes, ok := wholeNumbers(n.Input(1))
	if !ok {
		return fmt.Errorf("the sizes of a Split (input 1) must be constant whole numbers")
	}
	n.Attrs["split"] = graph.Attr{Kind: graph.AttrInts, Ints: sizes}
	n.Inputs = n.Inputs[:1]
	return nil
}

// wholeNumbers returns the elements of a constant, which the first versions of operators had of the type of their data.
func wholeNumbers(t *graph.Tensor) (list []int64, ok bool) {
	v, ok := t.Const()
	if !ok {
		return nil, false
	}
	for _, x := range v.Float64s() {
		if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return nil, false
		}
		list = append(list, int64(x))
	}
	return list, true
}

// tileAxis makes a number of repetitions along one axis a list of all axes.
func tileAxis(im *importer, n *graph.Node) error {
	if n.Version >= 6 {
		return nil
	}
	tiles, ok := wholeNumbers(n.Input(1))
	axes, both := wholeNumbers(n.Input(2))
	if n.Input(0) == nil || !ok || !both || len(tiles) != 1 || len(axes) != 1 {
		return fmt.Errorf("the repetitions and the axis of a Tile (inputs 1 and 2) must be constant whole numbers")
	}
	rank := len(n.Input(0).Dims)
	if axes[0] < 0 || axes[0] >= int64(rank) {
		return fmt.Errorf("axis %d is not one of %s", axes[0], n.Input(0).TypeString())
	}
	repeats := slices.Repeat([]int64{1}, rank)
	repeats[axes[0]] = tiles[0]
	n.Inputs = []*graph.Tensor{n.Input(0), im.integers(n, "repeats", repeats...)}
	return nil
}

// upsampleImages makes the two scales of images those of four axes.
func upsampleImages(_ *importer, n *graph.Node) error {
	if !n.Has("height_scale") && !n.Has("width_scale") {
		return nil
	}
	h, w := n.Float("height_scale", 0), n.Float("width_scale", 0)
	delete(n.Attrs, "height_scale")
	delete(n.Attrs, "width_scale")
	n.Attrs["scales"] = graph.Attr{Kind: graph.AttrFloats, Floats: []float32{1, 1, h, w}}
	return nil
}
