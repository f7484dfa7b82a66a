package rules

import (
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// deeper counts the brackets that are open.
func (p *parser) deeper() func() {
	if p.nesting++; p.nesting > MaxNesting {
		p.fail(p.at(), "nested more than %d deep", MaxNesting)
	}
	return func() { p.nesting-- }
}

// term reads a tensor.
func (p *parser) term() Term {
	t := Term{At: p.at()}
	switch {
	case p.is('a'):
		t.Name = p.take().text
		if p.sign("(") {
			p.call(&t)
		}
	case p.is('$'):
		t.Kind, t.Name = VariableTerm, p.take().text
	case p.sign("["):
		t.Kind = ListTerm
		for _, v := range p.list() {
			t.List = append(t.List, p.integer(t.At, v))
		}
	case p.sign("("):
		t.Kind, t.Expr = ComputedTerm, p.primary()
	case p.is('0') || p.sign("-") && p.tokens[p.next+1].kind == '0':
		t.Kind, t.Number = NumberTerm, p.number()
	case p.skip("-"):
		t.Kind = OmittedTerm
	default:
		p.fail(p.at(), "want a tensor, not %s", p.found())
	}
	return t
}

// call reads the arguments of an op or operation, and attributes.
func (p *parser) call(t *Term) {
	defer p.deeper()()
	if p.layers++; p.layers > MaxLayers {
		p.fail(t.At, "more than %d layers", MaxLayers)
	}
	t.Kind = ElementTerm
	if c := t.Name[0]; 'A' <= c && c <= 'Z' {
		t.Kind = LayerTerm
	}
	p.want("(")
	for !p.skip(")") {
		if len(t.Args) > 0 {
			p.want(",")
		}
		if len(t.Args) == MaxList {
			p.fail(p.at(), "more than %d arguments", MaxList)
		}
		t.Args = append(t.Args, p.term())
	}
	for t.Kind == LayerTerm && p.is('a') {
		if len(t.Attrs) == MaxList {
			p.fail(p.at(), "more than %d attributes", MaxList)
		}
		t.Attrs = append(t.Attrs, p.attr())
	}
}

// attr reads name=value.
func (p *parser) attr() Attr {
	a := Attr{At: p.at(), Name: p.word("an attribute")}
	p.want("=")
	switch {
	case p.is('$'):
		a.Var = p.take().text
	case p.sign("["):
		a.Lists, a.List = true, p.list()
	case p.sign("("):
		a.Expr = p.primary()
	case p.is('a') && p.peek().text == "_":
		p.next++
		a.Any = true
	case p.is('a'):
		a.Text = p.take().text
	default:
		a.Text = strconv.FormatFloat(p.number(), 'g', -1, 64)
	}
	return a
}

func (p *parser) number() float64 {
	minus := p.skip("-")
	if !p.is('0') {
		p.fail(p.at(), "want a number, not %s", p.found())
	}
	v, _ := strconv.ParseFloat(p.take().text, 64)
	if minus {
		v = -v
	}
	return v
}

// list reads numbers in brackets, with or without commas between them.
func (p *parser) list() (list []float64) {
	p.want("[")
	for !p.skip("]") {
		if len(list) > 0 {
			p.skip(",")
		}
		if len(list) == MaxList {
			p.fail(p.at(), "more than %d numbers in a list", MaxList)
		}
		list = append(list, p.number())
	}
	return list
}

func (p *parser) integer(at Position, v float64) int {
	if v != float64(int32(v)) {
		p.fail(at, "%g is no integer of 32 bits", v)
	}
	return int(v)
}

// condition reads the form of a tensor or a comparison.
func (p *parser) condition() Condition {
	c := Condition{At: p.at(), Rest: -1}
	if after := p.tokens[min(p.next+1, len(p.tokens)-1)]; p.is('a') && (after.kind == 'a' || after.text == "?" || after.text == "[") && after.kind != '0' {
		c.Tensor = p.take().text
		if p.is('a') && p.peek().text == "const" {
			c.Const = true
			p.next++
		}
		p.types(&c)
		if p.sign("[") {
			p.extents(&c)
		}
		return c
	}
	c.Test = p.comparison()
	return c
}

// types reads f32|f16, or ? for any type.
func (p *parser) types(c *Condition) {
	for !p.skip("?") && p.is('a') {
		at := p.at()
		var t numeric.DataType
		if err := t.UnmarshalText([]byte(p.take().text)); err != nil {
			p.fail(at, "%v", err)
		}
		if len(c.Types) == MaxList {
			p.fail(at, "more than %d types", MaxList)
		}
		c.Types = append(c.Types, t)
		if !p.skip("|") {
			return
		}
	}
}

// extents reads [n,_,3,...].
func (p *parser) extents(c *Condition) {
	c.Shaped = true
	p.want("[")
	for first := true; !p.skip("]"); first = false {
		if !first {
			p.want(",")
		}
		if len(c.Dims) == MaxList {
			p.fail(p.at(), "more than %d extents", MaxList)
		}
		at := p.at()
		switch {
		case p.skip("..."):
			if c.Rest >= 0 {
				p.fail(at, "... stands twice in a shape")
			}
			c.Rest = len(c.Dims)
		case p.is('a'):
			name := p.take().text
			c.Dims = append(c.Dims, Extent{Any: name == "_", Name: strings.TrimPrefix(name, "_")})
			if name[0] == '_' && name != "_" {
				p.fail(at, "the name of an extent begins with a letter")
			}
		default:
			c.Dims = append(c.Dims, Extent{Size: p.integer(at, p.number())})
		}
	}
}
