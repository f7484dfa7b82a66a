package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

var microsoftProducts = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:GatherBlockQuantized": gatherBlocks,
	"com.microsoft:FusedConv":            fusedConv,
	"com.microsoft:FusedGemm":            fusedGemm,
	"com.microsoft:FusedMatMul":          fusedMatMul,
	"com.microsoft:TransposeMatMul":      fusedMatMul,
	"com.microsoft:GemmFastGelu":         gemmFastGelu,
	"com.microsoft:MatMulNBits":          matMulNBits,
}

// fusedConv is a convolution, a sum and an activation.
func fusedConv(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	a, err := importConv(n, n.Input(1))
	if err != nil {
		return nil, err
	}
	y := d.plus(d.Conv(n.Input(0), n.Input(1), n.Input(2), a), n.Input(3))
	y, err = d.activated(y, n.String("activation", ""), n.Floats("activation_params")...)
	return []*Tensor{y}, err
}

// fusedGemm is a general matrix product and an activation.
func fusedGemm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	y := d.Gemm(n.Input(0), n.Input(1), n.Input(2), GemmAttrs{
		Alpha: n.Float("alpha", 1), Beta: n.Float("beta", 1), TransA: n.Flag("transA", false), TransB: n.Flag("transB", false),
	})
	y, err := d.activated(y, n.String("activation", ""), n.activationParams()...)
	return []*Tensor{y}, err
}

// activationParams are those that single attributes give.
func (n *Node) activationParams() []float32 {
	var list []float32
	for _, name := range []string{"activation_alpha", "activation_beta", "activation_gamma"} {
		if n.Has(name) {
			list = append(list, n.Float(name, 0))
		}
	}
	return list
}

// fusedMatMul is a matrix product of operands that are transposed first: their last two axes, or the first one behind the others
// but the last.
func fusedMatMul(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	a := d.transposed(n.Input(0), n.Flag("transA", false), n.Flag("transBatchA", false))
	b := d.transposed(n.Input(1), n.Flag("transB", false), n.Flag("transBatchB", false))
	return result(d.times(d.MatMul(a, b), n.Float("alpha", 1)))
}

func (d *Definition) transposed(x *Tensor, rows, batch bool) *Tensor {
	rank := len(x.Dims)
	if rank < 2 || !rows && !batch {
		return x
	}
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	if batch {
		for i := range rank - 2 {
			perm[i] = i + 1
		}
		perm[rank-2] = 0
	}
	if rows {
		perm[rank-2], perm[rank-1] = perm[rank-1], perm[rank-2]
	}
	return d.Transpose(x, perm...)
}

func gemmFastGelu(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	return result(d.GeluTanh(d.plus(d.MatMul(n.Input(0), n.Input(1)), n.Input(2))))
}

// matMulNBits is [MatMulNBits]. The weights and what belongs to them must be constants. What accuracy_level says of the input is
// not done to it.
func matMulNBits(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	n.Int("accuracy_level", 0)
	if n.Int("weight_prepacked", 0) != 0 {
		return nil, fmt.Errorf("weight_prepacked %d is not supported", n.Int("weight_prepacked", 0))
	}
	a, columns := NBitsAttrs{K: n.Int("K", 0), Bits: n.Int("bits", 4), Block: n.Int("block_size", 0)}, n.Int("N", 0)
	if a.K < 1 || a.Block < 1 || a.Bits < 1 || columns < 1 || columns > maxExtent/a.K || a.Block > maxExtent {
		return nil, fmt.Errorf("attributes N %d, K %d, bits %d and block_size %d are no shape", columns, a.K, a.Bits, a.Block)
	}
	blocks := (a.K + a.Block - 1) / a.Block
	shape := func(input int, dims ...int) (*Tensor, error) {
		t := n.Input(input)
		v, ok := t.Const()
		switch {
		case !ok:
			return nil, fmt.Errorf("the weights and their scales must be constants; %s is computed", t.Name)
		case v.Len() != numeric.Count(dims):
			return nil, fmt.Errorf("input %d has %d elements, want %v", input, v.Len(), dims)
		case symbolic.Equal(t.Dims, symbolic.Shape(dims...)):
			return t, nil
		}
		return d.Constant(d.fresh(t.Name), numeric.Value{Type: v.Type, Dims: dims, Data: v.Data}), nil
	}
	w, err := shape(1, columns, blocks, a.Block*a.Bits/8)
	if err != nil {
		return nil, err
	}
	scales, err := shape(NBitsScales, columns, blocks)
	if err != nil {
		return nil, err
	}
	zeros := n.Input(NBitsZeros)
	if zeros != nil {
		each := blocks
		if zeros.Type == numeric.U8 {
			each = zeroBytes(blocks, a.Bits)
		}
		if zeros, err = shape(NBitsZeros, columns, each); err != nil {
			return nil, err
		}
	}
	x := n.Input(0)
	if groups := n.Input(4); groups != nil {
		if zeros != nil || a.Bits == 2 {
			return nil, fmt.Errorf("input 4 (g_idx) of weights of 2 bits, or beside zero points, which ONNX Runtime leaves out there, is not supported")
		}
		if x, w, err = d.byGroup(x, w, groups, a); err != nil {
			return nil, err
		}
	}
	return result(d.MatMulNBits(x, w, scales, zeros, n.Input(5), a))
}
