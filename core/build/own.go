package build

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/passes/quantise"
)

// OwnRange is how a model that brings its quantisation quantises a tensor of real numbers.
type OwnRange struct {
	Range       numeric.Range    // of the whole tensor
	Type        numeric.DataType // I8 or U8
	Least, Most float64          // what an activation leaves that is part of it; infinities where there is none (see [quantise.Clamp])
	Result      string           // the tensor of the real numbers that the integers stand for; "" where none or several are made
}

// OwnRanges returns the ranges that the Quantize layers of n give tensors of real numbers, by their names: of one scale and zero
// point each, both known beforehand, to 8 bits. Of several for a tensor the first counts. What is quantised already, and constants,
// which are weights, are left out.
func OwnRanges(n *graph.Network) map[string]OwnRange {
	own := map[string]OwnRange{}
	for _, q := range n.Layers {
		if q.Op != graph.Quantize {
			continue
		}
		x, a := q.Inputs[0], q.Attrs.(graph.QuantAttrs)
		_, known := own[x.Name]
		byte8 := a.Type == numeric.I8 || a.Type == numeric.U8
		if known || !byte8 || !a.Range.IsSet() || a.Range.PerChannel() || x.Type != numeric.F32 || x.IsConst() || x.Producer != nil && x.Producer.Op == graph.Dequantize {
			continue
		}
		r := OwnRange{Range: a.Range, Type: a.Type}
		r.Least, r.Most = quantise.Clamp(q)
		if users := q.Outputs[0].Users; len(users) == 1 && users[0].Op == graph.Dequantize {
			r.Result = users[0].Outputs[0].Name
		}
		own[x.Name] = r
	}
	return own
}
