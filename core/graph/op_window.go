package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// WindowAttrs are the attributes of HannWindow, HammingWindow and BlackmanWindow.
type WindowAttrs struct {
	Periodic bool // the window is the first part of one that is longer by one number, and symmetric
	Type     numeric.DataType
}

// The windows are sums of cosines (Harris 1978): a0 - a1 cos(2 pi n/N) + a2 cos(4 pi n/N). Their input is the length, which must
// follow from constants and the inputs' shapes.
var (
	HannWindow     = window("HannWindow", 0.5, 0.5, 0)
	HammingWindow  = window("HammingWindow", 25.0/46, 1-25.0/46, 0)
	BlackmanWindow = window("BlackmanWindow", 0.42, 0.5, 0.08)
)

func window(name string, a0, a1, a2 float64) *Op {
	return &Op{
		Name:  name,
		Attrs: WindowAttrs{},
		Reals: AsStored,
		Onnx:  []string{name},
		Class: ClassSource, Inputs: []Role{Parameter}, Memory: Written,
		Moves: computed,
		FLOPs: noFLOPs,
		Infer: func(l *Layer) error {
			n, err := l.knownNumber(0, "size")
			if err != nil {
				return err
			}
			return l.inferSource(l.Attrs.(WindowAttrs).Type, n)
		},
		Eval: func(l *Layer, in, out []numeric.Value) error {
			n := out[0].Len()
			period := float64(n)
			if !l.Attrs.(WindowAttrs).Periodic {
				period--
			}
			x := make([]float64, n)
			for i := range x {
				turn := 2 * math.Pi * float64(i) / period
				x[i] = a0 - a1*math.Cos(turn) + a2*math.Cos(2*turn)
			}
			out[0].SetNumbers(x)
			return nil
		},
		Export: func(e *Exporter) error {
			a := e.Layer.Attrs.(WindowAttrs)
			return e.Node(name, Attributes{"periodic": a.Periodic, "output_datatype": a.Type}, e.scalars()...)
		},
		Import: func(n *Node) (any, []*Tensor, error) {
			a := WindowAttrs{Periodic: n.Flag("periodic", true)}
			var err error
			a.Type, err = onnxDataType(n.Int("output_datatype", 1))
			return a, n.Inputs, err
		},
	}
}

// knownNumber returns the only element of input i, which must follow from constants and the inputs' shapes.
func (l *Layer) knownNumber(i int, what string) (symbolic.Dim, error) {
	list, err := l.knownInput(i, what)
	switch {
	case err != nil:
		return symbolic.Dim{}, err
	case len(list) != 1:
		return symbolic.Dim{}, fmt.Errorf("%s (input %d) has %d elements, want 1", what, i, len(list))
	}
	return list[0], nil
}

// scalars returns the names of the op's inputs of one element each as ONNX wants them, without axes.
func (e *Exporter) scalars() (names []string) {
	for i, name := range e.Inputs() {
		if t := e.Layer.Input(i); t != nil && len(t.Dims) > 0 {
			name = e.Step("Reshape", nil, name, e.list("no axes", []int{}))
		}
		names = append(names, name)
	}
	return names
}

// inferSource gives the output a type of numbers and dims.
func (l *Layer) inferSource(t numeric.DataType, dims ...symbolic.Dim) error {
	if t.Size() == 0 || t == numeric.Bool || t == numeric.Str || t.IsFloat8() {
		return fmt.Errorf("an output of type %s", t)
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = t, dims
	return nil
}

// MelAttrs are the attributes of MelWeightMatrix.
type MelAttrs struct{ Type numeric.DataType }

// MelWeightMatrix is the matrix [length/2+1, bands] that makes the bands of the mel scale, 2595 log10(1 + f/700), of a spectrum:
// triangles that overlap by half, whose corners are spectral lines. Its inputs are the number of bands, the length of the
// transform, both known, the samples of a second, and the lowest and highest frequency.
var MelWeightMatrix = &Op{
	Name:  "MelWeightMatrix",
	Attrs: MelAttrs{},
	Reals: AsStored,
	Onnx:  []string{"MelWeightMatrix"},
	Class: ClassSource, Inputs: []Role{Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		for i := range 5 {
			t, err := l.need(i)
			if err != nil {
				return err
			}
			if n, ok := countDims(t.Dims); !ok || n != 1 || (i < 3) == t.Type.IsFloat() {
				return fmt.Errorf("input %d is %s, want a number: bands, length, samples of a second, which are integers, and two frequencies", i, t.TypeString())
			}
		}
		bands, err := l.knownNumber(0, "num_mel_bins")
		if err != nil {
			return err
		}
		length, err := l.knownNumber(1, "dft_length")
		if err != nil {
			return err
		}
		return l.inferSource(l.Attrs.(MelAttrs).Type, halfOf(length), bands)
	},
	Eval: evalMel,
	Export: func(e *Exporter) error {
		return e.Node("MelWeightMatrix", Attributes{"output_datatype": e.Layer.Attrs.(MelAttrs).Type}, e.scalars()...)
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		t, err := onnxDataType(n.Int("output_datatype", 1))
		return MelAttrs{t}, n.Inputs, err
	},
}

func evalMel(l *Layer, in, out []numeric.Value) error {
	lines, bands := out[0].Dims[0], out[0].Dims[1]
	length, rate := float64(in[1].Ints()[0]), float64(in[2].Ints()[0])
	mel := func(i int) float64 { return 2595 * math.Log10(1+in[i].Float64s()[0]/700) }
	low, high := mel(3), mel(4)
	corner := func(i int) (int, error) {
		hertz := 700 * (math.Pow(10, (low+float64(i)*(high-low)/float64(bands+2))/2595) - 1)
		at := math.Floor((length + 1) * hertz / rate)
		if !(at >= 0 && at <= float64(lines)) {
			return 0, fmt.Errorf("band %d ends at %g Hz, outside of the spectrum of %d lines up to %g Hz", i, hertz, lines, rate/2)
		}
		return int(at), nil
	}
	x := make([]float64, lines*bands)
	for band := range bands {
		var at [3]int
		for i := range at {
			var err error
			if at[i], err = corner(band + i); err != nil {
				return err
			}
		}
		left, center, right := at[0], at[1], at[2]
		if center >= lines {
			return fmt.Errorf("band %d has its centre at line %d of a spectrum of %d", band, center, lines)
		}
		for j := left; j <= center; j++ {
			if x[j*bands+band] = 1; center > left {
				x[j*bands+band] = float64(j-left) / float64(center-left)
			}
		}
		for j := center; j < right; j++ {
			x[j*bands+band] = float64(right-j) / float64(right-center)
		}
	}
	out[0].SetNumbers(x)
	return nil
}
