package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Compensation makes the weights of a product take back what quantisation has done to its input: of the x that the float network
// reads and the x' that the quantised one reads at the same places, it solves
//
//	min |W x - W' x'|²,   W' = W + W D H⁻¹,   H = Σ x' x'ᵀ,   D = Σ (x - x') x'ᵀ
//
// for real W', and rounds these by the moments H. What was rounded on the way to x' goes together with what x' is, as where a range
// clips, or where the layers before have an error of their own: so far as it does, weights can take it back.
//
// Where x' tells little of some direction, W' would go anywhere, so that a share of the mean moment is added to each of H. Which is
// found by items that are held out, for each layer: none may be better than any. It is not safe for concurrent use.
type Compensation struct {
	layer   *graph.Layer // in the float network
	weights numeric.Value
	k       int         // inputs of one output
	sums    [2]*Moments // of x', and of x - x' behind it, over items to solve by and those that are held out
}

// Bounds of compensation: so many rows are enough, and so many outputs tell which share is best.
const (
	rowsCompensated = 4 * fewestRows
	rowsPerInput    = 2 * rowsByInput
	outputsJudged   = 64
)

// leastSaved is the share of the error of sums that must be saved by a solution on items that are held out: less is chance.
const leastSaved = 0.01

// shares of the mean moment that are tried.
var shares = []float64{1e-4, 1e-3, 1e-2, 1e-1, 1}

// NewCompensation prepares for a layer of the float network, whose weights are constant. The error says why they can take back
// nothing.
func NewCompensation(l *graph.Layer, by Multiply) (*Compensation, error) {
	w, ok := l.Inputs[1].Const()
	if !ok {
		return nil, errors.New("its weights are not constant")
	}
	c := &Compensation{layer: l, weights: w}
	for i := range c.sums {
		m, err := NewMoments(l, w.Dims)
		if err != nil {
			return nil, err
		}
		if c.k, m.k = m.k, 2*m.k; m.k > maxInputs {
			return nil, fmt.Errorf("an output reads %d inputs, and weights of up to %d are solved for", c.k, maxInputs/2)
		}
		m.Multiply = by
		c.sums[i] = m
	}
	return c, nil
}

// Bytes returns what it takes in memory: moments of two kinds, those that are read, pairs of two kinds, and factors.
func (c *Compensation) Bytes() int {
	groups := c.sums[0].groups
	return 8*c.k*c.k*(9*groups+8) + 24*c.weights.Len()
}

// Work returns about how many multiplications it takes.
func (c *Compensation) Work() float64 {
	k, groups := float64(c.k), float64(c.sums[0].groups)
	return k * (k*groups*(4*max(rowsCompensated, rowsPerInput*k)+k*float64(len(shares))) + 4*float64(c.weights.Len()))
}

// Add adds what the layer reads in one inference: x in the float network, and quantised in the other one, in real numbers. Of all
// places so many are taken that items such ones give enough rows.
func (c *Compensation) Add(x, quantised numeric.Value, items int, held bool) error {
	m, k := c.sums[0], c.k
	if held {
		m = c.sums[1]
	}
	if m.sums == nil {
		for range m.groups {
			m.sums = append(m.sums, make([]float64, m.k*m.k))
		}
	}
	if !slices.Equal(x.Dims, quantised.Dims) {
		return fmt.Errorf("it reads %v, and %v where it is quantised", x.Dims, quantised.Dims)
	}
	most := max(1, max(rowsCompensated, rowsPerInput*k)/max(1, items))
	less := func(to []float32) {
		for i, v := range to[:k] {
			to[k+i] -= v
		}
	}
	if a, ok := c.layer.Attrs.(graph.ConvAttrs); ok {
		if len(x.Dims) != len(c.weights.Dims) {
			return errors.New("its weights and its input differ in rank")
		}
		p, q := newPatches(a, c.weights.Dims, x, m.groups), newPatches(a, c.weights.Dims, quantised, m.groups)
		return m.sample(p.places, most, func(at, group int, to []float32) {
			q.row(at, group, to[:k])
			p.row(at, group, to[k:])
			less(to)
		})
	}
	v, q := x.Floats(), quantised.Floats()
	return m.sample(len(v)/k, most, func(at, _ int, to []float32) {
		copy(to[:k], q[at*k:])
		copy(to[k:], v[at*k:])
		less(to)
	})
}

// Compensated is what came of a compensation.
type Compensated struct {
	Stored numeric.Value // the integers
	Share  float64       // of the mean moment that was added to each
	Gain   float64       // dB less error of the layer's sums before weights are rounded, on items that are held out
}

// Round returns the integers of the weights that take back most, in place of stored, which [Place] has quantised with scales by. The
// error says why there are none.
func (c *Compensation) Round(stored numeric.Value, by numeric.Range) (r Compensated, err error) {
	for _, m := range c.sums {
		if err := m.Finish(); err != nil {
			return r, err
		}
	}
	if n := c.sums[0].rows; n < c.k || c.sums[1].rows == 0 {
		return r, fmt.Errorf("an output reads %d inputs, and they were seen %d times, too few to solve for their weights", c.k, n)
	}
	rows, saved := weightRows(c.layer, c.weights.Dims), 0.0
	if r.Share, saved, err = c.share(rows); err != nil {
		return r, err
	}
	if !(saved >= leastSaved) {
		return r, errors.New("weights take nothing back of what its input lost, on items that are held out")
	}
	solved, read := c.weights.Floats(), &Moments{groups: c.sums[0].groups, k: c.k, rows: c.sums[0].rows, Multiply: c.sums[0].Multiply}
	solved = slices.Clone(solved)
	for g := range read.groups {
		all := c.pairs(g, 0, 1)
		w := c.rows(rows, g, rows.outputs)
		d, err := all.solve(w, r.Share, read.Multiply)
		if err != nil { // a channel that is always zero
			d = nil
		}
		for o := range d {
			for i, v := range d[o] {
				solved[rows.at(g*len(d)+o, i)] += float32(v)
			}
		}
		read.sums = append(read.sums, all.h)
	}
	gptq := Rounding{kind: "gptq"}
	r.Stored, _, err = gptq.RoundStored(c.layer, numeric.Values(numeric.F32, solved, c.weights.Dims...), stored, by, read)
	r.Gain = -10 * math.Log10(1-saved)
	return r, err
}

// share returns by which share the weights of some outputs are best on what is held out, and which part that saves of the error of
// their sums.
func (c *Compensation) share(rows rowsOf) (best, saved float64, err error) {
	var before float64
	after := make([]float64, len(shares))
	for g := range c.sums[0].groups {
		fit, held := c.pairs(g, 0), c.pairs(g, 1)
		w := c.rows(rows, g, outputsJudged)
		none := held.error(w, nil)
		before += none
		for i, s := range shares {
			d, err := fit.solve(w, s, c.sums[0].Multiply)
			if err != nil {
				after[i] += none
				continue
			}
			after[i] += held.error(w, d)
		}
	}
	if !(before > 0) || math.IsInf(before, 0) {
		return 0, 0, errors.New("its input lost nothing on items that are held out")
	}
	least := 0
	for i, e := range after {
		if e < after[least] {
			least = i
		}
	}
	return shares[least], 1 - after[least]/before, nil
}

// rows returns the weights of so many outputs of a group at most, from all over them.
func (c *Compensation) rows(at rowsOf, g, most int) [][]float64 {
	x, outputs := c.weights.Floats(), at.outputs/c.sums[0].groups
	n := min(outputs, most)
	w := make([][]float64, n)
	for r := range w {
		w[r] = make([]float64, c.k)
		for i := range w[r] {
			w[r][i] = float64(x[at.at(g*outputs+r*outputs/n, i)])
		}
	}
	return w
}

// pairs are the moments of one group.
type pairs struct {
	k       int
	h, d, s []float64 // of x', of x - x' by x', and of x - x'; of the first and last the lower triangle
}

// pairs returns the moments of a group over items of some kinds.
func (c *Compensation) pairs(g int, kinds ...int) pairs {
	k := c.k
	p := pairs{k, make([]float64, k*k), make([]float64, k*k), make([]float64, k*k)}
	for _, kind := range kinds {
		sums := c.sums[kind].sums[g]
		for i := range k {
			first, second := sums[i*2*k:][:i+1], sums[(k+i)*2*k:][:k+i+1]
			for j, v := range first {
				p.h[i*k+j] += v
				p.s[i*k+j] += second[k+j]
			}
			for j, v := range second[:k] {
				p.d[i*k+j] += v
			}
		}
	}
	return p
}

// error returns the squared error of the sums of outputs with weights w, by which d is added to what the quantised input is multiplied
// by; nil: nothing.
func (p pairs) error(w, d [][]float64) (sum float64) {
	errs := make([]float64, len(w))
	share(len(w), func(o int) {
		errs[o] = form(p.s, p.k, w[o])
		if d == nil {
			return
		}
		errs[o] += form(p.h, p.k, d[o])
		for i, v := range p.times(w[o]) {
			errs[o] -= 2 * v * d[o][i]
		}
	})
	for _, e := range errs {
		sum += e
	}
	return sum
}

// form returns xᵀ M x for a symmetric matrix of which there is the lower triangle.
func form(m []float64, k int, x []float64) (sum float64) {
	for i, v := range x {
		row := 0.0
		for j, a := range m[i*k : i*k+i] {
			row += a * x[j]
		}
		sum += v * (2*row + m[i*k+i]*v)
	}
	return sum
}

// times returns w D.
func (p pairs) times(w []float64) []float64 {
	to := make([]float64, p.k)
	for i, x := range w {
		for j, v := range p.d[i*p.k : (i+1)*p.k] {
			to[j] += x * v
		}
	}
	return to
}

// solve returns w D (H + r)⁻¹ for rows w, where r is a share of the mean of H's diagonal on it.
func (p pairs) solve(w [][]float64, r float64, by Multiply) ([][]float64, error) {
	k := p.k
	var mean float64
	for i := range k {
		mean += p.h[i*k+i] / float64(k)
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		return nil, errors.New("its inputs were zero, or not finite, on all of the calibration data")
	}
	g := &gptq{k: k, multiply: by}
	if k < fewestMultiplied {
		g.multiply = nil
	}
	for {
		g.factors = slices.Clone(p.h)
		for i := range k {
			g.factors[i*k+i] += r * mean
		}
		if err := g.factor(); err == nil {
			break
		} else if g.multiply == nil {
			return nil, err
		}
		g.multiply = nil // single precision was too little
	}
	d := make([][]float64, len(w))
	share(len(w), func(o int) { d[o] = g.solve(p.times(w[o])) })
	return d, nil
}

// solve returns x with MᵀM x = b, in the place of b.
func (g *gptq) solve(b []float64) []float64 {
	k, m := g.k, g.factors
	for j := k - 1; j >= 0; j-- { // row j of M is column j of Mᵀ
		b[j] /= m[j*k+j]
		for i, v := range m[j*k : j*k+j] {
			b[i] -= b[j] * v
		}
	}
	for j := range k {
		for i, v := range m[j*k : j*k+j] {
			b[j] -= v * b[i]
		}
		b[j] /= m[j*k+j]
	}
	return b
}
