package reductions

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// responseTactics are the local response normalisations: by the squares of neighbouring channels.
func responseTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		list = append(list, emit.Tactic{
			Name: "lrn_" + f.String(), Op: graph.LRN, In: f, Out: f, Strided: f == kernels.NHWC,
			Match: func(b kernels.Binding) error {
				in := b.Layer.Inputs[0]
				if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == numeric.Bool {
					return fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
				}
				return emit.CheckArguments(b, b.Layer.Epilogue, 1)
			},
			Emit: emitResponse,
			Cost: func(b kernels.Binding) []emit.Job {
				size := min(b.Layer.Attrs.(graph.LRNAttrs).Size, b.In[0].Dims[1])
				return []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 40+6*size, emit.Traffic(b))}
			},
		})
	}
	return list
}

// emitResponse emits a kernel in which each thread computes an element: neighbours in memory are neighbouring threads', so
// that what a window reads again comes from the cache.
func emitResponse(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	a, x := b.Layer.Attrs.(graph.LRNAttrs), b.In[0]
	s := emit.Storage{Type: x.Type, Range: b.Layer.Inputs[0].Range}
	channels, to := x.Dims[1], emit.LayoutOf(b.Out[0])
	total := to.Rows() * to.Width
	k, l := w.Threads("lrn", total)
	s.Base = l.Input(k, 0)
	out.Parameters(k, l)
	row, column := k.DivRem(emit.ThreadIndex(k, total), to.Width)
	channel, first, apart := column, k.Mul(row, ptx.U(emit.LayoutOf(x).Pitch)), 1
	if x.Format == kernels.Linear {
		index := k.Mad(row, ptx.U(to.Width), column)
		apart = numeric.Count(x.Dims[2:])
		plane, place := k.DivRem(index, apart)
		image, c := k.DivRem(plane, channels)
		channel, first = c, k.Mad(image, ptx.U(channels*apart), place)
	}
	load := func(c ptx.Uint) ptx.Float {
		return s.LoadOne(k, k.Offset(s.Base, k.Mad(c, ptx.U(apart), first), s.Type.Size()))
	}
	before, behind := min((a.Size-1)/2, channels), min(a.Size/2, channels)
	begin := k.MaxS(k.SubS(channel.Int(), ptx.I(before)), ptx.I(0)).Uint()
	end := k.Min(k.Add(channel, ptx.U(behind+1)), ptx.U(channels))
	sum := k.VarF(ptx.F(0))
	k.For(begin, end, ptx.U(1), func(c ptx.Uint) {
		v := load(c)
		k.SetF(sum, k.Fma(v, v, sum))
	})
	own := load(k.Min(channel, ptx.U(channels-1)))
	y := k.DivF(own, emit.Power(k, k.Fma(sum, ptx.F(a.Alpha/float32(a.Size)), ptx.F(a.Bias)), ptx.F(a.Beta)))
	out.Store(k, row, column, []ptx.Float{k.SelectF(k.Lt(channel, ptx.U(channels)), y, ptx.F(0))})
	w.End(k, l)
	return w, nil
}
