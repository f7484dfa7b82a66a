package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// knownEmitters are the layers whose output follows from shapes and constants: it is one of the kernel's constants, which
// the kernel copies.
func knownEmitters() []emitter {
	var list []emitter
	for _, op := range []*graph.Op{graph.ShapeOf, graph.SizeOf, graph.ConstantOfShape, graph.EyeLike, graph.Sequence} {
		list = append(list, emitter{
			name: "known_linear", op: op, in: kernels.Linear, out: kernels.Linear,
			match: func(b kernels.Binding) error {
				_, err := knownOf(b)
				return err
			},
			emit: func(b kernels.Binding) (*work, error) {
				v, err := knownOf(b)
				if err != nil {
					return nil, err
				}
				w := &work{module: ptx.New(ptx.SM80)}
				size := v.Type.Size()
				k, l := w.threads("known", v.Len())
				x, y := l.constant(k, "x", w.append(v.Data)), l.output(k, 0)
				index := threadIndex(k, v.Len())
				copyElement(k, k.Offset(y, index, size), k.Offset(x, index, size), size, nil, nil)
				w.end(k, l)
				return w, nil
			},
		})
	}
	return list
}

// maxKnown bounds the bytes of such an output.
const maxKnown = 64 << 20

// knownOf evaluates the layer.
func knownOf(b kernels.Binding) (graph.Value, error) {
	l := b.Layer
	if l.Epilogue.Args > 0 || l.Op == graph.Sequence && (b.Consts[0] == nil || b.Consts[1] == nil || b.Consts[2] == nil) {
		return graph.Value{}, fmt.Errorf("the bounds are no constants, or there is an epilogue")
	}
	if n := b.Out[0].Bytes(); n > maxKnown {
		return graph.Value{}, fmt.Errorf("the output has %d bytes, the kernel takes up to %d", n, maxKnown)
	}
	in := make([]graph.Value, len(b.In))
	for i, d := range b.In {
		in[i] = graph.Value{Type: d.Type, Dims: d.Dims, Data: b.Consts[i]}
	}
	v := graph.NewValue(b.Out[0].Type, b.Out[0].Dims...)
	return v, l.Op.Eval(l, in, []graph.Value{v})
}
