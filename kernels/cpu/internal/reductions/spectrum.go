package reductions

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Spectra are the Fourier transforms of lines and of frames, in plain Go.
func Spectra() []kernels.Tactic {
	var list []kernels.Tactic
	for _, op := range []*graph.Op{graph.DFT, graph.STFT} {
		name := "dft_f32_go"
		if op == graph.STFT {
			name = "stft_f32_go"
		}
		list = append(list, kernels.Tactic{
			Name: name, Op: op,
			Match: func(b kernels.Binding) error {
				_, err := spectrumOf(b)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) {
				s, err := spectrumOf(b)
				if err != nil {
					return nil, err
				}
				s.fft = graph.NewFFT(s.n)
				s.rooms.New = func() any { return &spectrumRoom{make([]complex128, 2*s.n+s.fft.Room())} }
				return s, nil
			},
		})
	}
	return list
}

// spectrum is a transform of each of some lines.
type spectrum struct {
	n, lines          int
	inverse, oneSided bool
	windowed          bool
	window            []float32 // a constant one

	have, want      int // numbers of a line of the input, of the output
	parts, outParts int // 1: real numbers, 2: pairs
	inner           int // numbers side by side along the axis: they are in lines of their own
	frames, hop     int // of an item, whose lines they are; 0: none
	item            int // numbers of it

	fft   *graph.FFT
	rooms sync.Pool // *spectrumRoom
}

type spectrumRoom struct{ numbers []complex128 }

// spectrumOf returns the transforms of a layer, without what they are computed by.
func spectrumOf(b kernels.Binding) (*spectrum, error) {
	x, y := b.In[0], b.Out[0]
	if x.Type != numeric.F32 || y.Type != numeric.F32 || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("%v to %v with epilogue %s, the kernel takes %s alone", x, y, b.Layer.Epilogue, numeric.F32)
	}
	if numeric.Count(x.Dims)*numeric.Count(y.Dims) == 0 {
		return nil, fmt.Errorf("there is nothing to transform")
	}
	last := len(x.Dims) - 1
	s := &spectrum{parts: x.Dims[last], outParts: y.Dims[len(y.Dims)-1], inner: 1}
	switch a := b.Layer.Attrs.(type) {
	case graph.DFTAttrs:
		if b.Layer.Input(1) != nil {
			return nil, fmt.Errorf("the length is an input, %s", b.Layer.Input(1).Name)
		}
		axis := a.Axis
		if axis < 0 {
			axis += len(x.Dims)
		}
		s.inverse, s.oneSided = a.Inverse, a.OneSided
		s.have, s.want, s.inner = x.Dims[axis], y.Dims[axis], numeric.Count(x.Dims[axis+1:last])
		s.lines = numeric.Count(x.Dims[:axis]) * s.inner
		switch {
		case a.Length > 0:
			s.n = a.Length
		case a.OneSided && !a.Inverse:
			s.n = s.have
		default:
			s.n = s.want
		}
	case graph.STFTAttrs:
		s.item, s.frames, s.want, s.hop, s.n = x.Dims[1], y.Dims[1], y.Dims[2], a.Step, a.Length
		s.lines = x.Dims[0] * s.frames
		if len(x.Dims) == 2 { // a real signal without an axis of parts
			s.parts = 1
		}
		if s.windowed = b.Layer.Input(1) != nil; s.windowed {
			if d := b.In[1]; b.Consts[1] == nil && d.Type != numeric.F32 {
				return nil, fmt.Errorf("the window is %v, the kernel takes %s", d, numeric.F32)
			}
			s.window, s.n = work.RealConst(b, 1), b.In[1].Dims[0]
		} else if s.n == 0 {
			s.n = s.item
		}
		s.have = s.n
	}
	return s, nil
}

// spectrumRun is the state of one launch.
type spectrumRun struct {
	*spectrum
	x, y, window []float32
}

var spectrumJob = work.NewJob((*spectrumRun).line)

// Launch shares the lines among the workers.
func (s *spectrum) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	r := spectrumRun{s, numeric.View[float32](in[0].Host), numeric.View[float32](out[0].Host), s.window}
	if s.windowed && r.window == nil {
		r.window = numeric.View[float32](in[1].Host)
	}
	spectrumJob.Each(work.LoopOver(st, 64*s.lines*s.n), s.lines, r)
	return nil
}

// line transforms one line, or frame.
func (r *spectrumRun) line(u, _ int) {
	room := r.rooms.Get().(*spectrumRoom)
	src, dst, more := room.numbers[:r.n], room.numbers[r.n:2*r.n], room.numbers[2*r.n:]
	from, to := u/r.inner*r.have*r.inner+u%r.inner, u/r.inner*r.want*r.inner+u%r.inner
	if r.frames > 0 {
		from, to = u/r.frames*r.item+u%r.frames*r.hop, u*r.want
	}
	clear(src)
	for i := range min(r.n, r.have) {
		at := (from + i*r.inner) * r.parts
		if src[i] = complex(float64(r.x[at]), 0); r.parts == 2 {
			src[i] = complex(float64(r.x[at]), float64(r.x[at+1]))
		}
		if r.windowed {
			src[i] *= complex(float64(r.window[i]), 0)
		}
	}
	if r.inverse {
		if r.oneSided {
			graph.Mirror(src, r.have)
		}
		r.fft.Inverse(dst, src, more)
	} else {
		r.fft.Transform(dst, src, more)
	}
	for i, v := range dst[:r.want] {
		at := (to + i*r.inner) * r.outParts
		if r.y[at] = float32(real(v)); r.outParts == 2 {
			r.y[at+1] = float32(imag(v))
		}
	}
	r.rooms.Put(room)
}
