package cpu

import (
	"errors"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// reference is the tactic that computes any layer by its op's Eval: correct, slow, and the last choice.
var reference = kernels.Tactic{
	Name:      "eval",
	Reference: true,
	Match: func(b kernels.Binding) error {
		if u := b.Layer.Unsupported(); u != nil {
			return errors.New(u.Reason)
		}
		return nil
	},
	Bind: func(b kernels.Binding) (kernels.Kernel, error) {
		if b.Layer.Op == graph.Reformat {
			return reformatKernel{b}, nil
		}
		return evalKernel{b}, nil
	},
}

type evalKernel struct{ b kernels.Binding }

func (k evalKernel) Launch(s kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) (err error) {
	ins, outs := make([]numeric.Value, len(in)), make([]numeric.Value, len(out))
	for i, d := range k.b.In {
		if v, ok := k.b.Const(i); ok {
			ins[i] = v
		} else if k.b.Layer.Inputs[i] != nil {
			ins[i] = stored(d, in[i])
			if d.Type == numeric.Str {
				if ins[i], err = s.(kernels.Worded).Strings().Strings(ins[i]); err != nil {
					return err
				}
			}
		}
	}
	for i, d := range k.b.Out {
		if outs[i] = stored(d, out[i]); d.Type == numeric.Str {
			outs[i] = numeric.NewValue(d.Type, d.Dims...)
		}
	}
	if err := k.b.Layer.Eval(ins, outs); err != nil {
		return err
	}
	for i, d := range k.b.Out {
		if d.Type == numeric.Str {
			numbers, err := s.(kernels.Worded).Strings().Numbers(outs[i])
			if err != nil {
				return err
			}
			copy(out[i].Host, numbers.Data)
		}
	}
	return nil
}

// stored is a dense tensor as it lies in memory: strings as their numbers.
func stored(d kernels.Desc, m kernels.Mem) numeric.Value {
	t := d.Type
	if t == numeric.Str {
		t = numeric.I64
	}
	return numeric.Value{Type: t, Dims: d.Dims, Data: m.Host[:d.Bytes()]}
}

// reformatKernel copies elements between any two formats, and between types by their meaning.
type reformatKernel struct{ b kernels.Binding }

func (k reformatKernel) Launch(_ kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	src, dst := k.b.In[0], k.b.Out[0]
	x, y := numeric.NewValue(src.Type, src.Dims...), numeric.NewValue(dst.Type, dst.Dims...)
	if v, ok := k.b.Const(0); ok {
		x = v
	} else {
		src.ToLinear(x.Data, in[0].Host)
	}
	if src.Type == dst.Type && k.b.Layer.Inputs[0].Range.Equal(k.b.Layer.Outputs[0].Range) {
		y = x
	} else if err := k.b.Layer.Eval([]numeric.Value{x}, []numeric.Value{y}); err != nil {
		return err
	}
	dst.FromLinear(out[0].Host, y.Data)
	return nil
}
