package reductions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// cumulativeTactics are running sums and products: of float32, in float64, or of integers, which wrap around.
func cumulativeTactics(kind string, isa asm.Features, integers bool) []kernels.Tactic {
	var list []kernels.Tactic
	for _, op := range []*graph.Op{graph.CumSum, graph.CumProd} {
		name := "cumsum_"
		if op == graph.CumProd {
			name = "cumprod_"
		}
		list = append(list, kernels.Tactic{
			Name: name + kind, Op: op, Needs: kernels.Feature(isa),
			Match: func(b kernels.Binding) error {
				if b.In[0].Type.IsInteger() != integers {
					return fmt.Errorf("elements are %s", b.In[0].Type)
				}
				_, err := newCumulativeKernel(b, 0)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newCumulativeKernel(b, isa) },
		})
	}
	return list
}

// cumulativeKernel accumulates x [outer, n, inner] along the middle axis.
type cumulativeKernel struct {
	outer, n, inner int
	graph.CumAttrs
	product bool
	of      func(k *cumulativeKernel, y, x []byte, first, columns int) // accumulates columns from a first element on
	program *programs.Program
	job     *work.Job[cumulativeLaunch]
}

// cumulativeColumns are how many columns are accumulated at once.
const cumulativeColumns = 256

func newCumulativeKernel(b kernels.Binding, isa asm.Features) (*cumulativeKernel, error) {
	x := b.In[0]
	k := &cumulativeKernel{CumAttrs: b.Layer.Attrs.(graph.CumAttrs)}
	if len(b.Layer.OpInputs()) > 1 {
		if b.Consts[1] == nil {
			return nil, fmt.Errorf("the axis is computed")
		}
		v, _ := b.Const(1)
		k.Axis = int(v.Ints()[0])
	}
	if k.Axis < 0 {
		k.Axis += len(x.Dims)
	}
	if k.Axis < 0 || k.Axis >= len(x.Dims) || x.Type != b.Out[0].Type {
		return nil, fmt.Errorf("from %v to %v along axis %d", x, b.Out[0], k.Axis)
	}
	k.product = b.Layer.Op == graph.CumProd
	switch x.Type {
	case numeric.F32:
		k.of = accumulate[float32, float64]
	case numeric.I64:
		k.of = accumulate[int64, int64]
	case numeric.I32:
		k.of = accumulate[int32, int32]
	default:
		return nil, fmt.Errorf("elements are %s, the kernel takes f32, i32 and i64", x.Type)
	}
	k.outer, k.n, k.inner = numeric.Count(x.Dims[:k.Axis]), x.Dims[k.Axis], numeric.Count(x.Dims[k.Axis+1:])
	k.job = work.NewJob((*cumulativeLaunch).do)
	if b.Layer.Epilogue.Args == 0 {
		return k, nil
	}
	if x.Type != numeric.F32 {
		return nil, fmt.Errorf("epilogue %s on %s", b.Layer.Epilogue, x.Type)
	}
	var err error
	k.program, err = programs.Trailing(b, isa)
	return k, err
}

// cumulativeLaunch is the state of one launch.
type cumulativeLaunch struct {
	kernel *cumulativeKernel
	x, y   []byte
}

// Launch accumulates all columns.
func (k *cumulativeKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	units := k.outer * work.CeilDiv(k.inner, cumulativeColumns)
	k.job.Each(work.LoopOver(st, 8*k.outer*k.n*k.inner), units, cumulativeLaunch{k, in[0].Host, out[0].Host})
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

// do accumulates the columns of a unit.
func (l *cumulativeLaunch) do(u, _ int) {
	k := l.kernel
	strips := work.CeilDiv(k.inner, cumulativeColumns)
	first := u % strips * cumulativeColumns
	k.of(k, l.y, l.x, u/strips*k.n*k.inner+first, min(cumulativeColumns, k.inner-first))
}

// accumulate sums up or multiplies columns of T in A.
func accumulate[T float32 | int32 | int64, A float64 | int32 | int64](k *cumulativeKernel, y, x []byte, first, columns int) {
	src, dst := numeric.View[T](x), numeric.View[T](y)
	var room [cumulativeColumns]A
	all := room[:columns]
	if k.product {
		for i := range all {
			all[i] = 1
		}
	}
	at, step := first, k.inner
	if k.Reverse {
		at, step = first+(k.n-1)*k.inner, -k.inner
	}
	for range k.n {
		from, to := src[at:][:len(all)], dst[at:][:len(all)]
		if k.Exclusive {
			for i, v := range all {
				to[i] = T(v)
			}
		}
		if k.product {
			for i, v := range from {
				all[i] *= A(v)
			}
		} else {
			for i, v := range from {
				all[i] += A(v)
			}
		}
		if !k.Exclusive {
			for i, v := range all {
				to[i] = T(v)
			}
		}
		at += step
	}
}
