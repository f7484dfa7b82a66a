package graph

import (
	"errors"
	"fmt"
	"slices"
)

// Definition builds a network layer by layer: TensorRT's INetworkDefinition. Each method adds a layer and returns its
// output; the first error sticks, names the layer, and comes out of [Definition.Network], so that a definition reads
// without error checks. After an error the methods return nil.
//
//	d := graph.Define("classifier")
//	x := d.Input("image", graph.F32, graph.Symbol("batch"), graph.Const(1), graph.Const(28), graph.Const(28))
//	x = d.Named("conv1").Conv(x, w, bias, graph.ConvAttrs{Strides: []int{2, 2}})
//	x = d.Relu(x)
//	d.Output("probabilities", d.Softmax(x, 1))
//	net, err := d.Network()
type Definition struct {
	*definition
	name string // of the layers that are added; "" for one made from the op
}

// definition is what a Definition and those that Named returns share.
type definition struct {
	net *Network
	ops OpSet
	err error
}

// Define starts a network of the given name, with the built-in ops.
func Define(name string) *Definition {
	return &Definition{definition: &definition{net: NewNetwork(name), ops: Ops()}}
}

// Named returns the same definition, but a layer that is added through it, and the layer's output, have the given name.
func (d *Definition) Named(name string) *Definition { return &Definition{d.definition, name} }

// Err returns the first error.
func (d *Definition) Err() error { return d.err }

func (d *Definition) fail(err error) {
	if d.err == nil {
		d.err = fmt.Errorf("network %s: %w", d.net.Name, err)
	}
}

// Network returns the network, or the first error.
func (d *Definition) Network() (*Network, error) {
	if d.err == nil && len(d.net.Outputs) == 0 {
		d.fail(errors.New("it has no outputs; name one with Output"))
	}
	if d.err != nil {
		return nil, d.err
	}
	if err := d.net.Verify(); err != nil {
		return nil, fmt.Errorf("network %s: %w", d.net.Name, err)
	}
	return d.net, nil
}

// Input adds a network input.
func (d *Definition) Input(name string, t DataType, dims ...Dim) *Tensor {
	switch {
	case d.net.Tensor(name) != nil:
		d.fail(fmt.Errorf("input %s: there is a tensor of this name", name))
	case t.Size() == 0:
		d.fail(fmt.Errorf("input %s: type %s", name, t))
	}
	if d.err != nil {
		return nil
	}
	return d.net.AddInput(name, t, dims...)
}

// Constant adds a constant over v's bytes, which are not copied and must not change.
func (d *Definition) Constant(name string, v Value) *Tensor {
	if len(v.Data) != v.Len()*v.Type.Size() || slices.ContainsFunc(v.Dims, func(n int) bool { return n < 0 }) {
		d.fail(fmt.Errorf("constant %s: %d bytes do not fill %s%v", name, len(v.Data), v.Type, v.Dims))
		return nil
	}
	return d.net.AddConst(name, v)
}

// Weights adds an F32 constant with a copy of data.
func (d *Definition) Weights(name string, data []float32, dims ...int) *Tensor {
	if Count(dims) != len(data) {
		d.fail(fmt.Errorf("weights %s: %d elements do not fill the shape %v", name, len(data), dims))
		return nil
	}
	return d.Constant(name, Values(F32, data, dims...))
}

// Output makes t an output of the network, under the given name: the layer that produces t gives it that name.
func (d *Definition) Output(name string, t *Tensor) {
	if d.err != nil {
		return
	}
	switch {
	case t == nil:
		d.fail(fmt.Errorf("output %s: no tensor", name))
	case d.net.IsOutput(t) || t.Name != name && d.net.Tensor(name) != nil:
		d.fail(fmt.Errorf("output %s: the tensor is an output already, or there is another of this name", name))
	case t.Name != name && t.Producer == nil:
		d.fail(fmt.Errorf("output %s: the input or constant %s keeps its name", name, t.Name))
	default:
		delete(d.net.tensors, t.Name)
		t.Name = name
		d.net.tensors[name] = t
		d.net.MarkOutput(t)
	}
}

// Layers adds a layer of any op with any number of outputs, which have the layer's name, those behind the first with
// their number. It is what the other methods use, and serves for the ops that have no method.
func (d *Definition) Layers(op *Op, attrs any, outputs int, inputs ...*Tensor) []*Tensor {
	list := make([]*Tensor, outputs)
	if d.err != nil {
		return list
	}
	name := d.name
	if name == "" {
		name = unique(d.net.layers, op.Name)
	} else if d.net.Layer(name) != nil {
		d.fail(fmt.Errorf("layer %s: there is a layer of this name", name))
		return list
	}
	for len(inputs) > 0 && inputs[len(inputs)-1] == nil { // optional inputs that are left out
		inputs = inputs[:len(inputs)-1]
	}
	names := []string{name}
	for i := 1; i < outputs; i++ {
		names = append(names, fmt.Sprintf("%s_%d", name, i))
	}
	l, err := d.net.Add(name, op, attrs, inputs, names...)
	if err != nil {
		d.fail(err)
		return list
	}
	return l.Outputs
}

// Layer adds a layer of any op with one output.
func (d *Definition) Layer(op *Op, attrs any, inputs ...*Tensor) *Tensor {
	return d.Layers(op, attrs, 1, inputs...)[0]
}

// Conv adds a convolution of x [N,C,D1,...] with w [M,C/group,K1,...]; bias [M] may be nil. A Group of 0 counts as 1.
func (d *Definition) Conv(x, w, bias *Tensor, a ConvAttrs) *Tensor {
	a.Group = max(1, a.Group)
	return d.Layer(Conv, a, x, w, bias)
}

// Deconv adds a transposed convolution of x [N,C,D1,...] with w [C,M/group,K1,...]; bias [M] may be nil. A Group of 0
// counts as 1.
func (d *Definition) Deconv(x, w, bias *Tensor, a ConvTransposeAttrs) *Tensor {
	a.Group = max(1, a.Group)
	return d.Layer(ConvTranspose, a, x, w, bias)
}

// MaxPool adds a maximum over windows.
func (d *Definition) MaxPool(x *Tensor, a PoolAttrs) *Tensor { return d.Layer(MaxPool, a, x) }

// AveragePool adds a mean over windows.
func (d *Definition) AveragePool(x *Tensor, a PoolAttrs) *Tensor { return d.Layer(AveragePool, a, x) }

// FullyConnected adds y = x * transposed w + bias for x [N,...], whose axes from 1 on are flattened to K, w [M,K] and bias
// [M], which may be nil.
func (d *Definition) FullyConnected(x, w, bias *Tensor) *Tensor {
	if x != nil && len(x.Dims) != 2 {
		x = d.suffixed("_flatten").Layer(Flatten, FlattenAttrs{1}, x)
	}
	return d.Layer(Gemm, GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, x, w, bias)
}

// Gemm adds y = alpha*a*b + beta*c; c may be nil.
func (d *Definition) Gemm(a, b, c *Tensor, attrs GemmAttrs) *Tensor {
	return d.Layer(Gemm, attrs, a, b, c)
}

// MatMul adds a matrix product over the last two axes.
func (d *Definition) MatMul(a, b *Tensor) *Tensor { return d.Layer(MatMul, nil, a, b) }

// Activation adds an element-wise operation on one tensor; params are its immediates, as in (EltClamp, 0, 6).
func (d *Definition) Activation(op EltOp, x *Tensor, params ...float32) *Tensor {
	if info := op.Info(); info.Arity != 1 || info.Imms != len(params) {
		d.fail(fmt.Errorf("activation %s takes %d tensors and %d parameters, not 1 and %d", op, info.Arity, info.Imms, len(params)))
	}
	return d.Program(Unary(op, params...), x)
}

// Relu adds max(x, 0).
func (d *Definition) Relu(x *Tensor) *Tensor { return d.Activation(EltRelu, x) }

// Sigmoid adds 1 / (1 + exp(-x)).
func (d *Definition) Sigmoid(x *Tensor) *Tensor { return d.Activation(EltSigmoid, x) }

// Tanh adds the hyperbolic tangent.
func (d *Definition) Tanh(x *Tensor) *Tensor { return d.Activation(EltTanh, x) }

// Clip adds max(lo, min(hi, x)).
func (d *Definition) Clip(x *Tensor, lo, hi float32) *Tensor {
	return d.Activation(EltClamp, x, lo, hi)
}

// ElementWise adds an operation on two tensors, which broadcast as in ONNX.
func (d *Definition) ElementWise(op EltOp, a, b *Tensor) *Tensor {
	if op.Info().Arity != 2 {
		d.fail(fmt.Errorf("element-wise %s takes %d tensors, not 2", op, op.Info().Arity))
	}
	return d.Program(Binary(op), a, b)
}

// Program adds an element-wise program over its arguments, which broadcast as in ONNX. The layer's op is the one that
// imports the program's only operation from ONNX if there is one, else Pointwise.
func (d *Definition) Program(p Program, args ...*Tensor) *Tensor {
	if len(p.Code) == 1 {
		return d.Layer(d.elementwise(p.Code[0].Op), Elementwise{p}, args...)
	}
	return d.Layer(Pointwise, Elementwise{p}, args...)
}

// elementwise returns the op whose layers do a single operation.
func (d *Definition) elementwise(op EltOp) *Op {
	for _, e := range elementwise {
		if e.op == op {
			return d.ops.Named(e.name)
		}
	}
	for _, c := range composed {
		if c.single == op && op != EltConst {
			return d.ops.Named(c.name)
		}
	}
	return Pointwise
}

// Scale adds (x*scale + shift) ^ power for x [N,C,...]; each of the constants has one element, one for each channel [C],
// or a shape that broadcasts to x, and may be nil.
func (d *Definition) Scale(x, scale, shift, power *Tensor) *Tensor {
	p, args := Program{Args: 1}, []*Tensor{x}
	for _, step := range []struct {
		op EltOp
		t  *Tensor
	}{{EltMul, scale}, {EltAdd, shift}, {EltPow, power}} {
		if step.t != nil {
			p = p.Then(Binary(step.op), 0)
			args = append(args, d.perChannel(x, step.t))
		}
	}
	return d.Program(p, args...)
}

// perChannel returns t, a constant [C], in a shape that broadcasts to x [N,C,...].
func (d *Definition) perChannel(x, t *Tensor) *Tensor {
	v, ok := t.Const()
	if !ok || x == nil || len(x.Dims) < 3 || len(v.Dims) != 1 || v.Dims[0] == 1 {
		return t
	}
	dims := slices.Repeat([]int{1}, len(x.Dims)-1)
	dims[0] = v.Dims[0]
	return d.Constant(t.Name+"_per_channel", Value{v.Type, dims, v.Data})
}

// BatchNorm adds (x - mean) / sqrt(variance + epsilon) * scale + bias, all but x being [C].
func (d *Definition) BatchNorm(x, scale, bias, mean, variance *Tensor, epsilon float32) *Tensor {
	return d.Layer(BatchNorm, BatchNormAttrs{epsilon}, x, scale, bias, mean, variance)
}

// Softmax adds the softmax along an axis.
func (d *Definition) Softmax(x *Tensor, axis int) *Tensor {
	return d.Layer(Softmax, SoftmaxAttrs{Axis: axis}, x)
}

// Shuffle says what [Definition.Shuffle] does, in this order; nil leaves a step out.
type Shuffle struct {
	First   []int // permutation of the axes
	Reshape []int // 0 is the extent on the same axis, one -1 what is left
	Second  []int // permutation of the new axes
}

// Shuffle adds up to three layers that permute axes, reshape, and permute again; the last of them has the name given by
// [Definition.Named].
func (d *Definition) Shuffle(x *Tensor, s Shuffle) *Tensor {
	var steps []func(d *Definition) *Tensor
	if s.First != nil {
		steps = append(steps, func(d *Definition) *Tensor { return d.Transpose(x, s.First...) })
	}
	if s.Reshape != nil {
		steps = append(steps, func(d *Definition) *Tensor { return d.Reshape(x, s.Reshape...) })
	}
	if s.Second != nil {
		steps = append(steps, func(d *Definition) *Tensor { return d.Transpose(x, s.Second...) })
	}
	for i, add := range steps {
		step := d
		if i < len(steps)-1 {
			step = d.suffixed(fmt.Sprintf("_%d", i))
		}
		x = add(step)
	}
	return x
}

// suffixed returns the definition for a layer that precedes the one of d's name.
func (d *Definition) suffixed(suffix string) *Definition {
	if d.name == "" {
		return d
	}
	return d.Named(d.name + suffix)
}

// Transpose permutes the axes; none given reverses them.
func (d *Definition) Transpose(x *Tensor, perm ...int) *Tensor {
	return d.Layer(Transpose, TransposeAttrs{perm}, x)
}

// Reshape gives x another shape: 0 is the extent on the same axis, one -1 what is left.
func (d *Definition) Reshape(x *Tensor, dims ...int) *Tensor {
	shape := make([]int64, len(dims))
	for i, n := range dims {
		shape[i] = int64(n)
	}
	name := d.name
	if name == "" {
		name = "Reshape"
	}
	return d.Layer(Reshape, ReshapeAttrs{}, x, d.Constant(name+"_shape", Values(I64, shape, len(shape))))
}

// Concat joins tensors along an axis.
func (d *Definition) Concat(axis int, inputs ...*Tensor) *Tensor {
	return d.Layer(Concat, ConcatAttrs{axis}, inputs...)
}

// Slice takes indices start, start+step, ... below end of each of the axes that the attributes name.
func (d *Definition) Slice(x *Tensor, a SliceAttrs) *Tensor { return d.Layer(Slice, a, x) }

// Pad adds constant elements around x: pads[i] at the begin of axis i, pads[rank+i] at its end.
func (d *Definition) Pad(x *Tensor, value float32, pads ...int) *Tensor {
	return d.Layer(Pad, PadAttrs{Mode: "constant", Pads: pads, Value: value}, x)
}

// Reduce adds one of the reductions, such as [ReduceMean], over the given axes, or over all of them.
func (d *Definition) Reduce(op *Op, x *Tensor, keepDims bool, axes ...int) *Tensor {
	if !slices.Contains(reductions, op) {
		d.fail(fmt.Errorf("%s is no reduction", op.Name))
	}
	return d.Layer(op, ReduceAttrs{Axes: axes, KeepDims: keepDims}, x)
}

// Cast converts x to another type.
func (d *Definition) Cast(x *Tensor, to DataType) *Tensor { return d.Layer(Cast, CastAttrs{To: to}, x) }
