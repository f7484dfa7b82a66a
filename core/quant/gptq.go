package quant

import (
	"errors"
	"math"
	"runtime"
	"sync"
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
	k       int
	order   []int     // in which inputs are rounded
	factors []float64 // M, by rows, of inputs in that order; an input that is always zero has a row of zeros but for its own element
}

// newGPTQ prepares for inputs with second moments m, a k x k matrix of which the lower triangle counts. It works on the spot.
func newGPTQ(m []float64, k int, r Rounding) (*gptq, error) {
	g := &gptq{k: k, order: r.order(m, k), factors: m}
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
	return g, g.factor()
}

// factor makes of H the M with H = MᵀM, from the last row to the first.
func (g *gptq) factor() error {
	k := g.k
	for j := k - 1; j >= 0; j-- {
		row := g.factors[j*k : j*k+j+1]
		pivot := row[j]
		if !(pivot > 0) {
			return errors.New("the second moments of its inputs are not positive definite")
		}
		inverse := 1 / math.Sqrt(pivot)
		for i := range row {
			row[i] *= inverse
		}
		share(j, func(i int) {
			a := row[i]
			if a == 0 {
				return
			}
			above := g.factors[i*k : i*k+i+1]
			for c, b := range row[:i+1] {
				above[c] -= a * b
			}
		})
	}
	return nil
}

// round rounds a row of weights to integers from least to most times their scales; errs is memory for as many numbers. A weight
// that is not finite stands for the largest, NaN for zero, and none takes back what that does.
func (g *gptq) round(w []float32, scale func(i int) float32, least, most float64, q []int8, errs []float64) {
	for j, i := range g.order {
		row := g.factors[j*g.k : j*g.k+j+1]
		var sum float64
		for c, e := range errs[:j] {
			sum += row[c] * e
		}
		x, s := float64(w[i]), float64(scale(i))
		v := max(least, min(most, math.RoundToEven((x+sum/row[j])/s)))
		if v != v {
			v = 0
		}
		q[i], errs[j] = int8(v), x-v*s
		if x-x != 0 {
			errs[j] = 0
		}
	}
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
