// Package pointwise has the kernels in which each element of the output follows from one of each input: element-wise programs
// of real numbers and of integers, casts, and changes between real and quantised numbers.
package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// pointwiseTactics are the kernels of element-wise programs, of any shape that broadcasts, and of what is one without
// being called so: casts and changes between real and quantised numbers.
func pointwiseTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		list = append(list, emit.Tactic{
			Name: "pointwise_" + f.String(), Op: graph.Pointwise, In: f, Out: f, InPlace: true, Strided: f == kernels.NHWC,
			Match: func(b kernels.Binding) error { return emit.CheckArguments(b, elementwiseProgram(b), 0) },
			Emit:  func(b kernels.Binding) (*emit.Work, error) { return emitPointwise(b, elementwiseProgram(b)) },
		})
		for _, op := range []*graph.Op{graph.Cast, graph.Quantize, graph.Dequantize, graph.Reformat} {
			list = append(list, emit.Tactic{
				Name: "convert_" + f.String(), Op: op, In: f, Out: f, Strided: f == kernels.NHWC,
				Match: func(b kernels.Binding) error {
					if x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]; op == graph.Cast && (x.Range.IsSet() || y.Range.IsSet() || x.Type == numeric.Bool || y.Type == numeric.Bool) {
						return fmt.Errorf("a cast from %s to %s is not of real numbers", x.TypeString(), y.TypeString())
					}
					if a, ok := b.Layer.Attrs.(graph.QuantAttrs); ok && op == graph.Dequantize && !a.Range.Equal(b.Layer.Inputs[0].Range) {
						return fmt.Errorf("the layer takes %s for other numbers", b.Layer.Inputs[0].TypeString())
					}
					if err := emit.CheckArguments(b, emit.Identity(), 0); err != nil {
						return err
					}
					if b.Layer.Epilogue.Args > 0 {
						return fmt.Errorf("there is an epilogue")
					}
					return nil
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) { return emitPointwise(b, emit.Identity()) },
			})
		}
	}
	return list
}

// elementwiseProgram returns all that an element-wise layer does to an element: its own program, then its epilogue.
func elementwiseProgram(b kernels.Binding) elementwise.Program {
	p := b.Layer.Attrs.(graph.Elementwise).Program
	if b.Layer.Epilogue.Args > 0 {
		p = p.Then(b.Layer.Epilogue, 0)
	}
	return p
}

// emitPointwise emits a kernel in which each thread computes a few elements of a row.
func emitPointwise(b kernels.Binding, p elementwise.Program) (*emit.Work, error) {
	w := emit.NewWork()
	inputs := make([]int, len(b.In))
	for i := range inputs {
		inputs[i] = i
	}
	args, err := emit.Arguments(b, inputs, b.Out[0], &w.Constants)
	if err != nil {
		return nil, err
	}
	to := emit.LayoutOf(b.Out[0])
	if to.Width == to.Pitch && (to.Last == to.Width || p.StaysFinite()) {
		to = flat(to, args)
	}
	n := emit.VectorOf(b.Out[0].Type.Size(), to.Width|to.Pitch)
	for _, a := range args {
		if a.Input >= 0 && a.Whole {
			n = min(n, emit.VectorOf(a.Type.Size(), a.Width|a.Pitch))
		}
	}
	k := w.Module.Kernel("pointwise", emit.BlockThreads)
	l := emit.Launch{Kernel: "pointwise", Block: [3]int{emit.BlockThreads, 1, 1}}
	for i := range args {
		args[i].Parameter(k, &l, fmt.Sprintf("x%d", i))
	}
	y := emit.Storage{Type: b.Out[0].Type, Range: b.Layer.Outputs[0].Range, Base: k.Pointer("y")}
	l.Args = append(l.Args, emit.OutArg(0))

	perRow := emit.CeilDiv(to.Width, n)
	total := to.Rows() * perRow
	l.Grid = [3]int{emit.CeilDiv(total, emit.BlockThreads), 1, 1}
	index := k.Mad(k.BlockX(), ptx.U(emit.BlockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	row, piece := k.DivRem(index, perRow)
	column := k.Mul(piece, ptx.U(n))
	values := make([][]ptx.Float, len(args))
	for i := range args {
		values[i] = args[i].Read(k, row, column, n, to.Width)
	}
	out := make([]ptx.Float, n)
	for e := range out {
		x := make([]ptx.Float, len(args))
		for i := range args {
			x[i] = values[i][e]
		}
		out[e] = emit.Translate(k, p, x)
	}
	emit.ClearPads(k, p, column, to.Last, to.Width, out)
	y.Store(k, k.Mad(row, ptx.U(to.Pitch), column), out)
	k.End()
	w.Launches = []emit.Launch{l}
	return w, nil
}

// flat joins all axes of an output into one row where every argument lies just as the output does, or is one number: rows
// that are shorter than a vector are none any more.
func flat(to emit.Layout, args []emit.Argument) emit.Layout {
	for _, a := range args {
		same := a.Whole && a.Width == to.Pitch && a.Pitch == to.Pitch && (len(a.Axes) == 0 || len(a.Axes) == 1 && a.Axes[0].Stride == to.Pitch)
		if a.Input >= 0 && !same {
			return to
		}
	}
	n := to.Rows() * to.Pitch
	for i := range args {
		args[i].Axes, args[i].Width, args[i].Pitch = nil, n, n
	}
	return emit.Layout{Last: n, Width: n, Pitch: n}
}
