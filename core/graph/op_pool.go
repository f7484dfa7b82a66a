package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// PoolAttrs are the attributes of a pooling over any number of spatial axes. Empty lists mean 1 for strides and
// dilations and 0 for pads.
type PoolAttrs struct {
	Kernel          []int // extent of the window on each spatial axis; nil if Global
	Strides         []int
	Dilations       []int
	Pads            []int   // begin of each spatial axis, then end of each
	AutoPad         AutoPad // how Pads follow from the input's extent, where it is not AutoPadNone
	CeilMode        bool    // a last window that begins inside the input or its begin padding may reach beyond the end padding
	CountIncludePad bool    // averages divide by the places of the window on the padded input, not on the input alone
	Global          bool    // the window is the whole input
	ColumnMajor     bool    // MaxPool's indices count the spatial axes in the order of the first fastest
}

// MaxPool is the maximum of x [N,C,D1,...] over a window that slides over the spatial axes; padding never wins. It only
// moves elements, so that it is exact for quantised tensors. NaN wins over numbers. The optional second output, I64 of
// the same shape, is the index in the whole of x of the element that won, the first of equals.
var MaxPool = &Op{
	Name:  "MaxPool",
	Attrs: PoolAttrs{},
	Reals: AsStored,
	Onnx:  []string{"MaxPool", "GlobalMaxPool"},
	Class: ClassPooling, Inputs: []Role{Data}, Memory: Written,
	Moves:  func(l *Layer) Movement { return keptIf(l.Attrs.(PoolAttrs).isUnit(), Moved) },
	FLOPs:  poolFLOPs(-1),
	Infer:  inferPool,
	Eval:   evalMaxPool,
	Import: importPool,
	Export: exportPool,
}

// AveragePool is the mean of x [N,C,D1,...] over a window that slides over the spatial axes: 0, as in onnxruntime, where all of
// the window is padding, and NaN over planes of no elements.
var AveragePool = &Op{
	Name:  "AveragePool",
	Attrs: PoolAttrs{},
	Onnx:  []string{"AveragePool", "GlobalAveragePool"},
	Class: ClassPooling, Inputs: []Role{Data}, Memory: Written,
	Moves:  func(l *Layer) Movement { return keptIf(l.Attrs.(PoolAttrs).isUnit(), Computed) },
	FLOPs:  poolFLOPs(0),
	Infer:  inferPool,
	Eval:   evalAveragePool,
	Import: importPool,
	Export: exportPool,
}

// OpName names what a layer does as its model has it: a pooling over all elements of a plane is an op of its own there.
func OpName(l *Layer) string {
	if a, ok := l.Attrs.(PoolAttrs); ok && a.Global {
		return "Global" + l.Op.Name
	}
	return l.Op.Name
}

// isUnit reports whether a pooling looks at one element at a time, all of them in turn.
func (a PoolAttrs) isUnit() bool {
	other := func(list []int, v int) bool { return slices.ContainsFunc(list, func(e int) bool { return e != v }) }
	return !a.Global && !other(a.Kernel, 1) && !other(a.Strides, 1) && !other(a.Pads, 0)
}

func importPool(n *Node) (any, []*Tensor, error) {
	if n.OpType == "GlobalMaxPool" || n.OpType == "GlobalAveragePool" {
		return PoolAttrs{Global: true}, n.Inputs, nil
	}
	a := PoolAttrs{
		Kernel: n.Ints("kernel_shape"), Strides: n.Ints("strides"), Dilations: n.Ints("dilations"),
		CeilMode: n.Flag("ceil_mode", false),
	}
	if len(a.Kernel) == 0 {
		return nil, nil, fmt.Errorf("attribute kernel_shape is missing")
	}
	if n.OpType == "MaxPool" {
		a.ColumnMajor = n.Flag("storage_order", false)
	} else {
		a.CountIncludePad = n.Flag("count_include_pad", false)
	}
	if n.String("auto_pad", "NOTSET") == "VALID" {
		a.CeilMode = false // by ONNX's formula for VALID
	}
	var err error
	a.Pads, a.AutoPad, err = importPads(n)
	return a, n.Inputs, err
}

func exportPool(e *Exporter) error {
	a, name := e.Layer.Attrs.(PoolAttrs), e.Layer.Op.Name
	if a.Global && len(e.Layer.Outputs) == 1 {
		return e.Node("Global"+name, nil)
	}
	if a.Global {
		for _, d := range e.Layer.Inputs[0].Dims[2:] {
			n, ok := d.IsConst()
			if !ok {
				return fmt.Errorf("the places of the largest elements of %s, whose extents are open", e.Layer.Inputs[0])
			}
			a.Kernel = append(a.Kernel, n)
		}
	}
	attrs := Attributes{"kernel_shape": a.Kernel, "strides": a.Strides, "dilations": a.Dilations, "ceil_mode": a.CeilMode}
	if name == "MaxPool" {
		attrs["storage_order"] = a.ColumnMajor
	} else {
		attrs["count_include_pad"] = a.CountIncludePad
	}
	return e.Node(name, exportPads(attrs, a.Pads, a.AutoPad))
}

// Windows returns the geometry on each spatial axis for the spatial extents of an actual input.
func (a PoolAttrs) Windows(in []int) []Window {
	if a.Global {
		return Windows(in, nil, nil, nil, AutoPadNone, in)
	}
	return Windows(a.Kernel, a.Strides, a.Dilations, a.Pads, a.AutoPad, in)
}

func inferPool(l *Layer) error {
	a := l.Attrs.(PoolAttrs)
	x, err := l.need(0)
	if err != nil {
		return err
	}
	if l.Op.Reals == AsF32 {
		if err = l.needNumbers(0); err != nil {
			return err
		}
	}
	if len(x.Dims) < 3 {
		return fmt.Errorf("input %s: want a batch, a channel and at least one spatial axis", x.TypeString())
	}
	spatial := x.Dims[2:]
	dims := make([]symbolic.Dim, len(spatial))
	switch {
	case a.Global:
		for i := range dims {
			dims[i] = symbolic.Const(1)
		}
	case len(a.Kernel) != len(spatial) || slices.ContainsFunc(a.Kernel, func(k int) bool { return k < 1 || k > maxWindow }):
		return fmt.Errorf("kernel %v does not fit the %d spatial axes of %s", a.Kernel, len(spatial), x.TypeString())
	default:
		if dims, err = windowDims(a.Kernel, a.Strides, a.Dilations, a.Pads, a.AutoPad, spatial); err != nil {
			return err
		}
		if a.CeilMode && a.AutoPad == AutoPadNone {
			a.ceilDims(dims, spatial)
		}
	}
	y := l.Outputs[0]
	y.Type, y.Dims = x.RealType(), append([]symbolic.Dim{x.Dims[0], x.Dims[1]}, dims...)
	if l.Op.Reals == AsStored {
		y.Type, y.Range = x.Type, x.Range
		if x.Range.PerChannel() && x.Range.Axis > 1 {
			return fmt.Errorf("input %s has a scale for each index of a spatial axis", x)
		}
	}
	if len(l.Outputs) > 1 {
		l.Outputs[1].Type, l.Outputs[1].Dims = numeric.I64, y.Dims
	}
	if l.Op.Reals == AsStored && !a.Global {
		return a.checkWindows(spatial, dims)
	}
	return nil
}

// checkWindows refuses a maximum of nothing: a window that lies in the padding as a whole, where the extents are known.
func (a PoolAttrs) checkWindows(in, out []symbolic.Dim) error {
	for i := range in {
		n, known := in[i].IsConst()
		places, _ := out[i].IsConst()
		if !known || n == 0 || places == 0 {
			continue
		}
		extents := make([]int, len(in))
		extents[i] = n
		if o, ok := a.Windows(extents)[i].outside(n, places); ok {
			return fmt.Errorf("window %d along spatial axis %d lies in the padding as a whole", o, i)
		}
	}
	return nil
}

// outside returns the first of so many windows over n elements that has no tap on any of them. Of windows whose taps are farther
// apart than n, no more than a million are looked at.
func (w Window) outside(n, places int) (place int, ok bool) {
	if w.Dilation <= n {
		if w.Span() <= w.PadBegin {
			return 0, true
		}
		last := places - 1
		return last, last*w.Stride-w.PadBegin >= n
	}
	for o := range min(places, 1<<20) {
		start := o*w.Stride - w.PadBegin
		tap := 0
		if start < 0 {
			tap = (-start + w.Dilation - 1) / w.Dilation
		}
		if tap >= w.Kernel || start+tap*w.Dilation >= n {
			return o, true
		}
	}
	return 0, false
}

// ceilDims replaces the extents of an output by those with ceil mode: the number of windows rounded up, without a
// last one that would begin in the end padding.
func (a PoolAttrs) ceilDims(out, in []symbolic.Dim) {
	for i, k := range a.Kernel {
		stride := at(a.Strides, i, 1)
		span := (k-1)*at(a.Dilations, i, 1) + 1
		begin, end := at(a.Pads, i, 0), at(a.Pads, i+len(a.Kernel), 0)
		out[i] = in[i].AddN(begin + end - span + stride - 1).DivN(stride).AddN(1)
		if end+stride > span {
			out[i] = out[i].Min(in[i].AddN(begin - 1).DivN(stride).AddN(1))
		}
	}
}

func evalMaxPool(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(PoolAttrs)
	x, y := in[0], out[0]
	ws := a.Windows(x.Dims[2:])
	plane, outPlane := numeric.Count(x.Dims[2:]), numeric.Count(y.Dims[2:])
	planes := x.Dims[0] * x.Dims[1]
	better := comparison(x)
	size := x.Type.Size()
	for e := range outPlane {
		inside := windowInside(ws, x.Dims[2:], y.Dims[2:], e)
		for p := range planes {
			best := -1
			for _, off := range inside {
				if i := p*plane + off; best < 0 || better(i, best) {
					best = i
				}
			}
			if best < 0 {
				return fmt.Errorf("window %d lies in the padding as a whole", e)
			}
			copy(y.Data[(p*outPlane+e)*size:], x.Data[best*size:(best+1)*size])
			if len(out) > 1 {
				index := best
				if a.ColumnMajor {
					index = p*plane + columnMajor(best-p*plane, x.Dims[2:])
				}
				out[1].I64()[p*outPlane+e] = int64(index)
			}
		}
	}
	return nil
}

// comparison returns a function that reports whether element i of v is greater than element j, NaN being the greatest.
func comparison(v numeric.Value) func(i, j int) bool {
	if v.Type.IsFloat() && v.Type != numeric.F64 {
		x := v.Floats()
		return func(i, j int) bool { return x[i] > x[j] || x[i] != x[i] && x[j] == x[j] }
	}
	switch v.Type {
	case numeric.F64:
		x := numeric.View[float64](v.Data)
		return func(i, j int) bool { return x[i] > x[j] || x[i] != x[i] && x[j] == x[j] }
	case numeric.U64:
		x := numeric.View[uint64](v.Data)
		return func(i, j int) bool { return x[i] > x[j] }
	}
	x := v.Ints()
	return func(i, j int) bool { return x[i] > x[j] }
}

// columnMajor returns the index of the row-major place i of a shape when the first axis is the fastest.
func columnMajor(i int, dims []int) int {
	index, stride := 0, 1
	for j, p := range unravel(i, dims) {
		index += p * stride
		stride *= dims[j]
	}
	return index
}

func evalAveragePool(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(PoolAttrs)
	x, y := in[0], out[0]
	ws := a.Windows(x.Dims[2:])
	plane, outPlane := numeric.Count(x.Dims[2:]), numeric.Count(y.Dims[2:])
	src, dst := x.Float64s(), make([]float64, y.Len())
	for e := range outPlane {
		inside := windowInside(ws, x.Dims[2:], y.Dims[2:], e)
		count := len(inside)
		if a.CountIncludePad {
			count = windowPadded(ws, x.Dims[2:], y.Dims[2:], e)
		}
		if plane > 0 {
			count = max(count, 1)
		}
		for p := range x.Dims[0] * x.Dims[1] {
			sum := 0.0
			for _, off := range inside {
				sum += src[p*plane+off]
			}
			dst[p*outPlane+e] = sum / float64(count)
		}
	}
	y.SetFloats(dst)
	return nil
}

// windowPadded counts the taps of the window at output place e that lie on the input or its padding: all, but for a last
// window of ceil mode.
func windowPadded(ws []Window, in, out []int, e int) int {
	count := 1
	for i, p := range unravel(e, out) {
		w := ws[i]
		left := in[i] + w.PadBegin + w.PadEnd - p*w.Stride // from the window's first tap to the end
		count *= min(w.Kernel, (left+w.Dilation-1)/w.Dilation)
	}
	return count
}
