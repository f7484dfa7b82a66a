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

// integerReduceTactics are the reductions of integers, which wrap around, and of truth values.
func integerReduceTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{
		graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.ReduceMin, graph.ReduceProd, graph.ReduceL1, graph.ReduceL2,
		graph.ReduceSumSquare,
	} {
		list = append(list, emit.Tactic{
			Name: "reduce_integers", Op: op, In: kernels.Linear, Out: kernels.Linear,
			Match: func(b kernels.Binding) error {
				_, err := integerReductionOf(b)
				return err
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				r, err := integerReductionOf(b)
				if err != nil {
					return nil, err
				}
				return r.emit(b), nil
			},
			Cost: func(b kernels.Binding) []emit.Job {
				r, err := integerReductionOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{emit.ThreadJob(r.outer*r.inner*r.threads(), 12*emit.CeilDiv(r.length, r.threads())+60, emit.Traffic(b))}
			},
		})
	}
	return list
}

// integerReduction is a tensor of [outer, length, inner] integers reduced over length, in 64 bits.
type integerReduction struct {
	outer, length, inner int
	axes                 *reducedPlaces
	typ                  numeric.DataType
	start                int64
	merge                func(k *ptx.K, sum, v ptx.Long) ptx.Long
	before, after        func(k *ptx.K, v ptx.Long) ptx.Long // of each element, of the result; nil: nothing
}

func integerReductionOf(b kernels.Binding) (*integerReduction, error) {
	in := b.Layer.Inputs[0]
	if b.Consts[0] != nil || !in.Type.IsInteger() && in.Type != numeric.Bool || in.Range.IsSet() {
		return nil, fmt.Errorf("%s is %s, the kernel takes integers that are not quantised, and bool", in.Name, in.TypeString())
	}
	if b.Layer.Epilogue.Args > 0 || b.Out[0].Type != in.Type {
		return nil, fmt.Errorf("the kernel keeps the type, and has no epilogue")
	}
	axes, err := reducedAxes(b)
	if err != nil {
		return nil, err
	}
	r := &integerReduction{typ: in.Type, merge: (*ptx.K).AddL}
	r.outer, r.length, r.inner, r.axes = reducedShape(b.In[0].Dims, axes)
	r.arithmetic(b.Layer.Op)
	return r, emit.ThreadsFit(r.outer * r.inner * r.threads())
}

// arithmetic sets what is computed.
func (r *integerReduction) arithmetic(op *graph.Op) {
	signed := r.typ != numeric.U64
	switch op {
	case graph.ReduceMean:
		n := ptx.L(int64(r.length))
		r.after = func(k *ptx.K, v ptx.Long) ptx.Long { return k.DivL(v, n, signed) }
	case graph.ReduceMax:
		r.start = math.MinInt64
		if !signed {
			r.start = 0
		}
		r.merge = func(k *ptx.K, sum, v ptx.Long) ptx.Long { return k.SelectL(k.LtL(sum, v, signed), v, sum) }
	case graph.ReduceMin:
		r.start = math.MaxInt64
		if !signed {
			r.start = -1
		}
		r.merge = func(k *ptx.K, sum, v ptx.Long) ptx.Long { return k.SelectL(k.LtL(v, sum, signed), v, sum) }
	case graph.ReduceProd:
		r.start, r.merge = 1, (*ptx.K).MulL
	case graph.ReduceL1:
		r.before = func(k *ptx.K, v ptx.Long) ptx.Long {
			return k.SelectL(k.LtL(v, ptx.L(0), true), k.SubL(ptx.L(0), v), v)
		}
	case graph.ReduceL2:
		r.before, r.after = squareLong, rootLong
	case graph.ReduceSumSquare:
		r.before = squareLong
	}
}

func squareLong(k *ptx.K, v ptx.Long) ptx.Long { return k.MulL(v, v) }

// rootLong is the whole part of the square root of a number that is not negative, bit by bit.
func rootLong(k *ptx.K, v ptx.Long) ptx.Long {
	root, bit := k.VarL(ptx.L(0)), k.VarL(ptx.L(1<<31))
	k.For(ptx.U(0), ptx.U(32), ptx.U(1), func(ptx.Uint) {
		next := k.OrL(root, bit)
		fits := k.LtL(v, k.MulL(next, next), false).Not()
		k.SetL(root, k.SelectL(fits, next, root))
		k.SetL(bit, k.ShrL(bit, ptx.U(1), false))
	})
	return root
}

// threads returns how many threads share a result: a warp where what it is made of are neighbours.
func (r *integerReduction) threads() int {
	if r.inner == 1 && r.axes == nil {
		return 32
	}
	return 1
}

// emit emits the kernel.
func (r *integerReduction) emit(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	t := r.threads()
	total := r.outer * r.inner * t
	k, l := w.Threads("reduce", total)
	x, y := l.Input(k, 0), l.Output(k, 0)
	line, lane := k.DivRem(emit.ThreadIndex(k, total), t)
	sum := k.VarL(ptx.L(r.start))
	add := func(at ptx.Uint) {
		v := emit.LoadInteger(k, k.Offset(x, at, r.typ.Size()), r.typ)
		if r.before != nil {
			v = r.before(k, v)
		}
		k.SetL(sum, r.merge(k, sum, v))
	}
	if t == 1 {
		eachReduced(k, line, r.length, r.inner, r.axes, add)
	} else {
		first := k.Mul(line, ptx.U(r.length))
		k.For(lane, ptx.U(r.length), ptx.U(t), func(i ptx.Uint) { add(k.Add(first, i)) })
		for mask := t / 2; mask > 0; mask /= 2 {
			sum = r.merge(k, sum, emit.ShuffleLong(k, sum, mask))
		}
		k.Exit(k.Ne(lane, ptx.U(0)))
	}
	if r.after != nil {
		sum = r.after(k, sum)
	}
	emit.StoreInteger(k, k.Offset(y, line, b.Out[0].Type.Size()), b.Out[0].Type, sum)
	w.End(k, l)
	return w
}
