package cpu

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// reference is the tactic that computes any layer by its op's Eval: correct, slow, and the last choice.
var reference = kernels.Tactic{
	Name:      "eval",
	Reference: true,
	Match:     func(kernels.Binding) error { return nil },
	Bind: func(b kernels.Binding) (kernels.Kernel, error) {
		if b.Layer.Op == graph.Reformat {
			return reformatKernel{b}, nil
		}
		return evalKernel{b}, nil
	},
}

type evalKernel struct{ b kernels.Binding }

func (k evalKernel) Launch(_ kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	ins, outs := make([]graph.Value, len(in)), make([]graph.Value, len(out))
	for i, d := range k.b.In {
		if v, ok := k.b.Const(i); ok {
			ins[i] = v
		} else if k.b.Layer.Inputs[i] != nil {
			ins[i] = graph.Value{Type: d.Type, Dims: d.Dims, Data: in[i].Host[:d.Bytes()]}
		}
	}
	for i, d := range k.b.Out {
		outs[i] = graph.Value{Type: d.Type, Dims: d.Dims, Data: out[i].Host[:d.Bytes()]}
	}
	return k.b.Layer.Eval(ins, outs)
}

// reformatKernel copies elements between any two formats of one type.
type reformatKernel struct{ b kernels.Binding }

func (k reformatKernel) Launch(_ kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	src, dst := k.b.In[0], k.b.Out[0]
	linear := make([]byte, graph.Count(src.Dims)*src.Type.Size())
	src.ToLinear(linear, in[0].Host)
	dst.FromLinear(out[0].Host, linear)
	return nil
}
