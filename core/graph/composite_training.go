package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// onnxTraining are the operators of ai.onnx.preview.training: a step of an optimiser, which gives new weights and new averages.
var onnxTraining = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"ai.onnx.preview.training:Adagrad":  adagrad,
	"ai.onnx.preview.training:Adam":     adam,
	"ai.onnx.preview.training:Momentum": momentum,
}

// optimised adds a step of an optimiser. Inputs are a learning rate, the number of steps before, and then count lists of tensors,
// each as long: weights, gradients, and averages. step makes of one of each new weights and averages; outputs are lists of these.
func optimised(d *Definition, n *Node, count int, step func(rate, x, g *Tensor, averages []*Tensor) []*Tensor) ([]*Tensor, error) {
	all := len(n.Inputs) - 2
	if all < count || all%count != 0 {
		return nil, fmt.Errorf("%d inputs, want a rate, a number of steps, and %d for each list of weights", len(n.Inputs), count)
	}
	for i := range n.Inputs {
		if err := n.needs(i); err != nil {
			return nil, err
		}
	}
	each := all / count
	norm := n.Float("norm_coefficient", 0)
	results := make([]*Tensor, each*(count-1))
	for i := range each {
		var list []*Tensor
		for k := range count {
			list = append(list, n.Inputs[2+k*each+i])
		}
		x, g := list[0], list[1]
		if norm != 0 {
			g = d.Add(d.times(x, norm), g)
		}
		for k, t := range step(d.as(n.Inputs[0], x.Type), x, g, list[2:]) {
			results[k*each+i] = t
		}
	}
	return results, nil
}

// adagrad divides by the root of the sum of all squares of gradients.
func adagrad(d *Definition, n *Node) ([]*Tensor, error) {
	decay, epsilon := n.Float("decay_factor", 0), n.Float("epsilon", 1e-6)
	return optimised(d, n, 3, func(rate, x, g *Tensor, sums []*Tensor) []*Tensor {
		if decay != 0 {
			rate = d.Div(rate, d.plusNumber(d.times(d.as(n.Inputs[1], x.Type), decay), 1))
		}
		sum := d.Add(sums[0], d.Mul(g, g))
		return []*Tensor{d.Sub(x, d.Div(d.Mul(rate, g), d.plusNumber(d.Sqrt(sum), epsilon))), sum}
	})
}

// adam divides a running mean of gradients by the root of one of their squares.
func adam(d *Definition, n *Node) ([]*Tensor, error) {
	alpha, beta, epsilon := n.Float("alpha", 0.9), n.Float("beta", 0.999), n.Float("epsilon", 1e-6)
	after := n.Float("norm_coefficient_post", 0)
	return optimised(d, n, 4, func(rate, x, g *Tensor, means []*Tensor) []*Tensor {
		first := d.Add(d.times(means[0], alpha), d.times(g, 1-alpha))
		second := d.Add(d.times(means[1], beta), d.times(d.Mul(g, g), 1-beta))
		steps := d.as(n.Inputs[1], x.Type)
		corrected := d.Div(d.Mul(rate, d.Sqrt(d.rest(beta, steps))), d.rest(alpha, steps))
		rate = d.Where(d.Greater(steps, d.as(d.number(0), x.Type)), corrected, rate)
		x = d.Sub(x, d.Div(d.Mul(rate, first), d.plusNumber(d.Sqrt(second), epsilon)))
		return []*Tensor{d.times(x, 1-after), first, second}
	})
}

// momentum goes along a running sum of gradients, or, as Nesterov does, along what that will be.
func momentum(d *Definition, n *Node) ([]*Tensor, error) {
	mode := n.String("mode", "")
	if mode != "standard" && mode != "nesterov" {
		return nil, fmt.Errorf("mode %q is unknown; it is standard or nesterov", mode)
	}
	alpha, beta := n.Float("alpha", 0), n.Float("beta", 0)
	return optimised(d, n, 3, func(rate, x, g *Tensor, sums []*Tensor) []*Tensor {
		scaled := g
		if beta != 1 {
			scaled = d.Where(d.Greater(n.Inputs[1], d.number(0)), d.times(g, beta), g)
		}
		sum := d.Add(d.times(sums[0], alpha), scaled)
		along := sum
		if mode == "nesterov" {
			along = d.Add(g, d.times(sum, alpha))
		}
		return []*Tensor{d.Sub(x, d.Mul(rate, along)), sum}
	})
}

// rest adds 1 - base^exponent.
func (d *Definition) rest(base float32, exponent *Tensor) *Tensor {
	power := d.Pow(d.as(d.Constant(d.fresh("base"), numeric.Values(numeric.F32, []float32{base})), exponent.Type), exponent)
	return d.plusNumber(d.Neg(power), 1)
}
