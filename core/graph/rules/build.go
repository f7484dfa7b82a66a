package rules

import (
	"fmt"
	"reflect"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// builder makes the layers of a replacement in a network.
type builder struct {
	m     *match
	net   *graph.Network
	place func(*graph.Tensor) *graph.Tensor // what stands in net for an input of the pattern
	made  map[string]*graph.Tensor
	inner []*graph.Layer // all but the last
	name  string         // what their names begin with
}

// last is the layer that makes the result.
type last struct {
	op     *graph.Op
	attrs  any
	inputs []*graph.Tensor
}

// build adds all layers but the last one, which makes the only result. Where the replacement is a tensor of the pattern, that is returned
// in place of a layer.
func (b *builder) build() (l last, x *graph.Tensor, err error) {
	defer graph.CatchFault(&err)
	list := b.m.rule.Replace
	if err := b.statements(list[:len(list)-1]); err != nil {
		return l, nil, err
	}
	t := &list[len(list)-1].Value
	if t.Kind == TensorTerm {
		return l, b.place(b.m.tensorNamed(t.Name)), nil
	}
	l, err = b.parts(t)
	return l, nil, err
}

// all adds all layers, and returns the results in the order of their names.
func (b *builder) all() (results []*graph.Tensor, err error) {
	defer graph.CatchFault(&err)
	if err := b.statements(b.m.rule.Replace); err != nil {
		return nil, err
	}
	for _, name := range b.m.rule.pattern.results() {
		results = append(results, b.made[name])
	}
	return results, nil
}

// statements adds the layers of some lines.
func (b *builder) statements(list []Statement) error {
	b.made = map[string]*graph.Tensor{}
	for _, s := range list {
		if s.Value.Kind == TensorTerm {
			b.made[s.Names[0]] = b.place(b.m.tensorNamed(s.Value.Name))
			continue
		}
		made, err := b.layer(&s.Value, len(s.Names))
		if err != nil {
			return err
		}
		for i, name := range s.Names {
			b.made[name] = made.Outputs[i]
		}
	}
	return nil
}

// layer adds the layer of a term.
func (b *builder) layer(t *Term, outputs int) (*graph.Layer, error) {
	p, err := b.parts(t)
	if err != nil {
		return nil, err
	}
	names := make([]string, outputs)
	for i := range names {
		names[i] = b.name + "_" + t.Name
	}
	l, err := b.net.Add(b.name+"_"+t.Name, p.op, p.attrs, p.inputs, names...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	b.inner = append(b.inner, l)
	return l, nil
}

// parts returns what the layer of a term is made of, and adds those that it reads.
func (b *builder) parts(t *Term) (p last, err error) {
	count := len(t.Args)
	if t.Kind == ElementTerm {
		count = t.elt.Info().Arity
	}
	p.inputs = make([]*graph.Tensor, count)
	var like *graph.Tensor // of the type that numbers have
	for i := range count {
		if a := &t.Args[i]; a.Kind != NumberTerm && a.Kind != VariableTerm && a.Kind != ComputedTerm {
			if p.inputs[i], err = b.tensor(a); err != nil {
				return p, err
			}
			if like == nil {
				like = p.inputs[i]
			}
		}
	}
	for i := range count {
		if a := &t.Args[i]; p.inputs[i] == nil && a.Kind != OmittedTerm {
			if p.inputs[i], err = b.constant(a, like); err != nil {
				return p, err
			}
		}
	}
	if t.Kind == ElementTerm {
		p.op, p.attrs, err = b.program(t)
		return p, err
	}
	p.op = t.op
	p.attrs, err = b.attrs(t)
	return p, err
}

// tensor returns the tensor of a term that is no number; nil for one that is left out.
func (b *builder) tensor(t *Term) (*graph.Tensor, error) {
	switch t.Kind {
	case OmittedTerm:
		return nil, nil
	case TensorTerm:
		if x := b.made[t.Name]; x != nil {
			return x, nil
		}
		return b.place(b.m.tensorNamed(t.Name)), nil
	case ListTerm:
		list := make([]int64, len(t.List))
		for i, v := range t.List {
			list[i] = int64(v)
		}
		return b.net.AddConst(b.name+"_list", numeric.Values(numeric.I64, list, len(list))), nil
	}
	l, err := b.layer(t, 1)
	if err != nil {
		return nil, err
	}
	return l.Outputs[0], nil
}

// number returns the value of a number, a variable or an expression.
func (b *builder) number(t *Term) (float64, error) {
	e := t.Expr
	switch t.Kind {
	case NumberTerm:
		return t.Number, nil
	case VariableTerm:
		e = &Expr{Op: "variable", Name: t.Name}
	}
	return b.value(e)
}

func (b *builder) value(e *Expr) (float64, error) {
	q, x := b.m.eval(e)
	switch {
	case x != nil:
		return 0, fmt.Errorf("%s", x.detail)
	case q.symbol:
		return 0, fmt.Errorf("%s is not known before the network runs", q)
	}
	return q.number, nil
}

// constant adds a constant of one element, of the type that like has.
func (b *builder) constant(t *Term, like *graph.Tensor) (*graph.Tensor, error) {
	x, err := b.number(t)
	if err != nil {
		return nil, err
	}
	of := numeric.F32
	if like != nil {
		of = like.RealType()
	}
	v := numeric.NewValue(of)
	switch of {
	case numeric.F32, numeric.F16, numeric.BF16:
		numeric.FromReal(v, []float32{float32(x)}, numeric.Range{})
	case numeric.F64:
		numeric.View[float64](v.Data)[0] = x
	case numeric.I64:
		numeric.View[int64](v.Data)[0] = int64(x)
	case numeric.I32:
		numeric.View[int32](v.Data)[0] = int32(x)
	default:
		return nil, fmt.Errorf("a number cannot be %s", of)
	}
	if of.IsInteger() && x != float64(int32(x)) {
		return nil, fmt.Errorf("%g is no %s", x, of)
	}
	return b.net.AddConst(b.name+"_number", v), nil
}

// program returns an operation as a layer has it.
func (b *builder) program(t *Term) (*graph.Op, any, error) {
	info := t.elt.Info()
	var imms []float32
	for i := range info.Imms {
		x, err := b.number(&t.Args[info.Arity+i])
		if err != nil {
			return nil, nil, err
		}
		imms = append(imms, float32(x))
	}
	return graph.Pointwise, graph.Elementwise{Program: elementwise.Of(t.elt, imms...)}, nil
}

// attrs returns the attributes of a layer.
func (b *builder) attrs(t *Term) (any, error) {
	if t.op.Attrs == nil {
		return nil, nil
	}
	v := reflect.New(reflect.TypeOf(t.op.Attrs)).Elem()
	for i := range t.Attrs {
		if a := &t.Attrs[i]; a.Name == allAttrs {
			all := reflect.ValueOf(b.m.vars[allAttrs+a.Var])
			if all.Type() != v.Type() {
				return nil, fmt.Errorf("$%s is the attributes of another op", a.Var)
			}
			v.Set(all)
		}
	}
	for i := range t.Attrs {
		a := &t.Attrs[i]
		if a.Name == allAttrs {
			continue
		}
		value := a.literal()
		switch {
		case a.Var != "":
			value = b.m.vars[a.Var]
			if x, ok := numberOf(reflect.ValueOf(value)); ok {
				value = x
			}
		case a.Expr != nil:
			x, err := b.value(a.Expr)
			if err != nil {
				return nil, err
			}
			value = x
		}
		if err := set(field(v, a.Name), a.Name, value); err != nil {
			return nil, err
		}
	}
	return v.Interface(), nil
}
