package symbolic

import (
	"math"
	"slices"
	"strings"
)

// Dim is the extent of one axis: an integer expression over named symbols ("batch", "height"), built from
// + - * floor division, minimum and maximum. The zero Dim is the constant 0. A Dim is immutable and kept in a
// normal form: a constant plus a sum of products of atoms, so that equal expressions of that kind print equally.
type Dim struct {
	c     int64
	terms []term // sorted by key, none with a zero coefficient
}

// term is coef * atoms[0] * atoms[1] * ..., atoms sorted by key.
type term struct {
	coef  int64
	atoms []atom
}

// atom is what the normal form does not look into: a symbol or a function of other dims.
type atom struct {
	name string // the symbol, or "mul", "div", "min", "max" when args is not nil, "trunc" when real is not
	args []Dim
	real *Real
}

func (a atom) isSymbol() bool { return a.args == nil && a.real == nil }

// Const returns the Dim of value n.
func Const(n int) Dim { return Dim{c: int64(n)} }

// Symbol returns the Dim that is the named symbol.
func Symbol(name string) Dim {
	return Dim{terms: []term{{1, []atom{{name: name}}}}}
}

// Shape returns a list of constant Dims.
func Shape(dims ...int) []Dim {
	s := make([]Dim, len(dims))
	for i, d := range dims {
		s[i] = Const(d)
	}
	return s
}

// IsConst reports whether d has no symbols, and its value.
func (d Dim) IsConst() (int, bool) { return int(d.c), len(d.terms) == 0 }

// Is reports whether d is the constant n.
func (d Dim) Is(n int) bool { return len(d.terms) == 0 && d.c == int64(n) }

// Equal reports whether both have the same normal form. Unequal Dims may still have equal values.
func (d Dim) Equal(o Dim) bool {
	return d.c == o.c && len(d.terms) == len(o.terms) && (len(d.terms) == 0 || d.String() == o.String())
}

// Caps reports whether d is o, but at most some constant that is no less than least.
func (d Dim) Caps(o Dim, least int) bool {
	if d.c != 0 || len(d.terms) != 1 || d.terms[0].coef != 1 || len(d.terms[0].atoms) != 1 || d.terms[0].atoms[0].name != "min" || d.terms[0].atoms[0].isSymbol() {
		return false
	}
	found := false
	for _, a := range d.terms[0].atoms[0].args {
		n, constant := a.IsConst()
		if !a.Equal(o) && (!constant || n < least) {
			return false
		}
		found = found || a.Equal(o)
	}
	return found
}

// Remains reports whether d is what a bound leaves of o elements from some place on: max(min(place+o, bound)-place, 0), or a part of that.
func (d Dim) Remains(o Dim) bool {
	if x, ok := d.above0(); ok {
		d = x
	}
	for _, t := range d.terms {
		if t.coef != 1 || len(t.atoms) != 1 || t.atoms[0].name != "min" || t.atoms[0].isSymbol() {
			continue
		}
		place := Dim{terms: []term{t}}.Sub(d)
		if slices.ContainsFunc(t.atoms[0].args, func(end Dim) bool { return end.Sub(place).Equal(o) }) {
			return true
		}
	}
	return false
}

// above0 returns x of max(x, 0).
func (d Dim) above0() (x Dim, ok bool) {
	zero := Const(0)
	if !d.isOneOf("max", zero) {
		return Dim{}, false
	}
	args := d.terms[0].atoms[0].args
	return args[slices.IndexFunc(args, func(a Dim) bool { return !a.Equal(zero) })], true
}

// Equal reports whether two shapes are equal axis by axis.
func Equal(a, b []Dim) bool { return slices.EqualFunc(a, b, Dim.Equal) }

// Add returns d + o.
func (d Dim) Add(o Dim) Dim {
	r := Dim{c: d.c + o.c, terms: slices.Clone(d.terms)}
	for _, t := range o.terms {
		r = r.plus(t)
	}
	if len(d.terms) > 0 && len(o.terms) > 0 {
		return r.joined()
	}
	return r
}

// joined returns a sum in which the halves of a number make it whole, and what one half leaves of it is the other one:
//
//	div(h,2)+div(h+1,2) = h    h-div(h,2) = div(h+1,2)    div(h,2)-div(h,4) = div(h+2,4)
func (d Dim) joined() Dim {
	for _, t := range d.terms {
		if len(t.atoms) != 1 {
			continue
		}
		x, n, ok := t.atoms[0].quotientOf()
		if !ok || n%2 != 0 {
			continue
		}
		whole := x.DivN(int(n / 2)) // floor(x/n) is floor(whole/2)
		other := whole.AddN(1).DivN(2)
		half := Dim{terms: []term{{1, t.atoms}}}
		if d.has(other, t.coef) {
			return d.less(half, t.coef).less(other, t.coef).Add(whole.MulN(int(t.coef)))
		}
		if d.has(whole, -t.coef) {
			return d.less(half, t.coef).less(whole, -t.coef).Add(other.MulN(int(-t.coef)))
		}
	}
	return d
}

// less returns d less k times o, term by term.
func (d Dim) less(o Dim, k int64) Dim {
	d.c -= k * o.c
	for _, u := range o.terms {
		d = d.plus(term{-k * u.coef, u.atoms})
	}
	return d
}

// has reports whether d has k times each term of o.
func (d Dim) has(o Dim, k int64) bool {
	for _, u := range o.terms {
		if !slices.ContainsFunc(d.terms, func(t term) bool { return t.coef == k*u.coef && t.key() == u.key() }) {
			return false
		}
	}
	return true
}

// Sub returns d - o.
func (d Dim) Sub(o Dim) Dim { return d.Add(o.Mul(Const(-1))) }

// AddN returns d + n.
func (d Dim) AddN(n int) Dim { return d.Add(Const(n)) }

// MulN returns d * n.
func (d Dim) MulN(n int) Dim { return d.Mul(Const(n)) }

// maxProducts bounds the terms that a product is multiplied out to.
const maxProducts = 4096

// Mul returns d * o. A product of many terms is not multiplied out.
func (d Dim) Mul(o Dim) Dim {
	if len(d.terms)*len(o.terms) > maxProducts {
		if o.String() < d.String() {
			d, o = o, d
		}
		return call("mul", d, o)
	}
	r := Dim{c: MulSaturating(d.c, o.c)}
	for _, t := range d.terms {
		r = r.plus(term{t.coef * o.c, t.atoms})
		for _, u := range o.terms {
			atoms := slices.Concat(t.atoms, u.atoms)
			slices.SortFunc(atoms, func(a, b atom) int { return strings.Compare(a.String(), b.String()) })
			r = r.plus(term{t.coef * u.coef, atoms})
		}
	}
	for _, u := range o.terms {
		r = r.plus(term{u.coef * d.c, u.atoms})
	}
	return r
}

// MulSaturating returns a * b, or the nearest int64, so that absurd extents stay absurd and are refused.
func MulSaturating(a, b int64) int64 {
	p := a * b
	switch {
	case a == 0 || p/a == b && !(a == -1 && b == math.MinInt64):
		return p
	case (a < 0) == (b < 0):
		return math.MaxInt64
	}
	return math.MinInt64
}

// Min returns the smaller of d and o.
func (d Dim) Min(o Dim) Dim {
	switch {
	case o.Sub(d).NonNegative(), o.isOneOf("max", d):
		return d
	case d.Sub(o).NonNegative(), d.isOneOf("max", o):
		return o
	}
	return call("min", d, o)
}

// Max returns the larger of d and o.
func (d Dim) Max(o Dim) Dim {
	switch {
	case d.Sub(o).NonNegative(), o.isOneOf("min", d):
		return d
	case o.Sub(d).NonNegative(), d.isOneOf("min", o):
		return o
	}
	return call("max", d, o)
}

// isOneOf reports whether d is the smaller or larger, as name says, of o and another one.
func (d Dim) isOneOf(name string, o Dim) bool {
	if d.c != 0 || len(d.terms) != 1 || d.terms[0].coef != 1 || len(d.terms[0].atoms) != 1 {
		return false
	}
	a := d.terms[0].atoms[0]
	return a.name == name && a.args != nil && slices.ContainsFunc(a.args, o.Equal)
}

func call(name string, args ...Dim) Dim {
	return Dim{terms: []term{{1, []atom{{name: name, args: args}}}}}
}

// plus adds one term; r.terms must be owned by the caller.
func (d Dim) plus(t term) Dim {
	if t.coef == 0 {
		return d
	}
	if len(t.atoms) == 0 {
		d.c += t.coef
		return d
	}
	i, found := slices.BinarySearchFunc(d.terms, t.key(), func(a term, k string) int { return strings.Compare(a.key(), k) })
	if !found {
		d.terms = slices.Insert(slices.Clone(d.terms), i, t)
		return d
	}
	d.terms = slices.Clone(d.terms)
	if d.terms[i].coef += t.coef; d.terms[i].coef == 0 {
		d.terms = slices.Delete(d.terms, i, i+1)
	}
	return d
}

// Symbols adds the names of d's symbols to the set.
func (d Dim) Symbols(set map[string]bool) {
	for _, t := range d.terms {
		for _, a := range t.atoms {
			if a.isSymbol() {
				set[a.name] = true
			}
			if a.real != nil {
				a.real.symbols(set)
			}
			for _, x := range a.args {
				x.Symbols(set)
			}
		}
	}
}

// maxTerms and maxSize bound the dims that inference keeps: repeated products would double them at each step. A detector adds up what
// is left of each of its classes, of which there are often 80 or 90.
const (
	maxTerms = 256
	maxSize  = 2048
)

// IsLarge reports whether d has too many terms or parts to be computed with any further.
func (d Dim) IsLarge() bool { return len(d.terms) > maxTerms || d.size() > maxSize }

// size counts the parts of d, stopping somewhere above maxSize.
func (d Dim) size() int {
	n := 1
	for _, t := range d.terms {
		for _, a := range t.atoms {
			n++
			if a.real != nil {
				n += a.real.size()
			}
			for _, x := range a.args {
				if n > maxSize {
					return n
				}
				n += x.size()
			}
		}
	}
	return n
}

// SymbolName returns the symbol's name where d is just one symbol.
func (d Dim) SymbolName() (string, bool) {
	if d.c == 0 && len(d.terms) == 1 && d.terms[0].coef == 1 && len(d.terms[0].atoms) == 1 && d.terms[0].atoms[0].isSymbol() {
		return d.terms[0].atoms[0].name, true
	}
	return "", false
}
