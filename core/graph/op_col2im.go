package graph

import (
	"cmp"
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Col2ImAttrs are the attributes of Col2Im. Empty lists mean 1 for strides and dilations and 0 for pads.
type Col2ImAttrs struct {
	Block     []int // extent of a block on each axis
	Strides   []int
	Dilations []int
	Pads      []int // begin of each axis of the image, then end of each
}

// Col2Im adds up blocks of an image that overlap: columns [N,C*k,L], where k is the elements of a block and L the places that it
// has on an image of the extents that input 1, an I64 list, says: y [N,C,E1,...]. It is what a window's gradient is made of.
var Col2Im = &Op{
	Name:  "Col2Im",
	Attrs: Col2ImAttrs{},
	Onnx:  []string{"Col2Im"},
	Class: ClassReduction, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(1),
	Infer: inferCol2Im,
	Eval:  evalCol2Im,
	Import: func(n *Node) (any, []*Tensor, error) {
		block, ok, err := n.known(2, "block_shape")
		if err != nil || !ok {
			return nil, nil, cmp.Or(err, fmt.Errorf("input 2 (block_shape) is missing"))
		}
		return Col2ImAttrs{block, n.Ints("strides"), n.Ints("dilations"), n.Ints("pads")}, n.Inputs[:2], nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(Col2ImAttrs)
		attrs := Attributes{"strides": a.Strides, "dilations": a.Dilations, "pads": a.Pads}
		return e.Node("Col2Im", attrs, e.Input(0), e.Input(1), e.list("block_shape", a.Block))
	},
}

func inferCol2Im(l *Layer) error {
	x, err := l.needNumber(0)
	if err != nil {
		return err
	}
	image, err := l.knownInput(1, "image_shape")
	if err != nil {
		return err
	}
	a := l.Attrs.(Col2ImAttrs)
	switch err := checkList("block_shape", a.Block, len(image), 1); {
	case err != nil:
		return err
	case len(x.Dims) != 3 || len(image) == 0 || len(image) != len(a.Block):
		return fmt.Errorf("columns %s, image_shape %s, block_shape %v: want [N,C,L] and as many extents of the image as of a block", x.TypeString(), symbolic.Format(image), a.Block)
	}
	if n, ok := countDims(symbolic.Shape(a.Block...)); !ok || n > maxWindow {
		return fmt.Errorf("block_shape %v is too large", a.Block)
	}
	for _, d := range image {
		if n, ok := d.IsConst(); ok && (n < 0 || n > maxWindow) {
			return fmt.Errorf("image_shape %s: want extents from 0 to %d", symbolic.Format(image), maxWindow)
		}
	}
	places, err := windowDims(a.Block, a.Strides, a.Dilations, a.Pads, AutoPadNone, image)
	if err != nil {
		return err
	}
	if c, ok := x.Dims[1].IsConst(); ok && c%numeric.Count(a.Block) != 0 {
		return fmt.Errorf("the %d rows of columns %s are not a multiple of the %d elements of a block", c, x.TypeString(), numeric.Count(a.Block))
	}
	if conflict(x.Dims[2], productOf(places)) {
		return fmt.Errorf("columns %s do not have the %s places of a block on the image", x.TypeString(), symbolic.Format(places))
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), append([]symbolic.Dim{x.Dims[0], x.Dims[1].DivN(numeric.Count(a.Block))}, image...)
	return nil
}

// Windows returns the geometry of the blocks on each axis of an image of the given extents.
func (a Col2ImAttrs) Windows(image []int) []Window {
	return Windows(a.Block, a.Strides, a.Dilations, a.Pads, AutoPadNone, image)
}

func evalCol2Im(l *Layer, in, out []numeric.Value) error {
	x, image := in[0], out[0].Dims[2:]
	ws := l.Attrs.(Col2ImAttrs).Windows(image)
	places, block := make([]int, len(ws)), make([]int, len(ws))
	for i, w := range ws {
		places[i], block[i] = w.Out(image[i]), w.Kernel
	}
	k, plane, s := numeric.Count(block), numeric.Count(image), strides(image)
	src, y := x.Float64s(), make([]float64, out[0].Len())
	if x.Dims[2] != numeric.Count(places) {
		return fmt.Errorf("columns %v for %v places of a block", x.Dims, places)
	}
	for i, v := range src {
		row, place := i/x.Dims[2], unravel(i%x.Dims[2], places)
		at := row / k * plane
		for axis, p := range unravel(row%k, block) {
			e := place[axis]*ws[axis].Stride + p*ws[axis].Dilation - ws[axis].PadBegin
			if e < 0 || e >= image[axis] {
				at = -1
				break
			}
			at += e * s[axis]
		}
		if at >= 0 {
			y[at] += v
		}
	}
	out[0].SetFloats(y)
	return nil
}
