package reductions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// normalization is a division of a tensor in NCHW into rows, each of which becomes (x - mean) / sqrt(variance + epsilon) by
// its own statistics, times a scale, plus a bias.
type normalization struct {
	rows, n  int
	epsilon  float64
	centered bool      // else the root of the mean square takes the deviation's place
	scale    []float32 // nil for none
	bias     []float32
	each     bool // an element of scale and bias for each of a row's, else for each channel, one after the other through the rows
	channel  int  // elements of a channel within a row
	vec      asm.VecKernel
}

// normTactics are the normalisations by rows for one instruction set.
func normTactics(isa asm.Features) []kernels.Tactic {
	var list []kernels.Tactic
	for _, op := range []struct {
		name string
		op   *graph.Op
		plan func(kernels.Binding) (normalization, error)
	}{
		{"layernorm", graph.LayerNorm, layerNorm},
		{"rmsnorm", graph.RMSNorm, layerNorm},
		{"instancenorm", graph.InstanceNorm, channelNorm},
		{"groupnorm", graph.GroupNorm, channelNorm},
	} {
		list = append(list, kernels.Tactic{
			Name: op.name + "_f32_" + work.ISAName(isa), Op: op.op, Needs: kernels.Feature(isa),
			Match: func(b kernels.Binding) error {
				if _, err := quantizedRows(b); err != nil {
					return err
				}
				_, err := op.plan(b)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) {
				n, err := op.plan(b)
				if err != nil {
					return nil, err
				}
				n.vec = work.VecKernel(isa)
				if to, _ := quantizedRows(b); to != nil {
					k := &byteRows{rowKernel: rowKernel{rows: n.rows, size: n.n, cost: 8, compute: n.compute}, to: *to, quant: work.QuantKernel(isa)}
					k.job = work.NewJob((*byteRowsLaunch).do)
					return k, nil
				}
				return bindRows(b, isa, &rowKernel{rows: n.rows, size: n.n, cost: 8, compute: n.compute})
			},
		})
	}
	return list
}

// parameters returns scale and bias, nil where there is none, if they are constants.
func (n *normalization) parameters(b kernels.Binding) error {
	for i := 1; i < len(b.Layer.OpInputs()); i++ {
		if b.Layer.Input(i) != nil && b.Consts[i] == nil {
			return fmt.Errorf("%s is not constant", b.Layer.Inputs[i].Name)
		}
	}
	n.scale, n.bias = work.RealConst(b, 1), work.RealConst(b, 2)
	return nil
}

// layerNorm is over the last axes.
func layerNorm(b kernels.Binding) (normalization, error) {
	a, dims := b.Layer.Attrs.(graph.LayerNormAttrs), b.In[0].Dims
	axis := a.Axis
	if axis < 0 {
		axis += len(dims)
	}
	n := normalization{rows: numeric.Count(dims[:axis]), n: numeric.Count(dims[axis:]), epsilon: float64(a.Epsilon),
		centered: b.Layer.Op == graph.LayerNorm, each: true}
	if len(b.Out) > 1 {
		return n, fmt.Errorf("mean and deviation are asked for")
	}
	for i := 1; i < len(b.Layer.OpInputs()); i++ {
		if b.Layer.Input(i) != nil && !slices.Equal(b.In[i].Dims, dims[axis:]) {
			return n, fmt.Errorf("%v has not the shape of the normalised axes", b.In[i])
		}
	}
	return n, n.parameters(b)
}

// channelNorm is over channels, or groups of them, of each item.
func channelNorm(b kernels.Binding) (normalization, error) {
	dims := b.In[0].Dims
	channel := numeric.Count(dims[2:])
	n := normalization{centered: true, channel: channel}
	a, grouped := b.Layer.Attrs.(graph.GroupNormAttrs)
	if grouped {
		n.rows, n.n, n.epsilon = dims[0]*a.Groups, dims[1]/a.Groups*channel, float64(a.Epsilon)
		if a.PerGroup {
			n.channel = n.n
		}
	} else {
		n.rows, n.n, n.epsilon = dims[0]*dims[1], channel, float64(b.Layer.Attrs.(graph.InstanceNormAttrs).Epsilon)
	}
	return n, n.parameters(b)
}

// compute normalises rows that follow each other.
func (k *normalization) compute(first int, y, x []float32) {
	if k.each {
		k.vec.NormalizeRows(y, x, k.n, k.scale, k.bias, k.epsilon, k.centered)
		return
	}
	k.vec.NormalizeRows(y, x, k.n, nil, nil, k.epsilon, k.centered)
	for at, u := 0, first; at < len(y); at, u = at+k.n, u+1 {
		for c := range k.n / k.channel {
			i := (u*(k.n/k.channel) + c) % len(k.scale)
			part := y[at+c*k.channel:][:k.channel]
			k.vec.Unary(asm.Affine, part, part, k.scale[i], k.bias[i])
		}
	}
}
