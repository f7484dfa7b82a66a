package match

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// KnownInts returns the elements of a tensor that shape arithmetic knows.
func KnownInts(t *graph.Tensor) ([]int64, bool) {
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

// ConstantOutputs returns what a layer computes, whose inputs are constants or, where known, whose outputs shape arithmetic knows.
func ConstantOutputs(l *graph.Layer, known bool) ([]numeric.Value, error) {
	out := make([]numeric.Value, len(l.Outputs))
	for i, t := range l.Outputs {
		out[i] = numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...)
		if !known {
			continue
		}
		list, _ := KnownInts(t)
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
