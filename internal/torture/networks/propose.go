package networks

import (
	"maps"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
)

// proposal makes a node of one operator out of what there is; inference has the last word on it. It is of the operator
// sets from since to until, 0 being the oldest and the newest there are.
type proposal struct {
	since, until int
	make         func(g *generator) *Node
}

// Operators returns the ONNX operators that are generated, sorted.
var Operators = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(proposals)) })

// proposals is the table of all operators. A test walks the op table and finds each of its operators here.
var proposals = table()

func table() map[string]proposal {
	all := map[string]proposal{}
	for _, part := range []map[string]proposal{pointwise(), products(), pools(), norms(), reductions(), moves(), lookups(), sources(), integers(), controls(), sequences(), samples(), texts()} {
		maps.Copy(all, part)
	}
	return all
}

// unaries are the operators of one real input whose attributes are reals: since when, and the attributes.
var unaries = map[string]struct {
	since int
	attrs []string
}{
	"Abs": {}, "Acos": {}, "Acosh": {since: 9}, "Asin": {}, "Asinh": {since: 9}, "Atan": {}, "Atanh": {since: 9}, "Ceil": {},
	"Cos": {}, "Cosh": {since: 9}, "Erf": {since: 9}, "Exp": {}, "Floor": {}, "HardSwish": {since: 14}, "Identity": {}, "IsNaN": {since: 9},
	"Log": {}, "Mish": {since: 18}, "Neg": {}, "Reciprocal": {}, "Relu": {}, "Round": {since: 11}, "Sigmoid": {}, "Sign": {since: 9}, "Sin": {},
	"Sinh": {since: 9}, "Softplus": {}, "Softsign": {}, "Sqrt": {}, "Tan": {}, "Tanh": {}, "GlobalAveragePool": {}, "GlobalMaxPool": {},
	"Elu": {attrs: []string{"alpha"}}, "LeakyRelu": {attrs: []string{"alpha"}}, "Celu": {12, []string{"alpha"}},
	"Selu": {attrs: []string{"alpha", "gamma"}}, "HardSigmoid": {attrs: []string{"alpha", "beta"}}, "Shrink": {9, []string{"lambd", "bias"}},
	"ThresholdedRelu": {10, []string{"alpha"}}, "Swish": {24, []string{"alpha"}},
}

// binaries are the operators of two inputs that broadcast, by the types that they take.
var binaries = map[string]struct {
	since int
	types []numeric.DataType
}{
	"Add": {}, "Sub": {}, "Mul": {}, "Div": {}, "Pow": {}, "Equal": {since: 11}, "Greater": {since: 9}, "Less": {since: 9},
	"GreaterOrEqual": {since: 12}, "LessOrEqual": {since: 12}, "PRelu": {types: []numeric.DataType{numeric.F32}},
	"And": {types: []numeric.DataType{numeric.Bool}}, "Or": {types: []numeric.DataType{numeric.Bool}}, "Xor": {types: []numeric.DataType{numeric.Bool}},
	"BitwiseAnd": {18, whole}, "BitwiseOr": {18, whole}, "BitwiseXor": {18, whole},
}

var whole = []numeric.DataType{numeric.I32, numeric.I64, numeric.U8, numeric.I8}

// numeric returns a type of numbers, mostly F32.
func (g *generator) numeric() numeric.DataType {
	switch g.rnd.IntN(12) {
	case 0:
		return numeric.I64
	case 1:
		return numeric.I32
	}
	return numeric.F32
}

func pointwise() map[string]proposal {
	t := map[string]proposal{}
	for name, u := range unaries {
		low := 0
		if name == "GlobalAveragePool" || name == "GlobalMaxPool" {
			low = 3
		}
		t[name] = proposal{since: u.since, make: func(g *generator) *Node {
			a := attrs{}
			for _, name := range u.attrs {
				if g.flip() {
					a[name] = floatOf([]float32{0.1, 0.25, 0.5, 1, 1.5, 2}[g.rnd.IntN(6)])
				}
			}
			return node(a, g.real(low, 6).Name)
		}}
	}
	for name, b := range binaries {
		t[name] = proposal{since: b.since, make: func(g *generator) *Node {
			typ := g.numeric()
			if b.types != nil {
				typ = b.types[g.rnd.IntN(len(b.types))]
			}
			x := g.pick(typ, 0, 5)
			y := g.operand(x)
			if g.rnd.IntN(3) == 0 && name != "PRelu" && name != "Pow" {
				return node(nil, y, x.Name)
			}
			return node(nil, x.Name, y)
		}}
	}
	for name, since := range map[string]int{"Max": 8, "Min": 8, "Mean": 8, "Sum": 8} {
		t[name] = proposal{since: since, make: func(g *generator) *Node {
			x := g.real(0, 5)
			in := []string{x.Name}
			for range g.rnd.IntN(4) {
				in = append(in, g.operand(x))
			}
			return node(nil, in...)
		}}
	}
	t["Not"] = proposal{make: func(g *generator) *Node { return node(nil, g.pick(numeric.Bool, 0, 5).Name) }}
	t["BitwiseNot"] = proposal{since: 18, make: func(g *generator) *Node { return node(nil, g.pick(whole[g.rnd.IntN(4)], 0, 5).Name) }}
	t["BitShift"] = proposal{since: 11, make: func(g *generator) *Node {
		x := g.pick([]numeric.DataType{numeric.U8, numeric.U32, numeric.U64}[g.rnd.IntN(3)], 0, 4)
		return node(attrs{"direction": stringOf([]string{"LEFT", "RIGHT"}[g.rnd.IntN(2)])}, x.Name, g.operand(x))
	}}
	t["Mod"] = proposal{since: 10, make: func(g *generator) *Node {
		if g.flip() {
			x := g.pick(numeric.I64, 0, 4)
			return node(nil, x.Name, g.ints(1+g.rnd.IntN(7)))
		}
		x := g.real(0, 4)
		return node(attrs{"fmod": intOf(1)}, x.Name, g.operand(x))
	}}
	t["Where"] = proposal{since: 9, make: func(g *generator) *Node {
		x := g.pick(g.numeric(), 0, 4)
		c := g.pickWhere(numeric.Bool, 0, 4, func(c tensor) bool { return slices.Equal(c.value.Dims, x.value.Dims) })
		return node(nil, c.Name, x.Name, g.operand(x))
	}}
	t["IsInf"] = proposal{since: 10, make: func(g *generator) *Node {
		return node(attrs{"detect_positive": boolOf(g.flip()), "detect_negative": boolOf(g.flip())}, g.real(0, 4).Name)
	}}
	t["Gelu"] = proposal{since: 20, make: func(g *generator) *Node {
		return node(attrs{"approximate": stringOf([]string{"none", "tanh"}[g.rnd.IntN(2)])}, g.real(0, 4).Name)
	}}
	t["Dropout"] = proposal{make: func(g *generator) *Node {
		if g.model.Opset < 12 && g.flip() {
			return node(attrs{"ratio": floatOf(0.3)}, g.real(0, 4).Name)
		}
		return node(nil, g.real(0, 4).Name)
	}}
	t["Clip"] = proposal{make: proposeClip}
	t["Cast"] = proposal{make: proposeCast}
	t["BitCast"] = proposal{since: 26, make: func(g *generator) *Node { // of bytes, whose bits rounding does not change
		if x := g.pick(numeric.U8, 0, 4); g.flip() {
			return node(attrs{"to": intOf(3)}, x.Name)
		}
		return node(attrs{"to": intOf(2)}, g.pick(numeric.I8, 0, 4).Name)
	}}
	t["CastLike"] = proposal{since: 15, make: func(g *generator) *Node {
		x := g.pick(castTypes[g.rnd.IntN(len(castTypes))], 0, 4)
		return node(nil, x.Name, g.pick(castTypes[g.rnd.IntN(len(castTypes))], 0, 2).Name)
	}}
	return t
}

func proposeClip(g *generator) *Node {
	x := g.real(0, 5)
	low, high := float32(g.rnd.IntN(4)-2), float32(g.rnd.IntN(5)+1)
	if g.model.Opset < 11 {
		return node(attrs{"min": floatOf(low), "max": floatOf(high)}, x.Name)
	}
	in := []string{x.Name, "", ""}
	if g.flip() {
		in[1] = g.scalar(numeric.F32, float64(low))
	}
	if g.flip() {
		in[2] = g.scalar(numeric.F32, float64(high))
	}
	for in[len(in)-1] == "" {
		in = in[:len(in)-1]
	}
	return node(nil, in...)
}

var castTypes = []numeric.DataType{numeric.F32, numeric.F32, numeric.F16, numeric.F64, numeric.I32, numeric.I64, numeric.U8, numeric.I8, numeric.Bool}

func proposeCast(g *generator) *Node {
	numbers := map[numeric.DataType]int{numeric.F32: 1, numeric.U8: 2, numeric.I8: 3, numeric.I32: 6, numeric.I64: 7, numeric.Bool: 9, numeric.F16: 10, numeric.F64: 11}
	x := g.pick(castTypes[g.rnd.IntN(len(castTypes))], 0, 5)
	return node(attrs{"to": intOf(numbers[castTypes[g.rnd.IntN(len(castTypes))]])}, x.Name)
}
