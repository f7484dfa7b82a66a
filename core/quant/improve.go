package quant

import (
	"errors"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// grid is what the weights of a product are rounded to: integers from least to most, by scales of an output and an input.
type grid struct {
	least, most float64
	scale       func(output, input int) float32
}

// Improve makes of q, the integers that stand for w, the weights of l, those by which the squared error of its sums is least, as far
// as r finds them; an output for which none are better keeps those that it has. It returns by how many dB the error falls.
func (r Rounding) Improve(l *graph.Layer, w numeric.Value, q []int8, g grid, m *Moments) (gain float64, err error) {
	rows := weightRows(l, w.Dims)
	if m == nil || m.rows == 0 || m.k != rows.k || rows.outputs%m.groups != 0 {
		return 0, errors.New("what it reads was not seen")
	}
	if err := m.Finish(); err != nil {
		return 0, err
	}
	x, outputs := w.Floats(), rows.outputs/m.groups
	var before, after float64
	for group := range m.groups {
		by, err := newGPTQ(m.shrunk(group), m.k, r, m.Multiply)
		if err != nil {
			if m.groups > 1 { // a channel that is always zero loses nothing
				continue
			}
			return 0, err
		}
		for first := 0; first < outputs; first += outputsAtOnce {
			b, a, err := by.improve(x, q, g, rows, group*outputs+first, min(outputsAtOnce, outputs-first))
			if err != nil {
				return 0, err
			}
			before, after = before+b, after+a
		}
	}
	if !(after < before) {
		return 0, nil
	}
	return 10 * math.Log10(before/max(after, before*1e-20)), nil
}

// improve improves the integers of n outputs from the first on, and returns the error of those before and of those now.
func (g *gptq) improve(x []float32, q []int8, of grid, rows rowsOf, first, n int) (before, after float64, err error) {
	w, errs := make([]float32, n*g.k), make([]float64, n*g.k)
	for r := range n {
		for j, i := range g.order {
			at := rows.at(first+r, i)
			w[r*g.k+j], errs[r*g.k+j] = x[at], float64(x[at])-float64(q[at])*float64(of.scale(first+r, i))
		}
	}
	befores, err := g.errors(errs, n)
	if err != nil {
		return 0, 0, err
	}
	now, err := g.round(w, n, of.least, of.most, func(row, i int) float32 { return of.scale(first+row, i) })
	if err != nil {
		return 0, 0, err
	}
	for r, b := range befores {
		before += b
		if !(now.after[r] < b) {
			after += b
			continue
		}
		after += now.after[r]
		for j, i := range g.order {
			q[rows.at(first+r, i)] = now.now[r*g.k+j]
		}
	}
	return before, after, nil
}

// rowsOf tells where the weights of outputs are.
type rowsOf struct{ outputs, k, output, input int }

func (r rowsOf) at(o, i int) int { return o*r.output + i*r.input }

func weightRows(l *graph.Layer, dims []int) rowsOf {
	if l.Op.Class == graph.ClassConvolution {
		k := numeric.Count(dims[1:])
		return rowsOf{dims[0], k, k, 1}
	}
	out, in := l.Op.Product.Axes(l)
	strides := stridesOf(dims)
	return rowsOf{dims[out], dims[in], strides[out], strides[in]}
}

// RoundStored returns the integers of weights that [Place] has quantised, with scales r, rounded anew by what they are multiplied
// by, of 7 bits where those are; see [Rounding.Improve].
func (r Rounding) RoundStored(l *graph.Layer, w, stored numeric.Value, by numeric.Range, m *Moments) (numeric.Value, float64, error) {
	if stored.Type != numeric.I8 || stored.Len() != w.Len() || slices.ContainsFunc(by.Zero, func(z int32) bool { return z != 0 }) {
		return stored, 0, errors.New("its weights are no symmetric integers of 8 bits")
	}
	rows := weightRows(l, w.Dims)
	out, _ := l.Op.Product.Axes(l)
	if by.PerChannel() && (by.Axis != out || len(by.Scale) != rows.outputs) {
		return stored, 0, errors.New("the scales of its weights are not of outputs")
	}
	q := numeric.Value{Type: stored.Type, Dims: stored.Dims, Data: slices.Clone(stored.Data)}
	ends := WeightRange{reduced: !slices.ContainsFunc(numeric.View[int8](stored.Data), func(v int8) bool { return v < -64 || v > 64 })}
	end := float64(ends.largest())
	gain, err := r.Improve(l, w, numeric.View[int8](q.Data), grid{-end, end, func(o, _ int) float32 { return by.ScaleAt(o) }}, m)
	return q, gain, err
}
