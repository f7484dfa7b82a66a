package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// triluTactic is the triangle of a matrix, whose diagonal may be known at run time alone.
func triluTactic() emit.Tactic {
	return emit.Tactic{
		Name: "trilu_linear", Op: graph.Trilu, In: kernels.Linear, Out: kernels.Linear, InPlace: true,
		Match: func(b kernels.Binding) error {
			if b.Layer.Epilogue.Args > 0 || b.In[0].Type != b.Out[0].Type || b.Layer.Inputs[0].Range.IsSet() {
				return fmt.Errorf("the kernel keeps the type, which is not quantised, and has no epilogue")
			}
			if givenDiagonal(b) && b.In[1].Type != numeric.I64 {
				return fmt.Errorf("the diagonal is %s, the kernel takes i64", b.In[1].Type)
			}
			return nil
		},
		Emit: emitTrilu,
	}
}

// givenDiagonal reports whether the diagonal is input 1.
func givenDiagonal(b kernels.Binding) bool {
	return len(b.In) > 1 && b.Layer.Inputs[1] != nil && numeric.Count(b.In[1].Dims) == 1
}

// emitTrilu emits a kernel in which each thread copies an element, or writes 0.
func emitTrilu(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	a, x := b.Layer.Attrs.(graph.TriluAttrs), b.In[0].Dims
	rows, columns := x[len(x)-2], x[len(x)-1]
	total, size := numeric.Count(x), b.In[0].Type.Size()
	k, l := w.Threads("trilu", total)
	from := l.Operand(k, w, b, 0)
	diagonal := ptx.L(int64(a.K))
	var given ptx.GlobalPtr
	if givenDiagonal(b) {
		given = l.Operand(k, w, b, 1)
	}
	to := l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	if givenDiagonal(b) {
		diagonal = k.LoadLong(given)
	}
	line, column := k.DivRem(index, columns)
	_, row := k.DivRem(line, rows)
	of := k.LongOf(k.SubS(column.Int(), row.Int()))
	inside := k.LtL(of, diagonal, true).Not()
	if !a.Upper {
		inside = k.LtL(diagonal, of, true).Not()
	}
	emit.CopyElement(k, k.Offset(to, index, size), k.Offset(from, index, size), size, &inside, make([]byte, size))
	w.End(k, l)
	return w, nil
}
