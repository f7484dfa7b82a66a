package graph

import "fmt"

// importNegativeLogLikelihood adds the loss of labels [N,d...] by the log probabilities x [N,C,d...] of classes: -x of the label's
// class, times the class's weight [C] where there are any, or 0 where the label is the one to ignore. The mean is by these weights.
func importNegativeLogLikelihood(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	y, err := d.negativeLogLikelihood(n, n.Input(0))
	return []*Tensor{y}, err
}

// importSoftmaxCrossEntropy adds the same of scores, whose log probabilities are output 1.
func importSoftmaxCrossEntropy(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	if rank, err := n.rank(0); err != nil || rank < 2 {
		return nil, fmt.Errorf("input 0 is %s, want items and classes", n.Input(0).TypeString())
	}
	p := d.LogSoftmax(n.Input(0), 1)
	y, err := d.negativeLogLikelihood(n, p)
	return []*Tensor{y, p}, err
}

func (d *Definition) negativeLogLikelihood(n *Node, x *Tensor) (*Tensor, error) {
	labels, weights := n.Input(1), n.Input(2)
	if len(x.Dims) < 2 || len(labels.Dims) != len(x.Dims)-1 || weights != nil && len(weights.Dims) != 1 {
		return nil, fmt.Errorf("input 0 is %s and input 1 %s, want [N,C,...] and [N,...], and weights of the classes", x.TypeString(), labels.TypeString())
	}
	var ignored, zero *Tensor
	if n.Has("ignore_index") {
		none := d.as(d.number(int64(n.Int("ignore_index", 0))), labels.Type)
		ignored = d.Equal(labels, none)
		zero = d.as(d.number(0), x.Type)
		labels = d.Where(ignored, d.as(d.number(0), labels.Type), labels)
	}
	loss := d.Neg(d.Squeeze(d.GatherElements(x, d.Unsqueeze(labels, 1), 1), 1))
	var by *Tensor // the weights of the items
	switch {
	case weights != nil:
		by = d.Gather(weights, labels, 0)
		loss = d.Mul(loss, by)
	case ignored != nil:
		by = d.as(d.number(1), x.Type)
	}
	if ignored != nil {
		by, loss = d.Where(ignored, zero, by), d.Where(ignored, zero, loss)
	}
	switch r := n.String("reduction", "mean"); {
	case r == "none":
		return loss, nil
	case r == "sum":
		return d.Reduce(ReduceSum, loss, false), nil
	case r == "mean" && by == nil:
		return d.Reduce(ReduceMean, loss, false), nil
	case r == "mean":
		return d.Div(d.Reduce(ReduceSum, loss, false), d.Reduce(ReduceSum, by, false)), nil
	default:
		return nil, fmt.Errorf("reduction %q is unknown; it is none, sum or mean", r)
	}
}
