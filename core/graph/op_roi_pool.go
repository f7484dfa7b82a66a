package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// MaxRoiPoolAttrs are the attributes of MaxRoiPool.
type MaxRoiPoolAttrs struct {
	Height, Width int     // of each region's result
	Scale         float32 // from the regions' coordinates to those of the input
}

// MaxRoiPool takes the largest elements of the bins of regions of x [N,C,H,W]: regions [R,5] are the item of the batch and x1, y1,
// x2, y2, rounded and within the region: y [R,C,Height,Width]. A bin without elements is 0; NaN wins over numbers.
var MaxRoiPool = &Op{
	Name:  "MaxRoiPool",
	Attrs: MaxRoiPoolAttrs{},
	Onnx:  []string{"MaxRoiPool"},
	Class: ClassResampling, Inputs: []Role{Data, Parameter}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 { return outputCount(l, env) },
	Infer: func(l *Layer) error {
		x, err := l.needNumber(0)
		if err != nil {
			return err
		}
		rois, err := l.needNumber(1)
		if err != nil {
			return err
		}
		a := l.Attrs.(MaxRoiPoolAttrs)
		switch {
		case len(x.Dims) != 4:
			return fmt.Errorf("input %s: want [N,C,H,W]", x.TypeString())
		case len(rois.Dims) != 2 || conflict(rois.Dims[1], symbolic.Const(5)) || rois.Quantized():
			return fmt.Errorf("regions %s: want [R,5] of real numbers", rois.TypeString())
		case a.Height < 1 || a.Height > maxRoi || a.Width < 1 || a.Width > maxRoi:
			return fmt.Errorf("pooled_shape [%d %d]: want extents from 1 to %d", a.Height, a.Width, maxRoi)
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), []symbolic.Dim{rois.Dims[0], x.Dims[1], symbolic.Const(a.Height), symbolic.Const(a.Width)}
		return nil
	},
	Eval: evalMaxRoiPool,
	Import: func(n *Node) (any, []*Tensor, error) {
		shape := n.Ints("pooled_shape")
		if len(shape) != 2 {
			return nil, nil, fmt.Errorf("pooled_shape %v: want two extents", shape)
		}
		return MaxRoiPoolAttrs{shape[0], shape[1], n.Float("spatial_scale", 1)}, n.Inputs, nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(MaxRoiPoolAttrs)
		return e.Node("MaxRoiPool", Attributes{"pooled_shape": []int{a.Height, a.Width}, "spatial_scale": a.Scale})
	},
}

func evalMaxRoiPool(l *Layer, in, out []numeric.Value) error {
	a, x := l.Attrs.(MaxRoiPoolAttrs), in[0]
	channels, height, width := x.Dims[1], x.Dims[2], x.Dims[3]
	src, rois, y := x.Float64s(), in[1].Float64s(), make([]float64, out[0].Len())
	for r := range in[1].Dims[0] {
		box := rois[5*r:][:5]
		item := math.Trunc(box[0])
		if !(item >= 0 && item < float64(x.Dims[0])) {
			return fmt.Errorf("region %d is of item %v of %d", r, box[0], x.Dims[0])
		}
		for c := range channels {
			plane := src[(int(item)*channels+c)*height*width:][:height*width]
			for i := range a.Height * a.Width {
				top, bottom := a.bin(box[2], box[4], i/a.Width, a.Height, height)
				left, right := a.bin(box[1], box[3], i%a.Width, a.Width, width)
				y[(r*channels+c)*a.Height*a.Width+i] = largestOf(plane, width, top, bottom, left, right)
			}
		}
	}
	out[0].SetFloats(y)
	return nil
}

// bin returns the indices, of an axis of an extent, of a bin of a region from low to high.
func (a MaxRoiPoolAttrs) bin(low, high float64, bin, bins, extent int) (first, last int) {
	place := func(x float64) float32 { // where it is on the input; far outside is as far as any
		return max(-1e6, min(1e6, float32(math.Round(float64(float32(x)*a.Scale)))))
	}
	start := place(low)
	size := max(place(high)-start+1, 1) / float32(bins)
	from := start + float32(math.Floor(float64(float32(bin)*size)))
	to := start + float32(math.Ceil(float64(float32(bin+1)*size)))
	within := func(x float32) int {
		if !(x > 0) {
			return 0
		}
		return int(min(x, float32(extent)))
	}
	return within(from), within(to)
}

// largestOf returns the largest element of a rectangle of a plane, 0 of an empty one.
func largestOf(plane []float64, width, top, bottom, left, right int) float64 {
	if bottom <= top || right <= left {
		return 0
	}
	best := math.Inf(-1)
	for y := top; y < bottom; y++ {
		for _, v := range plane[y*width+left : y*width+right] {
			best = max(best, v)
		}
	}
	return best
}
