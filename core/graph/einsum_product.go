package graph

import "slices"

// contraction says what the labels of two operands are in their product.
type contraction struct {
	batch       []int // of both, and of the product
	sums        []int // of both, and summed
	left, right []int // of one of them alone
}

func newContraction(a, b einsumOperand, needed func(label int) bool) contraction {
	var c contraction
	for _, label := range a.labels {
		switch {
		case !b.has(label):
			c.left = append(c.left, label)
		case needed(label):
			c.batch = append(c.batch, label)
		default:
			c.sums = append(c.sums, label)
		}
	}
	for _, label := range b.labels {
		if !a.has(label) {
			c.right = append(c.right, label)
		}
	}
	return c
}

// The labels of the factors of a matrix product, and of the product.
func (c contraction) ofLeft() []int    { return slices.Concat(c.batch, c.left, c.sums) }
func (c contraction) ofRight() []int   { return slices.Concat(c.batch, c.sums, c.right) }
func (c contraction) ofProduct() []int { return slices.Concat(c.batch, c.left, c.right) }

// cost counts the transpositions of a product whose axes have the given order at last. Those of constants cost nothing; a
// constant is rather the right factor, where weights are.
func (c contraction) cost(a, b einsumOperand, result []int) (sum int) {
	add := func(t *Tensor, have, want []int) {
		if (t == nil || !t.IsConst()) && !slices.Equal(have, want) {
			sum += 2
		}
	}
	add(a.t, a.labels, c.ofLeft())
	add(b.t, b.labels, c.ofRight())
	if product := c.ofProduct(); len(product) == len(result) {
		add(nil, product, result)
	}
	if a.t.IsConst() && !b.t.IsConst() {
		sum++
	}
	return sum
}

// contracted adds the product of two operands, summed along the labels of both that nobody else needs. result is the order
// that the axes have at last.
func (d *Definition) contracted(a, b einsumOperand, result []int, needed func(label int) bool) einsumOperand {
	// Where one operand has but one element along an axis that is summed, the other is summed before, and the axis is gone.
	repeated := func(o, other einsumOperand, label int) bool {
		return !needed(label) && other.has(label) && other.dim(label).Is(1) && !o.dim(label).Is(1)
	}
	a = d.summed(a, func(label int) bool { return !repeated(a, b, label) })
	b = d.summed(b, func(label int) bool { return !repeated(b, a, label) })
	a = d.summed(a, func(label int) bool { return needed(label) || b.has(label) })
	b = d.summed(b, func(label int) bool { return needed(label) || a.has(label) })

	c := newContraction(a, b, needed)
	if swapped := newContraction(b, a, needed); swapped.cost(b, a, result) < c.cost(a, b, result) {
		a, b, c = b, a, swapped
	}
	if len(c.sums) == 0 || len(c.left) == 0 && len(c.right) == 0 {
		return d.multiplied(a, b, c)
	}
	return einsumOperand{d.matrixProduct(d.arranged(a, c.ofLeft()).t, d.arranged(b, c.ofRight()).t, c), c.ofProduct()}
}

// matrixProduct adds the product of factors whose axes are in order.
func (d *Definition) matrixProduct(x, y *Tensor, c contraction) *Tensor {
	batch, left, sums := len(c.batch), len(c.left), len(c.sums)
	rows := axesOf{t: x, from: batch, to: batch + left, join: batch > 0 || left == 0} // rows on several axes are rows all the same
	columns := axesOf{t: y, from: batch + sums, to: len(y.Dims), join: true}
	z := d.MatMul(
		d.reshaped(x, axesOf{to: batch}, rows, axesOf{from: batch + left, to: len(x.Dims), join: true}),
		d.reshaped(y, axesOf{to: batch}, axesOf{from: batch, to: batch + sums, join: true}, columns))
	if !rows.join {
		rows.t = nil // they are axes of z
	}
	rows.join, columns.join = false, false
	return d.reshaped(z, axesOf{to: batch}, rows, columns)
}

// multiplied adds the product of two operands element by element, and the sum along what is left to sum.
func (d *Definition) multiplied(a, b einsumOperand, c contraction) einsumOperand {
	both := slices.Concat(c.batch, c.sums)
	x, y := d.arranged(a, slices.Concat(both, c.left)).t, d.arranged(b, slices.Concat(both, c.right)).t
	var behind, between []int
	for i := range c.right {
		behind = append(behind, len(both)+len(c.left)+i)
	}
	for i := range c.left {
		between = append(between, len(both)+i)
	}
	if len(both)+len(c.left) > 0 && len(behind) > 0 {
		x = d.Unsqueeze(x, behind...)
	}
	if len(both)+len(c.right) > 0 && len(both) > 0 && len(between) > 0 { // or else they broadcast as they are
		y = d.Unsqueeze(y, between...)
	}
	z := einsumOperand{d.Mul(x, y), slices.Concat(both, c.left, c.right)}
	return d.summed(z, func(label int) bool { return !slices.Contains(c.sums, label) })
}
