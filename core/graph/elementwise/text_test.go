package elementwise

import (
	"strings"
	"testing"
)

// TestProgramText: a program that is a tree prints as one, and every program's text is as long as the program.
func TestProgramText(t *testing.T) {
	tanh := Instr{Op: Tanh}
	for _, c := range []struct {
		p    Program
		want string
	}{
		{Program{Args: 1}, "$0"},
		{Binary(Add).Then(Unary(Clamp, 0, 6), 0), "clamp(add($0, $1), 0, 6)"},
		{Program{1, []Instr{{Op: Const, Imm: [2]float32{2}}, {Op: Mul, Arg: [3]int{0, 1}}, {Op: Add, Arg: [3]int{1, 2}}}}, "add(2, mul($0, 2))"},
		{Program{1, []Instr{tanh, {Op: Mul, Arg: [3]int{1, 1}}}}, "%0 = tanh($0); mul(%0, %0)"},
		{Program{1, []Instr{tanh, {Op: Exp}, {Op: Neg, Arg: [3]int{1}}}}, "neg(tanh($0))"}, // exp is not used
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	const n = 2000
	twice, deep := Program{Args: 1}, Program{Args: 1}
	for i := range n {
		twice.Code = append(twice.Code, Instr{Op: Add, Arg: [3]int{i, i}})
		deep.Code = append(deep.Code, Instr{Op: Tanh, Arg: [3]int{i}})
	}
	for _, p := range []Program{twice, deep} {
		s := p.String()
		if calls := strings.Count(s, "add(") + strings.Count(s, "tanh("); calls != n || len(s) > 32*n {
			t.Errorf("%d instructions print as %d calls, %d bytes", n, calls, len(s))
		}
	}
}
