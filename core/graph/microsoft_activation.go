package graph

var microsoftActivations = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:BiasAdd":       biasAdd,
	"com.microsoft:BiasGelu":      biasGelu,
	"com.microsoft:BiasSplitGelu": biasSplitGelu,
	"com.microsoft:FastGelu":      fastGelu,
	"com.microsoft:Gelu":          microsoftGelu,
	"com.microsoft:QuickGelu":     quickGelu,
}

// importSwiGLU is a * sigmoid(alpha*a) * b.
func importSwiGLU(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	return result(d.Mul(d.Swish(n.Input(0), n.Float("alpha", 1)), n.Input(1)))
}

func biasAdd(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	return result(d.Add(d.Add(n.Input(0), n.Input(1)), n.Input(2)))
}

func biasGelu(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	return result(d.Gelu(d.Add(n.Input(0), n.Input(1))))
}

// biasSplitGelu is a * gelu(b), a and b being the halves of the sum of input and bias along the last axis.
func biasSplitGelu(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	size, err := n.extent(1, 0)
	if err != nil {
		return nil, err
	}
	halves := d.Split(d.Add(n.Input(0), n.Input(1)), -1, size/2, size-size/2)
	return result(d.Mul(halves[0], d.Gelu(halves[1])))
}

func fastGelu(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	return result(d.GeluTanh(d.plus(n.Input(0), n.Input(1))))
}

func microsoftGelu(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	return result(d.Gelu(n.Input(0)))
}

func quickGelu(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	return result(d.Swish(n.Input(0), n.Float("alpha", 1.702)))
}
