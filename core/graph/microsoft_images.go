package graph

import "fmt"

// microsoftImages are operators whose channels are, or may be, the last axis.
var microsoftImages = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:GroupNorm":     microsoftGroupNorm,
	"com.microsoft:NhwcConv":      nhwcConv,
	"com.microsoft:NhwcFusedConv": nhwcConv,
	"com.microsoft:SkipGroupNorm": microsoftGroupNorm,
}

// channelsFirst adds the transposition of x [N,...,C] to [N,C,...].
func (d *Definition) channelsFirst(x *Tensor) *Tensor {
	perm := []int{0, len(x.Dims) - 1}
	for i := 1; i < len(x.Dims)-1; i++ {
		perm = append(perm, i)
	}
	return d.Transpose(x, perm...)
}

// channelsLast is its inverse.
func (d *Definition) channelsLast(x *Tensor) *Tensor {
	perm := []int{0}
	for i := 2; i < len(x.Dims); i++ {
		perm = append(perm, i)
	}
	return d.Transpose(x, append(perm, 1)...)
}

// nhwcConv is a convolution, a sum and an activation, whose activations have their channels last.
func nhwcConv(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{3, 4, 5}}, axes{3, []int{3, 4, 5}}); err != nil {
		return nil, err
	}
	a, err := importConv(n, n.Input(1))
	if err != nil {
		return nil, err
	}
	y := d.Conv(d.channelsFirst(n.Input(0)), n.Input(1), n.Input(2), a)
	if z := n.Input(3); z != nil {
		y = d.Add(y, d.channelsFirst(z))
	}
	y, err = d.activated(y, n.String("activation", ""), n.Floats("activation_params")...)
	return []*Tensor{d.channelsLast(y)}, err
}

// microsoftGroupNorm is a group normalisation, of a sum with what skipped the layers before and a bias if it is a SkipGroupNorm, and
// an activation.
func microsoftGroupNorm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{4}}, axes{3, []int{2, 4}}); err != nil {
		return nil, err
	}
	x, last := n.Input(0), n.Flag("channels_last", true)
	if n.OpType == "SkipGroupNorm" {
		if !last {
			return nil, fmt.Errorf("channels_last 0 is not supported")
		}
		if err := n.needs(3); err != nil {
			return nil, err
		}
		skip := n.Input(3)
		if len(skip.Dims) == 2 {
			skip = d.Unsqueeze(skip, 1, 2)
		}
		x = d.plus(d.Add(x, skip), n.Input(4))
	}
	y := x
	if last {
		y = d.channelsFirst(y)
	}
	y = d.GroupNorm(y, d.as(n.Input(1), x.RealType()), d.as(n.Input(2), x.RealType()), n.Int("groups", 0), n.Float("epsilon", 1e-5))
	switch a := n.Int("activation", 0); a {
	case 0:
	case 1:
		y = d.Swish(y, 1)
	default:
		return nil, fmt.Errorf("activation %d is unknown; it is 0 or 1", a)
	}
	if last {
		y = d.channelsLast(y)
	}
	return []*Tensor{y, x}, nil
}
