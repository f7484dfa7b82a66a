package graph

import (
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

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

// GatedMatMul adds [GatedMatMul]: activation(x*w + b) * (x*v + c), element by element; b and c may be nil.
func (d *Definition) GatedMatMul(x, w, v, b, c *Tensor, activation elementwise.Op) *Tensor {
	return d.Layer(GatedMatMul, GatedAttrs{activation}, x, w, v, b, c)
}

// MatMulNBits adds [MatMulNBits]; zeros and bias may be nil.
func (d *Definition) MatMulNBits(x, w, scales, zeros, bias *Tensor, a NBitsAttrs) *Tensor {
	return d.Layer(MatMulNBits, a, x, w, scales, zeros, bias)
}

// DynamicQuantizeMatMul adds [DynamicQuantizeMatMul]; zeros may be nil.
func (d *Definition) DynamicQuantizeMatMul(x, w, scales, zeros *Tensor, a DynamicAttrs) *Tensor {
	return d.Layer(DynamicQuantizeMatMul, a, x, w, scales, zeros)
}

// RoundRows adds [RoundRows].
func (d *Definition) RoundRows(x *Tensor, a RoundRowsAttrs) *Tensor { return d.Layer(RoundRows, a, x) }

// Scale adds (x*scale + shift) ^ power for x [N,C,...]; each of the constants has one element, one for each channel [C],
// or a shape that broadcasts to x, and may be nil.
func (d *Definition) Scale(x, scale, shift, power *Tensor) *Tensor {
	p, args := elementwise.Program{Args: 1}, []*Tensor{x}
	for _, step := range []struct {
		op elementwise.Op
		t  *Tensor
	}{{elementwise.Mul, scale}, {elementwise.Add, shift}, {elementwise.Pow, power}} {
		if step.t != nil {
			p = p.Then(elementwise.Binary(step.op), 0)
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
	return d.Constant(t.Name+"_per_channel", numeric.Value{Type: v.Type, Dims: dims, Data: v.Data})
}

// Quantised is an 8-bit tensor of integers with its scale and zero point as tensors of their own, as ONNX's older quantised
// operators have them. Data is nil where it is a result that is meant.
type Quantised struct{ Data, Scale, Zero *Tensor }

// QLinearConv adds [QLinearConv]: a convolution of x with w and an I32 bias, which may be nil, to integers of y's scale and
// zero point. A Group of 0 counts as 1.
func (d *Definition) QLinearConv(x, w, y Quantised, bias *Tensor, a ConvAttrs) *Tensor {
	a.Group = max(1, a.Group)
	return d.Layer(QLinearConv, a, x.Data, x.Scale, x.Zero, w.Data, w.Scale, w.Zero, y.Scale, y.Zero, bias)
}

// ConvInteger adds [ConvInteger]: the I32 sums of a convolution of 8-bit integers, whose zero points may be nil. A Group of
// 0 counts as 1.
func (d *Definition) ConvInteger(x, w, xZero, wZero *Tensor, a ConvAttrs) *Tensor {
	a.Group = max(1, a.Group)
	return d.Layer(ConvInteger, a, x, w, xZero, wZero)
}

// QLinearMatMul adds [QLinearMatMul]: a matrix product to integers of y's scale and zero point.
func (d *Definition) QLinearMatMul(a, b, y Quantised) *Tensor {
	return d.Layer(QLinearMatMul, nil, a.Data, a.Scale, a.Zero, b.Data, b.Scale, b.Zero, y.Scale, y.Zero)
}

// MatMulInteger adds [MatMulInteger]: the I32 sums of a product of 8-bit integers, whose zero points may be nil.
func (d *Definition) MatMulInteger(a, b, aZero, bZero *Tensor) *Tensor {
	return d.Layer(MatMulInteger, nil, a, b, aZero, bZero)
}
