package graph

import (
	"fmt"
	"slices"
)

// BatchNorm adds (x - mean) / sqrt(variance + epsilon) * scale + bias, all but x being [C].
func (d *Definition) BatchNorm(x, scale, bias, mean, variance *Tensor, epsilon float32) *Tensor {
	return d.Layer(BatchNorm, BatchNormAttrs{epsilon}, x, scale, bias, mean, variance)
}

// Softmax adds the softmax along an axis.
func (d *Definition) Softmax(x *Tensor, axis int) *Tensor {
	return d.Layer(Softmax, SoftmaxAttrs{Axis: axis}, x)
}

// LogSoftmax adds the logarithm of the softmax along an axis.
func (d *Definition) LogSoftmax(x *Tensor, axis int) *Tensor {
	return d.Layer(Softmax, SoftmaxAttrs{Axis: axis, Log: true}, x)
}

// Hardmax adds 1 for the first largest element along an axis and 0 for the others.
func (d *Definition) Hardmax(x *Tensor, axis int) *Tensor {
	return d.Layer(Hardmax, HardmaxAttrs{Axis: axis}, x)
}

// InstanceNorm adds the normalisation of each channel of each item of x [N,C,...] over its spatial axes, scale and bias being
// [C].
func (d *Definition) InstanceNorm(x, scale, bias *Tensor, epsilon float32) *Tensor {
	return d.Layer(InstanceNorm, InstanceNormAttrs{epsilon}, x, scale, bias)
}

// GroupNorm adds the normalisation of groups of channels of each item of x [N,C,...], scale and bias being [C].
func (d *Definition) GroupNorm(x, scale, bias *Tensor, groups int, epsilon float32) *Tensor {
	return d.Layer(GroupNorm, GroupNormAttrs{Epsilon: epsilon, Groups: groups}, x, scale, bias)
}

// LayerNorm adds the normalisation over all axes from axis on, to which scale and bias broadcast; bias may be nil.
func (d *Definition) LayerNorm(x, scale, bias *Tensor, axis int, epsilon float32) *Tensor {
	return d.Layer(LayerNorm, LayerNormAttrs{axis, epsilon}, x, scale, bias)
}

// RMSNorm adds the division by the root of the mean square over all axes from axis on, to which scale broadcasts.
func (d *Definition) RMSNorm(x, scale *Tensor, axis int, epsilon float32) *Tensor {
	return d.Layer(RMSNorm, LayerNormAttrs{axis, epsilon}, x, scale)
}

// Attention adds the softmax-weighted sums of v, for each head; see [Attention] for the forms of q, k and v. mask may be nil.
func (d *Definition) Attention(q, k, v, mask *Tensor, a AttentionAttrs) *Tensor {
	return d.Layer(Attention, a, q, k, v, mask)
}

// AttentionWithPast adds an attention to keys and values [B,KVHeads,P,D] in front of k and v as well, and returns what follows
// for the next one: all keys and all values.
func (d *Definition) AttentionWithPast(q, k, v, mask, pastK, pastV *Tensor, a AttentionAttrs) (y, presentK, presentV *Tensor) {
	out := d.Layers(Attention, a, 3, q, k, v, mask, pastK, pastV)
	return out[0], out[1], out[2]
}

// Rotary turns the pairs of components of each head of x by angles of the given cosines and sines; positions, which choose among
// them, may be nil.
func (d *Definition) Rotary(x, cos, sin, positions *Tensor, a RotaryAttrs) *Tensor {
	return d.Layer(Rotary, a, x, cos, sin, positions)
}

// LinearAttention adds, for each head, the products of queries with a state to which keys and values are added; see
// [LinearAttention]. It returns the last state, too; past, decay and beta may be nil.
func (d *Definition) LinearAttention(q, k, v, past, decay, beta *Tensor, a LinearAttentionAttrs) (y, present *Tensor) {
	out := d.Layers(LinearAttention, a, 2, q, k, v, past, decay, beta)
	return out[0], out[1]
}

// LRN adds the local response normalisation across channels.
func (d *Definition) LRN(x *Tensor, a LRNAttrs) *Tensor { return d.Layer(LRN, a, x) }

// LpNorm adds the division by the L1 or L2 norm along an axis; p is 1 or 2.
func (d *Definition) LpNorm(x *Tensor, axis, p int) *Tensor {
	return d.Layer(LpNorm, LpNormAttrs{axis, p}, x)
}

// MeanVarianceNorm adds the normalisation over the given axes.
func (d *Definition) MeanVarianceNorm(x *Tensor, axes ...int) *Tensor {
	return d.Layer(MeanVarianceNorm, MeanVarianceNormAttrs{axes}, x)
}

// Reduce adds one of the reductions, such as [ReduceMean], over the given axes, or over all of them.
func (d *Definition) Reduce(op *Op, x *Tensor, keepDims bool, axes ...int) *Tensor {
	if op != nil && !slices.Contains(reductions, op) {
		d.fail(fmt.Errorf("layer %s: %s is no reduction", d.name, op.Name))
		return d.none()
	}
	return d.Layer(op, ReduceAttrs{Axes: axes, KeepDims: keepDims}, x)
}

// ArgMax adds the I64 index of the largest element along an axis.
func (d *Definition) ArgMax(x *Tensor, a ArgAttrs) *Tensor { return d.Layer(ArgMax, a, x) }

// ArgMin adds the I64 index of the smallest element along an axis.
func (d *Definition) ArgMin(x *Tensor, a ArgAttrs) *Tensor { return d.Layer(ArgMin, a, x) }

// CumSum adds the sums of the elements up to each one along an axis.
func (d *Definition) CumSum(x *Tensor, a CumAttrs) *Tensor { return d.Layer(CumSum, a, x) }

// CumProd adds the products of the elements up to each one along an axis.
func (d *Definition) CumProd(x *Tensor, a CumAttrs) *Tensor { return d.Layer(CumProd, a, x) }
