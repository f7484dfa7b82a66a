package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Moments are the second moments of what the weights of a product are multiplied by, over the rows of a matrix or the places of a
// convolution's window: by group of channels, a matrix of as many rows and columns as an output reads inputs. It is not safe for
// concurrent use.
type Moments struct {
	groups int
	k      int         // inputs of one output
	sums   [][]float64 // by group, k x k, the lower triangle
	rows   int         // seen
	batch  []float32   // rows of one group
	wait   [][]float32 // by group, rows that wait for more to be multiplied with

	Multiply Multiply // multiplies large matrices; nil: plain loops do
}

// Bounds of moments: the inputs of one output, the rows that are summed at once, and those that are enough.
const (
	maxInputs   = 4096
	rowsAtOnce  = 256
	fewestRows  = 4096
	rowsByInput = 8
)

// NewMoments returns empty moments for what l reads at input 0, whose weights have these extents. The error says why its weights
// cannot be rounded by them.
func NewMoments(l *graph.Layer, weights []int) (*Moments, error) {
	m := &Moments{groups: 1}
	switch a := l.Attrs.(type) {
	case graph.ConvAttrs:
		if len(weights) < 3 || weights[0] == 0 {
			return nil, errors.New("its weights are empty")
		}
		m.groups, m.k = max(1, l.Op.Product.Groups(l)), numeric.Count(weights[1:])
	case graph.GemmAttrs:
		if a.TransA {
			return nil, errors.New("it transposes its rows")
		}
		_, in := l.Op.Product.Axes(l)
		m.k = weights[in]
	default:
		if l.Op != graph.MatMul || len(weights) != 2 {
			return nil, fmt.Errorf("it is none of Conv, Gemm and MatMul by one matrix")
		}
		m.k = weights[0]
	}
	switch {
	case m.k == 0:
		return nil, errors.New("its weights are empty")
	case m.k > maxInputs:
		return nil, fmt.Errorf("an output reads %d inputs, and moments of up to %d are collected", m.k, maxInputs)
	}
	return m, nil
}

// Inputs returns how many inputs one output reads.
func (m *Moments) Inputs() int { return m.k }

// Work returns about how many multiplications collecting the moments and rounding so many outputs by them takes.
func (m *Moments) Work(outputs int) float64 {
	k := float64(m.k)
	rows := max(fewestRows, rowsByInput*k) + k
	return k * k * (float64(m.groups)*rows + 2*float64(outputs))
}

// Bytes returns what the moments take in memory.
func (m *Moments) Bytes() int { return 8 * m.groups * m.k * m.k }

// Divided returns the moments of the same inputs whose channels, those of all groups, are divided by some numbers; nil: a copy.
func (m *Moments) Divided(by []float64) (*Moments, error) {
	if err := m.Finish(); err != nil {
		return nil, err
	}
	d := &Moments{groups: m.groups, k: m.k, rows: m.rows, Multiply: m.Multiply}
	taps := m.groups * m.k / max(1, len(by))
	if len(by) > 0 && taps*len(by) != m.groups*m.k {
		return nil, fmt.Errorf("%d numbers for the channels of %d groups of %d inputs", len(by), m.groups, m.k)
	}
	for g, from := range m.sums {
		to := slices.Clone(from)
		d.sums = append(d.sums, to)
		if len(by) == 0 {
			continue
		}
		for i := range m.k {
			for j := range i + 1 {
				to[i*m.k+j] /= by[(g*m.k+i)/taps] * by[(g*m.k+j)/taps]
			}
		}
	}
	return d, nil
}

// Add adds what l reads in one inference, x. Of all places so many are taken that items such ones give enough rows.
func (m *Moments) Add(l *graph.Layer, weights []int, x numeric.Value, items int) error {
	if m.sums == nil {
		for range m.groups {
			m.sums = append(m.sums, make([]float64, m.k*m.k))
		}
	}
	most := max(1, max(fewestRows, rowsByInput*m.k)/max(1, items))
	if a, ok := l.Attrs.(graph.ConvAttrs); ok {
		if len(x.Dims) != len(weights) {
			return errors.New("its weights and its input differ in rank")
		}
		p := newPatches(a, weights, x, m.groups)
		return m.sample(p.places, most, p.row)
	}
	v := x.Floats()
	return m.sample(len(v)/m.k, most, func(at, _ int, to []float32) { copy(to, v[at*m.k:]) })
}

// sample adds most of so many places, spread evenly whatever repeats in them: multiples of the golden ratio.
func (m *Moments) sample(places, most int, row func(at, group int, to []float32)) error {
	const golden = 0.6180339887498949
	n := min(places, most)
	at := make([]int, n)
	for i := range at {
		at[i] = i
		if n < places {
			_, share := math.Modf(float64(m.rows+i+1) * golden)
			at[i] = int(share * float64(places))
		}
	}
	m.rows += n
	for list := range slices.Chunk(at, rowsAtOnce) {
		for g := range m.groups {
			m.batch = slices.Grow(m.batch[:0], len(list)*m.k)[:len(list)*m.k]
			for i, place := range list {
				row(place, g, m.batch[i*m.k:(i+1)*m.k])
			}
			if err := m.sum(g, len(list)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sum adds the rows of the batch to a group's moments.
func (m *Moments) sum(g, rows int) error {
	k, x := m.k, m.batch
	for i, v := range x {
		if v-v != 0 { // not finite
			x[i] = 0
		}
	}
	if m.Multiply != nil && k >= fewestMultiplied {
		return m.add(g, x)
	}
	for ; rows%4 != 0; rows++ {
		x = append(x, make([]float32, k)...)
	}
	share(k, func(i int) {
		to := m.sums[g][i*k : i*k+i+1]
		for r := 0; r < rows; r += 4 {
			a, b, c, d := x[r*k:][:i+1], x[(r+1)*k:][:i+1], x[(r+2)*k:][:i+1], x[(r+3)*k:][:i+1]
			p, q, s, t := float64(a[i]), float64(b[i]), float64(c[i]), float64(d[i])
			for j := range to {
				to[j] += p*float64(a[j]) + q*float64(b[j]) + s*float64(c[j]) + t*float64(d[j])
			}
		}
	})
	return nil
}

// add has rows of a group wait until there are enough for a product of matrices.
func (m *Moments) add(g int, rows []float32) error {
	if m.wait == nil {
		m.wait = make([][]float32, m.groups)
	}
	for len(rows) > 0 {
		n := min(len(rows), rowsAtOnce*m.k-len(m.wait[g]))
		m.wait[g], rows = append(m.wait[g], rows[:n]...), rows[n:]
		if len(m.wait[g]) == rowsAtOnce*m.k {
			if err := m.multiplied(g); err != nil {
				return err
			}
		}
	}
	return nil
}

// Finish sums the rows that wait for others. More may be added.
func (m *Moments) Finish() error {
	for g, rows := range m.wait {
		if len(rows) > 0 {
			if err := m.multiplied(g); err != nil {
				return err
			}
		}
	}
	return nil
}

// multiplied adds the rows of a group that wait to its moments, by a product of matrices.
func (m *Moments) multiplied(g int) error {
	k := m.k
	b, a := make([]float32, rowsAtOnce*k), make([]float32, k*rowsAtOnce)
	copy(b, m.wait[g])
	for i, v := range m.wait[g] {
		a[i%k*rowsAtOnce+i/k] = v
	}
	m.wait[g] = m.wait[g][:0]
	p, err := m.Multiply(a, b, k, rowsAtOnce, k)
	if err != nil {
		return err
	}
	share(k, func(i int) {
		to := m.sums[g][i*k : i*k+i+1]
		for j, v := range p[i*k : i*k+i+1] {
			to[j] += float64(v)
		}
	})
	return nil
}

// shrunk returns a copy of a group's moments, in which those of two inputs are smaller where fewer rows were seen than there are inputs:
// how inputs go together in few rows is chance for the most part, and integers that fit it lose more than the nearest do on others.
func (m *Moments) shrunk(group int) []float64 {
	c, share := slices.Clone(m.sums[group]), float64(m.rows)/float64(m.k)
	if share >= 1 {
		return c
	}
	for i := range m.k {
		for j := range i {
			c[i*m.k+j] *= share
		}
	}
	return c
}

// patches gives what a convolution's window holds at its places.
type patches struct {
	x       []float32
	dims    []int // of the input
	windows []graph.Window
	out     []int // places along each axis
	places  int   // in all of the batch
	inputs  int   // channels of one group
}

func newPatches(a graph.ConvAttrs, weights []int, x numeric.Value, groups int) *patches {
	p := &patches{x: x.Floats(), dims: x.Dims, inputs: x.Dims[1] / groups, places: x.Dims[0]}
	p.windows = graph.Windows(weights[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x.Dims[2:])
	for i, w := range p.windows {
		p.out = append(p.out, w.Out(x.Dims[2+i]))
		p.places *= p.out[i]
	}
	return p
}

// row gives the window at a place, of the channels of a group, in the order of weights.
func (p *patches) row(at, group int, to []float32) {
	clear(to)
	rank := len(p.windows)
	first := make([]int, rank)
	for i := rank - 1; i >= 0; i-- {
		first[i] = at%p.out[i]*p.windows[i].Stride - p.windows[i].PadBegin
		at /= p.out[i]
	}
	plane := numeric.Count(p.dims[2:])
	taps := len(to) / p.inputs
	for c := range p.inputs {
		from := (at*p.dims[1] + group*p.inputs + c) * plane
		p.taps(0, first, p.x[from:from+plane], to[c*taps:(c+1)*taps])
	}
}

// taps gives the elements of one channel under the window from axis i on.
func (p *patches) taps(i int, first []int, x, to []float32) {
	w := p.windows[i]
	inner, each := len(x)/max(1, p.dims[2+i]), len(to)/w.Kernel
	for k := range w.Kernel {
		at := first[i] + k*w.Dilation
		if at < 0 || at >= p.dims[2+i] {
			continue
		}
		if i == len(p.windows)-1 {
			to[k] = x[at]
			continue
		}
		p.taps(i+1, first, x[at*inner:(at+1)*inner], to[k*each:(k+1)*each])
	}
}
