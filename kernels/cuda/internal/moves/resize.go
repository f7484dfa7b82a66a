package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// resizeTactics are the resamplings.
func resizeTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		list = append(list, emit.Tactic{
			Name: "resize_" + f.String(), Op: graph.Resize, In: f, Out: f,
			Match: func(b kernels.Binding) error {
				if _, err := resizeOf(b); err != nil {
					return err
				}
				return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				r, err := resizeOf(b)
				if err != nil {
					return nil, err
				}
				return r.emit(b)
			},
			Cost: func(b kernels.Binding) []emit.Job {
				r, err := resizeOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{emit.ThreadJob(emit.LayoutOf(b.Out[0]).Rows()*emit.CeilDiv(emit.LayoutOf(b.Out[0]).Width, r.vector), 30+r.taps*(8+3*r.vector), emit.Traffic(b))}
			},
		})
	}
	return list
}

// resize is a tensor resampled along some of its axes: each element is a sum over taps of all of these.
type resize struct {
	x      emit.Storage
	from   emit.Layout
	axes   []resizeAxis // in memory order, the innermost last
	taps   int          // of an element
	vector int          // elements of a thread
	beyond float32      // the value outside of the input
}

// resizeAxis is an axis of the output: extent indices, each the sum of count taps; with a count of 0 it is the input's.
type resizeAxis struct {
	extent, stride int
	count          int
	offsets        []int32   // [extent][count] elements
	weights        []float32 // of these
	outside        []uint32  // for each index 1 if it lies outside of the input; nil if none does
}

// maxTaps bounds what a thread reads.
const maxTaps = 64

func resizeOf(b kernels.Binding) (*resize, error) {
	in := b.Layer.Inputs[0]
	a := b.Layer.Attrs.(graph.ResizeAttrs)
	if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == numeric.Bool {
		return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
	}
	if numeric.Count(b.Out[0].Dims) == 0 || numeric.Count(b.In[0].Dims) == 0 {
		return nil, fmt.Errorf("a tensor is empty")
	}
	r := &resize{x: emit.Storage{Type: in.Type, Range: in.Range}, from: emit.LayoutOf(b.In[0]), taps: 1, vector: 1, beyond: a.Extrapolation}
	order := memoryOrder(b.In[0])
	strides := make([]int, len(order))
	for i, s := len(order)-1, 1; i >= 0; i-- {
		strides[i] = s
		if s *= b.In[0].Dims[order[i]]; i == len(order)-1 {
			s = r.from.Pitch
		}
	}
	for i, axis := range order {
		n, m := b.In[0].Dims[axis], b.Out[0].Dims[axis]
		x := resizeAxis{extent: m, stride: strides[i]}
		x.tabulate(a.Taps(axis, len(order), n, m))
		if len(x.offsets) > emit.MaxElements {
			return nil, fmt.Errorf("%d places along axis %d are sums of %d each, too many for a table", m, axis, x.count)
		}
		if x.count > 0 {
			r.taps *= x.count
		}
		r.axes = append(r.axes, x)
	}
	if r.taps > maxTaps {
		return nil, fmt.Errorf("an element is a sum of %d, the kernel takes up to %d", r.taps, maxTaps)
	}
	if b.In[0].Format == kernels.NHWC {
		if r.axes[len(r.axes)-1].count > 0 {
			return nil, fmt.Errorf("channels are resampled")
		}
		r.vector = min(4, 16/in.Type.Size())
	}
	return r, nil
}

// memoryOrder returns a tensor's axes, the innermost in memory last.
func memoryOrder(d kernels.Desc) []int {
	var order []int
	for i := range d.Dims {
		if d.Format != kernels.NHWC || i != 1 {
			order = append(order, i)
		}
	}
	if d.Format == kernels.NHWC {
		order = append(order, 1)
	}
	return order
}

// tabulate makes lists of taps equally long.
func (x *resizeAxis) tabulate(taps [][]graph.ResizeTap) {
	for _, list := range taps {
		x.count = max(x.count, len(list))
	}
	for j, list := range taps {
		if len(list) == 0 {
			if x.outside == nil {
				x.outside = make([]uint32, len(taps))
			}
			x.outside[j] = 1
		}
		for i := range x.count {
			if i < len(list) {
				x.offsets = append(x.offsets, int32(list[i].Index*x.stride))
				x.weights = append(x.weights, float32(list[i].Weight))
			} else {
				x.offsets, x.weights = append(x.offsets, 0), append(x.weights, 0)
			}
		}
	}
}

// emit emits a kernel in which each thread computes a vector of neighbours.
func (r *resize) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	to := emit.LayoutOf(b.Out[0])
	n := min(r.vector, out.Vector)
	perRow := emit.CeilDiv(to.Width, n)
	total := to.Rows() * perRow
	k, l := w.Threads("resize", total)
	r.x.Base = l.Input(k, 0)
	offsets, weights := make([]ptx.GlobalPtr, len(r.axes)), make([]ptx.GlobalPtr, len(r.axes))
	outside := make([]ptx.GlobalPtr, len(r.axes))
	for i, x := range r.axes {
		if x.count > 0 {
			offsets[i] = l.Constant(k, fmt.Sprintf("o%d", i), w.Append(numeric.Bytes(x.offsets)))
			weights[i] = l.Constant(k, fmt.Sprintf("w%d", i), w.Append(numeric.Bytes(x.weights)))
		}
		if x.outside != nil {
			outside[i] = l.Constant(k, fmt.Sprintf("b%d", i), w.Append(numeric.Bytes(x.outside)))
		}
	}
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, total)
	row, piece := k.DivRem(index, perRow)
	column := k.Mul(piece, ptx.U(n))
	at, weight := r.tapsOf(k, row, column, offsets, weights)
	sums := r.sum(k, at, weight, column, n, to.Width)
	r.replace(k, row, column, outside, sums)
	out.Store(k, row, column, sums)
	w.End(k, l)
	return w, nil
}

// tapsOf returns the taps of an element: its place in the input and its weight. Those of an axis multiply those of the
// others.
func (r *resize) tapsOf(k *ptx.K, row, column ptx.Uint, offsets, weights []ptx.GlobalPtr) ([]ptx.Uint, []ptx.Float) {
	at, weight := []ptx.Uint{ptx.U(0)}, []ptx.Float{ptx.F(1)}
	places := r.places(k, row, column)
	for i := len(r.axes) - 1; i >= 0; i-- {
		x, place := r.axes[i], places[i]
		if x.count == 0 {
			for j := range at {
				at[j] = k.Mad(place, ptx.U(x.stride), at[j])
			}
			continue
		}
		var nextAt []ptx.Uint
		var nextWeight []ptx.Float
		first := k.Mul(place, ptx.U(x.count))
		for t := range x.count {
			offset := k.LoadConst(k.Offset(offsets[i], first, 4).At(4*t), 1)[0].Uint()
			share := k.LoadConstF(k.Offset(weights[i], first, 4).At(4*t), 1)[0]
			for j := range at {
				nextAt = append(nextAt, k.Add(at[j], offset))
				nextWeight = append(nextWeight, k.MulF(share, weight[j]))
			}
		}
		at, weight = nextAt, nextWeight
	}
	return at, weight
}

// places returns an element's place along each axis.
func (r *resize) places(k *ptx.K, row, column ptx.Uint) []ptx.Uint {
	list, last := make([]ptx.Uint, len(r.axes)), len(r.axes)-1
	list[last] = column
	for i := last - 1; i >= 0; i-- {
		if list[i] = row; i > 0 {
			row, list[i] = k.DivRem(row, r.axes[i].extent)
		}
	}
	return list
}

// replace sets elements that lie outside of the input along an axis.
func (r *resize) replace(k *ptx.K, row, column ptx.Uint, outside []ptx.GlobalPtr, sums []ptx.Float) {
	places := r.places(k, row, column)
	for i, x := range r.axes {
		if x.outside == nil {
			continue
		}
		beyond := k.Ne(k.LoadConst(k.Offset(outside[i], places[i], 4), 1)[0].Uint(), ptx.U(0))
		for e := range sums {
			sums[e] = k.SelectF(beyond, ptx.F(r.beyond), sums[e])
		}
	}
}

// sum is the sum of all taps of n neighbours.
func (r *resize) sum(k *ptx.K, at []ptx.Uint, weight []ptx.Float, column ptx.Uint, n, width int) []ptx.Float {
	var when *ptx.Cond
	if n > 1 && width > r.from.Width { // the input's rows of channels are shorter
		c := k.Lt(column, ptx.U(r.from.Width))
		when = &c
	}
	sums := make([]ptx.Float, n)
	for j := range at {
		for e, v := range r.x.Load(k, at[j], n, when) {
			switch {
			case r.taps == 1:
				sums[e] = v
			case j == 0:
				sums[e] = k.MulF(v, weight[j])
			default:
				sums[e] = k.Fma(v, weight[j], sums[e])
			}
		}
	}
	return sums
}
