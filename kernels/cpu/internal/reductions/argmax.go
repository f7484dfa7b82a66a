package reductions

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// argTactics find the largest or smallest element along an axis, in float32, for one instruction set.
func argTactics(isa asm.Features) []kernels.Tactic {
	var list []kernels.Tactic
	for _, op := range []*graph.Op{graph.ArgMax, graph.ArgMin} {
		name := "argmax_f32_"
		if op == graph.ArgMin {
			name = "argmin_f32_"
		}
		list = append(list, kernels.Tactic{
			Name: name + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa),
			Match: func(b kernels.Binding) error {
				_, err := newArgKernel(b, 0)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newArgKernel(b, isa) },
		})
	}
	return list
}

// argKernel finds, for x [outer, n, inner], the index of the best element along the middle axis.
type argKernel struct {
	outer, n, inner int
	smallest, last  bool
	vec             asm.VecKernel
	job             *work.Job[argLaunch]
}

// argColumns are how many columns are searched at once: their best elements and indices stay in the L1 cache.
const argColumns = 1024

func newArgKernel(b kernels.Binding, isa asm.Features) (*argKernel, error) {
	a, x := b.Layer.Attrs.(graph.ArgAttrs), b.In[0]
	if x.Type != numeric.F32 || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("input %v with epilogue %s, the kernel takes f32 alone", x, b.Layer.Epilogue)
	}
	axis := a.Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	k := &argKernel{outer: numeric.Count(x.Dims[:axis]), n: x.Dims[axis], inner: numeric.Count(x.Dims[axis+1:]), last: a.Last,
		smallest: b.Layer.Op == graph.ArgMin, vec: work.VecKernel(isa)}
	if k.n == 0 || k.n >= programs.ExactIntegers {
		return nil, fmt.Errorf("axis %d has %d elements, the kernel takes 1 to %d", axis, k.n, programs.ExactIntegers-1)
	}
	k.job = work.NewJob((*argLaunch).do)
	return k, nil
}

// argLaunch is the state of one launch.
type argLaunch struct {
	kernel *argKernel
	x      []float32
	y      []int64
}

// Launch searches all columns.
func (k *argKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, 4*k.outer*k.n*k.inner), k.units(), argLaunch{k, numeric.View[float32](in[0].Host), numeric.View[int64](out[0].Host)})
	return nil
}

// piece returns how many results of the output, or of one index of the outer axis, are a unit.
func (k *argKernel) piece() int {
	if k.inner == 1 {
		return max(1, reducedBytes/(4*k.n))
	}
	return argColumns
}

func (k *argKernel) units() int {
	if k.inner == 1 {
		return (k.outer + k.piece() - 1) / k.piece()
	}
	return k.outer * ((k.inner + k.piece() - 1) / k.piece())
}

// do computes a unit's indices.
func (l *argLaunch) do(u, _ int) {
	k := l.kernel
	if k.inner == 1 {
		for i := u * k.piece(); i < min(k.outer, (u+1)*k.piece()); i++ {
			l.y[i] = k.row(l.x[i*k.n:][:k.n])
		}
		return
	}
	pieces := (k.inner + k.piece() - 1) / k.piece()
	n, first := u/pieces, u%pieces*k.piece()
	x, y := l.x[n*k.n*k.inner+first:], l.y[n*k.inner+first:][:min(k.inner-first, k.piece())]
	if len(y) < work.Lanes {
		for i := range y {
			y[i] = k.search(x[i:])
		}
		return
	}
	k.columns(y, x)
}

// argBlock is how many elements of a row are searched at once for the largest, before the one block that has it is
// searched for its place.
const argBlock = 512

// row returns the index in a row. NaN is smaller than all else.
func (k *argKernel) row(x []float32) int64 {
	if len(x) <= 2*work.Lanes {
		return k.search(x)
	}
	best, found := float32(math.Inf(-1)), 0
	for at := 0; at < len(x); at += argBlock {
		part := x[at:min(len(x), at+argBlock)]
		low, high := k.vec.Range(part)
		if k.smallest {
			if sum := k.vec.Sum(part); sum != sum {
				return k.search(x) // perhaps NaN
			}
			high = -low
		}
		if high > best || k.last && high == best {
			best, found = high, at
		}
	}
	if math.IsInf(float64(best), -1) {
		return k.search(x) // perhaps NaN alone
	}
	if k.smallest {
		best = -best
	}
	part := x[found:min(len(x), found+argBlock)]
	if k.last {
		i := len(part) - 1
		for part[i] != best {
			i--
		}
		return int64(found + i)
	}
	i := 0
	for part[i] != best {
		i++
	}
	return int64(found + i)
}

// search finds the index by the definition in a column, whose elements are inner apart.
func (k *argKernel) search(x []float32) int64 {
	best, value := 0, x[0]
	for i := 1; i < k.n; i++ {
		v := x[i*k.inner]
		c := cmp.Compare(v, value)
		if k.smallest {
			c = -c
		}
		if c > 0 || c == 0 && k.last {
			best, value = i, v
		}
	}
	return int64(best)
}

// argBuffers are the best elements of columns, their indices, and where a row has better ones.
type argBuffers struct {
	best, index, better []float32
	at                  [1]float32 // the index of the row that is compared
}

var argPool = sync.Pool{New: func() any {
	return &argBuffers{best: work.AlignedFloats(argColumns), index: work.AlignedFloats(argColumns), better: work.AlignedFloats(argColumns)}
}}

// columns searches adjacent columns, row by row.
func (k *argKernel) columns(y []int64, x []float32) {
	s := argPool.Get().(*argBuffers)
	best, index, better := s.best[:len(y)], s.index[:len(y)], s.better[:len(y)]
	worst := float32(math.Inf(-1))
	if k.smallest {
		worst = -worst
	}
	for i := range best {
		best[i], index[i] = worst, 0
	}
	op := asm.Less
	if k.last {
		op = asm.LessOrEqual
	}
	for i := range k.n {
		row := x[i*k.inner:][:len(y)]
		if s.at[0] = float32(i); k.smallest {
			k.vec.Binary(op, better, row, best)
		} else {
			k.vec.Binary(op, better, best, row)
		}
		k.vec.Select(index, better, s.at[:], index)
		k.vec.Select(best, better, row, best)
	}
	for i := range y {
		y[i] = int64(index[i])
	}
	k.exceptions(y, x, best, worst)
	argPool.Put(s)
}

// exceptions searches those columns again that hold NaN alone or, where the smallest is sought, any.
func (k *argKernel) exceptions(y []int64, x, best []float32, worst float32) {
	if k.smallest {
		for r := range k.n {
			row := x[r*k.inner:][:len(y)]
			if sum := k.vec.Sum(row); sum == sum {
				continue
			}
			for i, v := range row {
				if v != v {
					best[i] = worst
				}
			}
		}
	}
	for i, v := range best {
		if v == worst {
			y[i] = k.search(x[i:])
		}
	}
}
