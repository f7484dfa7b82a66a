package quant

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Multiply returns the product of a, rows x k, and b, k x columns, in single precision.
type Multiply func(a, b []float32, rows, k, columns int) ([]float32, error)

// From so many inputs on matrices are multiplied by a [Multiply], and so many inputs are rounded, of so many outputs, between two
// products.
const (
	fewestMultiplied = 128
	inputsAtOnce     = 64
	outputsAtOnce    = 512
)

// damping is the share of the mean second moment that is added to each: without it, inputs that are nearly sums of others would
// make weights go far from what they were.
const damping = 0.01

// gptq rounds the rows of weights that read the same inputs so that the squared error of their sums is small, and not that of the
// weights (E. Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022): one weight
// after the other is rounded, and those that are still real take back what they can of its error.
//
// With H the second moments of the inputs and e what rounding adds to a row, that error is eHe. H is MᵀM for a lower triangular M,
// so that element j of Me holds only errors up to the j-th; the j-th weight makes it least if it is rounded from
//
//	w[j] + (M[j][0] e[0] + ... + M[j][j-1] e[j-1]) / M[j][j],   e[i] = w[i] - q[i]
//
// which is what the paper reaches by the inverse of H (J. Chen et al., "The Geometry of LLM Quantization: GPTQ as Babai's Nearest
// Plane Algorithm", 2025).
type gptq struct {
	k        int
	order    []int     // in which inputs are rounded
	factors  []float64 // M, by rows, of inputs in that order; an input that is always zero has a row of zeros but for its own element
	multiply Multiply  // nil: by plain loops
}

// newGPTQ prepares for inputs with second moments m, a k x k matrix of which the lower triangle counts. It works on the spot.
func newGPTQ(m []float64, k int, r Rounding, by Multiply) (*gptq, error) {
	g := &gptq{k: k, order: r.order(m, k), factors: m, multiply: by}
	if k < fewestMultiplied {
		g.multiply = nil
	}
	if r.ordered {
		g.factors = make([]float64, k*k)
		for i, a := range g.order {
			for j, b := range g.order[:i+1] {
				g.factors[i*k+j] = m[max(a, b)*k+min(a, b)]
			}
		}
	}
	m = g.factors
	var mean float64
	for i := range k {
		mean += m[i*k+i] / float64(k)
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		return nil, errors.New("its inputs were zero, or not finite, on all of the calibration data")
	}
	for i := range k {
		if m[i*k+i] > 0 {
			m[i*k+i] += damping * mean
		} else {
			m[i*k+i] = mean
		}
	}
	if g.multiply == nil {
		return g, g.factor()
	}
	whole := slices.Clone(g.factors)
	if err := g.factor(); err != nil { // single precision was too little
		g.factors, g.multiply = whole, nil
		return g, g.factor()
	}
	return g, nil
}

// factor makes of H the M with H = MᵀM, from the last row to the first, some rows at once.
func (g *gptq) factor() error {
	k := g.k
	for end := k; end > 0; {
		first := max(0, end-inputsAtOnce)
		for j := end - 1; j >= first; j-- {
			row := g.factors[j*k : j*k+j+1]
			pivot := row[j]
			if !(pivot > 0) {
				return errors.New("the second moments of its inputs are not positive definite")
			}
			inverse := 1 / math.Sqrt(pivot)
			for i := range row {
				row[i] *= inverse
			}
			for i := first; i < j; i++ {
				g.subtract(i, row)
			}
		}
		if err := g.eliminate(first, end); err != nil {
			return err
		}
		end = first
	}
	return nil
}

// subtract takes what a finished row of M stands for from row i of what is left of H.
func (g *gptq) subtract(i int, row []float64) {
	above, a := g.factors[i*g.k:i*g.k+i+1], row[i]
	if a == 0 {
		return
	}
	for c, b := range row[:i+1] {
		above[c] -= a * b
	}
}

// eliminate takes the finished rows first to end from what is left of H above them.
func (g *gptq) eliminate(first, end int) error {
	k := g.k
	if g.multiply == nil || first == 0 {
		share(first, func(i int) {
			for j := end - 1; j >= first; j-- {
				g.subtract(i, g.factors[j*k:j*k+j+1])
			}
		})
		return nil
	}
	a, b := make([]float32, k*inputsAtOnce), make([]float32, inputsAtOnce*k)
	for j := first; j < end; j++ {
		for c, v := range g.factors[j*k : j*k+first] {
			a[c*inputsAtOnce+j-first], b[(j-first)*k+c] = float32(v), float32(v)
		}
	}
	p, err := g.multiply(a, b, k, inputsAtOnce, k)
	if err != nil {
		return err
	}
	share(first, func(i int) {
		above := g.factors[i*k : i*k+i+1]
		for c, v := range p[i*k : i*k+i+1] {
			above[c] -= float64(v)
		}
	})
	return nil
}

// times returns, by rows, elements first to end of Me for each of n rows e, of which the inputs from the upto-th on are zero.
func (g *gptq) times(e []float64, n, first, end, upto int) ([]float64, error) {
	k := g.k
	products := make([]float64, n*inputsAtOnce)
	if upto == 0 {
		return products, nil
	}
	if g.multiply == nil {
		share(n, func(r int) {
			for j := first; j < end; j++ {
				row, sum := g.factors[j*k:j*k+min(upto, j+1)], 0.0
				for c, v := range e[r*k : r*k+len(row)] {
					sum += row[c] * v
				}
				products[r*inputsAtOnce+j-first] = sum
			}
		})
		return products, nil
	}
	a, b := make([]float32, n*k), make([]float32, k*inputsAtOnce)
	for i, v := range e[:n*k] {
		a[i] = float32(v)
	}
	for j := first; j < end; j++ {
		for c, v := range g.factors[j*k : j*k+min(upto, j+1)] {
			b[c*inputsAtOnce+j-first] = float32(v)
		}
	}
	p, err := g.multiply(a, b, n, k, inputsAtOnce)
	if err != nil {
		return nil, err
	}
	for i, v := range p {
		products[i] = float64(v)
	}
	return products, nil
}

// rounds are rows of weights that are being rounded, of inputs in the order in which they are.
type rounds struct {
	*gptq
	n           int
	weights     []float32
	scale       func(row, input int) float32
	least, most float64
	now         []int8
	errs        []float64 // that rounding has made so far
	after       []float64 // the squared error of each row's sums
}

// round rounds rows of weights to integers from least to most times their scales. A weight that is not finite stands for the largest,
// NaN for zero, and none takes back what that does.
func (g *gptq) round(weights []float32, n int, least, most float64, scale func(row, input int) float32) (*rounds, error) {
	r := &rounds{g, n, weights, scale, least, most, make([]int8, n*g.k), make([]float64, n*g.k), make([]float64, n)}
	for first := 0; first < g.k; first += inputsAtOnce {
		end := min(first+inputsAtOnce, g.k)
		before, err := g.times(r.errs, n, first, end, first)
		if err != nil {
			return nil, err
		}
		share(n, func(row int) { r.some(row, first, end, before[row*inputsAtOnce:]) })
	}
	return r, nil
}

// some rounds inputs first to end of a row, given what the errors of those before add to their sums.
func (r *rounds) some(row, first, end int, before []float64) {
	errs := r.errs[row*r.k : (row+1)*r.k]
	for j := first; j < end; j++ {
		factors, sum := r.factors[j*r.k:j*r.k+j+1], before[j-first]
		for c := first; c < j; c++ {
			sum += factors[c] * errs[c]
		}
		i := r.order[j]
		x, s := float64(r.weights[row*r.k+j]), float64(r.scale(row, i))
		v := max(r.least, min(r.most, math.RoundToEven((x+sum/factors[j])/s)))
		if v != v {
			v = 0
		}
		r.now[row*r.k+j], errs[j] = int8(v), x-v*s
		if x-x != 0 {
			errs[j] = 0
		}
		d := sum + factors[j]*errs[j]
		r.after[row] += d * d
	}
}

// errors returns the squared lengths of Me for n rows e.
func (g *gptq) errors(e []float64, n int) ([]float64, error) {
	sums := make([]float64, n)
	for first := 0; first < g.k; first += inputsAtOnce {
		end := min(first+inputsAtOnce, g.k)
		products, err := g.times(e, n, first, end, end)
		if err != nil {
			return nil, err
		}
		for r := range sums {
			for _, d := range products[r*inputsAtOnce : r*inputsAtOnce+end-first] {
				sums[r] += d * d
			}
		}
	}
	return sums, nil
}

// share calls f for 0 to n-1, several at once where there are many.
func share(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/64)
	if workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wait.Wait()
}
