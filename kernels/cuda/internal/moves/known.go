package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// nothingTactics are the layers of any op whose outputs have no elements: nothing runs.
func nothingTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range allOps() {
		list = append(list, emit.Tactic{
			Name: "nothing_linear", Op: op, In: kernels.Linear, Out: kernels.Linear, Empty: true,
			Match: func(b kernels.Binding) error {
				for _, d := range b.Out {
					if numeric.Count(d.Dims) > 0 {
						return fmt.Errorf("the output has elements")
					}
				}
				return nil
			},
		})
	}
	return list
}

// allOps returns the built-in ops, element-wise ones as the one that has tactics.
func allOps() []*graph.Op {
	list := []*graph.Op{graph.Pointwise}
	for _, op := range graph.Ops().All() {
		if _, elementwise := op.Attrs.(graph.Elementwise); !elementwise {
			list = append(list, op)
		}
	}
	return list
}

// knownTactics are the layers whose output follows from shapes and constants: it is one of the kernel's constants, which
// the kernel copies. So it is of any op where no activation has elements: a sum of nothing, say.
func knownTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range allOps() {
		list = append(list, emit.Tactic{
			Name: "known_linear", Op: op, In: kernels.Linear, Out: kernels.Linear, Empty: true,
			Match: func(b kernels.Binding) error {
				_, err := knownOf(b)
				return err
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				v, err := knownOf(b)
				if err != nil {
					return nil, err
				}
				w := emit.NewWork()
				size := v.Type.Size()
				k, l := w.Threads("known", v.Len())
				x, y := l.Constant(k, "x", w.Append(v.Data)), l.Output(k, 0)
				index := emit.ThreadIndex(k, v.Len())
				emit.CopyElement(k, k.Offset(y, index, size), k.Offset(x, index, size), size, nil, nil)
				w.End(k, l)
				return w, nil
			},
		})
	}
	return list
}

// maxKnown bounds the bytes of such an output.
const maxKnown = 64 << 20

// knownOf evaluates the layer.
func knownOf(b kernels.Binding) (numeric.Value, error) {
	l := b.Layer
	if !isKnown(b) {
		return numeric.Value{}, fmt.Errorf("the output does not follow from shapes and constants")
	}
	if len(b.Out) != 1 || numeric.Count(b.Out[0].Dims) == 0 {
		return numeric.Value{}, fmt.Errorf("there are %d outputs, or one is empty", len(b.Out))
	}
	if n := b.Out[0].Bytes(); n > maxKnown {
		return numeric.Value{}, fmt.Errorf("the output has %d bytes, the kernel takes up to %d", n, maxKnown)
	}
	in := make([]numeric.Value, len(b.In))
	for i, d := range b.In {
		in[i] = numeric.Value{Type: d.Type, Dims: d.Dims, Data: b.Consts[i]}
	}
	out := []numeric.Value{numeric.NewValue(b.Out[0].Type, b.Out[0].Dims...)}
	err := l.Eval(in, out)
	return out[0], err
}

// isKnown reports whether the layer reads no element of an activation: its op asks for extents and constant parameters alone, all that
// it reads is constant at these shapes, or all activations are empty.
func isKnown(b kernels.Binding) bool {
	source := b.Layer.Op.Class == graph.ClassSource && b.Layer.Epilogue.Args == 0
	for i, t := range b.Layer.Inputs {
		switch {
		case t == nil || b.Consts[i] != nil || source && b.Layer.Role(i) == graph.Extents:
		case numeric.Count(b.In[i].Dims) > 0:
			return false
		}
	}
	return source || len(b.Layer.Inputs) > 0
}
