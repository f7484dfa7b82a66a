package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// BitCastAttrs are the attributes of BitCast.
type BitCastAttrs struct{ To numeric.DataType }

// BitCast takes the bits of each element for one of another type with as many bits; what is not 0 is true. A quantised input counts
// by its integers.
var BitCast = &Op{
	Name:  "BitCast",
	Attrs: BitCastAttrs{},
	Reals: AsStored,
	Onnx:  []string{"BitCast"},
	Class: ClassConversion, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		to, out := l.Attrs.(BitCastAttrs).To, l.Outputs[0]
		if to.Bits() == 0 || to == numeric.Str || to.Bits() != x.Type.Bits() {
			return fmt.Errorf("the bits of %s are not those of %s", x.TypeString(), to)
		}
		out.Type, out.Dims, out.Range, out.Value = to, x.Dims, numeric.Range{}, nil
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		t := out[0].Type
		for i, b := range in[0].Data {
			switch {
			case t == numeric.Bool:
				b = min(b, 1)
			case t.IsNarrowInteger():
				b = t.WrapNarrow(int64(b))
			case t.IsNarrow() && t.Bits() < 8:
				b &= 1<<t.Bits() - 1
			}
			out[0].Data[i] = b
		}
		return nil
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		to, err := onnxDataType(n.Int("to", 0))
		return BitCastAttrs{to}, n.Inputs, err
	},
	Export: func(e *Exporter) error {
		return e.NodeSince(26, "BitCast", Attributes{"to": e.Layer.Attrs.(BitCastAttrs).To})
	},
}
