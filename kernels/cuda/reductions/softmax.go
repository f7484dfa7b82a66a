package reductions

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
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
				t := s.threads()
				return []emit.Job{emit.ThreadJob(s.outer*s.inner*t, 40+30*emit.CeilDiv(s.length, t), emit.Traffic(b))}
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
	if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == graph.Bool {
		return nil, fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
	}
	a := b.Layer.Attrs.(graph.SoftmaxAttrs)
	axis := a.Axis
	if axis < 0 {
		axis += len(x.Dims)
	}
	if graph.Count(x.Dims) == 0 {
		return nil, fmt.Errorf("the tensor is empty")
	}
	s := &softmax{outer: graph.Count(x.Dims[:axis]), length: x.Dims[axis], inner: graph.Count(x.Dims[axis+1:]), log: a.Log}
	s.x = emit.Storage{Type: in.Type, Range: in.Range}
	if a.Flatten {
		s.length, s.inner = s.length*s.inner, 1
	}
	if s.pitch = s.length; x.Format == kernels.NHWC {
		if axis != 1 || a.Flatten && graph.Count(x.Dims[2:]) > 1 {
			return nil, fmt.Errorf("axis %d is not the channels'", axis)
		}
		s.outer, s.inner, s.pitch = graph.Count(x.Dims)/x.Dims[1], 1, x.PixelPitch()
	}
	return s, emit.ThreadsFit(s.outer * s.inner * s.threads())
}

// Rows of up to rowInWarp elements are a warp's, longer ones a block's. A thread keeps up to kept elements in registers;
// of longer rows it reads them three times.
const (
	rowInWarp = 1024
	kept      = 32
)

// threads returns how many threads share a row or column.
func (s *softmax) threads() int {
	switch {
	case s.inner > 1:
		return 1
	case s.length <= rowInWarp:
		return 32
	}
	return emit.BlockThreads
}

func (s *softmax) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	out, err := emit.PlainOutput(b, w)
	if err != nil {
		return nil, err
	}
	t := s.threads()
	total := s.outer * s.inner * t
	k, l := w.Threads("softmax", total)
	s.x.Base = l.Input(k, 0)
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, total)
	line := &softmaxLine{softmax: s, K: k, out: out, threads: t}
	if t == 1 {
		var inner ptx.Uint
		line.row, inner = k.DivRem(index, s.inner)
		line.first, line.step = k.Mad(line.row, ptx.U(s.length*s.inner), inner), s.inner
		line.lane = ptx.U(0)
	} else {
		line.row, line.lane = k.DivRem(index, t)
		line.first, line.step = k.Mul(line.row, ptx.U(s.pitch)), 1
	}
	line.emit()
	w.End(k, l)
	return w, nil
}

// softmaxLine is the code for one row or column.
type softmaxLine struct {
	*softmax
	*ptx.K
	out       *emit.RowOutput
	threads   int
	row, lane ptx.Uint
	first     ptx.Uint // element of the input
	step      int
	elements  []ptx.Float // this thread's, where they are kept; -infinity behind the last
}

func (s *softmaxLine) emit() {
	count := emit.CeilDiv(s.length, s.threads)
	if s.threads > 1 && count <= kept {
		for e := range count {
			s.elements = append(s.elements, s.element(e))
		}
	}
	top := s.VarF(ptx.F(float32(math.Inf(-1))))
	s.each(func(_ ptx.Uint, x ptx.Float) { s.SetF(top, s.MaxNaN(top, x)) })
	highest := s.across("top", top, (*ptx.K).MaxNaN)
	sum := s.VarF(ptx.F(0))
	s.each(func(_ ptx.Uint, x ptx.Float) { s.SetF(sum, s.AddF(sum, emit.Exp(s.K, s.SubF(x, highest)))) })
	whole := s.across("sum", sum, (*ptx.K).AddF)
	var logSum, factor ptx.Float
	if s.log {
		logSum = emit.Log(s.K, whole)
	} else {
		factor = s.Rcp(whole)
	}
	s.each(func(i ptx.Uint, x ptx.Float) {
		d := s.SubF(x, highest)
		y := ptx.Float{}
		if s.log {
			y = s.SubF(d, logSum)
		} else {
			y = s.MulF(emit.Exp(s.K, d), factor)
		}
		s.store(i, y)
	})
	s.padding()
}

// element is the thread's e-th element of a row, -infinity behind the last.
func (s *softmaxLine) element(e int) ptx.Float {
	i := s.Add(s.lane, ptx.U(e*s.threads))
	v := s.VarF(ptx.F(float32(math.Inf(-1))))
	load := func() { s.SetF(v, s.x.LoadOne(s.K, s.Offset(s.x.Base, s.Add(s.first, i), s.x.Type.Size()))) }
	if (e+1)*s.threads <= s.length {
		load()
	} else {
		s.If(s.Lt(i, ptx.U(s.length)), load)
	}
	return v
}

// each runs body for the thread's elements: their index and value.
func (s *softmaxLine) each(body func(i ptx.Uint, x ptx.Float)) {
	if s.elements != nil {
		for e, x := range s.elements {
			body(s.Add(s.lane, ptx.U(e*s.threads)), x)
		}
		return
	}
	s.For(s.lane, ptx.U(s.length), ptx.U(s.threads), func(i ptx.Uint) {
		at := s.Add(s.first, s.Mul(i, ptx.U(s.step)))
		body(i, s.x.LoadOne(s.K, s.Offset(s.x.Base, at, s.x.Type.Size())))
	})
}

// across is the value of f over all threads of the row.
func (s *softmaxLine) across(name string, v ptx.Float, f func(k *ptx.K, a, b ptx.Float) ptx.Float) ptx.Float {
	if s.threads == 1 {
		return v
	}
	for mask := 16; mask > 0; mask /= 2 {
		v = f(s.K, v, s.ShuffleXor(v, mask))
	}
	if s.threads == 32 {
		return v
	}
	warps := s.threads / 32
	shared := s.Array(name, 4*warps, 16)
	warp, lane := s.Shr(s.lane, 5), s.And(s.lane, ptx.U(31))
	s.If(s.Eq(lane, ptx.U(0)), func() { s.StoreSharedF(s.OffsetShared(shared, warp, 4), v) })
	s.Barrier()
	v = ptx.Float{}
	for i := 0; i < warps; i += 4 {
		for j, x := range s.LoadSharedF(shared.At(4*i), 4) {
			if i+j == 0 {
				v = x
			} else {
				v = f(s.K, v, x)
			}
		}
	}
	return v
}

// store writes element i of the line.
func (s *softmaxLine) store(i ptx.Uint, y ptx.Float) {
	write := func() {
		if s.inner == 1 && s.out.RowChannels() == s.length { // rows of the output are the lines
			s.out.Store(s.K, s.row, i, []ptx.Float{y})
			return
		}
		row, column := s.DivRem(s.Add(s.first, s.Mul(i, ptx.U(s.step))), s.out.Pitch)
		s.out.Store(s.K, row, column, []ptx.Float{y})
	}
	if s.elements != nil && s.length%s.threads != 0 {
		s.If(s.Lt(i, ptx.U(s.length)), write)
	} else {
		write()
	}
}

// padding writes zeros behind the last channel of the output's row.
func (s *softmaxLine) padding() {
	behind := s.out.Width - s.length
	if s.inner > 1 || s.out.RowChannels() != s.length || behind <= 0 {
		return
	}
	s.If(s.Lt(s.lane, ptx.U(behind)), func() {
		at := s.Mad(s.row, ptx.U(s.out.Pitch), s.Add(s.lane, ptx.U(s.length)))
		s.out.Y.Store(s.K, at, []ptx.Float{ptx.F(0)})
	})
}
