package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Elementwise is the attribute of every op that is an element-wise program over its inputs.
type Elementwise struct{ Program elementwise.Program }

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
func ProgramOf(l *Layer) (elementwise.Program, bool) {
	e, ok := l.Attrs.(Elementwise)
	for _, t := range l.OpInputs() {
		if t == nil || t.RealType() != numeric.F32 && t.RealType() != numeric.F16 && t.RealType() != numeric.Bool {
			return elementwise.Program{}, false
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
	strings, err := stringsAsNumbers(types)
	if err != nil {
		return err
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
	if strings && out.Type == numeric.I64 {
		out.Type = numeric.Str
	}
	l.inferKnown(p)
	return nil
}

// stringsAsNumbers puts I64, as which they are seen, in the place of strings among the types of operands, if there are any. They
// do not meet numbers.
func stringsAsNumbers(types []numeric.DataType) (any bool, err error) {
	if any = slices.Contains(types, numeric.Str); !any {
		return false, nil
	}
	for i, t := range types {
		switch t {
		case numeric.Str:
			types[i] = numeric.I64
		case numeric.Bool:
		default:
			return true, fmt.Errorf("strings meet %s; a Cast is needed", t)
		}
	}
	return true, nil
}

func evalElementwise(l *Layer, in, out []numeric.Value) error {
	return l.Attrs.(Elementwise).Program.ApplyTyped(in, out[0])
}

// elementwiseTable describes the ONNX operators that are one operation; imms names its float attributes with their defaults.
var elementwiseTable = []struct {
	name string
	op   elementwise.Op
	imms []imm
}{
	{"Abs", elementwise.Abs, nil}, {"Acos", elementwise.Acos, nil}, {"Acosh", elementwise.Acosh, nil}, {"Add", elementwise.Add, nil}, {"And", elementwise.And, nil},
	{"Asin", elementwise.Asin, nil}, {"Asinh", elementwise.Asinh, nil}, {"Atan", elementwise.Atan, nil}, {"Atanh", elementwise.Atanh, nil}, {"Ceil", elementwise.Ceil, nil},
	{"Cos", elementwise.Cos, nil}, {"Cosh", elementwise.Cosh, nil}, {"Div", elementwise.Div, nil}, {"Equal", elementwise.Equal, nil}, {"Erf", elementwise.Erf, nil},
	{"Exp", elementwise.Exp, nil}, {"Floor", elementwise.Floor, nil}, {"Greater", elementwise.Greater, nil}, {"GreaterOrEqual", elementwise.GreaterEqual, nil},
	{"HardSwish", elementwise.HardSwish, nil}, {"Less", elementwise.Less, nil}, {"LessOrEqual", elementwise.LessEqual, nil}, {"Log", elementwise.Log, nil},
	{"Mul", elementwise.Mul, nil}, {"Neg", elementwise.Neg, nil}, {"Not", elementwise.Not, nil}, {"Or", elementwise.Or, nil}, {"Pow", elementwise.Pow, nil},
	{"PRelu", elementwise.PRelu, nil}, {"Reciprocal", elementwise.Reciprocal, nil}, {"Relu", elementwise.Relu, nil}, {"Round", elementwise.Round, nil},
	{"Sigmoid", elementwise.Sigmoid, nil}, {"Sign", elementwise.Sign, nil}, {"Sin", elementwise.Sin, nil}, {"Sinh", elementwise.Sinh, nil},
	{"Softplus", elementwise.Softplus, nil}, {"Softsign", elementwise.Softsign, nil}, {"Sqrt", elementwise.Sqrt, nil}, {"Sub", elementwise.Sub, nil},
	{"Tan", elementwise.Tan, nil}, {"Tanh", elementwise.Tanh, nil}, {"Where", elementwise.Select, nil}, {"Xor", elementwise.Xor, nil},
	{"HardSigmoid", elementwise.HardSigmoid, []imm{{"alpha", 0.2}, {"beta", 0.5}}},
	{"LeakyRelu", elementwise.LeakyRelu, []imm{{"alpha", 0.01}}},
	{"Elu", elementwise.Elu, []imm{{"alpha", 1}}},
	{"Selu", elementwise.Selu, []imm{{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
}

type imm struct {
	name string
	def  float32
}

// elementwiseOps returns an op for each row of the table, and for each operator that imports as a longer program.
func elementwiseOps() []*Op {
	var ops []*Op
	for _, e := range elementwiseTable {
		op := elementwiseOp(e.name)
		op.Onnx = []string{e.name}
		if e.op == elementwise.Equal || e.op == elementwise.Select {
			op.Strings = StringsOrdered
		}
		op.Import = func(n *Node) (any, []*Tensor, error) {
			var imms []float32
			for _, m := range e.imms {
				imms = append(imms, n.Float(m.name, m.def))
			}
			return Elementwise{elementwise.Of(e.op, imms...)}, n.Inputs, nil
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

// inferKnown follows known elements through an element-wise layer.
func (l *Layer) inferKnown(p elementwise.Program) {
	out := l.Outputs[0]
	out.Value = nil
	n, ok := countDims(out.Dims)
	if !ok || n > maxKnownValue || out.Type != numeric.I64 && out.Type != numeric.I32 && out.Type != numeric.Bool {
		return
	}
	args := make([]numeric.Value, p.Args) // only their shapes count
	for i, t := range l.OpInputs() {
		m, ok := countDims(t.Dims)
		if !ok || t.Value == nil || len(t.Value) != m {
			return
		}
		args[i] = numeric.Value{Dims: symbolic.Eval(t.Dims, nil)}
	}
	known := make([]symbolic.Dim, n)
	vals := make([]symbolic.Dim, p.Args)
	err := elementwise.Each(args, numeric.Value{Dims: symbolic.Eval(out.Dims, nil)}, func(i int, places []int) {
		for a, at := range places {
			vals[a] = l.Inputs[a].Value[at]
		}
		d, yes := p.EvalDims(vals)
		if !yes {
			d, yes = l.ofExtents(p, vals)
		}
		if v, isConst := d.IsConst(); isConst && out.Type == numeric.I32 && (v < math.MinInt32 || v > math.MaxInt32) {
			yes = false
		}
		known[i] = d
		ok = ok && yes
	})
	if err == nil && ok {
		out.Value = known
	}
}

// ofExtents computes p where extents of tensors among vals, which a Shape before l reads, need not be known for it but that they are not
// negative: exporters ask of each extent of a shape whether it is -1, and div(n,20)-1 is not where a tensor has it.
func (l *Layer) ofExtents(p elementwise.Program, vals []symbolic.Dim) (symbolic.Dim, bool) {
	vals = slices.Clone(vals)
	left := followed
	extents := l.shapesBefore(&left, nil)
	for i, d := range vals {
		if slices.ContainsFunc(extents, d.Equal) {
			vals[i] = symbolic.Symbol(fmt.Sprintf("extent%d", slices.IndexFunc(extents, d.Equal)))
		} else if _, fixed := d.IsConst(); !fixed {
			return symbolic.Dim{}, false
		}
	}
	d, ok := p.EvalDims(vals)
	_, fixed := d.IsConst()
	return d, ok && fixed
}

// readsExtent reports whether d is the extent of a tensor that a Shape before l reads: it is not negative.
func (l *Layer) readsExtent(d symbolic.Dim) bool {
	left := followed
	return slices.ContainsFunc(l.shapesBefore(&left, nil), d.Equal)
}

// shapesBefore adds the extents to list that are read by those of the layers before l, as many as are left, from which its known inputs
// follow.
func (l *Layer) shapesBefore(left *int, list []symbolic.Dim) []symbolic.Dim {
	for _, t := range l.Inputs {
		if t == nil || t.Value == nil || t.Producer == nil || *left <= 0 {
			continue
		}
		if *left--; t.Producer.Op == ShapeOf {
			list = append(list, t.Producer.Inputs[0].Dims...)
		} else {
			list = t.Producer.shapesBefore(left, list)
		}
	}
	return list
}
