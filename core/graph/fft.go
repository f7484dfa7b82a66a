package graph

import "math"

// fft is a discrete Fourier transform of one length, by factors (Cooley and Tukey 1965): of lines of n numbers in n times the
// sum of n's prime factors. Where one of these is large, it is a convolution with a chirp (Bluestein 1970).
type fft struct {
	n       int
	factors []int        // the prime factors of n, smallest first
	roots   []complex128 // exp(-2 pi i k/n)
	room    []complex128 // of a butterfly
	chirp   *chirp       // nil where the factors are small
}

// largestFactor is the largest prime factor that has butterflies of its own.
const largestFactor = 31

func newFFT(n int) *fft {
	t := &fft{n: n, factors: primeFactors(n)}
	most := 1
	if len(t.factors) > 0 {
		most = t.factors[len(t.factors)-1]
	}
	if most > largestFactor {
		t.chirp = newChirp(n)
		return t
	}
	t.room, t.roots = make([]complex128, most), make([]complex128, n)
	for k := range t.roots {
		t.roots[k] = root(k, n)
	}
	return t
}

// root returns exp(-2 pi i k/n).
func root(k, n int) complex128 {
	sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
	return complex(cos, sin)
}

// primeFactors returns the prime factors of a positive number, smallest first.
func primeFactors(n int) (list []int) {
	for p := 2; p*p <= n; p++ {
		for n%p == 0 {
			list = append(list, p)
			n /= p
		}
	}
	if n > 1 {
		list = append(list, n)
	}
	return list
}

// fftFLOPs returns the arithmetic of a transform by factors: a complex multiply-add is 8 operations.
func fftFLOPs(n int) (sum int64) {
	if n < 1 {
		return 0
	}
	for _, p := range primeFactors(n) {
		sum += int64(p)
	}
	return 8 * sum * int64(n)
}

// transform writes the transform of src to dst, which are n numbers each and do not overlap.
func (t *fft) transform(dst, src []complex128) {
	if t.chirp != nil {
		t.chirp.transform(dst, src)
		return
	}
	t.step(dst, src, 1, t.factors)
}

// inverse is transform with the roots' conjugates, divided by n. src is changed.
func (t *fft) inverse(dst, src []complex128) {
	conjugate(src, 1)
	t.transform(dst, src)
	conjugate(dst, 1/float64(t.n))
}

// conjugate replaces numbers by their conjugates times a factor.
func conjugate(x []complex128, factor float64) {
	for i, v := range x {
		x[i] = complex(real(v)*factor, -imag(v)*factor)
	}
}

// step transforms every stride-th element of src, as many as dst has: the first factor's transforms of parts, which butterflies
// join.
func (t *fft) step(dst, src []complex128, stride int, factors []int) {
	if len(factors) == 0 {
		copy(dst, src[:1])
		return
	}
	p := factors[0]
	m := len(dst) / p
	for q := range p {
		t.step(dst[q*m:(q+1)*m], src[q*stride:], stride*p, factors[1:])
	}
	for k := range m {
		part := t.room[:p]
		for q := range part {
			part[q] = dst[q*m+k] * t.roots[q*k*stride%t.n]
		}
		if p == 2 {
			dst[k], dst[m+k] = part[0]+part[1], part[0]-part[1]
			continue
		}
		for r := range p {
			sum := part[0]
			for q := 1; q < p; q++ {
				sum += part[q] * t.roots[q*r%p*(t.n/p)]
			}
			dst[r*m+k] = sum
		}
	}
}

// chirp computes a transform of n numbers as a convolution: jk = (j*j + k*k - (k-j)*(k-j))/2.
type chirp struct {
	turns     []complex128 // exp(-pi i k*k/n)
	filter    []complex128 // the transform of their conjugates, on both sides of 0
	power     *fft         // of a power of two
	x, y, mix []complex128 // room
}

func newChirp(n int) *chirp {
	size := 1
	for size < 2*n-1 {
		size *= 2
	}
	c := &chirp{turns: make([]complex128, n), filter: make([]complex128, size), power: newFFT(size),
		x: make([]complex128, size), y: make([]complex128, size), mix: make([]complex128, size)}
	for k := range c.turns {
		c.turns[k] = root(k*k%(2*n), 2*n)
		conj := complex(real(c.turns[k]), -imag(c.turns[k]))
		if c.x[k] = conj; k > 0 {
			c.x[size-k] = conj
		}
	}
	c.power.transform(c.filter, c.x)
	return c
}

func (c *chirp) transform(dst, src []complex128) {
	clear(c.x)
	for k, v := range src {
		c.x[k] = v * c.turns[k]
	}
	c.power.transform(c.y, c.x)
	for k := range c.y {
		c.y[k] *= c.filter[k]
	}
	c.power.inverse(c.mix, c.y)
	for k := range dst {
		dst[k] = c.mix[k] * c.turns[k]
	}
}
