package programs

import "github.com/trtui/trtui/core/graph/elementwise"

// longOperands are strips of equal length; to may be any of the others. Operations that compare do so on numbers with flip's bits
// turned.
type longOperands struct {
	to, x, y, z []int64
	imm         [2]int64
	flip        int64
}

// pairs returns the two operands cut to the length of the result, which spares the loops their checks.
func (o *longOperands) pairs() (to, x, y []int64) { return o.to, o.x[:len(o.to)], o.y[:len(o.to)] }

func (o *longOperands) single() (to, x []int64) { return o.to, o.x[:len(o.to)] }

// longOps are the operations on integers; division by 0 gives 0.
var longOps = map[elementwise.Op]func(longOperands){
	elementwise.Const: func(o longOperands) {
		for i := range o.to {
			o.to[i] = o.imm[0]
		}
	},
	elementwise.Add: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = x[i] + y[i]
		}
	},
	elementwise.Sub: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = x[i] - y[i]
		}
	},
	elementwise.Mul: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = x[i] * y[i]
		}
	},
	elementwise.Div: func(o longOperands) {
		o.divide(func(x, y int64) int64 { return x / y }, func(x, y uint64) uint64 { return x / y })
	},
	elementwise.Mod: func(o longOperands) {
		o.divide(func(x, y int64) int64 { return x % y }, func(x, y uint64) uint64 { return x % y })
	},
	elementwise.Max: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = max(x[i]^o.flip, y[i]^o.flip) ^ o.flip
		}
	},
	elementwise.Min: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = min(x[i]^o.flip, y[i]^o.flip) ^ o.flip
		}
	},
	elementwise.Pow: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = power(x[i], y[i])
		}
	},
	elementwise.PRelu: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			v := x[i]
			if v < 0 && o.flip == 0 {
				v *= y[i]
			}
			to[i] = v
		}
	},
	elementwise.Neg: func(o longOperands) {
		to, x := o.single()
		for i := range to {
			to[i] = -x[i]
		}
	},
	elementwise.Abs: func(o longOperands) {
		to, x := o.single()
		for i := range to {
			v := x[i]
			if v < 0 && o.flip == 0 {
				v = -v
			}
			to[i] = v
		}
	},
	elementwise.Sign: func(o longOperands) {
		to, x := o.single()
		for i := range to {
			to[i] = truth(o.flip < x[i]^o.flip) - truth(x[i]^o.flip < o.flip)
		}
	},
	elementwise.Relu: func(o longOperands) {
		to, x := o.single()
		for i := range to {
			to[i] = max(x[i]^o.flip, o.flip) ^ o.flip
		}
	},
	elementwise.Clamp: func(o longOperands) {
		to, x := o.single()
		for i := range to {
			to[i] = max(o.imm[0], min(o.imm[1], x[i]))
		}
	},
	elementwise.Select: func(o longOperands) {
		to, x, y := o.pairs()
		z := o.z[:len(to)]
		for i := range to {
			v := z[i]
			if x[i] != 0 {
				v = y[i]
			}
			to[i] = v
		}
	},
	elementwise.Equal: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i] == y[i])
		}
	},
	elementwise.Less: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i]^o.flip < y[i]^o.flip)
		}
	},
	elementwise.LessEqual: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i]^o.flip <= y[i]^o.flip)
		}
	},
	elementwise.Greater: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i]^o.flip > y[i]^o.flip)
		}
	},
	elementwise.GreaterEqual: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i]^o.flip >= y[i]^o.flip)
		}
	},
	elementwise.And: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i] != 0) & truth(y[i] != 0)
		}
	},
	elementwise.Or: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i]|y[i] != 0)
		}
	},
	elementwise.Xor: func(o longOperands) {
		to, x, y := o.pairs()
		for i := range to {
			to[i] = truth(x[i] != 0) ^ truth(y[i] != 0)
		}
	},
	elementwise.Not: func(o longOperands) {
		to, x := o.single()
		for i := range to {
			to[i] = truth(x[i] == 0)
		}
	},
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (o *longOperands) divide(signed func(x, y int64) int64, unsigned func(x, y uint64) uint64) {
	to, x, y := o.pairs()
	for i := range to {
		switch {
		case y[i] == 0:
			to[i] = 0
		case o.flip != 0:
			to[i] = int64(unsigned(uint64(x[i]), uint64(y[i])))
		default:
			to[i] = signed(x[i], y[i])
		}
	}
}

// power returns x to the power y; of a negative y 0, but for x of 1 and -1.
func power(x, y int64) int64 {
	if y < 0 {
		if x != 1 && x != -1 {
			return 0
		}
		y &= 1
	}
	result := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			result *= x
		}
		x *= x
	}
	return result
}
