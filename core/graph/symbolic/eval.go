package symbolic

// Eval returns d's value. A symbol that env does not have counts as 1.
func (d Dim) Eval(env map[string]int) int {
	n := d.c
	for _, t := range d.terms {
		p := t.coef
		for _, a := range t.atoms {
			p *= int64(a.eval(env))
		}
		n += p
	}
	return int(n)
}

func (a atom) eval(env map[string]int) int {
	switch {
	case a.real != nil:
		return truncInt(a.real.Eval(env))
	case a.args == nil:
		if v, ok := env[a.name]; ok {
			return v
		}
		return 1
	}
	x, y := a.args[0].Eval(env), a.args[1].Eval(env)
	switch a.name {
	case "mul":
		return x * y
	case "min":
		return min(x, y)
	case "max":
		return max(x, y)
	}
	if y == 0 {
		return 0
	}
	return int(floorDiv(int64(x), int64(y)))
}

// Eval returns the values of a shape.
func Eval(dims []Dim, env map[string]int) []int {
	s := make([]int, len(dims))
	for i, d := range dims {
		s[i] = d.Eval(env)
	}
	return s
}
