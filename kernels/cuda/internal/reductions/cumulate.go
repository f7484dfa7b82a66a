package reductions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// cumulateTactics are the running sums and products along an axis.
func cumulateTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.CumSum, graph.CumProd} {
		list = append(list, emit.Tactic{
			Name: "cumulate_linear", Op: op, In: kernels.Linear, Out: kernels.Linear,
			Match: func(b kernels.Binding) error {
				_, err := cumulationOf(b)
				return err
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				c, err := cumulationOf(b)
				if err != nil {
					return nil, err
				}
				return c.emit(b), nil
			},
			Cost: func(b kernels.Binding) []emit.Job {
				c, err := cumulationOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{emit.ThreadJob(c.lines(), 400*c.length, emit.Traffic(b))} // each element waits for the last
			},
		})
	}
	return list
}

// cumulation is a tensor of [outer, length, inner] whose elements are summed, or multiplied, up along length.
type cumulation struct {
	graph.CumAttrs
	typ                  numeric.DataType
	product              bool
	outer, length, inner int
	given                []int // the tensor's shape, where input 1 says the axis; else nil
}

func cumulationOf(b kernels.Binding) (*cumulation, error) {
	x, in := b.In[0], b.Layer.Inputs[0]
	if b.Consts[0] != nil || b.Layer.Epilogue.Args > 0 || x.Type != b.Out[0].Type || in.Range.IsSet() {
		return nil, fmt.Errorf("the kernel takes an activation that is not quantised, keeps its type, and has no epilogue")
	}
	if t := x.Type; t != numeric.F32 && t != numeric.F16 && !t.IsInteger() {
		return nil, fmt.Errorf("elements are %s, the kernel takes f32, f16 and integers", t)
	}
	c := &cumulation{CumAttrs: b.Layer.Attrs.(graph.CumAttrs), typ: x.Type, product: b.Layer.Op == graph.CumProd}
	if len(b.In) > 1 && b.Layer.Inputs[1] != nil {
		if t := b.In[1].Type; numeric.Count(b.In[1].Dims) != 1 || t != numeric.I32 && t != numeric.I64 {
			return nil, fmt.Errorf("the axis is %s, the kernel takes one i32 or i64", b.In[1])
		}
		if v, ok := b.Const(1); ok {
			c.Axis = int(v.Ints()[0])
		} else {
			c.given, c.Axis = x.Dims, 0
		}
	}
	if c.Axis < -len(x.Dims) || c.Axis >= len(x.Dims) {
		return nil, fmt.Errorf("axis %d of %d", c.Axis, len(x.Dims))
	}
	if c.Axis < 0 {
		c.Axis += len(x.Dims)
	}
	c.along(x.Dims, c.Axis)
	return c, nil
}

// along sets the axis.
func (c *cumulation) along(dims []int, axis int) {
	c.outer, c.length, c.inner = numeric.Count(dims[:axis]), dims[axis], numeric.Count(dims[axis+1:])
}

// lines returns the number of threads: the most lines that any axis has.
func (c *cumulation) lines() int {
	if c.given == nil {
		return c.outer * c.inner
	}
	return numeric.Count(c.given) / slices.Min(c.given)
}

// emit emits a kernel in which each thread goes along one line. Of an axis that is given at run time it has the code of all.
func (c *cumulation) emit(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	k, l := w.Threads("cumulate", c.lines())
	x := l.Input(k, 0)
	var given ptx.GlobalPtr
	if c.given != nil {
		given = l.Input(k, 1)
	}
	y := l.Output(k, 0)
	index := emit.ThreadIndex(k, c.lines())
	if c.given == nil {
		c.line(k, x, y, index)
		w.End(k, l)
		return w
	}
	chosen := emit.IndexAt(k, given, len(c.given))
	for axis := range c.given {
		one := *c
		one.along(c.given, axis)
		k.If(k.Both(k.Eq(chosen, ptx.U(axis)), k.Lt(index, ptx.U(one.outer*one.inner))), func() { one.line(k, x, y, index) })
	}
	w.End(k, l)
	return w
}

// line is the code that goes along one line.
func (c *cumulation) line(k *ptx.K, x, y ptx.GlobalPtr, index ptx.Uint) {
	outer, inner := k.DivRem(index, c.inner)
	first := k.Mad(outer, ptx.U(c.length*c.inner), inner)
	size := c.typ.Size()
	step := c.integers
	if c.typ.IsFloat() {
		step = c.reals
	}
	next := step(k)
	k.For(ptx.U(0), ptx.U(c.length), ptx.U(1), func(i ptx.Uint) {
		if c.Reverse {
			i = k.Sub(ptx.U(c.length-1), i)
		}
		at := k.Mad(i, ptx.U(c.inner), first)
		next(k.Offset(x, at, size), k.Offset(y, at, size))
	})
}

// reals returns the code that takes one element more.
func (c *cumulation) reals(k *ptx.K) func(from, to ptx.GlobalPtr) {
	s, start, join := emit.Storage{Type: c.typ}, float32(0), (*ptx.K).AddF
	if c.product {
		start, join = 1, (*ptx.K).MulF
	}
	sum := k.VarF(ptx.F(start))
	return func(from, to ptx.GlobalPtr) {
		v := s.LoadOne(k, from)
		if c.Exclusive {
			s.StoreOne(k, to, sum)
		}
		k.SetF(sum, join(k, sum, v))
		if !c.Exclusive {
			s.StoreOne(k, to, sum)
		}
	}
}

// integers is reals of integers, which wrap around.
func (c *cumulation) integers(k *ptx.K) func(from, to ptx.GlobalPtr) {
	start, join := int64(0), (*ptx.K).AddL
	if c.product {
		start, join = 1, (*ptx.K).MulL
	}
	sum := k.VarL(ptx.L(start))
	return func(from, to ptx.GlobalPtr) {
		v := emit.LoadInteger(k, from, c.typ)
		if c.Exclusive {
			emit.StoreInteger(k, to, c.typ, sum)
		}
		k.SetL(sum, join(k, sum, v))
		if !c.Exclusive {
			emit.StoreInteger(k, to, c.typ, sum)
		}
	}
}
