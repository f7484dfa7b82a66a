package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// program returns what an element-wise layer is.
func (s *surveyor) program(l *graph.Layer, p elementwise.Program) (number, bool) {
	rank := len(l.Outputs[0].Dims)
	args := make([]number, len(l.Inputs))
	integers := true
	var choice *number
	sums := 0
	for i, t := range l.Inputs {
		x, ok := s.number(t)
		if !ok {
			return x, false
		}
		x.by = append(make([]float64, rank-len(x.by)), x.by...)
		integers = integers && t.Type.IsInteger()
		args[i] = x
		switch {
		case x.choice && (choice == nil || slices.Equal(choice.by, x.by) && choice.at == x.at):
			choice = &args[i]
		case x.choice:
			return x, false
		case !x.constant():
			sums++
		}
	}
	if sums > 0 {
		if len(p.Code) != 1 || choice != nil {
			return number{}, false
		}
		return arithmetic(p.Code[0], args, integers)
	}
	divides := func(in elementwise.Instr) bool {
		return in.Op == elementwise.Div || in.Op == elementwise.Mod || in.Op == elementwise.Pow
	}
	if l.Outputs[0].Type.IsInteger() && slices.ContainsFunc(p.Code, divides) {
		return number{}, false // they round
	}
	if choice == nil {
		v, ok := value(p, args, false)
		return number{sum: sum{v, make([]float64, rank)}}, ok
	}
	r := number{sum: choice.sum, choice: true}
	yes, ok := value(p, args, true)
	no, ok2 := value(p, args, false)
	r.yes, r.no = yes, no
	return r, ok && ok2
}

// coordinate returns the row or the column that a layer finds of the place of each element in order: the place by the extent of a row,
// or what is left of it.
//
//	i = Reshape([0, 1, 2...], [n, m])
//	y = Div(i, m) or Mod(i, m)
func (s *surveyor) coordinate(l *graph.Layer, p elementwise.Program) (number, bool) {
	is := func(op elementwise.Op) bool {
		return len(p.Code) == 1 && p.Code[0].Op == op && p.Code[0].Arg[0] == 0 && p.Code[0].Arg[1] == 1
	}
	quotient := is(elementwise.Div)
	if !quotient && !is(elementwise.Mod) && !slices.Equal(p.Code, elementwise.FloorMod().Code) || !l.Outputs[0].Type.IsInteger() {
		return number{}, false
	}
	x, by := l.Inputs[0], l.Inputs[1].Value
	dims := x.Dims
	if len(dims) != 2 || len(l.Outputs[0].Dims) != 2 || len(by) != 1 || !by[0].Equal(dims[1]) {
		return number{}, false
	}
	for x.Producer != nil && x.Producer.Op.Memory == graph.Viewed {
		x = x.Producer.Inputs[0]
	}
	if v, ok := s.number(x); !ok || v.choice || v.at != 0 || !slices.Equal(v.by, []float64{1}) {
		return number{}, false
	}
	if quotient {
		return number{sum: sum{by: []float64{1, 0}}}, true
	}
	return number{sum: sum{by: []float64{0, 1}}}, true
}

// value returns the program's result where choices are yes, or where they are not.
func value(p elementwise.Program, args []number, yes bool) (float64, bool) {
	in := make([]numeric.Value, len(args))
	for i, a := range args {
		v := a.at
		switch {
		case a.choice && yes:
			v = a.yes
		case a.choice:
			v = a.no
		}
		in[i] = numeric.Values(numeric.F32, []float32{float32(v)})
	}
	out := numeric.NewValue(numeric.F32)
	if p.Apply(in, out) != nil {
		return 0, false
	}
	return float64(out.F32()[0]), true
}

// arithmetic returns what one operation on sums is.
func arithmetic(in elementwise.Instr, args []number, integers bool) (number, bool) {
	if in.Op.Info().Arity != 2 {
		return number{}, false
	}
	a, b := args[in.Arg[0]], args[in.Arg[1]]
	zero := sum{by: make([]float64, len(a.by))}
	below := func(a, b number, least float64) (number, bool) { // a + least <= b
		d := a.plus(b.sum, -1)
		d.at += least
		return number{sum: d, choice: true, yes: 1}, integers
	}
	switch in.Op {
	case elementwise.Add:
		return number{sum: a.plus(b.sum, 1)}, true
	case elementwise.Sub:
		return number{sum: a.plus(b.sum, -1)}, true
	case elementwise.Mul:
		if a.constant() {
			a, b = b, a
		}
		return number{sum: zero.plus(a.sum, b.at)}, b.constant()
	case elementwise.LessEqual:
		return below(a, b, 0)
	case elementwise.Less:
		return below(a, b, 1)
	case elementwise.GreaterEqual:
		return below(b, a, 0)
	case elementwise.Greater:
		return below(b, a, 1)
	}
	return number{}, false
}

// isCausal reports whether n is one number where the last coordinate is at most the one before it and another elsewhere, and which.
func (n number) isCausal() (seen, hidden float64, ok bool) {
	rank := len(n.by)
	if !n.choice || rank < 2 || !match.AllZero(n.by[:rank-2]) {
		return 0, 0, false
	}
	switch row, column := n.by[rank-2], n.by[rank-1]; {
	case row == -1 && column == 1 && n.at == 0:
		return n.yes, n.no, true
	case row == 1 && column == -1 && n.at == 1:
		return n.no, n.yes, true
	}
	return 0, 0, false
}
