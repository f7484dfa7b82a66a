package symbolic

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints the normal form, as in "2*batch+1" or "div(h+2,2)".
func (d Dim) String() string {
	if len(d.terms) == 0 {
		return strconv.FormatInt(d.c, 10)
	}
	var b strings.Builder
	for i, t := range d.terms {
		switch {
		case i > 0 && t.coef > 0:
			b.WriteByte('+')
		case t.coef == -1:
			b.WriteByte('-')
		}
		if t.coef != 1 && t.coef != -1 {
			fmt.Fprintf(&b, "%d*", t.coef)
		}
		b.WriteString(t.key())
	}
	if d.c != 0 {
		fmt.Fprintf(&b, "%+d", d.c)
	}
	return b.String()
}

func (t term) key() string {
	s := make([]string, len(t.atoms))
	for i, a := range t.atoms {
		s[i] = a.String()
	}
	return strings.Join(s, "*")
}

func (a atom) String() string {
	switch {
	case a.real != nil:
		return a.name + "(" + a.real.String() + ")"
	case a.args == nil:
		return a.name
	}
	return a.name + "(" + a.args[0].String() + "," + a.args[1].String() + ")"
}

// Format prints a shape, as in "[batch,1,28,28]".
func Format(dims []Dim) string {
	s := make([]string, len(dims))
	for i, d := range dims {
		s[i] = d.String()
	}
	return "[" + strings.Join(s, ",") + "]"
}
