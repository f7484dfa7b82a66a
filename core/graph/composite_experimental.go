package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// onnxExperimental are operators that ONNX had on trial until 2019, with operator set 1, and that converters of the time wrote. ONNX
// Runtime has kept them.
var onnxExperimental = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"Affine":             onTrial(affine),
	"Crop":               onTrial(crop),
	"ImageScaler":        onTrial(imageScaler),
	"ParametricSoftplus": onTrial(parametricSoftplus),
	"Scale":              onTrial(affine),
	"ScaledTanh":         onTrial(scaledTanh),
}

// onTrial imports an operator of one input.
func onTrial(f func(*Definition, *Node, *Tensor) (*Tensor, error)) func(*Definition, *Node) ([]*Tensor, error) {
	return func(d *Definition, n *Node) ([]*Tensor, error) {
		if err := n.needs(0); err != nil {
			return nil, err
		}
		y, err := f(d, n, n.Input(0))
		return []*Tensor{y}, err
	}
}

// affine is alpha*x + beta, or of a Scale scale*x.
func affine(d *Definition, n *Node, x *Tensor) (*Tensor, error) {
	if n.OpType == "Scale" {
		return d.times(x, n.Float("scale", 1)), nil
	}
	return d.plusNumber(d.times(x, n.Float("alpha", 1)), n.Float("beta", 0)), nil
}

// alphaBeta returns the attributes alpha and beta, which have no defaults.
func (n *Node) alphaBeta() (alpha, beta float32, err error) {
	if !n.Has("alpha") || !n.Has("beta") {
		return 0, 0, fmt.Errorf("alpha or beta is missing")
	}
	return n.Float("alpha", 1), n.Float("beta", 1), nil
}

// parametricSoftplus is alpha * log(1 + exp(beta*x)).
func parametricSoftplus(d *Definition, n *Node, x *Tensor) (*Tensor, error) {
	alpha, beta, err := n.alphaBeta()
	return d.times(d.Softplus(d.times(x, beta)), alpha), err
}

// scaledTanh is alpha * tanh(beta*x).
func scaledTanh(d *Definition, n *Node, x *Tensor) (*Tensor, error) {
	alpha, beta, err := n.alphaBeta()
	return d.times(d.Tanh(d.times(x, beta)), alpha), err
}

// imageScaler is scale*x + bias, with a bias for each channel.
func imageScaler(d *Definition, n *Node, x *Tensor) (*Tensor, error) {
	bias := n.Floats("bias")
	if err := n.ranked(axes{0, []int{4}}); err != nil {
		return nil, err
	}
	if conflict(x.Dims[1], symbolic.Const(len(bias))) {
		return nil, fmt.Errorf("%d biases for %s channels", len(bias), x.Dims[1])
	}
	y := d.times(x, n.Float("scale", 1))
	return d.Add(y, d.Constant(d.fresh("bias"), numeric.Values(numeric.F32, bias, len(bias), 1, 1))), nil
}

// crop leaves borders of images out: left, top, right and bottom, or behind left and top a height and a width.
func crop(d *Definition, n *Node, x *Tensor) (*Tensor, error) {
	border, size := n.Ints("border"), n.Ints("scale")
	if err := n.ranked(axes{0, []int{4}}); err != nil {
		return nil, err
	}
	if len(border) != 4 || size != nil && len(size) != 2 {
		return nil, fmt.Errorf("border %v or scale %v is not of four and two numbers", border, size)
	}
	h, err := n.extent(0, 2)
	if err != nil {
		return nil, err
	}
	w, err := n.extent(0, 3)
	if err != nil {
		return nil, err
	}
	left, top, right, bottom := border[0], border[1], w-border[2], h-border[3]
	if size != nil {
		right, bottom = left+size[1], top+size[0]
	}
	if left < 0 || top < 0 || right > w || bottom > h || left > right || top > bottom {
		return nil, fmt.Errorf("border %v and scale %v leave nothing of %s", border, size, x.TypeString())
	}
	return d.Slice(x, SliceAttrs{Starts: []int{top, left}, Ends: []int{bottom, right}, Axes: []int{2, 3}}), nil
}
