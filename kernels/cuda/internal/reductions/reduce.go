package reductions

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// reduceTactics are the reductions of reals: over any axes in Linear, and over all pixels in NHWC, which is also what a
// pooling over the whole input is.
func reduceTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{
		graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.ReduceMin, graph.ReduceProd, graph.ReduceL1, graph.ReduceL2,
		graph.ReduceSumSquare, graph.ReduceLogSum, graph.ReduceLogSumExp,
	} {
		list = append(list, reduceTactic("reduce_linear", op, kernels.Linear))
	}
	for _, op := range []*graph.Op{graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.AveragePool, graph.MaxPool} {
		list = append(list, reduceTactic("reduce_pixels_nhwc", op, kernels.NHWC))
	}
	return list
}

func reduceTactic(name string, op *graph.Op, f kernels.Format) emit.Tactic {
	return emit.Tactic{
		Name: name, Op: op, In: f, Out: f, Strided: f == kernels.NHWC,
		Match: func(b kernels.Binding) error {
			if _, err := reductionOf(b); err != nil {
				return err
			}
			return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
		},
		Workspace: func(b kernels.Binding) int {
			if r, err := reductionOf(b); err == nil && f == kernels.NHWC {
				return r.pixelBlocks(b).workspace(r.outer)
			}
			return 0
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			r, err := reductionOf(b)
			if err != nil {
				return nil, err
			}
			return r.emit(b)
		},
		Cost: func(b kernels.Binding) []emit.Job {
			r, err := reductionOf(b)
			if err != nil {
				return nil
			}
			return r.jobs(b)
		},
	}
}

// reduction is a tensor of [outer, length, inner] reduced over length. In Linear an inner of 1 makes rows of neighbours; in
// NHWC inner is a pixel.
type reduction struct {
	outer, length, inner int
	width, pitch         int            // elements of an inner row, and from one to the next
	axes                 *reducedPlaces // where elements lie, if the axes are not neighbours
	x                    emit.Storage
	merge                func(k *ptx.K, sum, v ptx.Float) ptx.Float
	start                float32
	before, after        func(k *ptx.K, v ptx.Float) ptx.Float // of each element, of the result; nil: nothing
	integers             bool                                  // sums of bytes are integers' until they are scaled
	scale                float32                               // of such a sum
}

// reductionOf returns the reduction that a layer is.
func reductionOf(b kernels.Binding) (*reduction, error) {
	x, in := b.In[0], b.Layer.Inputs[0]
	if b.Consts[0] != nil {
		return nil, fmt.Errorf("the input is a constant")
	}
	if err := emit.Storable(in); err != nil || in.Type == numeric.Bool {
		return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
	}
	axes, err := reducedAxes(b)
	if err != nil {
		return nil, err
	}
	r := &reduction{x: emit.Storage{Type: in.Type, Range: in.Range}}
	r.outer, r.length, r.inner, r.axes = reducedShape(x.Dims, axes)
	r.width, r.pitch = r.inner, r.inner
	if x.Format == kernels.NHWC {
		if len(axes) == 0 || len(axes) != len(x.Dims)-2 || axes[0] != 2 {
			return nil, fmt.Errorf("axes %v are not all the spatial ones", axes)
		}
		r.outer, r.inner, r.width, r.pitch = x.Dims[0], x.Dims[1], x.Width(), x.PixelPitch()
	}
	if x.Format == kernels.Linear && r.neighbours() {
		if err := emit.ThreadsFit(r.outer * 32); err != nil {
			return nil, err
		}
	}
	return r, r.arithmetic(b)
}

// reducedPlaces says where elements lie whose axes are reduced with others in between: the first of a result, and each of
// those that it is made of.
type reducedPlaces struct{ kept, along []emit.Axis }

// reducedShape returns a tensor's shape around axes that are reduced, which are sorted: [outer, length, inner], all as
// columns where there are none, and with places where the axes are not neighbours: then outer counts the results.
func reducedShape(dims, axes []int) (outer, length, inner int, places *reducedPlaces) {
	if len(axes) == 0 {
		return 1, 1, numeric.Count(dims), nil
	}
	first, last := axes[0], axes[len(axes)-1]
	if last-first == len(axes)-1 {
		return numeric.Count(dims[:first]), numeric.Count(dims[first : last+1]), numeric.Count(dims[last+1:]), nil
	}
	places = &reducedPlaces{}
	outer, length, inner = 1, 1, 1
	for i, stride := range emit.StridesOf(dims) {
		if a := (emit.Axis{Extent: dims[i], Stride: stride}); slices.Contains(axes, i) {
			places.along, length = append(places.along, a), length*dims[i]
		} else {
			places.kept, inner = append(places.kept, a), inner*dims[i]
		}
	}
	return outer, length, inner, places
}

// reducedAxes returns the axes, sorted. Of a pooling over the whole input they are the spatial ones.
func reducedAxes(b kernels.Binding) ([]int, error) {
	rank := len(b.In[0].Dims)
	if a, ok := b.Layer.Attrs.(graph.ReduceAttrs); ok {
		return a.Resolve(rank)
	}
	a := b.Layer.Attrs.(graph.PoolAttrs)
	if !a.Global && (!slices.Equal(a.Kernel, b.In[0].Dims[2:]) || slices.Max(append(a.Pads, 0)) != 0 || numeric.Count(b.Out[0].Dims[2:]) != 1) {
		return nil, fmt.Errorf("the window is not the whole input")
	}
	if len(b.Layer.Outputs) > 1 {
		return nil, fmt.Errorf("the indices of the maxima are not computed")
	}
	var axes []int
	for i := 2; i < rank; i++ {
		axes = append(axes, i)
	}
	return axes, nil
}

// arithmetic sets what the reduction computes.
func (r *reduction) arithmetic(b kernels.Binding) error {
	add := (*ptx.K).AddF
	switch b.Layer.Op {
	case graph.ReduceMean, graph.AveragePool, graph.ReduceSum:
		r.merge = add
		mean := b.Layer.Op != graph.ReduceSum
		if r.integers = r.x.Type.Size() == 1 && r.length < 1<<22; r.integers {
			r.scale = r.x.Range.ScaleAt(0)
			if mean {
				r.scale /= float32(r.length)
			}
		} else if n := float32(r.length); mean {
			r.after = func(k *ptx.K, v ptx.Float) ptx.Float { return k.DivF(v, ptx.F(n)) }
		}
	case graph.ReduceMax, graph.MaxPool:
		r.merge, r.start = (*ptx.K).MaxNaN, float32(math.Inf(-1))
	case graph.ReduceMin:
		r.merge, r.start = (*ptx.K).MinNaN, float32(math.Inf(1))
	case graph.ReduceProd:
		r.merge, r.start = (*ptx.K).MulF, 1
	case graph.ReduceL1:
		r.merge, r.before = add, (*ptx.K).AbsF
	case graph.ReduceL2:
		r.merge, r.before, r.after = add, square, (*ptx.K).Sqrt
	case graph.ReduceSumSquare:
		r.merge, r.before = add, square
	case graph.ReduceLogSum:
		r.merge, r.after = add, emit.Log
	case graph.ReduceLogSumExp:
		r.merge, r.start = (*ptx.K).MaxNaN, float32(math.Inf(-1))
	default:
		return fmt.Errorf("%s is not reduced here", b.Layer.Op.Name)
	}
	return nil
}

// neighbours reports whether what a result is made of are neighbours.
func (r *reduction) neighbours() bool { return r.inner == 1 && r.axes == nil }

func square(k *ptx.K, v ptx.Float) ptx.Float { return k.MulF(v, v) }

// partial is a sum in a register: of floats, or of integers.
func (r *reduction) partial(k *ptx.K) ptx.Word {
	if r.integers {
		return k.VarS(ptx.I(0)).Word()
	}
	return k.VarF(ptx.F(r.start)).Register()
}

// add merges the elements of words into partial sums.
func (r *reduction) add(k *ptx.K, sums []ptx.Word, words []ptx.Word) {
	i := 0
	for _, w := range words {
		if r.integers {
			for _, q := range emit.BytesOf(k, w, r.x.Type == numeric.I8) {
				k.SetS(sums[i].Int(), k.AddS(sums[i].Int(), q))
				i++
			}
			continue
		}
		for _, v := range r.x.Unpack(k, w) {
			r.addReal(k, sums[i].FloatRegister(), v)
			i++
		}
	}
}

func (r *reduction) addReal(k *ptx.K, sum, v ptx.Float) {
	if r.before != nil {
		v = r.before(k, v)
	}
	k.SetF(sum, r.merge(k, sum, v))
}

// join is two partial sums made one; word is one that came through memory or a shuffle.
func (r *reduction) join(k *ptx.K, sum, word ptx.Word) ptx.Word {
	if r.integers {
		return k.AddS(sum.Int(), word.Int()).Word()
	}
	return r.merge(k, sum.FloatRegister(), word.FloatRegister()).Register()
}

// result is what a whole sum stands for.
func (r *reduction) result(k *ptx.K, sum ptx.Word) ptx.Float {
	if r.integers {
		zeros := int(r.x.Range.ZeroAt(0)) * r.length
		return k.MulF(k.IntToFloat(k.SubS(sum.Int(), ptx.I(zeros))), ptx.F(r.scale))
	}
	if v := sum.FloatRegister(); r.after != nil {
		return r.after(k, v)
	}
	return sum.FloatRegister()
}

func (r *reduction) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	switch {
	case b.In[0].Format == kernels.NHWC:
		r.emitPixels(b, w, out)
	case r.neighbours() && b.Layer.Op == graph.ReduceLogSumExp:
		r.emitRowExponents(w, out)
	case r.neighbours():
		r.emitRows(w, out)
	case b.Layer.Op == graph.ReduceLogSumExp:
		r.emitColumnExponents(w, out)
	default:
		r.emitColumns(w, out)
	}
	return w, nil
}

// float is a word of a float as the register of one; integers stay.
func (r *reduction) float(k *ptx.K, w ptx.Word) ptx.Word {
	if r.integers {
		return w
	}
	return k.FloatOf(w).Register()
}

// emitRows emits a kernel that reduces each row by a warp.
func (r *reduction) emitRows(w *emit.Work, out *emit.RowOutput) {
	k, l := w.Threads("reduce", r.outer*32)
	r.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, r.outer*32)
	row, lane := k.Shr(index, 5), k.And(index, ptx.U(31))
	sum := r.partial(k)
	first := k.Mul(row, ptx.U(r.length))
	k.For(lane, ptx.U(r.length), ptx.U(32), func(i ptx.Uint) { r.addElement(k, sum, k.Add(first, i)) })
	for mask := 16; mask > 0; mask /= 2 {
		var other ptx.Word
		if r.integers {
			other = k.ShuffleXorWord(sum, mask)
		} else {
			other = k.ShuffleXor(sum.FloatRegister(), mask).Register()
		}
		sum = r.join(k, sum, other)
	}
	k.Exit(k.Ne(lane, ptx.U(0)))
	r.storeOne(k, out, row, sum)
	w.End(k, l)
}

// emitColumns emits a kernel in which each thread reduces one column.
func (r *reduction) emitColumns(w *emit.Work, out *emit.RowOutput) {
	k, l := w.Threads("reduce", r.outer*r.inner)
	r.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, r.outer*r.inner)
	sum := r.partial(k)
	r.eachOf(k, index, func(at ptx.Uint) { r.addElement(k, sum, at) })
	r.storeOne(k, out, index, sum)
	w.End(k, l)
}

// eachOf runs body for the elements that result index of a column is made of.
func (r *reduction) eachOf(k *ptx.K, index ptx.Uint, body func(at ptx.Uint)) {
	eachReduced(k, index, r.length, r.inner, r.axes, body)
}

// eachReduced runs body for the elements of column index of a tensor of [outer, length, inner], or at the places given.
func eachReduced(k *ptx.K, index ptx.Uint, length, inner int, places *reducedPlaces, body func(at ptx.Uint)) {
	if places != nil {
		first := emit.RowOffset(k, index, places.kept)
		k.For(ptx.U(0), ptx.U(length), ptx.U(1), func(i ptx.Uint) { body(k.Add(first, emit.RowOffset(k, i, places.along))) })
		return
	}
	outer, column := k.DivRem(index, inner)
	first := k.Mad(outer, ptx.U(length*inner), column)
	k.For(ptx.U(0), ptx.U(length*inner), ptx.U(inner), func(i ptx.Uint) { body(k.Add(first, i)) })
}

// addElement merges one element.
func (r *reduction) addElement(k *ptx.K, sum ptx.Word, at ptx.Uint) {
	p := k.Offset(r.x.Base, at, r.x.Type.Size())
	if r.integers {
		k.SetS(sum.Int(), k.AddS(sum.Int(), k.LoadByteAs(p, r.x.Type == numeric.I8)))
		return
	}
	r.addReal(k, sum.FloatRegister(), r.x.LoadOne(k, p))
}

// storeOne finishes element index of a Linear output.
func (r *reduction) storeOne(k *ptx.K, out *emit.RowOutput, index ptx.Uint, sum ptx.Word) {
	row, column := k.DivRem(index, out.Pitch)
	out.Store(k, row, column, []ptx.Float{r.result(k, sum)})
}

// jobs estimates the launch.
func (r *reduction) jobs(b kernels.Binding) []emit.Job {
	switch {
	case b.In[0].Format == kernels.NHWC:
		return []emit.Job{r.pixelsJob(b)}
	case r.neighbours():
		return []emit.Job{emit.ThreadJob(32*r.outer, 8*emit.CeilDiv(r.length, 32)+40, emit.Traffic(b))}
	}
	return []emit.Job{emit.ThreadJob(r.outer*r.inner, 8*r.length+20, emit.Traffic(b))}
}
