package onnx

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// scalesInput is the input of a Resize or Upsample that has its scales, by operator set.
func scalesInput(n *graph.Node) int {
	if n.OpType == "Upsample" || n.Version < 11 {
		return 1
	}
	return 2
}

// openScales makes the scales of a Resize that follow from shapes, such as an extent that is wanted divided by one that there is,
// the sizes that they give, for all axes: floor(extent*scale) in the scales' type.
func (im *importer) openScales(n *graph.Node) error {
	at := scalesInput(n)
	x, scales := n.Input(0), n.Input(at)
	if n.OpType != "Resize" && n.OpType != "Upsample" || x == nil || scales == nil || scales.IsConst() || len(scales.Dims) != 1 || scales.Dims[0].Is(0) {
		return nil
	}
	if n.Has("axes") {
		return fmt.Errorf("scales (%s) must be constant with attribute axes", scales.Name)
	}
	var err error
	add := func(op string, attrs any, in ...*graph.Tensor) *graph.Tensor {
		if err != nil {
			return nil
		}
		l, e := im.net.Add(im.freshName(n.Name+"/"+op), im.Ops.Named(op), attrs, in)
		if e != nil {
			err = unwrapLayer(e)
			return nil
		}
		return l.Outputs[0]
	}
	extents := add("Cast", graph.CastAttrs{To: scales.Type}, add("Shape", graph.ShapeAttrs{End: len(x.Dims)}, x))
	product := elementwise.Binary(elementwise.Mul)
	product.Code = append(product.Code, elementwise.Instr{Op: elementwise.Floor, Arg: [3]int{product.Result()}})
	sizes := add("Cast", graph.CastAttrs{To: numeric.I64}, add("Pointwise", graph.Elementwise{Program: product}, extents, scales))
	if err != nil {
		return err
	}
	region := n.Input(1)
	if at == 1 { // what the scales of older sets mean
		region = nil
		n.OpType, n.Version = "Resize", 11
		for name, v := range map[string]string{"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} {
			n.Attrs[name] = graph.Attr{Kind: graph.AttrString, String: v}
		}
	}
	n.Inputs = []*graph.Tensor{x, region, nil, sizes}
	return nil
}
