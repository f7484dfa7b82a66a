package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Eval computes the layer as a whole: the op, the epilogue, and conversions from and to the tensors' stored types.
// in and out go with l.Inputs and l.Outputs; out's values have their actual dims and are overwritten. It is the
// specification of every kernel that claims to compute l.
func (l *Layer) Eval(in, out []Value) error {
	if err := l.eval(in, out); err != nil {
		return fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, err)
	}
	return nil
}

func (l *Layer) eval(in, out []Value) (err error) {
	defer CatchFault(&err)
	nargs := len(l.OpInputs())
	args := make([]Value, len(in))
	for i, v := range in {
		t := l.Inputs[i]
		if t == nil {
			continue
		}
		raw := i < nargs && (l.Op.Reals == AsStored || l.Op.Reals == AsIntegers && t.Quantized())
		if raw {
			args[i] = v
		} else {
			args[i] = ToReal(v, t.Range)
		}
	}
	results := make([]Value, len(out))
	for i, v := range out {
		results[i] = v
		if l.Op.Reals != AsStored && isReal(l.Outputs[i]) && v.Type != F32 {
			results[i] = NewValue(F32, v.Dims...)
		} else {
			clear(v.Data)
		}
	}
	if !slices.ContainsFunc(results, func(v Value) bool { return v.Len() > 0 }) { // an extent is 0: nothing to compute
		return nil
	}
	if err := l.Op.Eval(l, args[:nargs], results); err != nil {
		return err
	}
	if l.Epilogue.Args > 0 {
		if len(out) != 1 || results[0].Type != F32 {
			return fmt.Errorf("epilogue on %d outputs of type %s", len(out), results[0].Type)
		}
		if err := l.Epilogue.Apply(append([]Value{results[0]}, args[nargs:]...), results[0]); err != nil {
			return err
		}
	}
	for i := range out {
		if results[i].Type != out[i].Type {
			FromReal(out[i], results[i].F32(), l.Outputs[i].Range)
		} else if len(out[i].Data) == 0 {
			out[i] = results[i]
		}
	}
	return nil
}

// isReal reports whether t holds real numbers in a form other than F64.
func isReal(t *Tensor) bool {
	return t.Quantized() || t.Type == F32 || t.Type == F16 || t.Type == BF16
}

// ToReal returns v as F32 where it is F16, BF16 or quantised by r; other values are returned as they are.
func ToReal(v Value, r Range) Value {
	switch {
	case v.Type == F16, v.Type == BF16:
		return Value{F32, v.Dims, Bytes(v.Floats())}
	case v.Type.IsInteger() && r.IsSet():
		return Value{F32, v.Dims, Bytes(r.Dequantize(v))}
	}
	return v
}

// FromReal stores real numbers as dst's type: rounded to F16 or BF16, or quantised by r.
func FromReal(dst Value, x []float32, r Range) {
	switch {
	case dst.Type == F32:
		copy(dst.F32(), x)
	case dst.Type == F16:
		out := View[uint16](dst.Data)
		for i, f := range x {
			out[i] = F32ToF16(f)
		}
	case dst.Type == BF16:
		out := View[uint16](dst.Data)
		for i, f := range x {
			out[i] = F32ToBF16(f)
		}
	default:
		r.Quantize(dst, x)
	}
}

// Dequantize returns the real numbers (q - zero) * scale that v's integers stand for, each step rounded to float32.
func (r Range) Dequantize(v Value) []float32 {
	out := make([]float32, v.Len())
	inner, channels := r.stride(v.Dims)
	for i, q := range v.Ints() {
		c := i / inner % channels
		out[i] = float32(q-int64(r.ZeroAt(c))) * r.ScaleAt(c)
	}
	return out
}

// Quantize stores x as integers in dst: q = saturate(round(x / scale) + zero), rounding half to even; NaN becomes the zero
// point. It is ONNX's QuantizeLinear.
func (r Range) Quantize(dst Value, x []float32) {
	lo, hi := dst.Type.limits()
	inner, channels := r.stride(dst.Dims)
	for i, f := range x {
		c := i / inner % channels
		q := math.RoundToEven(float64(f / r.ScaleAt(c)))
		if q != q {
			q = 0
		}
		q = max(lo, min(hi, q+float64(r.ZeroAt(c))))
		switch dst.Type {
		case I8, I4, I2:
			dst.Data[i] = byte(int8(q))
		case U8, U4, U2:
			dst.Data[i] = byte(q)
		case I16:
			View[int16](dst.Data)[i] = int16(q)
		case U16:
			View[uint16](dst.Data)[i] = uint16(q)
		case I32:
			View[int32](dst.Data)[i] = int32(q)
		default:
			panic("graph: quantise to " + dst.Type.String())
		}
	}
}

// stride returns how many elements one index of the range's axis spans, and the extent of that axis.
func (r Range) stride(dims []int) (inner, channels int) {
	if !r.PerChannel() {
		return max(1, Count(dims)), 1
	}
	return max(1, Count(dims[r.Axis+1:])), dims[r.Axis]
}

// limits returns the smallest and largest value of an integer type of at most 32 bits.
func (t DataType) limits() (lo, hi float64) {
	bits := float64(uint64(1) << t.Bits())
	if t.Signed() {
		return -bits / 2, bits/2 - 1
	}
	return 0, bits - 1
}

// Apply computes p for every element of out; each argument is an F32 value that broadcasts to out's shape. out may
// share memory with an argument of the same shape.
func (p Program) Apply(args []Value, out Value) error {
	if len(args) != p.Args {
		return fmt.Errorf("program of %d arguments given %d", p.Args, len(args))
	}
	index := make([]Broadcast, len(args))
	data := make([][]float32, len(args))
	for i, a := range args {
		b, err := NewBroadcast(a.Dims, out.Dims)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		index[i], data[i] = b, a.F32()
	}
	vals := make([]float32, p.Args+len(p.Code)+1)
	dst := out.F32()
	for i := range dst {
		for a := range args {
			vals[a] = data[a][index[a].At(i)]
		}
		dst[i] = p.Eval(vals)
	}
	return nil
}

// Broadcast maps an element's place in a shape to its place in a smaller shape that broadcasts to it as in ONNX.
type Broadcast struct {
	same    bool
	dims    []int // of the large shape
	strides []int // of the small one on the large one's axes; 0 where it is repeated
}

// NewBroadcast returns the map from places in to to places in from.
func NewBroadcast(from, to []int) (Broadcast, error) {
	b := Broadcast{same: Count(from) == Count(to), dims: to, strides: make([]int, len(to))}
	if len(from) > len(to) {
		return b, fmt.Errorf("shape %v does not broadcast to %v", from, to)
	}
	stride := 1
	for i := len(from) - 1; i >= 0; i-- {
		j := i + len(to) - len(from)
		switch from[i] {
		case to[j]:
			b.strides[j] = stride
		case 1:
		default:
			return b, fmt.Errorf("shape %v does not broadcast to %v", from, to)
		}
		stride *= from[i]
	}
	return b, nil
}

// At returns the place in the small shape for place i of the large one.
func (b Broadcast) At(i int) int {
	if b.same {
		return i
	}
	at := 0
	for j := len(b.dims) - 1; j >= 0; j-- {
		at += i % b.dims[j] * b.strides[j]
		i /= b.dims[j]
	}
	return at
}

// Bind checks the inputs' types and shapes and returns the values of the symbols in them.
func (n *Network) Bind(inputs map[string]Value) (map[string]int, error) {
	shapes := map[string][]int{}
	for _, t := range n.Inputs {
		v, ok := inputs[t.Name]
		if !ok {
			return nil, fmt.Errorf("input %s: no data; the network needs %s", t.Name, t)
		}
		if v.Type != t.Type {
			return nil, fmt.Errorf("input %s: data is %s, the network needs %s", t.Name, v.Type, t)
		}
		var err error
		if shapes[t.Name], err = t.ShapeOf(v); err != nil {
			return nil, err
		}
	}
	return n.BindShapes(shapes)
}

// BindSome is [Network.BindShapes] for shapes of some inputs. Others are as the given values have them, as far as the shapes do
// not say what their symbols are.
func (n *Network) BindSome(env map[string]int, shapes map[string][]int) (map[string]int, error) {
	known, found := maps.Clone(env), 0
	if known == nil {
		known = map[string]int{}
	}
	for _, t := range n.Inputs {
		dims, ok := shapes[t.Name]
		if ok {
			found++
		}
		extents := t.Extents()
		for i := range min(len(dims), len(extents)) {
			if name, ok := extents[i].SymbolName(); ok {
				known[name] = dims[i]
			}
		}
	}
	if found < len(shapes) {
		for _, name := range slices.Sorted(maps.Keys(shapes)) {
			if !slices.ContainsFunc(n.Inputs, func(t *Tensor) bool { return t.Name == name }) {
				return nil, fmt.Errorf("input %s: the network has no such input", name)
			}
		}
	}
	all := map[string][]int{}
	for _, t := range n.Inputs {
		dims, ok := shapes[t.Name]
		if !ok {
			dims = EvalDims(t.Extents(), known)
		}
		all[t.Name] = dims
	}
	return n.BindShapes(all)
}

// BindShapes returns the values that the symbols of the inputs' dims have for the given shapes, and those that stand for counts
// the largest that they can have. Of an input that is a shape ([Tensor.Extents]) what is given are its elements.
func (n *Network) BindShapes(shapes map[string][]int) (map[string]int, error) {
	env := map[string]int{}
	for _, t := range n.Inputs {
		dims := shapes[t.Name]
		if extents := t.Extents(); len(dims) != len(extents) {
			if t.IsShape {
				return nil, fmt.Errorf("input %s: %d values %v, the network needs those of its %d elements", t.Name, len(dims), dims, len(extents))
			}
			return nil, fmt.Errorf("input %s: shape %v has %d axes, the network needs %s", t.Name, dims, len(dims), t)
		}
		for i, d := range t.Extents() {
			if name, ok := d.SymbolName(); ok {
				if v, ok := env[name]; ok && v != dims[i] {
					return nil, fmt.Errorf("input %s: %s is %d, but %s is %d elsewhere", t.Name, t.extentName(i), dims[i], name, v)
				}
				env[name] = dims[i]
			}
		}
	}
	for _, t := range n.Inputs {
		for i, d := range t.Extents() {
			if v := d.Eval(env); v != shapes[t.Name][i] {
				return nil, fmt.Errorf("input %s: shape %v does not fit %s: %s must be %d", t.Name, shapes[t.Name], t, t.extentName(i), v)
			}
		}
	}
	return n.Counts(env), nil
}
