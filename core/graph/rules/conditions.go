package rules

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// conditions returns why what was found is not what the rule is about; nil if it is.
func (m *match) conditions() *miss {
	m.vars, m.extents = map[string]any{}, map[string]symbolic.Dim{}
	for i, n := range m.rule.pattern.nodes {
		l := m.layers[i]
		for _, t := range slices.Concat(l.Inputs, l.Outputs) {
			if t != nil && (t.Range.IsSet() || !t.IsKnown()) {
				return &miss{pass.WrongType, t.Name + " is quantised, or not known"}
			}
		}
		if n.term.Kind == LayerTerm {
			if text := m.attrMiss(n.term, l); text != "" {
				return &miss{pass.WrongAttribute, text}
			}
		} else if x := m.immediates(n.term, l); x != nil {
			return x
		}
		for _, s := range n.args {
			if t := m.terms[s.term]; s.node == nil && s.input < 0 && t != nil {
				if x := m.constant(s.term, t); x != nil {
					return x
				}
			}
		}
	}
	for i := range m.rule.Where {
		if w := &m.rule.Where[i]; w.Tensor != "" {
			if x := m.form(w, m.tensorNamed(w.Tensor)); x != nil {
				return x
			}
		}
	}
	for i := range m.rule.Where {
		if w := &m.rule.Where[i]; w.Test != nil {
			if x := m.test(w.Test); x != nil {
				return x
			}
		}
	}
	return nil
}

// tolerance is how near a constant must be to what a rule has: constants of 16 bits are rounded.
func tolerance(t numeric.DataType) float64 {
	if t == numeric.F16 || t == numeric.BF16 {
		return 4e-3
	}
	return 1e-6
}

// immediates compares the numbers of an operation with those of a rule.
func (m *match) immediates(t *Term, l *graph.Layer) *miss {
	in := l.Attrs.(graph.Elementwise).Program.Code[0]
	info := in.Op.Info()
	for i := range info.Imms {
		if x := m.number(&t.Args[info.Arity+i], float64(in.Imm[i]), 1e-6, l.Name); x != nil {
			return x
		}
	}
	return nil
}

// number compares a number with what a rule has for it.
func (m *match) number(t *Term, v, tolerance float64, of string) *miss {
	if t.Kind == VariableTerm {
		old, ok := m.vars[t.Name]
		if !ok {
			m.vars[t.Name] = v
			return nil
		}
		if x, ok := numberOf(reflect.ValueOf(old)); !ok || !near(x, v, tolerance) {
			return &miss{pass.WrongAttribute, fmt.Sprintf("%s: %g is not $%s, which is %v", of, v, t.Name, old)}
		}
		return nil
	}
	if !near(v, t.Number, tolerance) {
		return &miss{pass.WrongAttribute, fmt.Sprintf("%s: %g, the rule has %g", of, v, t.Number)}
	}
	return nil
}

// maxConstant bounds the elements of a constant that may be one number throughout.
const maxConstant = 1 << 16

// constant compares a constant with what a rule has for it.
func (m *match) constant(t *Term, c *graph.Tensor) *miss {
	v, _ := c.Const()
	if t.Kind == ListTerm {
		if !v.Type.IsInteger() || !slices.EqualFunc(v.Ints(), t.List, func(a int64, b int) bool { return a == int64(b) }) {
			return &miss{pass.WrongAttribute, fmt.Sprintf("%s is not %v", c.Name, t.List)}
		}
		return nil
	}
	var list []float64
	if v.Len() <= maxConstant {
		list = numbers(v)
	}
	if len(list) == 0 || slices.ContainsFunc(list, func(x float64) bool { return x != list[0] }) || t.Kind == VariableTerm && len(list) > 1 {
		return &miss{pass.NotConstant, fmt.Sprintf("%s is not a single number", c)}
	}
	return m.number(t, list[0], tolerance(v.Type), c.Name)
}

// numbers returns the elements of a constant.
func numbers(v numeric.Value) []float64 {
	list := make([]float64, v.Len())
	switch {
	case v.Type.IsInteger() || v.Type == numeric.Bool:
		for i, x := range v.Ints() {
			list[i] = float64(x)
		}
	case v.Type == numeric.F64:
		copy(list, numeric.View[float64](v.Data))
	case v.Type == numeric.F32 || v.Type == numeric.F16 || v.Type == numeric.BF16:
		for i, x := range v.Floats() {
			list[i] = float64(x)
		}
	default:
		return nil
	}
	return list
}

// form compares a tensor's type and shape with what a rule says.
func (m *match) form(w *Condition, t *graph.Tensor) *miss {
	if w.Const && !t.IsConst() {
		return &miss{pass.NotConstant, t.Name + " is no constant"}
	}
	if len(w.Types) > 0 && !slices.Contains(w.Types, t.Type) {
		return &miss{pass.WrongType, fmt.Sprintf("%s is %s", t.Name, t.Type)}
	}
	if !w.Shaped {
		return nil
	}
	wrong := &miss{pass.WrongShape, t.String()}
	dims := t.Dims
	if w.Rest < 0 && len(dims) != len(w.Dims) || len(dims) < len(w.Dims) {
		return wrong
	}
	for i, d := range w.Dims {
		have := dims[i]
		if w.Rest >= 0 && i >= w.Rest {
			have = dims[len(dims)-len(w.Dims)+i]
		}
		switch {
		case d.Any:
		case d.Name == "":
			if !have.Is(d.Size) {
				return wrong
			}
		default:
			old, ok := m.extents[d.Name]
			if !ok {
				m.extents[d.Name] = have
			} else if !old.Equal(have) {
				wrong.detail += fmt.Sprintf(", and %s is %s", d.Name, old)
				return wrong
			}
		}
	}
	return nil
}

// quantity is the value of an expression: an extent that may have symbols, or a number.
type quantity struct {
	dim    symbolic.Dim
	number float64
	symbol bool // dim counts
}

func (q quantity) String() string {
	if q.symbol {
		return q.dim.String()
	}
	return fmt.Sprintf("%g", q.number)
}

// test returns why a comparison does not hold.
func (m *match) test(e *Expr) *miss {
	a, missA := m.eval(e.Args[0])
	b, missB := m.eval(e.Args[1])
	if missA != nil {
		return missA
	}
	if missB != nil {
		return missB
	}
	holds := false
	if a.symbol || b.symbol {
		equal := a.asDim().Equal(b.asDim())
		if !equal || e.Op == "<" || e.Op == ">" || e.Op == "!=" {
			return &miss{pass.WrongShape, fmt.Sprintf("%s %s %s does not hold, or is not known", a, e.Op, b)}
		}
		return nil
	}
	switch e.Op {
	case "==":
		holds = near(a.number, b.number, 1e-6)
	case "!=":
		holds = !near(a.number, b.number, 1e-6)
	case "<":
		holds = a.number < b.number
	case "<=":
		holds = a.number <= b.number
	case ">":
		holds = a.number > b.number
	case ">=":
		holds = a.number >= b.number
	}
	if !holds {
		return &miss{pass.WrongAttribute, fmt.Sprintf("%s %s %s does not hold", a, e.Op, b)}
	}
	return nil
}

func (q quantity) asDim() symbolic.Dim {
	if q.symbol {
		return q.dim
	}
	if q.number != math.Trunc(q.number) || math.Abs(q.number) > 1<<31 {
		return symbolic.Const(-1)
	}
	return symbolic.Const(int(q.number))
}

// eval returns the value of an expression.
func (m *match) eval(e *Expr) (q quantity, _ *miss) {
	switch e.Op {
	case "number":
		q.number = e.Value
		return q, nil
	case "rank":
		q.number = float64(len(m.tensorNamed(e.Name).Dims))
		return q, nil
	case "extent":
		return fromDim(m.extents[e.Name]), nil
	case "variable":
		v, ok := numberOf(reflect.ValueOf(m.vars[e.Name]))
		if !ok {
			return q, &miss{pass.WrongAttribute, fmt.Sprintf("$%s is %v, no number", e.Name, m.vars[e.Name])}
		}
		q.number = v
		return q, nil
	}
	var args []quantity
	symbol := false
	for _, a := range e.Args {
		v, x := m.eval(a)
		if x != nil {
			return q, x
		}
		args, symbol = append(args, v), symbol || v.symbol
	}
	if symbol {
		return withSymbols(e.Op, args)
	}
	return quantity{number: arithmetic(e.Op, args)}, nil
}

func fromDim(d symbolic.Dim) quantity {
	if n, ok := d.IsConst(); ok {
		return quantity{number: float64(n)}
	}
	return quantity{dim: d, symbol: true}
}

func withSymbols(op string, args []quantity) (quantity, *miss) {
	d := args[0].asDim()
	switch op {
	case "neg":
		return fromDim(d.MulN(-1)), nil
	case "+":
		return fromDim(d.Add(args[1].asDim())), nil
	case "-":
		return fromDim(d.Sub(args[1].asDim())), nil
	case "*":
		return fromDim(d.Mul(args[1].asDim())), nil
	}
	return quantity{}, &miss{pass.WrongShape, fmt.Sprintf("%s %s %s is not known", args[0], op, args[1])}
}

func arithmetic(op string, args []quantity) float64 {
	a := args[0].number
	if op == "neg" {
		return -a
	}
	b := args[1].number
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	return math.Mod(a, b)
}
