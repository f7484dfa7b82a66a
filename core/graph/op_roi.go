package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// RoiAlignAttrs are the attributes of RoiAlign.
type RoiAlignAttrs struct {
	Height, Width int     // of each region's result
	Samples       int     // along each axis of a bin; 0 is as many as its extent in elements, rounded up
	Scale         float32 // from the regions' coordinates to those of the input
	HalfPixel     bool    // coordinates are half an element less, and regions may be smaller than one
	Max           bool    // the largest of weighted elements, as ONNX has it, not the mean of the samples
}

// RoiAlign cuts regions out of x [N,C,H,W], interpolated at the points of a grid: regions [R,4] are x1, y1, x2, y2, and items
// [R], integers, say of which item of the batch each is: y [R,C,Height,Width]. A sample that lies more than one element outside,
// and one whose place is no number, is 0.
var RoiAlign = &Op{
	Name:  "RoiAlign",
	Attrs: RoiAlignAttrs{},
	Onnx:  []string{"RoiAlign"},
	Class: ClassResampling, Inputs: []Role{Data, Parameter, Indices}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		n := int64(max(1, l.Attrs.(RoiAlignAttrs).Samples)) // where they follow from the regions, it is not known how many
		return 8 * n * n * outputCount(l, env)
	},
	Chosen: func(l *Layer) []symbolic.Dim { return l.Inputs[0].Dims[:1] },
	Infer:  inferRoiAlign,
	Eval:   evalRoiAlign,
	Import: importRoiAlign,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(RoiAlignAttrs)
		attrs := Attributes{"mode": "avg", "output_height": a.Height, "output_width": a.Width, "sampling_ratio": a.Samples,
			"spatial_scale": a.Scale, "coordinate_transformation_mode": "output_half_pixel"}
		if a.Max {
			attrs["mode"] = "max"
		}
		if a.HalfPixel {
			attrs["coordinate_transformation_mode"] = "half_pixel"
		}
		return e.Node("RoiAlign", attrs)
	},
}

func importRoiAlign(n *Node) (any, []*Tensor, error) {
	a := RoiAlignAttrs{Height: n.Int("output_height", 1), Width: n.Int("output_width", 1), Samples: n.Int("sampling_ratio", 0), Scale: n.Float("spatial_scale", 1)}
	switch mode := n.String("mode", "avg"); mode {
	case "avg", "max":
		a.Max = mode == "max"
	default:
		return nil, nil, fmt.Errorf("mode %q is unknown", mode)
	}
	if n.Version < 16 {
		return a, n.Inputs, nil
	}
	switch mode := n.String("coordinate_transformation_mode", "half_pixel"); mode {
	case "half_pixel", "output_half_pixel":
		a.HalfPixel = mode == "half_pixel"
	default:
		return nil, nil, fmt.Errorf("coordinate_transformation_mode %q is unknown", mode)
	}
	return a, n.Inputs, nil
}

// maxRoi bounds the extents of a region's result, maxRoiSamples the samples of a bin that a node asks for along each axis.
const maxRoi, maxRoiSamples = 1 << 15, 1 << 10

func inferRoiAlign(l *Layer) error {
	x, err := l.needNumber(0)
	if err != nil {
		return err
	}
	rois, err := l.needNumber(1)
	if err != nil {
		return err
	}
	items, err := l.need(2)
	if err != nil {
		return err
	}
	a := l.Attrs.(RoiAlignAttrs)
	switch {
	case len(x.Dims) != 4:
		return fmt.Errorf("input %s: want [N,C,H,W]", x.TypeString())
	case len(rois.Dims) != 2 || conflict(rois.Dims[1], symbolic.Const(4)) || rois.Quantized():
		return fmt.Errorf("regions %s: want [R,4] of real numbers", rois.TypeString())
	case items.Type != numeric.I64 || len(items.Dims) != 1 || conflict(items.Dims[0], rois.Dims[0]):
		return fmt.Errorf("items %s: want an i64 for each region of %s", items.TypeString(), rois.TypeString())
	case a.Height < 1 || a.Height > maxRoi || a.Width < 1 || a.Width > maxRoi || a.Samples < 0 || a.Samples > maxRoiSamples:
		return fmt.Errorf("output_height %d, output_width %d, sampling_ratio %d: want extents from 1 to %d, samples from 0 to %d", a.Height, a.Width, a.Samples, maxRoi, maxRoiSamples)
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), []symbolic.Dim{rois.Dims[0], x.Dims[1], symbolic.Const(a.Height), symbolic.Const(a.Width)}
	return nil
}

// RoiAxis is how one axis of a region is sampled: the bins, each of so many samples.
type RoiAxis struct {
	start, bin float32
	samples    float32 // of each bin: as many as a region asks for, which may be more than fit an int
	extent     int     // of the input
}

// Axis returns how the axis of a region from low to high is cut into bins, for an input of an extent. Numbers are computed with
// as ONNX Runtime computes with them, since a number of samples is one more or less by the last bit.
func (a RoiAlignAttrs) Axis(low, high float32, bins, extent int) RoiAxis {
	offset := float32(0)
	if a.HalfPixel {
		offset = 0.5
	}
	start, end := float32(low*a.Scale)-offset, float32(high*a.Scale)-offset
	size := end - start
	if !a.HalfPixel {
		size = max(size, 1)
	}
	r := RoiAxis{start: start, bin: size / float32(bins), samples: float32(a.Samples), extent: extent}
	if a.Samples == 0 {
		r.samples = float32(math.Ceil(float64(r.bin)))
	}
	return r
}

// Count returns the number of samples of a bin, 0 where that is no number.
func (r RoiAxis) Count() float32 {
	if !(r.samples > 0) {
		return 0
	}
	return r.samples
}

// sample returns the place of sample i of a bin.
func (r RoiAxis) sample(bin int, i float32) float32 {
	return r.start + float32(float32(bin)*r.bin) + float32(float32(i+0.5)*r.bin)/r.samples
}

// Within returns the samples of a bin, from first up to last, without it, that may lie on the input. A bin of more samples than
// float32 counts lies outside.
func (r RoiAxis) Within(bin int) (first, last float32) {
	step, count := r.bin/r.samples, r.Count()
	switch {
	case count > 1<<24 || step != step:
		return 0, 0
	case step <= 0:
		return 0, count
	}
	begin := r.start + float32(float32(bin)*r.bin)
	first = float32(math.Floor(float64((-2 - begin) / step)))
	last = float32(math.Ceil(float64((float32(r.extent) + 2 - begin) / step)))
	return max(0, min(count, first)), max(0, min(count, last))
}

// Tap returns the two neighbouring elements that sample i of a bin lies between, and the share of the second; ok is false
// where it is outside.
func (r RoiAxis) Tap(bin int, i float32) (low, high int, share float32, ok bool) {
	x := r.sample(bin, i)
	if !(x >= -1 && x <= float32(r.extent)) {
		return 0, 0, 0, false
	}
	x = max(x, 0)
	if low = int(x); low >= r.extent-1 {
		return r.extent - 1, r.extent - 1, 0, true
	}
	return low, low + 1, x - float32(low), true
}

func evalRoiAlign(l *Layer, in, out []numeric.Value) error {
	a, x := l.Attrs.(RoiAlignAttrs), in[0]
	channels, height, width := x.Dims[1], x.Dims[2], x.Dims[3]
	plane := height * width
	if plane == 0 {
		return fmt.Errorf("regions of %v, which has no elements", x.Dims)
	}
	src, rois, y := x.Float64s(), in[1].Float64s(), make([]float64, out[0].Len())
	for r, item := range in[2].Ints() {
		if item < 0 || int(item) >= x.Dims[0] {
			return &IndexError{item, x.Dims[0]}
		}
		box := rois[4*r:]
		h, w := a.Axis(float32(box[1]), float32(box[3]), a.Height, height), a.Axis(float32(box[0]), float32(box[2]), a.Width, width)
		for c := range channels {
			p := src[(int(item)*channels+c)*plane:][:plane]
			for i := range a.Height * a.Width {
				y[(r*channels+c)*a.Height*a.Width+i] = a.bin(p, h, w, i/a.Width, i%a.Width)
			}
		}
	}
	out[0].SetFloats(y)
	return nil
}

// bin returns the mean, or the largest, of the samples of a bin of a plane.
func (a RoiAlignAttrs) bin(plane []float64, h, w RoiAxis, row, column int) float64 {
	sum, largest := 0.0, math.Inf(-1)
	top, bottom := h.Within(row)
	left, right := w.Within(column)
	outside := top > 0 || left > 0 || bottom < h.Count() || right < w.Count()
	for i := top; i < bottom; i++ {
		y0, y1, dy, in := h.Tap(row, i)
		for j := left; j < right; j++ {
			x0, x1, dx, ok := w.Tap(column, j)
			if !in || !ok {
				outside = true
				continue
			}
			for _, t := range [4]struct {
				y, x int
				w    float32
			}{{y0, x0, (1 - dy) * (1 - dx)}, {y0, x1, (1 - dy) * dx}, {y1, x0, dy * (1 - dx)}, {y1, x1, dy * dx}} {
				v := float64(t.w) * plane[t.y*w.extent+t.x]
				sum, largest = sum+v, max(largest, v)
			}
		}
	}
	if !a.Max {
		return sum / max(1, float64(h.Count())*float64(w.Count()))
	}
	if outside || h.Count() == 0 || w.Count() == 0 {
		largest = max(largest, 0)
	}
	return largest
}
