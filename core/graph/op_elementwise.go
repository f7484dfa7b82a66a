package graph

import "fmt"

// Elementwise is the attribute of every op that is an element-wise program over its inputs.
type Elementwise struct{ Program Program }

func (e Elementwise) String() string { return e.Program.String() }

// Pointwise is a region of element-wise layers fused into one: its program over its inputs, which broadcast to the
// output's shape.
var Pointwise = &Op{Name: "Pointwise", Attrs: Elementwise{}, Infer: inferElementwise, Eval: evalElementwise}

// ProgramOf returns the program of a layer whose op is element-wise over real numbers.
func ProgramOf(l *Layer) (Program, bool) {
	e, ok := l.Attrs.(Elementwise)
	for _, t := range l.OpInputs() {
		if t == nil || t.RealType() != F32 && t.RealType() != F16 && t.RealType() != Bool {
			return Program{}, false
		}
	}
	return e.Program, ok
}

// elementwise describes the ONNX operators that are one EltOp; imms names its float attributes with their defaults.
var elementwise = []struct {
	name string
	op   EltOp
	imms []imm
}{
	{"Add", EltAdd, nil}, {"Sub", EltSub, nil}, {"Mul", EltMul, nil}, {"Div", EltDiv, nil},
	{"PRelu", EltPRelu, nil},
	{"Neg", EltNeg, nil}, {"Abs", EltAbs, nil}, {"Sign", EltSign, nil}, {"Relu", EltRelu, nil},
	{"Sqrt", EltSqrt, nil}, {"Reciprocal", EltReciprocal, nil}, {"Exp", EltExp, nil}, {"Log", EltLog, nil},
	{"Sin", EltSin, nil}, {"Cos", EltCos, nil}, {"Tanh", EltTanh, nil}, {"Erf", EltErf, nil}, {"Sigmoid", EltSigmoid, nil},
	{"Floor", EltFloor, nil}, {"Ceil", EltCeil, nil}, {"Round", EltRound, nil},
	{"HardSwish", EltHardSwish, nil}, {"Softplus", EltSoftplus, nil}, {"Softsign", EltSoftsign, nil},
	{"HardSigmoid", EltHardSigmoid, []imm{{"alpha", 0.2}, {"beta", 0.5}}},
	{"LeakyRelu", EltLeakyRelu, []imm{{"alpha", 0.01}}},
	{"Elu", EltElu, []imm{{"alpha", 1}}},
	{"Selu", EltSelu, []imm{{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
}

type imm struct {
	name string
	def  float32
}

// elementwiseOps returns an op for each row of the table, and those element-wise ops whose import says more.
func elementwiseOps() []*Op {
	var ops []*Op
	for _, e := range elementwise {
		ops = append(ops, &Op{
			Name: e.name, Attrs: Elementwise{}, Infer: inferElementwise, Eval: evalElementwise, Onnx: []string{e.name},
			Import: func(n *Node) (any, []*Tensor, error) {
				in := Instr{Op: e.op, Arg: [3]int{0, 1, 2}}
				for i, m := range e.imms {
					in.Imm[i] = n.Float(m.name, m.def)
				}
				return Elementwise{Program{Args: e.op.Info().Arity, Code: []Instr{in}}}, n.Inputs, nil
			},
		})
	}
	return ops
}

func inferElementwise(l *Layer) error {
	p := l.Attrs.(Elementwise).Program
	if len(l.OpInputs()) != p.Args {
		return fmt.Errorf("%d inputs, want %d", len(l.OpInputs()), p.Args)
	}
	shapes := make([][]Dim, p.Args)
	for i := range shapes {
		t, err := l.need(i)
		if err != nil {
			return err
		}
		shapes[i] = t.Dims
	}
	dims, err := BroadcastDims(shapes...)
	if err != nil {
		return err
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = l.Inputs[0].RealType(), dims
	return nil
}

func evalElementwise(l *Layer, in, out []Value) error {
	return l.Attrs.(Elementwise).Program.Apply(in, out[0])
}
