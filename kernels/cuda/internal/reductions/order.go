package reductions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// orderTactics are the layers that compare elements along an axis: the index of the largest, the largest in order, and the largest
// marked.
func orderTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.ArgMax, graph.ArgMin} {
		list = append(list, orderTactic("arg_linear", op, (*ordering).emitArg))
	}
	return append(list, orderTactic("topk_linear", graph.TopK, (*ordering).emitTopK),
		orderTactic("hardmax_linear", graph.Hardmax, (*ordering).emitHardmax))
}

func orderTactic(name string, op *graph.Op, code func(*ordering, kernels.Binding) *emit.Work) emit.Tactic {
	return emit.Tactic{
		Name: name, Op: op, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			_, err := orderingOf(b)
			return err
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			o, err := orderingOf(b)
			if err != nil {
				return nil, err
			}
			return code(o, b), nil
		},
		Cost: func(b kernels.Binding) []emit.Job {
			o, err := orderingOf(b)
			if err != nil {
				return nil
			}
			return o.jobs(b)
		},
	}
}

// ordering is a tensor of [outer, length, inner] whose elements are compared along length.
type ordering struct {
	typ                  numeric.DataType
	outer, length, inner int
	smallest             bool // the smallest counts most
	last                 bool // of equal elements the last counts most
	count                int  // of elements that a TopK returns
}

func orderingOf(b kernels.Binding) (*ordering, error) {
	x := b.In[0]
	if b.Consts[0] != nil || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("the input is a constant, or there is an epilogue")
	}
	if t := x.Type; t != numeric.F32 && t != numeric.F16 && !t.IsInteger() && t != numeric.Bool {
		return nil, fmt.Errorf("elements are %s, the kernel compares f32, f16, bool and integers", t)
	}
	o := &ordering{typ: x.Type}
	axis, flatten := 0, false
	switch a := b.Layer.Attrs.(type) {
	case graph.ArgAttrs:
		axis, o.last, o.smallest = a.Axis, a.Last, b.Layer.Op == graph.ArgMin
	case graph.HardmaxAttrs:
		axis, flatten = a.Axis, a.Flatten
		if x.Type != b.Out[0].Type || !x.Type.IsFloat() {
			return nil, fmt.Errorf("from %s to %s; the kernel is of f32 or f16", x.Type, b.Out[0].Type)
		}
	case graph.TopKAttrs:
		axis, o.smallest = a.Axis, a.Smallest
	}
	if axis < 0 {
		axis += len(x.Dims)
	}
	if b.Layer.Op == graph.TopK {
		o.count = b.Out[0].Dims[axis]
	}
	o.outer, o.length, o.inner = numeric.Count(x.Dims[:axis]), x.Dims[axis], numeric.Count(x.Dims[axis+1:])
	if flatten {
		o.length, o.inner = o.length*o.inner, 1
	}
	if err := emit.ThreadsFit(o.outer * o.inner * o.threads()); err != nil && o.count == 0 {
		return nil, err
	}
	if o.count > 0 && o.length > emit.MaxCompared {
		return nil, fmt.Errorf("%d elements in a row, the kernel compares up to %d", o.length, emit.MaxCompared)
	}
	return o, nil
}

// key is an element as a signed number: the larger, the more it counts. NaN is smaller than all else.
func (o *ordering) key(k *ptx.K, p ptx.GlobalPtr) ptx.Long {
	var key ptx.Long
	switch {
	case o.typ.IsFloat():
		v := k.AddF(emit.Storage{Type: o.typ}.LoadOne(k, p), ptx.F(0)) // -0 is 0
		// The bits of floats are in order but for the sign: of negative ones all others are turned.
		bits := k.Bits(v).Int()
		turned := k.Xor(bits.Uint(), k.And(k.ShrS(bits, 31).Uint(), ptx.U(math.MaxInt32)))
		key = k.SelectL(k.EqF(v, v), k.LongOf(turned.Int()), ptx.L(math.MinInt32))
	case o.typ == numeric.U64:
		key = k.XorL(emit.LoadInteger(k, p, o.typ), ptx.L(math.MinInt64))
	default:
		key = emit.LoadInteger(k, p, o.typ)
	}
	if o.smallest {
		key = k.XorL(key, ptx.L(-1))
	}
	return key
}

// before reports whether element i of key a counts more than element j of key b.
func (o *ordering) before(k *ptx.K, a ptx.Long, i ptx.Uint, b ptx.Long, j ptx.Uint) ptx.Cond {
	first := k.Lt(i, j)
	if o.last {
		first = k.Lt(j, i)
	}
	return k.Either(k.LtL(b, a, true), k.Both(k.EqL(a, b), first))
}

// threads returns how many threads share a line: a warp where its elements are neighbours.
func (o *ordering) threads() int {
	if o.inner == 1 {
		return 32
	}
	return 1
}

// emitArg emits a kernel that finds the index of the element that counts most.
func (o *ordering) emitArg(kernels.Binding) *emit.Work {
	w := emit.NewWork()
	t := o.threads()
	total := o.outer * o.inner * t
	k, l := w.Threads("arg", total)
	x, y := l.Input(k, 0), l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	line, lane := k.DivRem(index, t)
	outer, inner := k.DivRem(line, o.inner)
	size := o.typ.Size()
	at := o.best(k, k.Offset(x, k.Mad(outer, ptx.U(o.length*o.inner), inner), size), lane)
	if t > 1 {
		k.Exit(k.Ne(lane, ptx.U(0)))
	}
	k.StoreLong(k.Offset(y, line, 8), k.LongOfUint(at))
	w.End(k, l)
	return w
}

// best is the place of the element that counts most of the line that begins at base, which every lane of the line gets.
func (o *ordering) best(k *ptx.K, base ptx.GlobalPtr, lane ptx.Uint) ptx.Uint {
	t, size := o.threads(), o.typ.Size()
	start := k.Min(lane, ptx.U(o.length-1)) // an element that another lane has changes nothing
	best, at := k.VarL(o.key(k, k.Offset(base, start, o.inner*size))), k.Var(start)
	k.For(k.Add(lane, ptx.U(t)), ptx.U(o.length), ptx.U(t), func(i ptx.Uint) {
		key := o.key(k, k.Offset(base, i, o.inner*size))
		better := o.before(k, key, i, best, at)
		k.SetL(best, k.SelectL(better, key, best))
		k.Set(at, k.Select(better, i, at))
	})
	for mask := t / 2; mask > 0; mask /= 2 {
		key, i := emit.ShuffleLong(k, best, mask), k.ShuffleXorWord(at.Word(), mask).Uint()
		better := o.before(k, key, i, best, at)
		best, at = k.SelectL(better, key, best), k.Select(better, i, at)
	}
	return at
}

// emitTopK emits a kernel in which each thread counts the elements that come before its own, which is where that one goes.
func (o *ordering) emitTopK(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	total := o.outer * o.length * o.inner
	k, l := w.Threads("topk", total)
	x, values, indices := l.Input(k, 0), l.Output(k, 0), l.Output(k, 1)
	index := emit.ThreadIndex(k, total)
	rest, inner := k.DivRem(index, o.inner)
	outer, own := k.DivRem(rest, o.length)
	size := o.typ.Size()
	base := k.Offset(x, k.Mad(outer, ptx.U(o.length*o.inner), inner), size)
	from := k.Offset(base, own, o.inner*size)
	key, rank := o.key(k, from), k.Var(ptx.U(0))
	k.For(ptx.U(0), ptx.U(o.length), ptx.U(1), func(i ptx.Uint) {
		other := o.key(k, k.Offset(base, i, o.inner*size))
		k.Set(rank, k.Add(rank, k.Select(o.before(k, other, i, key, own), ptx.U(1), ptx.U(0))))
	})
	k.Exit(k.Ge(rank, ptx.U(o.count)))
	to := k.Mad(k.Mad(outer, ptx.U(o.count), rank), ptx.U(o.inner), inner)
	emit.CopyElement(k, k.Offset(values, to, size), k.Offset(from, ptx.U(0), 1), size, nil, nil)
	k.StoreLong(k.Offset(indices, to, 8), k.LongOfUint(own))
	w.End(k, l)
	return w
}

// jobs estimates the launch.
func (o *ordering) jobs(b kernels.Binding) []emit.Job {
	if o.count > 0 {
		return []emit.Job{emit.ThreadJob(o.outer*o.length*o.inner, 16*o.length+40, emit.Traffic(b))}
	}
	t := o.threads()
	return []emit.Job{emit.ThreadJob(o.outer*o.inner*t, 18*emit.CeilDiv(o.length, t)+60, emit.Traffic(b))}
}

// emitHardmax emits a kernel that finds the element that counts most, and then writes the whole line.
func (o *ordering) emitHardmax(kernels.Binding) *emit.Work {
	w := emit.NewWork()
	t := o.threads()
	total := o.outer * o.inner * t
	k, l := w.Threads("hardmax", total)
	x, y := l.Input(k, 0), l.Output(k, 0)
	line, lane := k.DivRem(emit.ThreadIndex(k, total), t)
	outer, inner := k.DivRem(line, o.inner)
	size := o.typ.Size()
	first := k.Mad(outer, ptx.U(o.length*o.inner), inner)
	at := o.best(k, k.Offset(x, first, size), lane)
	out := emit.Storage{Type: o.typ, Base: k.Offset(y, first, size)}
	k.For(lane, ptx.U(o.length), ptx.U(t), func(i ptx.Uint) {
		out.StoreOne(k, k.Offset(out.Base, i, o.inner*size), k.SelectF(k.Eq(i, at), ptx.F(1), ptx.F(0)))
	})
	w.End(k, l)
	return w
}
