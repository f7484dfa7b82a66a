package match

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
)

// Reach is what the elements of a tensor lie between, as far as it is known; infinities where nothing is.
type Reach struct{ Least, Most float64 }

var (
	anywhere = Reach{math.Inf(-1), math.Inf(1)}
	positive = Reach{0, math.Inf(1)}
	share    = Reach{0, 1}
)

// maxReach bounds the layers that are looked at one behind the other; sums of sums would be many.
const maxReach = 8

// ReachOf returns what the layers that compute t ensure of its elements, whatever the network is given.
func ReachOf(t *graph.Tensor) Reach { return reachOf(t, maxReach) }

func reachOf(t *graph.Tensor, depth int) Reach {
	if s, ok := Scalar(t); ok && s == s {
		return Reach{s, s}
	}
	l := t.Producer
	if l == nil || depth == 0 || l.Epilogue.Args > 0 || t != l.Outputs[0] {
		return anywhere
	}
	if p, ok := PointwiseOf(l); ok {
		vals := make([]Reach, 0, p.Program.Args+len(p.Program.Code))
		for _, in := range p.Inputs {
			vals = append(vals, reachOf(in, depth-1))
		}
		return through(p.Program, vals)
	}
	switch {
	case l.Op == graph.Softmax && !l.Attrs.(graph.SoftmaxAttrs).Log:
		return share
	case l.Op.Class == graph.ClassPooling: // or sums: what is of one sign stays so
		return signOf(reachOf(l.Inputs[0], depth-1))
	case l.Movement() >= graph.Moved:
		return moved(l, depth)
	}
	return anywhere
}

// moved returns the reach of a layer that moves elements, and at most zeros with them.
func moved(l *graph.Layer, depth int) Reach {
	all := Reach{math.Inf(1), math.Inf(-1)}
	for i, in := range l.OpInputs() {
		if in != nil && l.Role(i) == graph.Data {
			all = all.with(reachOf(in, depth-1))
		}
	}
	if l.Movement() == graph.Moved {
		all = all.with(Reach{})
	}
	return all
}

// with returns the reach of elements of both.
func (r Reach) with(o Reach) Reach { return Reach{min(r.Least, o.Least), max(r.Most, o.Most)} }

// signOf returns what is known of sums of numbers of a reach.
func signOf(r Reach) Reach {
	switch {
	case r.Least >= 0:
		return positive
	case r.Most <= 0:
		return Reach{math.Inf(-1), 0}
	}
	return anywhere
}

// through returns the reach of a program's result; vals has the reaches of its arguments.
func through(p elementwise.Program, vals []Reach) Reach {
	for _, in := range p.Code {
		vals = append(vals, step(in, vals))
	}
	return vals[p.Result()]
}

// step returns the reach of one operation, of those that bound anything.
func step(in elementwise.Instr, vals []Reach) Reach {
	x, y := Reach{}, Reach{}
	switch in.Op.Info().Arity {
	case 1:
		x = vals[in.Arg[0]]
	case 2:
		x, y = vals[in.Arg[0]], vals[in.Arg[1]]
	}
	switch in.Op {
	case elementwise.Const:
		return Reach{float64(in.Imm[0]), float64(in.Imm[0])}
	case elementwise.Relu, elementwise.Clamp, elementwise.Exp, elementwise.Tanh, elementwise.Erf, elementwise.Sigmoid, elementwise.Softplus,
		elementwise.Floor, elementwise.Ceil, elementwise.Round: // they rise
		return Reach{float64(in.Eval(float32(x.Least), 0, 0)), float64(in.Eval(float32(x.Most), 0, 0))}
	case elementwise.Max:
		return Reach{max(x.Least, y.Least), max(x.Most, y.Most)}
	case elementwise.Min:
		return Reach{min(x.Least, y.Least), min(x.Most, y.Most)}
	case elementwise.Add:
		return Reach{x.Least + y.Least, x.Most + y.Most}
	case elementwise.Neg:
		return Reach{-x.Most, -x.Least}
	case elementwise.Mul:
		if in.Arg[0] == in.Arg[1] {
			return positive
		}
		return product(x, y)
	case elementwise.Abs, elementwise.Sqrt:
		return positive
	case elementwise.HardSigmoid:
		return share
	}
	return anywhere
}

// product returns the reach of products. A bound of 0 times one that is infinite is 0, since elements are finite.
func product(x, y Reach) Reach {
	all := Reach{math.Inf(1), math.Inf(-1)}
	for _, a := range []float64{x.Least, x.Most} {
		for _, b := range []float64{y.Least, y.Most} {
			if p := a * b; a == 0 || b == 0 {
				all = all.with(Reach{})
			} else {
				all = all.with(Reach{p, p})
			}
		}
	}
	return all
}
