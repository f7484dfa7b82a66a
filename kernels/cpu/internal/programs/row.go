package programs

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// RowAt returns which of the layer's inputs instruction i of its epilogue adds as the bias of a matrix product: what comes first and adds
// a constant row to the product alone. 0 where it does not.
func RowAt(b kernels.Binding, i int) int {
	in := b.Layer.Epilogue.Code[i]
	if i > 0 || in.Op != elementwise.Add || in.Arg[0]*in.Arg[1] != 0 || in.Arg[0] == in.Arg[1] {
		return 0
	}
	if input := len(b.Layer.OpInputs()) - 1 + in.Arg[0] + in.Arg[1]; isRow(b, input) {
		return input
	}
	return 0
}

// WithoutRow returns the layer's epilogue p less a row that it adds first, by its last argument, and which of the layer's inputs that
// is: 0 where it does not.
func WithoutRow(b kernels.Binding, p elementwise.Program) (rest elementwise.Program, row int) {
	if row = len(b.Layer.OpInputs()) + p.Args - 2; addsLast(p) && isRow(b, row) {
		return withoutSum(p), row
	}
	return p, 0
}

// isRow reports whether an input is a constant with one float32 for each column, of a product without a bias of its own.
func isRow(b kernels.Binding, input int) bool {
	if b.Layer.Role(2) == graph.Bias || input < 2 || input >= len(b.In) || b.Consts[input] == nil || b.In[input].Type != numeric.F32 {
		return false
	}
	out, dims := b.Out[0].Dims, b.In[input].Dims
	if len(out) == 0 || len(dims) == 0 {
		return false
	}
	columns := out[len(out)-1]
	return dims[len(dims)-1] == columns && numeric.Count(dims) == columns
}

// addsLast reports whether a program adds its last argument to its first and uses neither again.
func addsLast(p elementwise.Program) bool {
	if p.Args < 2 || len(p.Code) < 2 {
		return false
	}
	sum, last := p.Code[0], p.Args-1
	if sum.Op != elementwise.Add || min(sum.Arg[0], sum.Arg[1]) != 0 || max(sum.Arg[0], sum.Arg[1]) != last {
		return false
	}
	return !slices.ContainsFunc(p.Code[1:], func(in elementwise.Instr) bool {
		args := in.Arg[:in.Op.Info().Arity]
		return slices.Contains(args, 0) || slices.Contains(args, last)
	})
}

// withoutSum returns a program that [addsLast] as what it makes of the sum, its first argument.
func withoutSum(p elementwise.Program) elementwise.Program {
	rest := elementwise.Program{Args: p.Args - 1, Code: slices.Clone(p.Code[1:])}
	for i := range rest.Code {
		for k, v := range rest.Code[i].Arg[:rest.Code[i].Op.Info().Arity] {
			switch {
			case v == p.Args:
				rest.Code[i].Arg[k] = 0
			case v > p.Args:
				rest.Code[i].Arg[k] = v - 2
			}
		}
	}
	return rest
}
