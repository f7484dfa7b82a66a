package products

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// plainPoolTactics are the poolings over three spatial axes and more, and those that tell where the maxima are.
func plainPoolTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.MaxPool, graph.AveragePool} {
		list = append(list, emit.Tactic{
			Name: "pool_linear", Op: op, In: kernels.Linear, Out: kernels.Linear,
			Match: func(b kernels.Binding) error {
				_, err := plainPoolOf(b)
				return err
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				p, err := plainPoolOf(b)
				if err != nil {
					return nil, err
				}
				return p.emit(b)
			},
			Cost: func(b kernels.Binding) []emit.Job {
				p, err := plainPoolOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 60+20*p.count(), emit.Traffic(b))}
			},
		})
	}
	return list
}

// plainPool is such a pooling.
type plainPool struct {
	windowTaps
	graph.PoolAttrs
	x       emit.Storage
	maximum bool
}

func plainPoolOf(b kernels.Binding) (*plainPool, error) {
	x, in := b.In[0].Dims, b.Layer.Inputs[0]
	p := &plainPool{PoolAttrs: b.Layer.Attrs.(graph.PoolAttrs), maximum: b.Layer.Op == graph.MaxPool}
	p.windows, p.in, p.out = p.Windows(x[2:]), x[2:], b.Out[0].Dims[2:]
	p.x = emit.Storage{Type: in.Type, Range: in.Range}
	if b.Consts[0] != nil {
		return nil, fmt.Errorf("the input is a constant")
	}
	if len(p.in) < 3 && len(b.Out) == 1 {
		return nil, fmt.Errorf("%d spatial axes and one output, the kernel takes 3 and more, or tells where maxima are", len(p.in))
	}
	if err := p.fits(); err != nil {
		return nil, err
	}
	if p.maximum {
		switch {
		case in.Type != numeric.F32 && in.Type != numeric.F16 && in.Type.Size() != 1 || in.Type == numeric.Bool:
			return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes", in.Name, in.Type)
		case b.Out[0].Type != in.Type || b.Layer.Epilogue.Args > 0:
			return nil, fmt.Errorf("the maximum keeps the type, and has no epilogue")
		}
		p.x.Range = numeric.Range{} // the order of the numbers is that of the integers
		return p, nil
	}
	if in.Type == numeric.Bool {
		return nil, fmt.Errorf("%s is bool", in.Name)
	}
	if err := emit.Storable(in); err != nil {
		return nil, err
	}
	return p, emit.CheckArguments(b, b.Layer.Epilogue, 1)
}

// emit emits a kernel in which each thread computes an element.
func (p *plainPool) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	total, places := numeric.Count(b.Out[0].Dims), numeric.Count(p.out)
	k, l := w.Threads("pool", total)
	p.x.Base = l.Input(k, 0)
	if p.maximum {
		y := l.Output(k, 0)
		var indices ptx.GlobalPtr
		if len(b.Out) > 1 {
			indices = l.Output(k, 1)
		}
		index := emit.ThreadIndex(k, total)
		plane, place := k.DivRem(index, places)
		best, at := p.largest(k, plane, place)
		out := emit.Storage{Type: p.x.Type}
		out.StoreOne(k, k.Offset(y, index, out.Type.Size()), best)
		if len(b.Out) > 1 {
			k.StoreLong(k.Offset(indices, index, 8), k.LongOfUint(p.number(k, plane, at)))
		}
		w.End(k, l)
		return w, nil
	}
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	tables := make([]ptx.GlobalPtr, len(p.windows))
	for i := range tables {
		tables[i] = l.Constant(k, fmt.Sprintf("n%d", i), w.Append(p.counts(i)))
	}
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, total)
	plane, place := k.DivRem(index, places)
	row, column := k.DivRem(index, out.Width)
	out.Store(k, row, column, []ptx.Float{p.average(k, plane, place, tables)})
	w.End(k, l)
	return w, nil
}

// element is the element at a place of a plane.
func (p *plainPool) element(k *ptx.K, plane, at ptx.Uint) ptx.Float {
	return p.x.LoadOne(k, k.Offset(p.x.Base, k.Mad(plane, ptx.U(numeric.Count(p.in)), at), p.x.Type.Size()))
}

// largest is the largest element under a window, the first of equals, NaN before all; and its place.
func (p *plainPool) largest(k *ptx.K, plane, place ptx.Uint) (best ptx.Float, at ptx.Uint) {
	best, at = k.VarF(ptx.F(float32(math.Inf(-1)))), k.Var(ptx.U(math.MaxUint32))
	p.each(k, p.places(k, place), func(_, under ptx.Uint) {
		v := p.element(k, plane, under)
		first := k.Eq(at, ptx.U(math.MaxUint32))
		nan := k.Both(k.EqF(v, v).Not(), k.EqF(best, best))
		better := k.Either(k.Either(k.GtF(v, best), nan), first)
		k.SetF(best, k.SelectF(better, v, best))
		k.Set(at, k.Select(better, under, at))
	})
	return best, at
}

// number is the index in the whole input of a place of a plane, as the layer counts.
func (p *plainPool) number(k *ptx.K, plane, at ptx.Uint) ptx.Uint {
	if p.ColumnMajor {
		rest, number, stride := at, ptx.U(0), numeric.Count(p.in)
		for i := len(p.in) - 1; i >= 0; i-- {
			var place ptx.Uint
			rest, place = k.DivRem(rest, p.in[i])
			stride /= p.in[i]
			number = k.Mad(place, ptx.U(stride), number)
		}
		at = number
	}
	return k.Mad(plane, ptx.U(numeric.Count(p.in)), at)
}

// average is the sum under a window divided by the product of the axes' counts.
func (p *plainPool) average(k *ptx.K, plane, place ptx.Uint, tables []ptx.GlobalPtr) ptx.Float {
	sum, places := k.VarF(ptx.F(0)), p.places(k, place)
	p.each(k, places, func(_, under ptx.Uint) { k.SetF(sum, k.AddF(sum, p.element(k, plane, under))) })
	count := ptx.U(1)
	for i, table := range tables {
		count = k.Mul(count, k.LoadConst(k.Offset(table, places[i], 4), 1)[0].Uint())
	}
	return k.DivF(sum, k.UintToFloat(count))
}

// counts returns, for each place along an axis, the taps that an average divides by, as words.
func (p *plainPool) counts(i int) []byte {
	return windowCounts(p.windows[i], p.in[i], p.out[i], p.CountIncludePad)
}
