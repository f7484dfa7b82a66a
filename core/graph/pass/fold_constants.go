package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// foldConstants computes layers whose inputs are all constants, and tensors of integers that are known from shapes.
//
//	s = Shape(x f32[2,3])      x, s i64[2]
//	y = Reshape(x, s)     ->   y = Reshape(x, s)
//
// Quantize and Dequantize layers stay: they tell the precision of what they are applied to.
var foldConstants = Pass{
	Name:  "fold-constants",
	Doc:   "compute layers whose inputs are constants",
	Rules: []string{"constant-layer"},
	run:   foldAll,
}

// lateFoldConstants computes what the passes before it have made of constants, such as the angles of pairs.
var lateFoldConstants = Pass{
	Name:  "late-fold-constants",
	Doc:   "compute layers that earlier passes have made of constants",
	Rules: []string{"constant-layer"},
	run:   foldAll,
}

func foldAll(r *rewrite) {
	grown := 0
	r.each(func(l *graph.Layer) bool { return r.foldConstant(l, &grown) })
}

const (
	maxFoldBytes = 16 << 20  // a constant that is larger than this and than what it is made of is not made
	maxFoldGrown = 256 << 20 // bound on the bytes of all constants made
	maxFoldRuns  = 1 << 14   // bound on the layers inside one that are computed
	maxFoldWork  = 1 << 28   // bound on the products that one matrix product or convolution takes
)

func (r *rewrite) foldConstant(l *graph.Layer, grown *int) bool {
	if l.Op.Name == "QuantizeLinear" || l.Op.Name == "DequantizeLinear" || l.Unsupported() != nil || !r.used(l) {
		return false
	}
	known := !slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool { _, ok := knownInts(t); return !ok })
	constant := !slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t != nil && !t.IsConst() })
	if !known && !constant {
		return false
	}
	c := r.candidate("constant-layer", l)
	size, made := 0, 0
	for _, t := range l.Inputs {
		if t != nil {
			size += len(t.Weights)
		}
	}
	for _, t := range l.Outputs {
		if r.net.IsOutput(t) {
			return c.miss(NetworkOutput, "%s is an output of the network", t.Name)
		}
		dims, ok := constDims(t.Dims)
		if !ok {
			return c.miss(WrongShape, "the shape of %s is not known", t)
		}
		made += numeric.Count(dims) * t.Type.Size()
	}
	if made > max(maxFoldBytes, size) || *grown+made > maxFoldGrown {
		return c.miss(TooLarge, "the result has %d bytes", made)
	}
	if runs := l.Runs(nil); runs > maxFoldRuns {
		return c.miss(TooLarge, "the result takes %d layers", runs)
	}
	if work := graph.FLOPs(l, nil) / 2; work > maxFoldWork {
		return c.miss(TooLarge, "the result takes %d multiplications", work)
	}
	if !c.enabled() {
		return false
	}
	values, err := constantOutputs(l, known)
	if err != nil {
		return c.miss(EvalFailed, "%v", err)
	}
	*grown += made
	outputs := slices.Clone(l.Outputs)
	r.drop(l, Folded, nil)
	r.net.Remove(l)
	for i, t := range outputs {
		if len(t.Users) > 0 {
			t.Weights = values[i].Data
			if t.Weights == nil {
				t.Weights = []byte{}
			}
		}
	}
	return c.fire()
}

// knownInts returns the elements of a tensor that shape arithmetic knows.
func knownInts(t *graph.Tensor) ([]int64, bool) {
	if t.Value == nil || t.Type != numeric.I64 && t.Type != numeric.I32 {
		return nil, false
	}
	list := make([]int64, len(t.Value))
	for i, d := range t.Value {
		n, ok := d.IsConst()
		if !ok {
			return nil, false
		}
		list[i] = int64(n)
	}
	return list, true
}

func constantOutputs(l *graph.Layer, known bool) ([]numeric.Value, error) {
	out := make([]numeric.Value, len(l.Outputs))
	for i, t := range l.Outputs {
		out[i] = numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
		if !known {
			continue
		}
		list, _ := knownInts(t)
		for j, v := range list {
			if t.Type == numeric.I64 {
				out[i].I64()[j] = v
			} else {
				out[i].I32()[j] = int32(v)
			}
		}
	}
	if known {
		return out, nil
	}
	in := make([]numeric.Value, len(l.Inputs))
	for i, t := range l.Inputs {
		if t != nil {
			in[i], _ = t.Const()
		}
	}
	return out, l.Eval(in, out)
}
