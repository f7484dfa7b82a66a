package networks

import (
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// programs reports whether a layer has a program of real numbers that rounds on its way to the result.
func programs(l *graph.Layer) bool {
	integer := func(t *graph.Tensor) bool {
		return t != nil && t.RealType() != numeric.F32 && t.RealType() != numeric.F16
	}
	e, _ := l.Attrs.(graph.Elementwise)
	return rounds(e.Program) && !slices.ContainsFunc(l.Inputs, integer) || rounds(l.Epilogue) && !slices.ContainsFunc(l.Outputs, integer)
}

func rounds(p elementwise.Program) bool {
	return len(p.Code) > 1 || len(p.Code) == 1 && (cancels(p.Code[0].Op) || turns(p.Code[0].Op) || p.Code[0].Op == elementwise.Equal)
}

// cancels reports whether an operation's result may be a small difference of numbers of the size of its argument, times that of its slope.
func cancels(op elementwise.Op) bool {
	switch op {
	case elementwise.Gelu, elementwise.GeluTanh, elementwise.HardSwish, elementwise.HardSigmoid:
		return true
	}
	return false
}

// turns reports whether an operation is of an angle less whole turns. On GPUs that has rounded by then: near multiples of a half
// turn the result is small, and the error is not.
func turns(op elementwise.Op) bool { return op == elementwise.Sin || op == elementwise.Cos }

// exact reports whether an operation only chooses, compares or moves numbers to integers.
func exact(op elementwise.Op) bool {
	switch op {
	case elementwise.Const, elementwise.Max, elementwise.Min, elementwise.Neg, elementwise.Abs, elementwise.Sign, elementwise.Relu, elementwise.Clamp,
		elementwise.Floor, elementwise.Ceil, elementwise.Round, elementwise.Equal, elementwise.Less, elementwise.LessEqual, elementwise.Greater,
		elementwise.GreaterEqual, elementwise.And, elementwise.Or, elementwise.Xor, elementwise.Not, elementwise.Select:
		return true
	}
	return false
}

// noisy returns the layer with noise behind each instruction of its programs: what a kernel rounds there, nobody sees behind
// the layer. Its inputs are of so large a size.
func noisy(rnd *rand.Rand, l *graph.Layer, size float64, on processor) *graph.Layer {
	c := *l
	if e, ok := l.Attrs.(graph.Elementwise); ok {
		e.Program = noisyProgram(rnd, e.Program, size, on)
		c.Attrs = e
	}
	c.Epilogue = noisyProgram(rnd, l.Epilogue, size, on)
	return &c
}

func noisyProgram(rnd *rand.Rand, p elementwise.Program, size float64, on processor) elementwise.Program {
	if len(p.Code) == 0 {
		return p
	}
	noisy := elementwise.Program{Args: p.Args}
	at := make([]int, p.Args, p.Args+len(p.Code)) // each value's place among the noisy ones
	for i := range at {
		at[i] = i
	}
	add := func(op elementwise.Op, imm float32, args ...int) int {
		in := elementwise.Instr{Op: op, Imm: [2]float32{imm}}
		copy(in.Arg[:], args)
		noisy.Code = append(noisy.Code, in)
		return noisy.Result()
	}
	noise := func(around float64) int {
		return add(elementwise.Const, float32(around+noise32*(2*rnd.Float64()-1)))
	}
	for _, in := range p.Code {
		for k := range in.Op.Info().Arity {
			in.Arg[k] = at[in.Arg[k]]
		}
		if in.Op == elementwise.Equal && in.Arg[0] != in.Arg[1] && rnd.IntN(2) == 0 { // noise alone hardly ever makes two numbers one
			distance := add(elementwise.Abs, 0, add(elementwise.Sub, 0, in.Arg[0], in.Arg[1]))
			within := add(elementwise.LessEqual, 0, distance, add(elementwise.Const, 2*noise32*float32(size)))
			in = elementwise.Instr{Op: elementwise.Or, Arg: [3]int{add(elementwise.Equal, 0, in.Arg[0], in.Arg[1]), within}}
		}
		noisy.Code = append(noisy.Code, in)
		value := noisy.Result()
		if !exact(in.Op) {
			value = add(elementwise.Mul, 0, value, noise(1))
		}
		slope := float32(1)
		if in.Op == elementwise.HardSigmoid {
			slope = in.Imm[0]
		}
		if cancels(in.Op) && rnd.IntN(2) == 0 { // to nothing, whose sign noise alone never has
			size := add(elementwise.Mul, 0, add(elementwise.Abs, 0, in.Arg[0]), add(elementwise.Const, noise32*max(slope, -slope)))
			none := add(elementwise.LessEqual, 0, add(elementwise.Abs, 0, value), size)
			value = add(elementwise.Select, 0, none, add(elementwise.Const, 0), value)
		} else if cancels(in.Op) {
			value = add(elementwise.Add, 0, value, add(elementwise.Mul, 0, in.Arg[0], add(elementwise.Const, slope*noise32*float32(2*rnd.Float64()-1))))
		}
		if on == gpu && turns(in.Op) {
			value = add(elementwise.Add, 0, value, noise(0))
		}
		at = append(at, value)
	}
	if r := at[p.Result()]; r != noisy.Result() {
		add(elementwise.Max, 0, r, r)
	}
	return noisy
}
