package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
)

// ExpandQuantized writes a convolution or matrix product of integers, whose scales are inputs, as one of real numbers between
// Dequantize and Quantize, so that it is fused as those of all other quantised models.
//
//	                                                  s = DequantizeLinear(x), t = DequantizeLinear(w)
//	y = QLinearConv(x, sx, zx, w, sw, zw, sy, zy)  ->  y = QuantizeLinear(Conv(s, t))
//
// Results may differ by one step: sums times sx*sw/sy at once, or times sx*sw, and then divided by sy.
var ExpandQuantized = pass.Pass{
	Name:  "expand-quantized",
	Doc:   "write quantised operators as real ones between dequantisation and quantisation",
	Rules: []string{"quantized-convolution", "quantized-product"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return expandQuantized(r, l) }) },
}

// The places of a QLinearConv's and a QLinearMatMul's inputs: each operand is followed by its scale and its zero point.
const (
	qlinearX    = 0
	qlinearW    = 3
	qlinearY    = 6 // the result's scale and zero point
	qlinearBias = 8
)

func expandQuantized(r *pass.Rewrite, l *graph.Layer) bool {
	rule, op := "quantized-convolution", graph.Conv
	switch l.Op {
	case graph.QLinearConv:
	case graph.QLinearMatMul:
		rule, op = "quantized-product", graph.MatMul
	default:
		return false
	}
	c := r.Candidate(rule, l)
	x, w := l.Inputs[qlinearX], l.Inputs[qlinearW]
	ranges := make([]numeric.Range, 0, 3)
	for _, at := range []int{qlinearX + 1, qlinearW + 1, qlinearY} {
		scale, zero := l.Inputs[at], l.Inputs[at+1]
		s, ok := scale.Const()
		z, both := zero.Const()
		if !ok || !both {
			return c.Miss(pass.NotConstant, "%s or %s is computed", scale, zero)
		}
		a, ok := rangeOf(s, z)
		if !ok {
			return c.Miss(pass.WrongAttribute, "%s and %s are no scales and zero points", scale, zero)
		}
		ranges = append(ranges, a)
	}
	byX, byW, byY := ranges[0], ranges[1], ranges[2]
	if l.Op == graph.QLinearMatMul {
		byW.Axis = len(w.Dims) - 1
	}
	switch {
	case byX.PerChannel(), byY.PerChannel(), byW.PerChannel() && !w.Dims[byW.Axis].Is(len(byW.Scale)):
		return c.Miss(pass.WrongAttribute, "only output channels may have scales of their own")
	case l.Epilogue.Args > 0:
		return c.Miss(pass.WrongAttribute, "%s has an epilogue", l.Name)
	}
	bias := l.Input(qlinearBias)
	if bias != nil && !bias.IsConst() {
		return c.Miss(pass.NotConstant, "%s is computed", bias)
	}
	y := l.Outputs[0]
	if !r.Used(l) {
		return false
	}
	if u, out := integerReader(r, y); out {
		return c.Miss(pass.NetworkOutput, "%s gives the integers of %s", r.Network().Name, y.Name)
	} else if u != nil {
		return c.Miss(pass.WrongType, "%s computes with the integers of %s", u.Name, y.Name)
	}
	if !c.Enabled() {
		return false
	}
	inputs := []*graph.Tensor{dequantized(r, l, x, byX), dequantized(r, l, w, byW)}
	if bias != nil {
		inputs = append(inputs, dequantized(r, l, bias, productRange(byX, byW)))
	}
	sum := r.Network().NewTensor(y.Name+"_real", numeric.F32, y.Dims)
	product := r.Network().Insert(&graph.Layer{Name: l.Name + "_product", Op: op, Attrs: l.Attrs, Inputs: inputs, Outputs: []*graph.Tensor{sum}, From: l.From})
	into := []*graph.Layer{product}
	for _, t := range inputs {
		into = append(into, t.Producer)
	}
	q := r.Network().NewTensor(y.Name+"_quantized", y.Type, y.Dims)
	q.Range = byY
	into = append(into, follow(r, y, q)...)
	r.Network().Remove(l)
	r.Network().Prune()
	by := r.Network().Insert(&graph.Layer{Name: l.Name, Op: graph.Quantize, Attrs: graph.QuantAttrs{Range: byY, Type: y.Type},
		Inputs: []*graph.Tensor{sum}, Outputs: []*graph.Tensor{q}, From: l.From})
	return c.Fire(append(into, by)...)
}

// integerReader returns a layer that computes with the integers of t themselves, or of what only moves them, and would take those of
// a tensor with a range for real numbers; nil if there is none. out says that the network gives them out.
func integerReader(r *pass.Rewrite, t *graph.Tensor) (reader *graph.Layer, out bool) {
	if r.Network().IsOutput(t) {
		return nil, true
	}
	for _, u := range t.Users {
		switch {
		case u.Op == graph.Dequantize || u.Op == graph.Cast || u.Op.Class == graph.ClassIntegers:
		case resamples(u) || movesOne(u):
			if reader, out = integerReader(r, u.Outputs[0]); reader != nil || out {
				return reader, out
			}
		default:
			return u, false
		}
	}
	return nil, false
}

// resamples reports whether l chooses among the elements of its input, but would do so among real numbers.
func resamples(l *graph.Layer) bool { return l.Op == graph.Resize && l.Movement() >= graph.Moved }

// movesOne reports whether l moves the elements of one tensor to another.
func movesOne(l *graph.Layer) bool { return moves(l) && l.DataInputs() == 1 && len(l.Outputs) == 1 }

// follow lets the users of t read q, which has a range: the tensors of what moves its elements have it as well, and other names, since
// the source's hold integers. What resamples them does so between a Dequantize and a Quantize.
func follow(r *pass.Rewrite, t, q *graph.Tensor) (into []*graph.Layer) {
	for _, u := range slices.Clone(t.Users) {
		for i, in := range u.Inputs {
			if in == t {
				u.SetInput(i, q)
			}
		}
		if !resamples(u) && !movesOne(u) {
			continue
		}
		y := u.Outputs[0]
		p := r.Network().NewTensor(y.Name+"_quantized", y.Type, y.Dims)
		p.Range = q.Range
		into = append(into, follow(r, y, p)...)
		if movesOne(u) {
			u.SetOutput(0, p)
			continue
		}
		u.SetInput(0, dequantized(r, u, q, q.Range))
		real := r.Network().NewTensor(y.Name+"_real", numeric.F32, y.Dims)
		u.SetOutput(0, real)
		into = append(into, u.Inputs[0].Producer, u, r.Network().Insert(&graph.Layer{Name: p.Name, Op: graph.Quantize,
			Attrs: graph.QuantAttrs{Range: q.Range, Type: p.Type}, Inputs: []*graph.Tensor{real}, Outputs: []*graph.Tensor{p}, From: u.From}))
	}
	return into
}

// dequantized inserts a Dequantize of a layer's input.
func dequantized(r *pass.Rewrite, l *graph.Layer, t *graph.Tensor, by numeric.Range) *graph.Tensor {
	y := r.Network().NewTensor(l.Name+"_"+t.Name, numeric.F32, t.Dims)
	r.Network().Insert(&graph.Layer{Name: y.Name, Op: graph.Dequantize, Attrs: graph.QuantAttrs{Range: by, Type: numeric.F32},
		Inputs: []*graph.Tensor{t}, Outputs: []*graph.Tensor{y}, From: l.From})
	return y
}

// rangeOf returns the range of scales and zero points; of several scales and one zero point, that is all of theirs. ok is false
// where they are no range.
func rangeOf(scale, zero numeric.Value) (r numeric.Range, ok bool) {
	r.Scale = slices.Clone(scale.Floats())
	zeros := zero.Ints()
	if len(r.Scale) == 0 || len(zeros) != 1 && len(zeros) != len(r.Scale) {
		return r, false
	}
	if slices.ContainsFunc(r.Scale, func(s float32) bool { return !(s > 0) || s-s != 0 }) {
		return r, false
	}
	if !slices.ContainsFunc(zeros, func(z int64) bool { return z != 0 }) {
		return r, true
	}
	for i := range r.Scale {
		r.Zero = append(r.Zero, int32(zeros[min(i, len(zeros)-1)]))
	}
	return r, true
}

// productRange returns the range of a bias: that of sums over products.
func productRange(x, w numeric.Range) numeric.Range {
	r := numeric.Range{Scale: slices.Clone(w.Scale)}
	for i := range r.Scale {
		r.Scale[i] *= x.Scale[0]
	}
	return r
}
