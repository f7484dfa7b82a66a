package networks

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// quiet returns why a model is not compared with onnxruntime: ONNX leaves open what it means, or onnxruntime is known to be
// wrong; "" where it is compared.
func quiet(m *Model, n *graph.Network) string {
	finite, empty, fractions, negative, large, beyond, faint := true, false, false, false, false, false, false
	look := func(v numeric.Value) {
		empty = empty || v.Len() == 0
		finite = finite && !(v.Type.IsFloat() && slices.ContainsFunc(v.Float64s(), func(f float64) bool { return f-f != 0 }))
		beyond = beyond || slices.ContainsFunc(v.Float64s(), func(f float64) bool { return f > 1e8 || f < -1e8 })
		large = large || slices.ContainsFunc(v.Float64s(), func(f float64) bool { return f > 100 || f < -100 })
		fractions = fractions || v.Type.IsFloat()
		negative = negative || v.Type.Signed() && slices.ContainsFunc(v.Float64s(), func(f float64) bool { return f < 0 })
	}
	for _, v := range m.Data() {
		look(*v)
	}
	slight, far, known := false, false, maps.Clone(m.Feeds())
	_, err := n.Eval(context.Background(), m.Feeds(), func(l *graph.Layer, out []numeric.Value) error {
		if l.Op == graph.ReduceProd {
			far = far || strays(known[l.Inputs[0].Name])
		}
		for i, v := range out {
			known[l.Outputs[i].Name] = v
			look(v)
			faint = faint || does(l, elementwise.Sigmoid) && slices.ContainsFunc(v.Float64s(), func(f float64) bool { return f < 1e-3 })
			slight = slight || does(l, elementwise.Elu, elementwise.Selu) &&
				slices.ContainsFunc(v.Float64s(), func(f float64) bool { return f < 0 && f > -1e-3 })
		}
		return nil
	})
	switch {
	case err != nil:
		return "it has no meaning"
	case empty:
		return "means of nothing are open, and onnxruntime leaves integer products over nothing as they are in memory"
	case slight:
		return "onnxruntime's exponential less 1 is exact to a share of 1, not of itself"
	case faint:
		return "onnxruntime's sigmoid is exact to a share of 1, not of itself"
	case !finite:
		return "what integers and extremes are made of NaN and infinities is open"
	}
	for _, l := range n.Layers {
		if beyond && l.Op == graph.GridSample {
			return "onnxruntime takes places beyond its integers for outside where the border goes on"
		}
		if large && l.Op.Class == graph.ClassNorm {
			return "onnxruntime normalises by differences of large products"
		}
		if large && recurrent(l.Op) {
			return "onnxruntime's gates are exact to a share of 1, and times a large state that is much"
		}
		if recurrent(l.Op) && slices.ContainsFunc(l.GateActivations(), func(a graph.RecurrentActivation) bool { return a.Op == "Softplus" }) {
			return "onnxruntime's softplus of a state beyond 88 is infinite"
		}
		if (large || far) && l.Op == graph.ReduceProd {
			return "onnxruntime's products leave the range of float32 before they come back to it or meet a zero"
		}
	}
	for _, node := range m.Nodes {
		if node.Op == "QLinearConv" && largeBias(m, node) {
			return "sums beyond int32 wrap around in onnxruntime"
		}
		if why := undefined(m, node, fractions && negative); why != "" {
			return why
		}
	}
	return ""
}

// does reports whether a layer's program, or that of a layer inside it, has one of some operations.
func does(l *graph.Layer, ops ...elementwise.Op) bool {
	for _, b := range l.Bodies() {
		if slices.ContainsFunc(b.Network.Layers, func(l *graph.Layer) bool { return does(l, ops...) }) {
			return true
		}
	}
	e, _ := l.Attrs.(graph.Elementwise)
	return slices.ContainsFunc(e.Program.Code, func(in elementwise.Instr) bool { return slices.Contains(ops, in.Op) })
}

// strays reports whether products of some of the elements are near an end of float32's range.
func strays(v numeric.Value) bool {
	small, large := 0.0, 0.0
	for _, f := range v.Float64s() {
		if e := math.Log2(math.Abs(f)); e < 0 {
			small += e
		} else {
			large += e
		}
	}
	return small < -100 || large > 100
}

// undefined returns what ONNX does not say of a node; negative says that there are reals below 0 somewhere.
func undefined(m *Model, node Node, negative bool) string {
	switch node.Op {
	case "Cast", "CastLike":
		if negative {
			return "reals outside of an integer's range are open"
		}
	case "Pow":
		return "integers to negative powers are open"
	case "MeanVarianceNormalization":
		return "onnxruntime divides 0 by 0 where all elements are equal"
	case "Pad":
		for _, c := range m.Consts {
			if node.Attrs["mode"].String != "constant" && c.Name == node.In[1] && slices.Min(append(slices.Clone(c.Value.Ints()), 0)) < 0 {
				return "what negative pads remove before others repeat is open"
			}
		}
	case "Conv", "MaxPool", "AveragePool", "LpPool", "ConvInteger", "QLinearConv":
		switch node.Attrs["auto_pad"].String {
		case "SAME_UPPER", "SAME_LOWER":
			return "where windows lie that are smaller than their stride is open"
		case "VALID":
			if node.Attrs["ceil_mode"].Int != 0 {
				return "onnxruntime rounds up what the formula for VALID does not"
			}
		}
	case "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike":
		return "which numbers a seed gives is open"
	case "Col2Im":
		if len(node.Attrs["dilations"].Ints) > 2 {
			return "onnxruntime adds up other elements of dilated volumes than ONNX's reference does"
		}
	case "Resize":
		if mode := node.Attrs["coordinate_transformation_mode"].String; mode == "align_corners" && len(node.In) == 3 {
			return "whether the length of an axis is the product with the scale or what is below it is open"
		} else if mode == "pytorch_half_pixel" {
			return "where an axis of one element lies is open"
		}
		if len(node.In) > 3 && node.Attrs["mode"].String == "nearest" {
			return "scales that follow from sizes are rounded, which decides between neighbours"
		}
	}
	return ""
}

// largeBias reports whether a quantised convolution's bias is near an end of int32.
func largeBias(m *Model, node Node) bool {
	return len(node.In) > 8 && slices.ContainsFunc(m.Consts, func(c Const) bool {
		return c.Name == node.In[8] && slices.ContainsFunc(c.Value.Ints(), func(n int64) bool { return n > 1<<30 || n < -1<<30 })
	})
}
