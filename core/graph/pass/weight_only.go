package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// weightOnly makes products that read 8-bit weights as they are of those whose input stays real.
//
//	t = DequantizeLinear(w i8)
//	y = MatMul(x, t)              ->   y = MatMulNBits(x, w, scales, zeros) bits=8
var weightOnly = Pass{
	Name:  "weight-only",
	Doc:   "keep the 8-bit weights of matrix products of real numbers",
	Rules: []string{"weight-only"},
	run:   func(r *rewrite) { r.each(r.keepWeights) },
}

func (r *rewrite) keepWeights(l *graph.Layer) bool {
	if l.Op != graph.MatMul && l.Op != graph.Gemm {
		return false
	}
	d := l.Inputs[1].Producer
	if d == nil || !isDequantize(d) || !d.Inputs[0].IsConst() {
		return false
	}
	c := r.candidate("weight-only", d, l)
	x, w, bias := l.Inputs[0], d.Inputs[0], l.Input(2)
	g, _ := l.Attrs.(graph.GemmAttrs)
	switch {
	case w.Type != graph.I8 && w.Type != graph.U8 || len(w.Dims) != 2:
		return c.miss(WrongType, "weights %s are no matrix of bytes", w)
	case x.Type != graph.F32 || x.Quantized() || l.Outputs[0].Quantized():
		return c.miss(WrongType, "%s is no product of real numbers", l.Name)
	case l.Op == graph.Gemm && (g.TransA || g.Alpha != 1 || bias != nil && g.Beta != 1):
		return c.miss(WrongAttribute, "%s has factors, or transposes its rows", l.Name)
	}
	column := 1
	if g.TransB {
		column = 0
	}
	dims, _ := constDims(w.Dims)
	q := d.Attrs.(graph.QuantAttrs).Range
	k, n := dims[1-column], dims[column]
	switch {
	case q.PerChannel() && q.Axis != column:
		return c.miss(WrongAttribute, "the scales of %s are not of columns", w)
	case bias != nil && !perBias(bias, n):
		return c.miss(WrongShape, "bias %s is no constant vector", bias)
	case k*n == 0:
		return c.miss(WrongShape, "weights %s are empty", w)
	}
	by := &graph.Layer{Op: graph.MatMulNBits, Attrs: graph.NBitsAttrs{K: k, Bits: 8, Block: k}, Epilogue: l.Epilogue}
	by.Inputs = append([]*graph.Tensor{x}, byteWeights(w, q, column)...)
	if bias != nil {
		by.Inputs = append(by.Inputs, make([]*graph.Tensor, graph.NBitsBias-len(by.Inputs))...)
		by.Inputs = append(by.Inputs, bias)
	}
	by.Inputs = append(by.Inputs, l.EpilogueInputs()...)
	by.Outputs = l.Outputs
	if !c.supported(by) || !c.enabled() {
		return false
	}
	for i, t := range by.Inputs {
		if t != nil && t.IsConst() && r.net.Tensor(t.Name) != t {
			v, _ := t.Const()
			by.Inputs[i] = r.net.AddConst(t.Name, v)
		}
	}
	alone := r.net.Sole(d.Outputs[0]) == l
	by = r.replace(l, by)
	if alone {
		r.net.Remove(d)
	} else {
		c.members = by.From
	}
	return c.fire(by)
}

// byteWeights returns the weights, scales and zero points of a matrix of bytes as [graph.MatMulNBits] has them, no zero points where
// they are the middle. The network does not have the tensors.
func byteWeights(w *graph.Tensor, r graph.Range, column int) []*graph.Tensor {
	v, _ := w.Const()
	k, n := v.Dims[1-column], v.Dims[column]
	data, scales, zeros := graph.NewValue(graph.U8, n, 1, k), make([]float32, n), graph.NewValue(graph.U8, n, 1)
	middle := byte(0)
	if w.Type == graph.I8 {
		middle = 128
	}
	for j := range n {
		for i := range k {
			at := i*n + j
			if column == 0 {
				at = j*k + i
			}
			data.Data[j*k+i] = v.Data[at] + middle
		}
		scales[j], zeros.Data[j] = r.ScaleAt(j), byte(r.ZeroAt(j))+middle
	}
	named := func(what string, v graph.Value) *graph.Tensor {
		return &graph.Tensor{Name: w.Name + what, Type: v.Type, Dims: graph.Shape(v.Dims...), Weights: v.Data}
	}
	list := []*graph.Tensor{named("_bytes", data), named("_scales", graph.Values(graph.F32, scales, n, 1))}
	if slices.ContainsFunc(zeros.Data, func(z byte) bool { return z != 128 }) {
		list = append(list, named("_zeros", zeros))
	}
	return list
}
