package symbolic

import "slices"

// Div returns floor(d / o); o must not be the constant 0.
func (d Dim) Div(o Dim) Dim {
	if n, ok := o.IsConst(); ok {
		if n == 0 {
			panic("symbolic: dim divided by 0")
		}
		if m, ok := d.IsConst(); ok {
			return Const(int(floorDiv(int64(m), int64(n))))
		}
		if n > 0 {
			return d.over(int64(n))
		}
		if q, ok := d.Exactly(int64(n)); ok {
			return q
		}
	} else if d.Equal(o) {
		return Const(1)
	} else if q, ok := d.quotient(o); ok {
		return q
	}
	return call("div", d, o)
}

// over returns floor(d / n) for a positive n in one form, so that extents that are rounded in different ways look equal where they are:
// what n divides is outside of the quotient, a quotient of a quotient is one, and the first term is positive.
//
//	div(4*b+h-1,2) = 2*b+div(h+1,2)-1    div(div(h+1,2)+1,2) = div(h+3,4)    div(-h,2) = -div(h+1,2)
func (d Dim) over(n int64) Dim {
	whole, rest := Dim{c: floorDiv(d.c, n)}, Dim{c: d.c - floorDiv(d.c, n)*n}
	for _, t := range d.terms {
		if t.coef%n == 0 {
			whole.terms = append(whole.terms, term{t.coef / n, t.atoms})
		} else {
			rest.terms = append(rest.terms, t)
		}
	}
	switch {
	case len(rest.terms) == 0:
		return whole
	case rest.terms[0].coef < 0: // floor(-x/n) = -floor((x+n-1)/n)
		return whole.Sub(rest.MulN(-1).AddN(int(n - 1)).over(n))
	}
	if a, m, ok := rest.ofQuotient(); ok && m <= maxDivisor/n {
		return whole.Add(a.Add(Const(int(rest.c * m))).over(m * n))
	}
	return whole.Add(call("div", rest, Const(int(n))))
}

// maxDivisor bounds the divisors that are multiplied to one.
const maxDivisor = 1 << 31

// ofQuotient returns a and m where d is floor(a / m) and a constant.
func (d Dim) ofQuotient() (a Dim, m int64, ok bool) {
	if len(d.terms) != 1 || d.terms[0].coef != 1 || len(d.terms[0].atoms) != 1 {
		return Dim{}, 0, false
	}
	return d.terms[0].atoms[0].quotientOf()
}

// quotientOf returns x and n where a is floor(x / n), n being a positive constant.
func (a atom) quotientOf() (x Dim, n int64, ok bool) {
	if a.name != "div" || a.args == nil || len(a.args[1].terms) > 0 || a.args[1].c <= 0 {
		return Dim{}, 0, false
	}
	return a.args[0], a.args[1].c, true
}

// DivN returns floor(d / n); n must not be 0.
func (d Dim) DivN(n int) Dim { return d.Div(Const(n)) }

// Mod returns d - o*floor(d / o), which has the sign of o; o must not be the constant 0.
func (d Dim) Mod(o Dim) Dim { return d.Sub(o.Mul(d.Div(o))) }

// Exactly returns d / n where n divides the constant and every coefficient.
func (d Dim) Exactly(n int64) (Dim, bool) {
	if d.c%n != 0 {
		return Dim{}, false
	}
	r := Dim{c: d.c / n}
	for _, t := range d.terms {
		if t.coef%n != 0 {
			return Dim{}, false
		}
		r.terms = append(r.terms, term{t.coef / n, t.atoms})
	}
	return r, true
}

// quotient returns d / o where d is a multiple of o: a number of times, one product of symbols times, or, of an o that is one product,
// any sum of those.
func (d Dim) quotient(o Dim) (Dim, bool) {
	if len(d.terms) == len(o.terms) && len(o.terms) > 1 {
		if k := d.terms[0].coef / o.terms[0].coef; d.Equal(o.MulN(int(k))) {
			return Const(int(k)), true
		}
	}
	if len(o.terms) == 0 {
		return Dim{}, false
	}
	if o.c == 0 && len(o.terms) == 1 {
		if d.c != 0 {
			return Dim{}, false
		}
		sum := Dim{}
		for _, t := range d.terms {
			q, ok := t.quotient(o.terms[0])
			if !ok {
				return Dim{}, false
			}
			sum = sum.Add(q)
		}
		return sum, true
	}
	for _, t := range d.terms {
		if q, ok := t.quotient(o.terms[0]); ok && q.Mul(o).Equal(d) {
			return q, true
		}
	}
	return Dim{}, false
}

// quotient returns t / o where o's atoms are among t's.
func (t term) quotient(o term) (Dim, bool) {
	if t.coef%o.coef != 0 {
		return Dim{}, false
	}
	left := slices.Clone(t.atoms)
	for _, a := range o.atoms {
		i := slices.IndexFunc(left, func(b atom) bool { return a.String() == b.String() })
		if i < 0 {
			return Dim{}, false
		}
		left = slices.Delete(left, i, i+1)
	}
	return Dim{}.plus(term{t.coef / o.coef, left}), true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
