package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// pointwiseTactics are the kernels of element-wise programs, of any shape that broadcasts, and of what is one without
// being called so: casts and changes between real and quantised numbers.
func pointwiseTactics() []tactic {
	var list []tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		list = append(list, tactic{
			name: "pointwise_" + f.String(), op: graph.Pointwise, in: f, out: f, inPlace: true, strided: f == kernels.NHWC,
			match: func(b kernels.Binding) error { return checkArguments(b, elementwiseProgram(b), 0) },
			emit:  func(b kernels.Binding) (*work, error) { return emitPointwise(b, elementwiseProgram(b)) },
		})
		for _, op := range []*graph.Op{graph.Cast, graph.Quantize, graph.Dequantize, graph.Reformat} {
			list = append(list, tactic{
				name: "convert_" + f.String(), op: op, in: f, out: f, strided: f == kernels.NHWC,
				match: func(b kernels.Binding) error {
					if x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]; op == graph.Cast && (x.Range.IsSet() || y.Type == graph.Bool) {
						return fmt.Errorf("a cast from %s to %s is not of real numbers", x.TypeString(), y.TypeString())
					}
					return checkArguments(b, identity(), 0)
				},
				emit: func(b kernels.Binding) (*work, error) { return emitPointwise(b, identity()) },
			})
		}
	}
	return list
}

// elementwiseProgram returns all that an element-wise layer does to an element: its own program, then its epilogue.
func elementwiseProgram(b kernels.Binding) graph.Program {
	p := b.Layer.Attrs.(graph.Elementwise).Program
	if b.Layer.Epilogue.Args > 0 {
		p = p.Then(b.Layer.Epilogue, 0)
	}
	return p
}

// emitPointwise emits a kernel in which each thread computes a few elements of a row.
func emitPointwise(b kernels.Binding, p graph.Program) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80)}
	inputs := make([]int, len(b.In))
	for i := range inputs {
		inputs[i] = i
	}
	args, err := arguments(b, inputs, b.Out[0], &w.constants)
	if err != nil {
		return nil, err
	}
	to := layoutOf(b.Out[0])
	if to.width == to.pitch && (to.last == to.width || p.StaysFinite()) {
		to = flat(to, args)
	}
	n := vectorOf(b.Out[0].Type.Size(), to.width|to.pitch)
	for _, a := range args {
		if a.input >= 0 && a.whole {
			n = min(n, vectorOf(a.typ.Size(), a.width|a.pitch))
		}
	}
	k := w.module.Kernel("pointwise", blockThreads)
	l := launch{kernel: "pointwise", block: [3]int{blockThreads, 1, 1}}
	for i := range args {
		args[i].parameter(k, &l, fmt.Sprintf("x%d", i))
	}
	y := storage{b.Out[0].Type, b.Layer.Outputs[0].Range, k.Pointer("y")}
	l.args = append(l.args, outArg(0))

	perRow := ceilDiv(to.width, n)
	total := to.rows() * perRow
	l.grid = [3]int{ceilDiv(total, blockThreads), 1, 1}
	index := k.Mad(k.BlockX(), ptx.U(blockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	row, piece := k.DivRem(index, perRow)
	column := k.Mul(piece, ptx.U(n))
	values := make([][]ptx.Float, len(args))
	for i := range args {
		values[i] = args[i].read(k, row, column, n, to.width)
	}
	out := make([]ptx.Float, n)
	for e := range out {
		x := make([]ptx.Float, len(args))
		for i := range args {
			x[i] = values[i][e]
		}
		out[e] = translate(k, p, x)
	}
	clearPads(k, p, column, to.last, to.width, out)
	y.store(k, k.Mad(row, ptx.U(to.pitch), column), out)
	k.End()
	w.launches = []launch{l}
	return w, nil
}

// flat joins all axes of an output into one row where every argument lies just as the output does, or is one number: rows
// that are shorter than a vector are none any more.
func flat(to layout, args []argument) layout {
	for _, a := range args {
		same := a.whole && a.width == to.pitch && a.pitch == to.pitch && (len(a.axes) == 0 || len(a.axes) == 1 && a.axes[0].stride == to.pitch)
		if a.input >= 0 && !same {
			return to
		}
	}
	n := to.rows() * to.pitch
	for i := range args {
		args[i].axes, args[i].width, args[i].pitch = nil, n, n
	}
	return layout{last: n, width: n, pitch: n}
}
