package graph

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// recurrentEval is the evaluation of one direction of a recurrent layer, each step in float64.
type recurrentEval struct {
	RecurrentShape
	attrs            RecurrentAttrs
	w, r, bias, peep []float64 // of the direction
	f                []RecurrentActivation

	x, state, cell []float64   // of a step: the element, and what was before it, changed to what follows
	sums           [][]float64 // room for a sum of each gate
}

// recurrentCell makes a step.
type recurrentCell func(e *recurrentEval)

func evalRecurrent(l *Layer, cell recurrentCell, in, out []numeric.Value) error {
	s := l.RecurrentShape(in[RecurrentX].Dims)
	e := recurrentEval{attrs: l.Attrs.(RecurrentAttrs), RecurrentShape: s, state: make([]float64, s.Hidden), cell: make([]float64, s.Hidden)}
	for range s.Gates {
		e.sums = append(e.sums, make([]float64, s.Hidden))
	}
	var given []int64
	if v := optional(in, RecurrentLengths); v.Dims != nil {
		given = v.Ints()
	}
	lengths := make([]int, s.Batch)
	if err := s.Lengths(lengths, given); err != nil {
		return err
	}
	var y [3][]float64
	for i, v := range out {
		y[i] = make([]float64, v.Len())
	}
	real := func(i int) []float64 {
		if v := optional(in, i); v.Dims != nil {
			return v.Float64s()
		}
		return nil
	}
	x, w, r, bias, peep := real(RecurrentX), real(RecurrentW), real(RecurrentR), real(RecurrentBias), real(RecurrentPeep)
	first, firstCell, all := real(RecurrentState), real(RecurrentCell), l.GateActivations()
	for d := range s.Directions {
		e.w, e.r, e.bias, e.peep = part(w, d, s.Directions), part(r, d, s.Directions), part(bias, d, s.Directions), part(peep, d, s.Directions)
		e.f = all[d*len(all)/s.Directions:][:len(all)/s.Directions]
		for b, length := range lengths {
			if length == 0 {
				continue
			}
			row := s.State(d, b) * s.Hidden
			start(e.state, first, row)
			start(e.cell, firstCell, row)
			for step := range length {
				place := s.Place(d, step, length)
				e.x = x[s.X(place, b)*s.Input:][:s.Input]
				cell(&e)
				if out[0].Type != numeric.F64 {
					e.store()
				}
				copy(y[0][s.Y(place, d, b)*s.Hidden:], e.state)
			}
			for i, last := range [][]float64{e.state, e.cell}[:len(out)-1] {
				copy(y[1+i][row:], last)
			}
		}
	}
	for i, v := range out {
		v.SetFloats(y[i])
	}
	return nil
}

// store makes state and cell what they are as float32, which they are between steps: what is too large for that is infinite.
func (e *recurrentEval) store() {
	for _, list := range [][]float64{e.state, e.cell} {
		for i, v := range list {
			list[i] = float64(float32(v))
		}
	}
}

// part returns part i of n of a list.
func part(list []float64, i, n int) []float64 { return list[i*len(list)/n : (i+1)*len(list)/n] }

// start sets dst to elements from at on, or to zeros where there are none.
func start(dst, src []float64, at int) {
	if clear(dst); src != nil {
		copy(dst, src[at:])
	}
}

// add adds to sum the product of x and the rows of weights of a gate, and the gate's bias of W (0) or R (1).
func (e *recurrentEval) add(sum, x, weights []float64, gate, which int) {
	for j := range sum {
		row := gate*e.Hidden + j
		if len(e.bias) > 0 {
			sum[j] += e.bias[which*e.Gates*e.Hidden+row]
		}
		for k, w := range weights[row*len(x):][:len(x)] {
			sum[j] += w * x[k]
		}
	}
}

// sum returns the sum of a gate before its activation.
func (e *recurrentEval) sum(gate int, state []float64) []float64 {
	sum := e.sums[gate]
	clear(sum)
	e.add(sum, e.x, e.w, gate, 0)
	e.add(sum, state, e.r, gate, 1)
	return sum
}

// activate clips the sums and applies activation i.
func (e *recurrentEval) activate(i int, sum []float64) {
	for j, v := range sum {
		if c := float64(e.attrs.Clip); c > 0 {
			v = max(-c, min(c, v))
		}
		sum[j] = e.f[i].at(v)
	}
}

func evalRNN(e *recurrentEval) {
	sum := e.sum(0, e.state)
	e.activate(0, sum)
	copy(e.state, sum)
}

func evalGRU(e *recurrentEval) {
	z, r := e.sum(0, e.state), e.sum(1, e.state)
	e.activate(0, z)
	e.activate(0, r)
	n := e.sums[2]
	if e.attrs.ResetAfter {
		clear(n)
		e.add(n, e.state, e.r, 2, 1)
		for j := range n {
			n[j] *= r[j]
		}
		e.add(n, e.x, e.w, 2, 0)
	} else {
		for j := range r {
			r[j] *= e.state[j]
		}
		n = e.sum(2, r)
	}
	e.activate(1, n)
	for j := range n {
		e.state[j] = (1-z[j])*n[j] + z[j]*e.state[j]
	}
}

func evalLSTM(e *recurrentEval) {
	i, o, f, z := e.sum(0, e.state), e.sum(1, e.state), e.sum(2, e.state), e.sum(3, e.state)
	e.peek(i, 0)
	e.peek(f, 2)
	e.activate(0, i)
	e.activate(0, f)
	e.activate(1, z)
	for j := range f {
		if e.attrs.Coupled {
			f[j] = 1 - i[j]
		}
		e.cell[j] = f[j]*e.cell[j] + i[j]*z[j]
	}
	e.peek(o, 1)
	e.activate(0, o)
	for j := range o {
		e.state[j] = o[j] * e.f[2].at(e.cell[j])
	}
}

// peek adds what a gate sees of the cell.
func (e *recurrentEval) peek(sum []float64, gate int) {
	if len(e.peep) == 0 {
		return
	}
	for j := range sum {
		sum[j] += e.peep[gate*e.Hidden+j] * e.cell[j]
	}
}

// RecurrentActivation is the activation of a gate: an operator of ONNX by name, with its parameters.
type RecurrentActivation struct {
	Op          string
	Alpha, Beta float32
}

func (f RecurrentActivation) at(x float64) float64 {
	return recurrentFunction(f.Op).at(x, float64(f.Alpha), float64(f.Beta))
}

// Function returns the activation, computed in float64.
func (f RecurrentActivation) Function() func(x float32) float32 {
	g, alpha, beta := recurrentFunction(f.Op).at, float64(f.Alpha), float64(f.Beta)
	return func(x float32) float32 { return float32(g(float64(x), alpha, beta)) }
}

// recurrentFunctions are the activations. Those with parameters take them from the node's lists in the order of the
// activations; the lists may be shorter where there is a default.
var recurrentFunctions = []activationFunction{
	{"Sigmoid", "", 0, 0, func(x, _, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"Tanh", "", 0, 0, func(x, _, _ float64) float64 { return math.Tanh(x) }},
	{"Relu", "", 0, 0, func(x, _, _ float64) float64 { return max(0, x) }},
	{"Softsign", "", 0, 0, func(x, _, _ float64) float64 { return x / (1 + math.Abs(x)) }},
	{"Softplus", "", 0, 0, func(x, _, _ float64) float64 { return max(0, x) + math.Log1p(math.Exp(-math.Abs(x))) }},
	{"Affine", "AB", 0, 0, func(x, a, b float64) float64 { return a*x + b }},
	{"ScaledTanh", "AB", 0, 0, func(x, a, b float64) float64 { return a * math.Tanh(b*x) }},
	{"HardSigmoid", "ab", 0.2, 0.5, func(x, a, b float64) float64 { return max(0, min(1, a*x+b)) }},
	{"LeakyRelu", "a", 0.01, 0, func(x, a, _ float64) float64 {
		if x < 0 {
			return a * x
		}
		return x
	}},
	{"ThresholdedRelu", "a", 1, 0, func(x, a, _ float64) float64 {
		if x > a || x != x {
			return x
		}
		return 0
	}},
	{"Elu", "a", 1, 0, func(x, a, _ float64) float64 {
		if x < 0 {
			return a * math.Expm1(x)
		}
		return x
	}},
}

type activationFunction struct {
	name        string
	params      string // a, b: alpha and beta with a default; A, B: without
	alpha, beta float32
	at          func(x, alpha, beta float64) float64
}

// recurrentFunction returns the function of a name, nil if there is none.
func recurrentFunction(name string) *activationFunction {
	if i := slices.IndexFunc(recurrentFunctions, func(f activationFunction) bool { return f.name == name }); i >= 0 {
		return &recurrentFunctions[i]
	}
	return nil
}
