package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Elementwise is the attribute of every op that is an element-wise program over its inputs.
type Elementwise struct{ Program Program }

func (e Elementwise) String() string { return e.Program.String() }

// Pointwise is a region of element-wise layers fused into one: its program over its inputs, which broadcast to the
// output's shape.
var Pointwise = elementwiseOp("Pointwise")

// elementwiseOp returns an op whose layers' attribute is a program.
func elementwiseOp(name string) *Op {
	return &Op{Name: name, Attrs: Elementwise{}, Class: ClassElementwise, Inputs: []Role{Data}, Memory: Written,
		Moves: computed,
		FLOPs: programFLOPs,
		Infer: inferElementwise, Eval: evalElementwise, Export: exportElementwise}
}

// ProgramOf returns the program of a layer whose op is element-wise over real numbers.
func ProgramOf(l *Layer) (Program, bool) {
	e, ok := l.Attrs.(Elementwise)
	for _, t := range l.OpInputs() {
		if t == nil || t.RealType() != numeric.F32 && t.RealType() != numeric.F16 && t.RealType() != numeric.Bool {
			return Program{}, false
		}
	}
	return e.Program, ok
}

// inferElementwise broadcasts the inputs' shapes; the type is what the program makes of the inputs' types.
func inferElementwise(l *Layer) error {
	p := l.Attrs.(Elementwise).Program
	if err := p.Check(); err != nil {
		return err
	}
	if len(l.OpInputs()) != p.Args {
		return fmt.Errorf("%d inputs, want %d", len(l.OpInputs()), p.Args)
	}
	shapes, types := make([][]symbolic.Dim, p.Args), make([]numeric.DataType, p.Args)
	for i := range shapes {
		t, err := l.need(i)
		if err != nil {
			return err
		}
		shapes[i], types[i] = t.Dims, t.RealType()
	}
	dims, err := BroadcastDims(shapes...)
	if err != nil {
		return err
	}
	all, err := p.Types(types)
	if err != nil {
		return err
	}
	out := l.Outputs[0]
	out.Type, out.Dims = numeric.F32, dims
	if len(all) > 0 && all[p.Result()] != numeric.Invalid {
		out.Type = all[p.Result()]
	}
	l.inferKnown(p)
	return nil
}

func evalElementwise(l *Layer, in, out []numeric.Value) error {
	return l.Attrs.(Elementwise).Program.applyTyped(in, out[0])
}

// elementwise describes the ONNX operators that are one EltOp; imms names its float attributes with their defaults.
var elementwise = []struct {
	name string
	op   EltOp
	imms []imm
}{
	{"Abs", EltAbs, nil}, {"Acos", EltAcos, nil}, {"Acosh", EltAcosh, nil}, {"Add", EltAdd, nil}, {"And", EltAnd, nil},
	{"Asin", EltAsin, nil}, {"Asinh", EltAsinh, nil}, {"Atan", EltAtan, nil}, {"Atanh", EltAtanh, nil}, {"Ceil", EltCeil, nil},
	{"Cos", EltCos, nil}, {"Cosh", EltCosh, nil}, {"Div", EltDiv, nil}, {"Equal", EltEqual, nil}, {"Erf", EltErf, nil},
	{"Exp", EltExp, nil}, {"Floor", EltFloor, nil}, {"Greater", EltGreater, nil}, {"GreaterOrEqual", EltGreaterEqual, nil},
	{"HardSwish", EltHardSwish, nil}, {"Less", EltLess, nil}, {"LessOrEqual", EltLessEqual, nil}, {"Log", EltLog, nil},
	{"Mul", EltMul, nil}, {"Neg", EltNeg, nil}, {"Not", EltNot, nil}, {"Or", EltOr, nil}, {"Pow", EltPow, nil},
	{"PRelu", EltPRelu, nil}, {"Reciprocal", EltReciprocal, nil}, {"Relu", EltRelu, nil}, {"Round", EltRound, nil},
	{"Sigmoid", EltSigmoid, nil}, {"Sign", EltSign, nil}, {"Sin", EltSin, nil}, {"Sinh", EltSinh, nil},
	{"Softplus", EltSoftplus, nil}, {"Softsign", EltSoftsign, nil}, {"Sqrt", EltSqrt, nil}, {"Sub", EltSub, nil},
	{"Tan", EltTan, nil}, {"Tanh", EltTanh, nil}, {"Where", EltSelect, nil}, {"Xor", EltXor, nil},
	{"HardSigmoid", EltHardSigmoid, []imm{{"alpha", 0.2}, {"beta", 0.5}}},
	{"LeakyRelu", EltLeakyRelu, []imm{{"alpha", 0.01}}},
	{"Elu", EltElu, []imm{{"alpha", 1}}},
	{"Selu", EltSelu, []imm{{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
}

type imm struct {
	name string
	def  float32
}

// elementwiseOps returns an op for each row of the table, and for each operator that imports as a longer program.
func elementwiseOps() []*Op {
	var ops []*Op
	for _, e := range elementwise {
		op := elementwiseOp(e.name)
		op.Onnx = []string{e.name}
		op.Import = func(n *Node) (any, []*Tensor, error) {
			in := Instr{Op: e.op, Arg: [3]int{0, 1, 2}}
			for i, m := range e.imms {
				in.Imm[i] = n.Float(m.name, m.def)
			}
			p := Program{Args: e.op.Info().Arity, Code: []Instr{in}}
			return Elementwise{p}, n.Inputs, nil
		}
		ops = append(ops, op)
	}
	for _, c := range composed {
		op := elementwiseOp(c.name)
		op.Onnx = []string{c.name}
		op.Import = func(n *Node) (any, []*Tensor, error) {
			if _, err := n.rank(0); err != nil {
				return nil, nil, err
			}
			p, inputs, err := c.program(n)
			return Elementwise{p}, inputs, err
		}
		ops = append(ops, op)
	}
	return ops
}
