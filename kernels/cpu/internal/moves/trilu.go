package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// triluTactic keeps the triangle of a matrix, whose diagonal may be known at run time alone.
var triluTactic = kernels.Tactic{
	Name: "trilu_copy", Op: graph.Trilu, In: kernels.Linear, Out: kernels.Linear, InPlace: true,
	Match: func(b kernels.Binding) error {
		if b.Layer.Epilogue.Args > 0 || b.In[0].Type != b.Out[0].Type || b.In[0].Type == numeric.Str {
			return fmt.Errorf("from %v to %v with epilogue %s, the kernel copies numbers", b.In[0], b.Out[0], b.Layer.Epilogue)
		}
		if t := b.Layer.Input(1); t != nil && t.Type != numeric.I64 {
			return fmt.Errorf("the diagonal is %s, the kernel takes i64", t.Type)
		}
		return nil
	},
	Bind: func(b kernels.Binding) (kernels.Kernel, error) {
		a, dims, size := b.Layer.Attrs.(graph.TriluAttrs), b.In[0].Dims, b.In[0].Type.Size()
		k := &triluKernel{upper: a.Upper, k: a.K, height: dims[len(dims)-2], row: dims[len(dims)-1] * size, size: size, from: b.Consts[0]}
		k.given = b.Layer.Input(1) != nil && numeric.Count(b.In[1].Dims) == 1
		if v, ok := b.Const(1); ok && k.given {
			k.given, k.k = false, int(v.I64()[0])
		}
		k.rows = numeric.Count(dims[:len(dims)-1])
		k.job = work.NewJob((*triluLaunch).do)
		return k, nil
	},
}

// triluKernel is a triangle bound to a layer: rows of so many bytes, height of them a matrix.
type triluKernel struct {
	upper, given      bool
	k                 int // the diagonal, where it is not given at run time
	rows, height, row int
	size              int
	from              []byte // a constant's elements
	job               *work.Job[triluLaunch]
}

// triluLaunch is the state of one launch.
type triluLaunch struct {
	kernel *triluKernel
	k      int
	y, x   []byte
}

// triluPiece is how many bytes, or a row, are a unit of work.
const triluPiece = 16 << 10

// perPiece returns the rows of a unit.
func (k *triluKernel) perPiece() int { return max(1, triluPiece/max(1, k.row)) }

// Launch copies the triangle and clears the rest.
func (k *triluKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	l := triluLaunch{k, k.k, out[0].Host, k.from}
	if l.x == nil {
		l.x = in[0].Host
	}
	if k.given {
		l.k = int(numeric.View[int64](in[1].Host)[0])
	}
	k.job.Each(work.LoopOver(st, k.rows*k.row), (k.rows+k.perPiece()-1)/k.perPiece(), l)
	return nil
}

func (l *triluLaunch) do(u, _ int) {
	k := l.kernel
	columns := k.row / k.size
	diagonal := max(-k.height, min(columns, l.k)) // beyond, it is all or nothing
	for r := u * k.perPiece(); r < min(k.rows, (u+1)*k.perPiece()); r++ {
		y, x := l.y[r*k.row:][:k.row], l.x[r*k.row:][:k.row]
		from, to := 0, k.row
		if first := r%k.height + diagonal; k.upper {
			from = max(0, min(columns, first)) * k.size
		} else {
			to = max(0, min(columns, first+1)) * k.size
		}
		clear(y[:from])
		copy(y[from:to], x[from:to])
		clear(y[to:])
	}
}
