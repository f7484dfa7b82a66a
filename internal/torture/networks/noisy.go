package networks

import (
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// programs reports whether a layer has a program of real numbers that rounds on its way to the result.
func programs(l *graph.Layer) bool {
	integer := func(t *graph.Tensor) bool { return t != nil && t.RealType() != graph.F32 && t.RealType() != graph.F16 }
	e, _ := l.Attrs.(graph.Elementwise)
	return rounds(e.Program) && !slices.ContainsFunc(l.Inputs, integer) || rounds(l.Epilogue) && !slices.ContainsFunc(l.Outputs, integer)
}

func rounds(p graph.Program) bool {
	return len(p.Code) > 1 || len(p.Code) == 1 && (cancels(p.Code[0].Op) || turns(p.Code[0].Op) || p.Code[0].Op == graph.EltEqual)
}

// cancels reports whether an operation's result may be a small difference of numbers of the size of its argument.
func cancels(op graph.EltOp) bool { return op == graph.EltGelu || op == graph.EltGeluTanh }

// turns reports whether an operation is of an angle less whole turns. On GPUs that has rounded by then: near multiples of a half
// turn the result is small, and the error is not.
func turns(op graph.EltOp) bool { return op == graph.EltSin || op == graph.EltCos }

// exact reports whether an operation only chooses, compares or moves numbers to integers.
func exact(op graph.EltOp) bool {
	switch op {
	case graph.EltConst, graph.EltMax, graph.EltMin, graph.EltNeg, graph.EltAbs, graph.EltSign, graph.EltRelu, graph.EltClamp,
		graph.EltFloor, graph.EltCeil, graph.EltRound, graph.EltEqual, graph.EltLess, graph.EltLessEqual, graph.EltGreater,
		graph.EltGreaterEqual, graph.EltAnd, graph.EltOr, graph.EltXor, graph.EltNot, graph.EltSelect:
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

func noisyProgram(rnd *rand.Rand, p graph.Program, size float64, on processor) graph.Program {
	if len(p.Code) == 0 {
		return p
	}
	noisy := graph.Program{Args: p.Args}
	at := make([]int, p.Args, p.Args+len(p.Code)) // each value's place among the noisy ones
	for i := range at {
		at[i] = i
	}
	add := func(op graph.EltOp, imm float32, args ...int) int {
		in := graph.Instr{Op: op, Imm: [2]float32{imm}}
		copy(in.Arg[:], args)
		noisy.Code = append(noisy.Code, in)
		return noisy.Result()
	}
	noise := func(around float64) int {
		return add(graph.EltConst, float32(around+noise32*(2*rnd.Float64()-1)))
	}
	for _, in := range p.Code {
		for k := range in.Op.Info().Arity {
			in.Arg[k] = at[in.Arg[k]]
		}
		if in.Op == graph.EltEqual && in.Arg[0] != in.Arg[1] && rnd.IntN(2) == 0 { // noise alone hardly ever makes two numbers one
			distance := add(graph.EltAbs, 0, add(graph.EltSub, 0, in.Arg[0], in.Arg[1]))
			within := add(graph.EltLessEqual, 0, distance, add(graph.EltConst, 2*noise32*float32(size)))
			in = graph.Instr{Op: graph.EltOr, Arg: [3]int{add(graph.EltEqual, 0, in.Arg[0], in.Arg[1]), within}}
		}
		noisy.Code = append(noisy.Code, in)
		value := noisy.Result()
		if !exact(in.Op) {
			value = add(graph.EltMul, 0, value, noise(1))
		}
		if cancels(in.Op) && rnd.IntN(2) == 0 { // to nothing, whose sign noise alone never has
			size := add(graph.EltMul, 0, add(graph.EltAbs, 0, in.Arg[0]), add(graph.EltConst, noise32))
			none := add(graph.EltLessEqual, 0, add(graph.EltAbs, 0, value), size)
			value = add(graph.EltSelect, 0, none, add(graph.EltConst, 0), value)
		} else if cancels(in.Op) {
			value = add(graph.EltAdd, 0, value, add(graph.EltMul, 0, in.Arg[0], noise(0)))
		}
		if on == gpu && turns(in.Op) {
			value = add(graph.EltAdd, 0, value, noise(0))
		}
		at = append(at, value)
	}
	if r := at[p.Result()]; r != noisy.Result() {
		add(graph.EltMax, 0, r, r)
	}
	return noisy
}
