package rules

// comparisons are the signs between two sides of a condition.
var comparisons = []string{"==", "!=", "<=", ">=", "<", ">"}

// comparison reads a == b.
func (p *parser) comparison() *Expr {
	left := p.sum()
	for _, op := range comparisons {
		if at := p.at(); p.skip(op) {
			return &Expr{At: at, Op: op, Args: []*Expr{left, p.sum()}}
		}
	}
	p.fail(p.at(), "want a comparison, such as == or <=, not %s", p.found())
	return nil
}

func (p *parser) sum() *Expr { return p.chain(p.product, "+", "-") }

func (p *parser) product() *Expr { return p.chain(p.primary, "*", "/", "%") }

// chain reads operands with signs between them, from left to right.
func (p *parser) chain(operand func() *Expr, ops ...string) *Expr {
	left := operand()
	for n := 0; ; n++ {
		found := false
		for _, op := range ops {
			if at := p.at(); p.skip(op) {
				if n == MaxStatements {
					p.fail(at, "more than %d operands", MaxStatements)
				}
				left, found = &Expr{At: at, Op: op, Args: []*Expr{left, operand()}}, true
				break
			}
		}
		if !found {
			return left
		}
	}
}

// primary reads a number, an extent, a variable, rank(x), or a sum in brackets.
func (p *parser) primary() *Expr {
	e := &Expr{At: p.at()}
	switch {
	case p.is('0'):
		e.Op, e.Value = "number", p.number()
	case p.is('$'):
		e.Op, e.Name = "variable", p.take().text
	case p.is('a'):
		e.Op, e.Name = "extent", p.take().text
		if e.Name == "rank" && p.skip("(") {
			e.Op, e.Name = "rank", p.word("a tensor")
			p.want(")")
		}
	case p.sign("-"):
		defer p.deeper()()
		p.next++
		e.Op, e.Args = "neg", []*Expr{p.primary()}
	case p.sign("("):
		defer p.deeper()()
		p.next++
		e = p.sum()
		p.want(")")
	default:
		p.fail(p.at(), "want a number, an extent or a $variable, not %s", p.found())
	}
	return e
}
