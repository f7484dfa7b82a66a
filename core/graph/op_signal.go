package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// DFTAttrs are the attributes of DFT.
type DFTAttrs struct {
	Axis     int  // of the signal, not the last one; Import counts it from 0
	Length   int  // of the transform: what is longer is cut off, and what is shorter followed by zeros; 0: as long as the signal is
	Inverse  bool // and divided by the length
	OneSided bool // the spectrum of a real signal, of which the first half says all: that of the output, or of the input of Inverse
}

// DFT is the discrete Fourier transform along an axis. The last axis has real numbers, or pairs of real and imaginary parts: one
// number in a real signal, two elsewhere. Input 1 is the length where that is no attribute.
var DFT = &Op{
	Name:  "DFT",
	Attrs: DFTAttrs{},
	Onnx:  []string{"DFT"},
	Class: ClassReduction, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves:  computed,
	FLOPs:  dftFLOPs,
	Infer:  inferDFT,
	Eval:   evalDFT,
	Import: importDFT,
	Export: func(e *Exporter) error {
		a, length := e.Layer.Attrs.(DFTAttrs), e.Input(1)
		if length == "" && a.Length > 0 {
			length = e.scalar("length", a.Length)
		}
		return e.Node("DFT", Attributes{"inverse": a.Inverse, "onesided": a.OneSided}, e.Input(0), length, e.scalar("axis", a.Axis))
	},
}

func importDFT(n *Node) (any, []*Tensor, error) {
	a := DFTAttrs{Inverse: n.Flag("inverse", false), OneSided: n.Flag("onesided", false)}
	rank, err := n.rank(0)
	if err != nil {
		return nil, nil, err
	}
	axis := -2
	if n.Version < 20 {
		axis = n.Int("axis", 1)
	} else if given, ok, err := n.knownScalar(2, "axis"); err != nil {
		return nil, nil, err
	} else if ok {
		axis = given
	}
	if a.Axis, err = axisIn(axis, rank); err != nil {
		return nil, nil, err
	}
	if length, ok, err := n.knownScalar(1, "dft_length"); ok && err != nil {
		return a, n.Inputs[:2], nil
	} else if ok {
		if a.Length = length; length < 1 {
			return nil, nil, fmt.Errorf("dft_length is %d, want at least 1", length)
		}
	}
	return a, n.Inputs[:1], nil
}

// maxTransform bounds the length of a transform, which takes up to 500 bytes for each of its numbers.
const maxTransform = 1 << 22

func checkTransform(n int) error {
	if n < 1 || n > maxTransform {
		return fmt.Errorf("a transform of %d numbers; want 1 to %d", n, maxTransform)
	}
	return nil
}

// halfOf returns how many numbers of a spectrum of some length say all of a real signal.
func halfOf(length symbolic.Dim) symbolic.Dim { return length.DivN(2).AddN(1) }

// dftLength returns the length of a transform of a signal.
func (l *Layer) dftLength(a DFTAttrs, signal symbolic.Dim) (symbolic.Dim, error) {
	switch {
	case a.Length > 0:
		return symbolic.Const(a.Length), nil
	case l.Input(1) != nil:
		list, err := l.knownInput(1, "dft_length")
		if err == nil && len(list) != 1 {
			err = fmt.Errorf("dft_length has %d elements, want 1", len(list))
		}
		if err != nil {
			return symbolic.Dim{}, err
		}
		return list[0], nil
	case a.Inverse && a.OneSided:
		return signal.AddN(-1).MulN(2).AtLeast0(), nil
	}
	return signal, nil
}

func inferDFT(l *Layer) error {
	a := l.Attrs.(DFTAttrs)
	x, err := l.needFloats(0)
	if err != nil {
		return err
	}
	rank := len(x.Dims)
	axis, err := axisIn(a.Axis, rank)
	if err != nil {
		return err
	}
	if axis == rank-1 || a.Length < 0 {
		return fmt.Errorf("axis %d of %d, length %d: want an axis before the last, and no negative length", axis, rank, a.Length)
	}
	parts, ok := x.Dims[rank-1].IsConst()
	if !ok || parts != 1 && parts != 2 {
		return fmt.Errorf("input 0 is %s, want a last axis of 1 or 2 numbers", x.TypeString())
	}
	if a.OneSided && !a.Inverse && parts == 2 {
		return fmt.Errorf("the spectrum of the complex signal %s is not one-sided", x.TypeString())
	}
	length, err := l.dftLength(a, x.Dims[axis])
	if err != nil {
		return err
	}
	if n, ok := length.IsConst(); ok && !x.Dims[axis].Is(0) {
		if err := checkTransform(n); err != nil {
			return err
		}
	}
	y := l.Outputs[0]
	y.Type, y.Dims = x.RealType(), append([]symbolic.Dim{}, x.Dims...)
	y.Dims[axis], y.Dims[rank-1] = length, symbolic.Const(2)
	switch {
	case a.OneSided && a.Inverse:
		y.Dims[rank-1] = symbolic.Const(1)
	case a.OneSided:
		y.Dims[axis] = halfOf(length)
	}
	return nil
}

// dftFLOPs counts the transforms of all lines.
func dftFLOPs(l *Layer, env map[string]int) int64 {
	a, x := l.Attrs.(DFTAttrs), inputDims(l, env)
	axis, err := axisIn(a.Axis, len(x))
	length, err2 := l.dftLength(a, l.Inputs[0].Dims[max(0, axis)])
	if err != nil || err2 != nil || numeric.Count(x) == 0 {
		return 0
	}
	lines := numeric.Count(x) / x[axis] / x[len(x)-1]
	return int64(lines) * fftFLOPs(length.Eval(env))
}

func evalDFT(l *Layer, in, out []numeric.Value) error {
	a, dims := l.Attrs.(DFTAttrs), in[0].Dims
	rank := len(dims)
	axis, err := axisIn(a.Axis, rank)
	if err != nil {
		return err
	}
	length, err := l.dftLength(a, symbolic.Const(dims[axis]))
	if len(in) > 1 && in[1].Len() == 1 && a.Length == 0 {
		length, err = symbolic.Const(int(in[1].Ints()[0])), nil
	}
	if err != nil {
		return err
	}
	n := length.Eval(nil)
	if err := checkTransform(n); err != nil {
		return err
	}
	x, y := in[0].Float64s(), make([]float64, out[0].Len())
	t := NewFFT(n)
	room := make([]complex128, t.Room())
	src, dst := make([]complex128, n), make([]complex128, n)
	inner, parts, outParts := numeric.Count(dims[axis+1:rank-1]), dims[rank-1], out[0].Dims[rank-1]
	have, want := dims[axis], out[0].Dims[axis]
	if want != n && !(a.OneSided && !a.Inverse && want == n/2+1) {
		return fmt.Errorf("a transform of %d numbers does not fit the output's %d", n, want)
	}
	for line := range numeric.Count(dims[:axis]) * inner {
		outer, k := line/inner, line%inner
		clear(src)
		for i := range min(n, have) {
			at := ((outer*have+i)*inner + k) * parts
			if src[i] = complex(x[at], 0); parts == 2 {
				src[i] = complex(x[at], x[at+1])
			}
		}
		switch {
		case a.Inverse:
			if a.OneSided {
				Mirror(src, have)
			}
			t.Inverse(dst, src, room)
		default:
			t.Transform(dst, src, room)
		}
		for i := range want {
			at := ((outer*want+i)*inner + k) * outParts
			if y[at] = real(dst[i]); outParts == 2 {
				y[at+1] = imag(dst[i])
			}
		}
	}
	out[0].SetFloats(y)
	return nil
}

// STFTAttrs are the attributes of STFT.
type STFTAttrs struct {
	Step     int  // from one frame to the next
	Length   int  // of a frame; 0: as long as the window is, or the signal where there is none
	OneSided bool // of a real signal: the first half of each spectrum, which says all
}

// STFT is the Fourier transforms of the frames of a signal, [B,L,1] or, complex, [B,L,2], each multiplied by an optional window
// first: [B,frames,length,2], or length/2+1 of them. Input 1 is the window. A signal may also be [B,L], as PyTorch exports it and
// ONNX Runtime takes it: it is real.
var STFT = &Op{
	Name:  "STFT",
	Attrs: STFTAttrs{},
	Onnx:  []string{"STFT"},
	Class: ClassReduction, Inputs: []Role{Data, Coefficients}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		length, frames, err := l.stftFrames()
		if err != nil {
			return 0
		}
		n := length.Eval(env)
		return int64(frames.Eval(env)) * int64(inputDims(l, env)[0]) * (fftFLOPs(n) + int64(n))
	},
	Infer: inferSTFT,
	Eval:  evalSTFT,
	Import: func(n *Node) (any, []*Tensor, error) {
		a := STFTAttrs{OneSided: n.Flag("onesided", true)}
		step, ok, err := n.knownScalar(1, "frame_step")
		if err == nil && !ok {
			err = fmt.Errorf("input 1 (frame_step) is missing")
		}
		if err != nil {
			return nil, nil, err
		}
		length, ok, err := n.knownScalar(3, "frame_length")
		if ok && err == nil && length < 1 {
			err = fmt.Errorf("frame_length is %d, want at least 1", length)
		}
		a.Step, a.Length = step, length
		inputs := []*Tensor{n.Input(0)}
		if w := n.Input(2); w != nil {
			inputs = append(inputs, w)
		}
		return a, inputs, err
	},
	Export: func(e *Exporter) error {
		a, length := e.Layer.Attrs.(STFTAttrs), ""
		if a.Length > 0 {
			length = e.scalar("length", a.Length)
		}
		return e.Node("STFT", Attributes{"onesided": a.OneSided}, e.Input(0), e.scalar("step", a.Step), e.Input(1), length)
	},
}

// stftFrames returns the length of a frame and their number.
func (l *Layer) stftFrames() (length, frames symbolic.Dim, err error) {
	a := l.Attrs.(STFTAttrs)
	x, err := l.needFloats(0)
	if err != nil {
		return length, frames, err
	}
	if rank := len(x.Dims); rank != 2 && rank != 3 || a.Step < 1 || a.Step > maxExtent || a.Length < 0 {
		return length, frames, fmt.Errorf("input 0 is %s, the step %d and the length %d: want [batch, places] or [batch, places, 1 or 2], and a step", x.TypeString(), a.Step, a.Length)
	}
	length = x.Dims[1]
	if a.Length > 0 {
		length = symbolic.Const(a.Length)
	}
	if l.Input(1) != nil {
		w, err := l.needFloats(1)
		if err != nil {
			return length, frames, err
		}
		if len(w.Dims) != 1 || a.Length > 0 && conflict(w.Dims[0], length) {
			return length, frames, fmt.Errorf("the window is %s, want as many numbers as a frame of %s has", w.TypeString(), length)
		}
		if length = w.Dims[0]; a.Length > 0 {
			length = symbolic.Const(a.Length)
		}
	}
	if n, ok := length.IsConst(); ok && !x.Dims[1].Is(0) {
		if err := checkTransform(n); err != nil {
			return length, frames, err
		}
	}
	return length, x.Dims[1].Sub(length).DivN(a.Step).AddN(1).AtLeast0(), nil
}

func inferSTFT(l *Layer) error {
	a := l.Attrs.(STFTAttrs)
	length, frames, err := l.stftFrames()
	if err != nil {
		return err
	}
	x := l.Inputs[0]
	if len(x.Dims) == 3 {
		parts, ok := x.Dims[2].IsConst()
		if !ok || parts != 1 && parts != 2 || a.OneSided && parts == 2 {
			return fmt.Errorf("input 0 is %s, want a last axis of 1 number, or 2 where the spectrum is not one-sided", x.TypeString())
		}
	}
	bins := length
	if a.OneSided {
		bins = halfOf(length)
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), []symbolic.Dim{x.Dims[0], frames, bins, symbolic.Const(2)}
	return nil
}

func evalSTFT(l *Layer, in, out []numeric.Value) error {
	a, dims := l.Attrs.(STFTAttrs), in[0].Dims
	n := dims[1]
	var window []float64
	if v := optional(in, 1); v.Dims != nil {
		window = v.Float64s()
		n = len(window)
	}
	if a.Length > 0 {
		n = a.Length
	}
	if window != nil && len(window) != n {
		return fmt.Errorf("frames of %d numbers, and a window of %d", n, len(window))
	}
	if err := checkTransform(n); err != nil {
		return err
	}
	x, y := in[0].Float64s(), make([]float64, out[0].Len())
	t := NewFFT(n)
	room := make([]complex128, t.Room())
	src, dst := make([]complex128, n), make([]complex128, n)
	frames, bins, parts := out[0].Dims[1], out[0].Dims[2], 1
	if len(dims) == 3 {
		parts = dims[2]
	}
	for u := range dims[0] * frames {
		from := u/frames*dims[1] + u%frames*a.Step
		for i := range src {
			at := (from + i) * parts
			if src[i] = complex(x[at], 0); parts == 2 {
				src[i] = complex(x[at], x[at+1])
			}
			if window != nil {
				src[i] *= complex(window[i], 0)
			}
		}
		t.Transform(dst, src, room)
		for i, v := range dst[:bins] {
			y[(u*bins+i)*2], y[(u*bins+i)*2+1] = real(v), imag(v)
		}
	}
	out[0].SetFloats(y)
	return nil
}
