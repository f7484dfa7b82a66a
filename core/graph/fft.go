package graph

import "math"

// FFT is a discrete Fourier transform of one length, by factors (Cooley and Tukey 1965): of lines of n numbers in n times the
// sum of n's prime factors. Where one of these is large, it is a convolution with a chirp (Bluestein 1970). Several goroutines
// may use one.
type FFT struct {
	n       int
	factors []int        // of n: primes, and 4 for pairs of 2
	roots   []complex128 // exp(-2 pi i k/n)
	chirp   *chirp       // nil where the factors are small
}

// largestFactor is the largest prime factor that has butterflies of its own.
const largestFactor = 31

// NewFFT returns the transform of n numbers.
func NewFFT(n int) *FFT {
	t := &FFT{n: n, factors: primeFactors(n)}
	if last := len(t.factors) - 1; last >= 0 && t.factors[last] > largestFactor {
		t.chirp = newChirp(n)
		return t
	}
	for len(t.factors) > 1 && t.factors[1] == 2 {
		t.factors = append(t.factors[2:], 4)
	}
	t.roots = make([]complex128, n)
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

// Room returns how many numbers a transform needs beside those that it reads and writes.
func (t *FFT) Room() int {
	if t.chirp != nil {
		return 3 * len(t.chirp.filter)
	}
	return 0
}

// Transform writes the transform of src to dst, which are n numbers each and do not overlap; room is of Room numbers.
func (t *FFT) Transform(dst, src, room []complex128) {
	if t.chirp != nil {
		t.chirp.transform(dst, src, room)
		return
	}
	t.step(dst, src, 1, t.factors)
}

// Inverse is Transform with the roots' conjugates, divided by n. src is changed.
func (t *FFT) Inverse(dst, src, room []complex128) {
	conjugate(src, 1)
	t.Transform(dst, src, room)
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
func (t *FFT) step(dst, src []complex128, stride int, factors []int) {
	if len(factors) == 0 {
		copy(dst, src[:1])
		return
	}
	p := factors[0]
	m := len(dst) / p
	var few [largestFactor]complex128
	part := few[:p]
	if m == 1 {
		for q := range part {
			part[q] = src[q*stride]
		}
		t.butterfly(dst, part, 1)
		return
	}
	for q := range p {
		t.step(dst[q*m:(q+1)*m], src[q*stride:], stride*p, factors[1:])
	}
	if p == 2 {
		for k := range m {
			a, b := dst[k], dst[m+k]*t.roots[k*stride]
			dst[k], dst[m+k] = a+b, a-b
		}
		return
	}
	for k := range m {
		for q := range part {
			part[q] = dst[q*m+k] * t.roots[q*k*stride]
		}
		t.butterfly(dst[k:], part, m)
	}
}

// butterfly writes the transform of few numbers to dst, so far apart.
func (t *FFT) butterfly(dst, part []complex128, apart int) {
	p := len(part)
	switch p {
	case 2:
		dst[0], dst[apart] = part[0]+part[1], part[0]-part[1]
		return
	case 4:
		a, b, c, d := part[0]+part[2], part[0]-part[2], part[1]+part[3], part[1]-part[3]
		d = complex(imag(d), -real(d)) // times -i
		dst[0], dst[apart], dst[2*apart], dst[3*apart] = a+c, b+d, a-c, b-d
		return
	}
	for r := range p {
		sum := part[0]
		for q := 1; q < p; q++ {
			sum += part[q] * t.roots[q*r%p*(t.n/p)]
		}
		dst[r*apart] = sum
	}
}

// Mirror makes a whole spectrum of a real signal of its first half, of which at most so many numbers are given.
func Mirror(x []complex128, given int) {
	n := len(x)
	clear(x[min(n, given, n/2+1):])
	for k := 1; k < (n+1)/2; k++ {
		x[n-k] = complex(real(x[k]), -imag(x[k]))
	}
}

// chirp computes a transform of n numbers as a convolution: jk = (j*j + k*k - (k-j)*(k-j))/2.
type chirp struct {
	turns  []complex128 // exp(-pi i k*k/n)
	filter []complex128 // the transform of their conjugates, on both sides of 0
	power  *FFT         // of a power of two
}

func newChirp(n int) *chirp {
	size := 1
	for size < 2*n-1 {
		size *= 2
	}
	c := &chirp{turns: make([]complex128, n), filter: make([]complex128, size), power: NewFFT(size)}
	both := make([]complex128, size)
	for k := range c.turns {
		c.turns[k] = root(k*k%(2*n), 2*n)
		conj := complex(real(c.turns[k]), -imag(c.turns[k]))
		if both[k] = conj; k > 0 {
			both[size-k] = conj
		}
	}
	c.power.Transform(c.filter, both, nil)
	return c
}

func (c *chirp) transform(dst, src, room []complex128) {
	n := len(c.filter)
	x, y, mixed := room[:n], room[n:2*n], room[2*n:3*n]
	clear(x)
	for k, v := range src {
		x[k] = v * c.turns[k]
	}
	c.power.Transform(y, x, nil)
	for k := range y {
		y[k] *= c.filter[k]
	}
	c.power.Inverse(mixed, y, nil)
	for k := range dst {
		dst[k] = mixed[k] * c.turns[k]
	}
}
