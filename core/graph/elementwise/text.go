package elementwise

import (
	"strconv"
	"strings"
)

// String prints p as nested calls over arguments $0, $1, ..., as in "relu(add($0, $1))". What is used more than once is
// named before, as in "%0 = tanh($0); mul(%0, %0)", so that the text is as long as the program.
func (p Program) String() string {
	if len(p.Code) == 0 {
		return "$0"
	}
	w := writer{p: p, name: p.shared()}
	for v := p.Args; v < p.Result(); v++ {
		if k := w.name[v]; k >= 0 {
			w.WriteString("%" + strconv.Itoa(k) + " = ")
			w.define(v)
			w.WriteString("; ")
		}
	}
	w.define(p.Result())
	return w.String()
}

// shared returns, by value, the numbers of those that the result needs more than once, and -1 for all others. Constants
// are printed where they are used, and arguments have a name.
func (p Program) shared() []int {
	uses := make([]int, p.Result()+1)
	uses[p.Result()] = 1
	for v := p.Result(); v >= p.Args; v-- {
		in := p.Code[v-p.Args]
		if uses[v] == 0 {
			continue
		}
		for _, a := range in.Arg[:in.Op.Info().Arity] {
			uses[a]++
		}
	}
	k := 0
	for v, n := range uses {
		uses[v] = -1
		if v >= p.Args && n > 1 && p.Code[v-p.Args].Op != Const {
			uses[v] = k
			k++
		}
	}
	return uses
}

type writer struct {
	strings.Builder
	p    Program
	name []int
}

// value prints a value where it is used.
func (w *writer) value(v int) {
	switch {
	case v < w.p.Args:
		w.WriteString("$" + strconv.Itoa(v))
	case w.name[v] >= 0:
		w.WriteString("%" + strconv.Itoa(w.name[v]))
	default:
		w.define(v)
	}
}

// define prints the instruction that computes a value, and those that only it uses.
func (w *writer) define(v int) {
	in := w.p.Code[v-w.p.Args]
	info := in.Op.Info()
	imm := func(i int) { w.WriteString(strconv.FormatFloat(float64(in.Imm[i]), 'g', 6, 32)) }
	if in.Op == Const {
		imm(0)
		return
	}
	w.WriteString(info.Name + "(")
	for i := range info.Arity + info.Imms {
		if i > 0 {
			w.WriteString(", ")
		}
		if i < info.Arity {
			w.value(in.Arg[i])
		} else {
			imm(i - info.Arity)
		}
	}
	w.WriteString(")")
}
