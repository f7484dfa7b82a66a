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

// softmaxTactics are the softmax along rows, which in NHWC are channels, and along columns in Linear.
func softmaxTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.Linear, kernels.NHWC} {
		list = append(list, emit.Tactic{
			Name: "softmax_" + f.String(), Op: graph.Softmax, In: f, Out: f,
			Match: func(b kernels.Binding) error {
				if _, err := softmaxOf(b); err != nil {
					return err
				}
				return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				s, err := softmaxOf(b)
				if err != nil {
					return nil, err
				}
				return s.emit(b)
			},
			Cost: func(b kernels.Binding) []emit.Job {
				s, err := softmaxOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{s.job(b)}
			},
		})
	}
	return list
}

// softmax is [outer, length, inner], normalised over length. With an inner of 1 it works on rows, pitch elements apart.
type softmax struct {
	outer, length, inner int
	pitch                int
	log                  bool
	x                    emit.Storage
}

func softmaxOf(b kernels.Binding) (*softmax, error) {
	x, in := b.In[0], b.Layer.Inputs[0]
	if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == numeric.Bool {
		return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
	}
	a := b.Layer.Attrs.(graph.SoftmaxAttrs)
	axis := a.Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	if numeric.Count(x.Dims) == 0 {
		return nil, fmt.Errorf("the tensor is empty")
	}
	s := &softmax{outer: numeric.Count(x.Dims[:axis]), length: x.Dims[axis], inner: numeric.Count(x.Dims[axis+1:]), log: a.Log}
	s.x = emit.Storage{Type: in.Type, Range: in.Range}
	if a.Flatten {
		s.length, s.inner = s.length*s.inner, 1
	}
	if s.pitch = s.length; x.Format == kernels.NHWC {
		if axis != 1 || a.Flatten && numeric.Count(x.Dims[2:]) > 1 {
			return nil, fmt.Errorf("axis %d is not the channels'", axis)
		}
		s.outer, s.inner, s.pitch = numeric.Count(x.Dims)/x.Dims[1], 1, x.PixelPitch()
	}
	if s.inner > 1 {
		return s, nil
	}
	return s, emit.ThreadsFit(s.outer * mostThreads(s.length))
}

// share returns how threads share rows.
func (s *softmax) share(out *emit.RowOutput) rowShare {
	most := max(emit.VectorOf(s.x.Type.Size(), 16), emit.VectorOf(out.Y.Type.Size(), 16))
	align, alone := out.Aligned()
	if s.pitch != s.length {
		align = min(align, emit.VectorOf(1, s.pitch))
	}
	return newRowShare(s.length, align, most, alone && s.pitch == s.length && out.RowChannels() == s.length && out.Pitch == s.length)
}

// job estimates the launch.
func (s *softmax) job(b kernels.Binding) emit.Job {
	const element, again, columns = 21, 35, 40 // instructions of a thread for an element: kept, read twice, in a column
	out, err := emit.PlainOutput(b, new(emit.Work))
	if err != nil || s.inner > 1 {
		return emit.ThreadJob(s.outer*s.inner, 40+columns*s.length, emit.Traffic(b))
	}
	r := s.share(out)
	n := r.vectors() * r.n
	if r.keeps() {
		return emit.ThreadJob(s.outer*r.threads, 80+element*n, emit.Traffic(b))
	}
	return emit.ThreadJob(s.outer*r.threads, 120+again*n, emit.Traffic(b)+float64(b.In[0].Bytes()))
}

func (s *softmax) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	if s.inner > 1 {
		s.emitColumns(w, out)
		return w, nil
	}
	share := s.share(out)
	k, l := w.Threads("softmax", s.outer*share.threads)
	s.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	row := newRowLine(k, share, s.x, s.outer)
	row.begin(k.Mul(row.row, ptx.U(s.pitch)))
	line := &softmaxLine{softmax: s, rowLine: row, out: out}
	line.emit()
	w.End(k, l)
	return w, nil
}

// softmaxLine is the code for one row.
type softmaxLine struct {
	*softmax
	*rowLine
	out *emit.RowOutput
}

// emit takes the exponential of each element once where they are kept: it is in its place until the sum is known. Of longer
// rows the second reading takes it again.
func (s *softmaxLine) emit() {
	s.load()
	t := newTotal(s.K)
	finish := func(x, _ ptx.Float) ptx.Float { return x }
	if s.keeps() {
		s.each(func(_ ptx.Uint, x []ptx.Float) { t.raise(x) })
		t.top = s.across("top", t.top, (*ptx.K).MaxNaN)
		s.each(func(_ ptx.Uint, x []ptx.Float) {
			for _, v := range x {
				d := s.SubF(v, t.top)
				e := emit.Exp(s.K, d)
				if s.SetF(t.sum, s.AddF(t.sum, e)); s.log {
					e = d
				}
				s.SetF(v, e)
			}
		})
		t.sum = s.across("sum", t.sum, (*ptx.K).AddF)
	} else {
		s.each(func(_ ptx.Uint, x []ptx.Float) { t.add(x) })
		top := s.across("top", t.top, (*ptx.K).MaxNaN)
		t.sum = s.across("sum", s.MulF(t.sum, emit.Exp(s.K, s.SubF(t.top, top))), (*ptx.K).AddF)
		t.top = top
		finish = func(x, top ptx.Float) ptx.Float {
			if x = s.SubF(x, top); s.log {
				return x
			}
			return emit.Exp(s.K, x)
		}
	}
	share := t.share(s.log)
	s.each(func(i ptx.Uint, x []ptx.Float) {
		y := make([]ptx.Float, len(x))
		for j, v := range x {
			y[j] = share(finish(v, t.top))
		}
		s.where(func() { s.store(i, y) })
	})
	s.where(s.padding)
}

// store writes elements of the row from the i-th on.
func (s *softmaxLine) store(i ptx.Uint, y []ptx.Float) {
	if s.out.RowChannels() == s.softmax.length { // rows of the output are the lines
		s.out.Store(s.K, s.row, i, y)
		return
	}
	row, column := s.DivRem(s.Add(s.first, i), s.out.Pitch)
	s.out.Store(s.K, row, column, y)
}

// padding writes zeros behind the last channel of the output's row.
func (s *softmaxLine) padding() {
	length := s.softmax.length
	if s.out.RowChannels() != length {
		return
	}
	for at := length; at < s.out.Width; at += s.threads {
		column := s.Add(s.lane, ptx.U(at))
		s.If(s.Lt(column, ptx.U(s.out.Width)), func() {
			s.out.Y.Store(s.K, s.Mad(s.row, ptx.U(s.out.Pitch), column), []ptx.Float{ptx.F(0)})
		})
	}
}

// emitColumns emits the kernel in which a thread has a column: it takes groups of elements, and reads all twice.
func (s *softmax) emitColumns(w *emit.Work, out *emit.RowOutput) {
	total := s.outer * s.inner
	k, l := w.Threads("softmax", total)
	s.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	outer, inner := k.DivRem(emit.ThreadIndex(k, total), s.inner)
	first := k.Mad(outer, ptx.U(s.length*s.inner), inner)
	const group = 4
	each := func(body func(at []ptx.Uint)) {
		places := func(i ptx.Uint, n int) (at []ptx.Uint) {
			for e := range n {
				at = append(at, k.Add(first, k.Mul(k.Add(i, ptx.U(e)), ptx.U(s.inner))))
			}
			return at
		}
		whole := s.length / group * group
		if whole > 0 {
			k.For(ptx.U(0), ptx.U(whole), ptx.U(group), func(i ptx.Uint) { body(places(i, group)) })
		}
		if whole < s.length {
			body(places(ptx.U(whole), s.length-whole))
		}
	}
	read := func(at []ptx.Uint) (x []ptx.Float) {
		for _, i := range at {
			x = append(x, s.x.LoadOne(k, k.Offset(s.x.Base, i, s.x.Type.Size())))
		}
		return x
	}
	t := newTotal(k)
	each(func(at []ptx.Uint) { t.add(read(at)) })
	share := t.share(s.log)
	each(func(at []ptx.Uint) {
		for e, x := range read(at) {
			if x = k.SubF(x, t.top); !s.log {
				x = emit.Exp(k, x)
			}
			row, column := k.DivRem(at[e], out.Pitch)
			out.Store(k, row, column, []ptx.Float{share(x)})
		}
	})
	w.End(k, l)
}

// total is the largest of a thread's elements, and the sum of exponentials of what they lie below it.
type total struct {
	*ptx.K
	top, sum ptx.Float
}

func newTotal(k *ptx.K) *total {
	return &total{k, k.VarF(ptx.F(float32(math.Inf(-1)))), k.VarF(ptx.F(0))}
}

// raise makes top the largest, x included.
func (t *total) raise(x []ptx.Float) {
	for _, v := range x {
		t.SetF(t.top, t.MaxNaN(t.top, v))
	}
}

// add takes elements in while the largest is not known: the sum is scaled to a new one (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018). Of elements that are all -infinity the sum is 0.
func (t *total) add(x []ptx.Float) {
	before := t.VarF(t.top)
	t.raise(x)
	below := t.SelectF(t.EqF(t.top, ptx.F(float32(math.Inf(-1)))), ptx.F(0), t.top)
	t.SetF(t.sum, t.MulF(t.sum, emit.Exp(t.K, t.SubF(before, below))))
	for _, v := range x {
		t.SetF(t.sum, t.AddF(t.sum, emit.Exp(t.K, t.SubF(v, below))))
	}
}

// share returns what makes the result of an exponential, or of what an element lies below the largest for its logarithm.
func (t *total) share(log bool) func(ptx.Float) ptx.Float {
	if log {
		whole := emit.Log(t.K, t.sum)
		return func(x ptx.Float) ptx.Float { return t.SubF(x, whole) }
	}
	factor := t.Rcp(t.sum)
	return func(x ptx.Float) ptx.Float { return t.MulF(x, factor) }
}
