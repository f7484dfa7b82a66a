package graph

import "fmt"

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

// matMulNBits is a matrix product with weights of 2, 4 or 8 bits that have a scale and a zero point for each block of inputs. They
// must be constants; the network holds them as reals. What accuracy_level says of the input is not done to it.
func matMulNBits(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	n.Int("accuracy_level", 0)
	if n.Int("weight_prepacked", 0) != 0 {
		return nil, fmt.Errorf("weight_prepacked %d is not supported", n.Int("weight_prepacked", 0))
	}
	if err := n.lacks("g_idx", 4); err != nil {
		return nil, err
	}
	w, err := n.blockedWeights()
	if err != nil {
		return nil, err
	}
	return result(d.plus(d.MatMul(n.Input(0), d.Constant(d.fresh("weights"), w)), n.Input(5)))
}
