package graph

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// distinct returns elements of v's type and shape that differ from each other, from first on, as far as the type goes.
func distinct(v numeric.Value, first int) numeric.Value {
	d := numeric.NewValue(v.Type, v.Dims...)
	list := make([]int64, d.Len())
	for i := range list {
		list[i] = int64(first + i)
	}
	if v.Type == numeric.Str {
		return numeric.Strings(numeric.Value{Type: numeric.I64, Dims: v.Dims, Data: numeric.Bytes(list)}.Format(), v.Dims...)
	}
	if v.Type.IsFloat() {
		reals := make([]float64, len(list))
		for i, n := range list {
			reals[i] = float64(n)
		}
		d.SetFloats(reals)
	} else {
		d.SetInts(list, v.Type == numeric.U64)
	}
	return d
}

// evalTable evaluates a layer of the table, whose inputs are constants and the given values, and returns all of them.
func evalTable(t *testing.T, n *Network, l *Layer, inputs map[string]numeric.Value) (in, out []numeric.Value) {
	t.Helper()
	all, err := n.Eval(context.Background(), inputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range l.Inputs {
		v, ok := x.Const()
		if !ok && x != nil {
			v = inputs[x.Name]
		}
		in = append(in, v)
	}
	for _, y := range l.Outputs {
		out = append(out, all[y.Name])
	}
	return in, out
}

// elements returns v's elements as they are stored.
func elements(v numeric.Value) (list []string) {
	if v.Type == numeric.Str {
		return v.Strings()
	}
	for i, size := 0, v.Type.Size(); i < len(v.Data); i += size {
		list = append(list, string(v.Data[i:i+size]))
	}
	return list
}

// TestMovements evaluates every layer of the table that claims to move elements on data in which no element is like another:
// what comes out went in, in order where that is claimed.
func TestMovements(t *testing.T) {
	seen := map[*Op]Movement{}
	for i, c := range readTable(t) {
		t.Run(c.name(i), func(t *testing.T) {
			n, l, inputs, err := c.layer(t, false)
			if err != nil {
				t.Fatal(err)
			}
			if l.Movement() < Filled {
				return
			}
			seen[l.Op] = max(seen[l.Op], l.Movement())
			checkMovement(t, n, l, inputs)
			checkRangeMoves(t, l)
		})
	}
	for _, op := range Ops().All() {
		if (op.Class == ClassMove || op.Class == ClassLookup || op == Resize) && seen[op] < Filled && op != Trilu {
			t.Errorf("no layer of the table moves elements by %s", op.Name)
		}
	}
}

func checkMovement(t *testing.T, n *Network, l *Layer, inputs map[string]numeric.Value) {
	next := 1
	for i, x := range l.Inputs {
		if v, ok := inputs[nameOf(x)]; ok && l.Role(i) == Data {
			inputs[x.Name] = distinct(v, next)
			next += v.Len()
		}
	}
	in, out := evalTable(t, n, l, inputs)
	allowed, data := map[string]bool{}, []numeric.Value(nil)
	for i, v := range in {
		role := l.Role(i)
		if role == Data {
			data = append(data, v)
		}
		if role == Data || role == Fill && l.Movement() == Filled {
			for _, e := range elements(v) {
				allowed[e] = true
			}
		}
	}
	y := out[0]
	allowed[string(make([]byte, y.Type.Size()))], allowed[""] = true, true
	if a, ok := l.Attrs.(PadAttrs); ok && l.Movement() == Filled {
		fill := numeric.NewValue(y.Type, 1)
		fill.SetFloats([]float64{float64(a.Value)})
		allowed[string(fill.Data)] = true
	}
	for k, e := range elements(y) {
		if !allowed[e] {
			t.Fatalf("%s: element %d of the output is none of the input's", l, k)
		}
	}
	same := len(data) == 1 && data[0].Type == y.Type && slices.Equal(data[0].Dims, y.Dims)
	if (l.Movement() == Kept && same || l.Op.Memory == Viewed) && !bytes.Equal(data[0].Data, y.Data) {
		t.Errorf("%s: the output is not the input", l)
	}
	if l.Op.Memory == Joined {
		got, want := elements(y), []string(nil)
		for _, v := range data {
			want = append(want, elements(v)...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the output is not its inputs together", l)
		}
	}
}

func nameOf(t *Tensor) string {
	if t == nil {
		return ""
	}
	return t.Name
}

// checkRangeMoves infers the layer on quantised data: where it moves what is stored, the result has the range of the data.
func checkRangeMoves(t *testing.T, l *Layer) {
	if l.Movement() < Moved || l.Op.Reals != AsStored || l.Inputs[0].Type != numeric.F32 {
		return
	}
	q := *l
	q.Inputs, q.Outputs = slices.Clone(l.Inputs), slices.Clone(l.Outputs)
	for i, x := range l.Inputs {
		if l.Role(i) == Data {
			q.Inputs[i] = &Tensor{Name: x.Name, Type: numeric.I8, Dims: x.Dims, Range: numeric.PerTensor(0.5, 3)}
		}
	}
	for i, y := range l.Outputs {
		q.Outputs[i] = &Tensor{Name: y.Name, Producer: &q}
	}
	if err := q.Infer(); err != nil {
		t.Fatal(err)
	}
	if y := q.Outputs[0]; y.Type != numeric.I8 || !y.Range.Equal(numeric.PerTensor(0.5, 3)) {
		t.Errorf("%s: of data with a range the result is %s", l, y)
	}
}

// single returns a network of one layer whose inputs are F32 of the given shapes, with elements from 1 on; those of other
// values are constants.
func single(t *testing.T, op *Op, attrs any, in ...numeric.Value) (*Network, *Layer, map[string]numeric.Value) {
	t.Helper()
	n, inputs, args := NewNetwork("single"), map[string]numeric.Value{}, []*Tensor(nil)
	for i, v := range in {
		name := fmt.Sprintf("x%d", i)
		inputs[name] = v
		args = append(args, n.AddInput(name, v.Type, symbolic.Shape(v.Dims...)...))
	}
	l, err := n.Add("node", op, attrs, args, "y0")
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	return n, l, inputs
}

// TestKeptByAttributes has the ops that keep their input only under some attributes, or that ONNX does not have.
func TestKeptByAttributes(t *testing.T) {
	x := distinct(numeric.NewValue(numeric.F32, 1, 2, 3, 4), 1)
	for _, c := range []struct {
		op    *Op
		attrs any
		want  Movement
	}{
		{Reformat, nil, Kept},
		{Cast, CastAttrs{To: numeric.F32}, Kept},
		{Cast, CastAttrs{To: numeric.I32}, Computed},
		{AveragePool, PoolAttrs{Kernel: []int{1, 1}}, Kept},
		{AveragePool, PoolAttrs{Kernel: []int{1, 2}}, Computed},
		{MaxPool, PoolAttrs{Kernel: []int{1, 1}, Strides: []int{1, 1}}, Kept},
		{MaxPool, PoolAttrs{Kernel: []int{1, 1}, Strides: []int{1, 2}}, Moved},
		{MaxPool, PoolAttrs{Global: true}, Moved},
		{Transpose, TransposeAttrs{Perm: []int{0, 1, 2, 3}}, Kept},
		{Transpose, TransposeAttrs{Perm: []int{0, 1, 3, 2}}, Moved},
		{Slice, SliceAttrs{Starts: []int{0}, Ends: []int{3}, Axes: []int{2}}, Kept},
		{Slice, SliceAttrs{Starts: []int{2}, Ends: []int{-100}, Axes: []int{2}, Steps: []int{-1}}, Moved},
		{Pad, PadAttrs{Mode: "constant", Pads: make([]int, 8), Value: 7}, Kept},
		{Pad, PadAttrs{Mode: "constant", Pads: []int{0, 0, 1, 0, 0, 0, -1, 0}}, Moved},
		{Pad, PadAttrs{Mode: "constant", Pads: []int{0, 0, 1, 0, 0, 0, -1, 0}, Value: 700}, Filled},
		{Pad, PadAttrs{Mode: "edge", Pads: []int{0, 0, 1, 0, 0, 0, -1, 0}, Value: 700}, Moved},
		{Concat, ConcatAttrs{Axis: 1}, Kept},
		{Resize, ResizeAttrs{Mode: "nearest", Sizes: []int{1, 2, 5, 8}, Coordinates: "half_pixel", Nearest: "floor"}, Moved},
		{Resize, ResizeAttrs{Mode: "linear", Sizes: []int{1, 2, 5, 8}, Coordinates: "half_pixel"}, Computed},
		{Softmax, SoftmaxAttrs{Axis: 1}, Computed},
	} {
		n, l, inputs := single(t, c.op, c.attrs, x)
		if got := l.Movement(); got != c.want {
			t.Errorf("%s: movement %d, want %d", l, got, c.want)
		}
		if l.Movement() >= Filled {
			checkMovement(t, n, l, inputs)
		}
	}
}

// TestRoles evaluates the layers of the table with other inputs: what is not read has no influence, and indices may be as
// large as what they choose among, and no larger.
func TestRoles(t *testing.T) {
	extents, chosen := map[*Op]bool{}, map[*Op]bool{}
	for i, c := range readTable(t) {
		t.Run(c.name(i), func(t *testing.T) {
			n, l, inputs, err := c.layer(t, false)
			if err != nil {
				t.Fatal(err)
			}
			for k, x := range l.Inputs {
				v, ok := inputs[nameOf(x)]
				if !ok || v.Len() == 0 {
					continue
				}
				switch l.Role(k) {
				case Extents:
					_, before := evalTable(t, n, l, inputs)
					inputs[x.Name] = distinct(v, 50)
					_, after := evalTable(t, n, l, inputs)
					if !bytes.Equal(before[0].Data, after[0].Data) {
						t.Errorf("%s reads input %d", l, k)
					}
					extents[l.Op] = true
				case Indices:
					checkIndices(t, n, l, inputs, x.Name)
					chosen[l.Op] = true
				}
			}
		})
	}
	for _, op := range Ops().All() {
		if op.Chosen != nil && !chosen[op] || op.Input(Extents) >= 0 && !extents[op] {
			t.Errorf("no layer of the table tells about %s", op.Name)
		}
	}
}

func checkIndices(t *testing.T, n *Network, l *Layer, inputs map[string]numeric.Value, name string) {
	v := inputs[name]
	dims := symbolic.Eval(l.Op.Chosen(l), nil)
	if len(dims) == 0 {
		t.Fatalf("%s chooses among nothing", l)
	}
	fill := func(more int64) {
		list := make([]int64, v.Len())
		for i := range list {
			list[i] = int64(dims[i%len(dims)]) - 1 + more
		}
		inputs[name] = numeric.NewValue(v.Type, v.Dims...)
		if v.Type.IsFloat() {
			reals := make([]float64, len(list))
			for i, x := range list {
				reals[i] = float64(x)
			}
			inputs[name].SetFloats(reals)
		} else {
			inputs[name].SetInts(list, false)
		}
	}
	fill(0)
	if _, err := n.Eval(context.Background(), inputs, nil); err != nil {
		t.Errorf("%s: the last indices: %v", l, err)
	}
	_, last := evalTable(t, n, l, inputs)
	fill(1)
	out, err := n.Eval(context.Background(), inputs, nil)
	if a, ok := l.Attrs.(TensorScatterAttrs); ok && a.Circular {
		fill(1 - int64(dims[0]))
		first, _ := n.Eval(context.Background(), inputs, nil)
		if y := l.Outputs[0].Name; err != nil || !bytes.Equal(out[y].Data, first[y].Data) {
			t.Errorf("%s: the place behind the axis is not the first one: %v", l, err)
		}
		return
	}
	if l.Op != OneHot && err == nil {
		t.Errorf("%s takes an index past %v", l, dims)
	}
	if l.Op == OneHot && (err != nil || bytes.Equal(out[l.Outputs[0].Name].Data, last[0].Data)) {
		t.Errorf("%s: an index past the depth %v counts: %v", l, dims, err)
	}
}

// TestProductAxes changes the weights of products, one index of an axis at a time: only that output channel changes; and
// weights of an input channel have no influence where that is zero.
func TestProductAxes(t *testing.T) {
	real := func(dims ...int) numeric.Value { return distinct(numeric.NewValue(numeric.F32, dims...), 1) }
	bytes := func(dims ...int) numeric.Value { return distinct(numeric.NewValue(numeric.I8, dims...), 1) }
	one, zero := numeric.Values(numeric.F32, []float32{1}), numeric.NewValue(numeric.I8)
	seen := map[*Op]bool{}
	for _, c := range []struct {
		op    *Op
		attrs any
		in    []numeric.Value
	}{
		{Conv, ConvAttrs{Group: 1}, []numeric.Value{real(1, 3, 4, 4), real(5, 3, 2, 2), real(5)}},
		{Conv, ConvAttrs{Group: 2, Strides: []int{2}}, []numeric.Value{real(2, 6, 7), real(4, 3, 2)}},
		{ConvTranspose, ConvTransposeAttrs{Group: 1}, []numeric.Value{real(1, 3, 4, 4), real(3, 5, 2, 2)}},
		{ConvTranspose, ConvTransposeAttrs{Group: 2}, []numeric.Value{real(1, 6, 4), real(6, 2, 3), real(4)}},
		{Gemm, GemmAttrs{Alpha: 1, Beta: 1}, []numeric.Value{real(2, 3), real(3, 4), real(4)}},
		{Gemm, GemmAttrs{Alpha: 1, TransB: true}, []numeric.Value{real(2, 3), real(4, 3)}},
		{Gemm, GemmAttrs{Alpha: 2, TransA: true}, []numeric.Value{real(3, 2), real(3, 4)}},
		{MatMul, nil, []numeric.Value{real(2, 3), real(3, 4)}},
		{MatMul, nil, []numeric.Value{real(5, 2, 3), real(5, 3, 4)}},
		{MatMul, nil, []numeric.Value{real(2, 3), real(3)}},
		{GatedMatMul, GatedAttrs{elementwise.Abs}, []numeric.Value{real(2, 3), real(3, 4), real(3, 4), real(4), real(4)}},
		{MatMulNBits, NBitsAttrs{K: 6, Bits: 4, Block: 8}, []numeric.Value{real(2, 6), distinct(numeric.NewValue(numeric.U8, 3, 1, 4), 1), real(3, 1)}},
		{DynamicQuantizeMatMul, DynamicAttrs{}, []numeric.Value{real(2, 3), bytes(3, 4), real(4)}},
		{ConvInteger, ConvAttrs{Group: 1}, []numeric.Value{bytes(1, 3, 4, 4), bytes(5, 3, 2, 2)}},
		{QLinearConv, ConvAttrs{Group: 1}, []numeric.Value{bytes(1, 2, 3, 3), one, zero, bytes(3, 2, 2, 2), one, zero, numeric.Values(numeric.F32, []float32{64}), zero}},
		{MatMulInteger, nil, []numeric.Value{bytes(2, 3), bytes(3, 4)}},
		{QLinearMatMul, nil, []numeric.Value{bytes(2, 3), one, zero, bytes(3, 4), one, zero, one, zero}},
	} {
		_, l, inputs := single(t, c.op, c.attrs, c.in...)
		checkProduct(t, l, inputs)
		seen[l.Op] = true
	}
	for _, op := range Ops().All() {
		if op.Product != nil && !seen[op] {
			t.Errorf("%s is missing", op.Name)
		}
	}
}

// runLayer evaluates a layer on values by the names of its inputs.
func runLayer(t *testing.T, l *Layer, inputs map[string]numeric.Value) numeric.Value {
	t.Helper()
	in := make([]numeric.Value, len(l.Inputs))
	for i, x := range l.Inputs {
		if v, ok := inputs[nameOf(x)]; ok {
			in[i] = v
		} else if x != nil {
			in[i], _ = x.Const()
		}
	}
	y := numeric.NewValue(l.Outputs[0].Type, symbolic.Eval(l.Outputs[0].Dims, nil)...)
	if err := l.Eval(in, []numeric.Value{y}); err != nil {
		t.Fatal(err)
	}
	return y
}

// changed returns v with the elements at one index of an axis set to another number each, or to zero.
func changed(v numeric.Value, axis, index int, zero bool) numeric.Value {
	c := numeric.NewValue(v.Type, v.Dims...)
	copy(c.Data, v.Data)
	other, inner := distinct(v, 3), numeric.Count(v.Dims[axis+1:])
	for i, size := 0, v.Type.Size(); i < v.Len(); i++ {
		if i/inner%v.Dims[axis] != index {
			continue
		}
		if zero {
			clear(c.Data[i*size : (i+1)*size])
		} else {
			copy(c.Data[i*size:(i+1)*size], other.Data[i*size:])
		}
	}
	return c
}

func checkProduct(t *testing.T, l *Layer, inputs map[string]numeric.Value) {
	x, w := l.Inputs[0].Name, l.Inputs[l.Op.Input(Weights)].Name
	out, in := l.Op.Product.Axes(l)
	groups, weights, data := l.Op.Product.Groups(l), inputs[w], inputs[x]
	before := runLayer(t, l, inputs)
	channels := 1 // the axis of the output's channels
	if _, conv := l.Attrs.(ConvAttrs); !conv && l.Op != ConvTranspose {
		channels = len(before.Dims) - 1
	}
	for m := 0; out >= 0 && m < weights.Dims[out]; m++ {
		inputs[w] = changed(weights, out, m, false)
		y, inner := runLayer(t, l, inputs), numeric.Count(before.Dims[channels+1:])
		for i, e := range elements(y) {
			at := i / inner % y.Dims[channels]
			mine := at == m || out > 0 && groups > 1 && at%weights.Dims[out] == m
			if !mine && e != elements(before)[i] {
				t.Fatalf("%s: weights of channel %d change channel %d of the output", l, m, at)
			}
		}
	}
	if !l.Op.IsProduct() { // zero points make zeros of other numbers
		return
	}
	axis := 1 // of the data's channels
	if l.Op.Class == ClassMatrix {
		axis = len(data.Dims) - 1
		if a, ok := l.Attrs.(GemmAttrs); ok && a.TransA {
			axis = 0
		}
	}
	for c := range weights.Dims[in] {
		inputs[x] = data
		for k := c; k < data.Dims[axis]; k += weights.Dims[in] { // the channel of each group
			inputs[x] = changed(inputs[x], axis, k, true)
		}
		inputs[w] = weights
		want := runLayer(t, l, inputs)
		inputs[w] = changed(weights, in, c, false)
		if !bytes.Equal(runLayer(t, l, inputs).Data, want.Data) {
			t.Fatalf("%s: weights of input channel %d read others", l, c)
		}
	}
	inputs[x], inputs[w] = data, weights
}
