package symbolic

import (
	"errors"
	"fmt"
	"strconv"
)

// Parse reads what Dim.String prints: sums of products of integers, symbols (letters, digits, _ . and $) and
// div(a,b), min(a,b), max(a,b), and trunc(...) of a Real.
func Parse(s string) (Dim, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil { // the smallest integer, too, which is no negated one
		return Const(int(n)), nil
	}
	p := parser{rest: s}
	d, err := p.sum(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %q", p.rest)
	}
	if err != nil {
		return Dim{}, fmt.Errorf("dim %q: %w", s, err)
	}
	return d, nil
}

// maxDepth bounds how deep a text may nest.
const maxDepth = 50

var errDepth = errors.New("nested too deeply")

type parser struct{ rest string }

func (p *parser) take(c byte) bool {
	if p.rest != "" && p.rest[0] == c {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

func (p *parser) sum(depth int) (Dim, error) {
	if depth > maxDepth {
		return Dim{}, errDepth
	}
	var total Dim
	for first := true; first || p.rest != "" && (p.rest[0] == '+' || p.rest[0] == '-'); first = false {
		sign := 1
		if p.take('-') {
			sign = -1
		} else if !first {
			p.take('+')
		}
		d, err := p.product(depth)
		if err != nil {
			return Dim{}, err
		}
		total = total.Add(d.MulN(sign))
	}
	return total, nil
}

func (p *parser) product(depth int) (Dim, error) {
	d, err := p.atom(depth)
	for err == nil && p.take('*') {
		var f Dim
		f, err = p.atom(depth)
		d = d.Mul(f)
	}
	return d, err
}

func (p *parser) atom(depth int) (Dim, error) {
	i := 0
	for i < len(p.rest) && isSymbolByte(p.rest[i]) {
		i++
	}
	word := p.rest[:i]
	p.rest = p.rest[i:]
	if word == "" {
		return Dim{}, fmt.Errorf("number or name expected before %q", p.rest)
	}
	if word[0] >= '0' && word[0] <= '9' {
		n, err := strconv.ParseInt(word, 10, 64)
		return Const(int(n)), err
	}
	if !p.take('(') {
		return Symbol(word), nil
	}
	if word == "trunc" {
		r, err := p.real(depth + 1)
		if err == nil && !p.take(')') {
			err = fmt.Errorf("trunc is not closed")
		}
		if err != nil {
			return Dim{}, err
		}
		return r.Trunc(), nil
	}
	a, err := p.sum(depth + 1)
	if err != nil {
		return Dim{}, err
	}
	if !p.take(',') {
		return Dim{}, fmt.Errorf("%s takes two arguments", word)
	}
	b, err := p.sum(depth + 1)
	if err != nil {
		return Dim{}, err
	}
	if !p.take(')') {
		return Dim{}, fmt.Errorf("%s is not closed", word)
	}
	switch word {
	case "mul":
		return a.Mul(b), nil
	case "div":
		if b.Is(0) {
			return Dim{}, fmt.Errorf("division by 0")
		}
		return a.Div(b), nil
	case "min":
		return a.Min(b), nil
	case "max":
		return a.Max(b), nil
	}
	return Dim{}, fmt.Errorf("function %q is unknown", word)
}

func isSymbolByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c == '$'
}
