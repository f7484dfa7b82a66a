package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// programArg is an argument of a program that is exported: its name and the type that it has in the program.
type programArg struct {
	name string
	typ  numeric.DataType
}

// program adds the nodes of an element-wise program: one for each instruction, with casts where ONNX does not convert. It may
// change args.
func (e *Exporter) program(p elementwise.Program, args []programArg, output string, outType numeric.DataType) error {
	var types []numeric.DataType
	for i, a := range args {
		if len(p.Code) > 1 && (a.typ == numeric.F16 || a.typ == numeric.BF16) { // what comes in between is not rounded to 16 bits
			args[i] = programArg{e.Step("Cast", Attributes{"to": numeric.F32}, a.name), numeric.F32}
		}
		types = append(types, args[i].typ)
	}
	types, err := p.Types(types)
	if err != nil {
		return err
	}
	x := &programExport{e: e, p: p, types: types, names: make([]string, p.Args+len(p.Code))}
	for i, a := range args {
		x.names[i] = a.name
	}
	for k := range p.Code {
		if err := x.instruction(k); err != nil {
			return err
		}
	}
	last, err := x.operand(p.Result(), outType)
	if err != nil {
		return err
	}
	// The last node writes the output, unless it is a value that is not the program's own.
	if n := len(e.Nodes); n > 0 && len(p.Code) > 0 && e.Nodes[n-1].Outputs[0] == last {
		e.Nodes[n-1].Outputs[0] = output
		return nil
	}
	return e.add(OldestExport, "Identity", nil, []string{last}, []string{output})
}

// programExport is the state of one program.
type programExport struct {
	e     *Exporter
	p     elementwise.Program
	types []numeric.DataType
	names []string // of the values; "" for constants, which are made for each use
}

// operand returns the name of a value, converted to type t.
func (x *programExport) operand(value int, t numeric.DataType) (string, error) {
	have := x.types[value]
	if have == numeric.Invalid { // a constant, or what only constants make
		if value >= x.p.Args && x.p.Code[value-x.p.Args].Op == elementwise.Const {
			return x.e.number("const", t, float64(x.p.Code[value-x.p.Args].Imm[0]))
		}
		have = numeric.F32
	}
	if have == t {
		return x.names[value], nil
	}
	return x.e.Step("Cast", Attributes{"to": t}, x.names[value]), nil
}

// instruction adds the nodes of instruction k.
func (x *programExport) instruction(k int) error {
	in := x.p.Code[k]
	if in.Op == elementwise.Const {
		return nil
	}
	arity := in.Op.Info().Arity
	var operands []numeric.DataType
	for _, a := range in.Arg[:arity] {
		operands = append(operands, x.types[a])
	}
	want, err := operandTypes(in.Op, operands)
	if err != nil {
		return err
	}
	var args []string
	for i, a := range in.Arg[:arity] {
		name, err := x.operand(a, want[i])
		if err != nil {
			return err
		}
		args = append(args, name)
	}
	name, err := x.e.operation(in, want[arity-1], args)
	if result := x.types[x.p.Args+k]; in.Op == elementwise.Pow && want[0] != result && result != numeric.Invalid {
		name = x.e.Step("Cast", Attributes{"to": result}, name)
	}
	x.names[x.p.Args+k] = name
	return err
}

// operandTypes returns the types in which ONNX's operator takes operands of the given types; Invalid is a constant's.
func operandTypes(op elementwise.Op, have []numeric.DataType) ([]numeric.DataType, error) {
	want := make([]numeric.DataType, len(have))
	join := func(list []numeric.DataType) (numeric.DataType, error) {
		t, err := elementwise.JoinTypes(list)
		if t == numeric.Invalid {
			t = numeric.F32
		}
		return t, err
	}
	switch {
	case op == elementwise.And || op == elementwise.Or || op == elementwise.Xor || op == elementwise.Not:
		for i := range want {
			want[i] = numeric.Bool
		}
		return want, nil
	case op == elementwise.Pow: // the exponent may be of another type
		for i, t := range have {
			if want[i] = t; t == numeric.Invalid {
				want[i] = numeric.F32
			}
		}
		if have[0] != numeric.Invalid && have[1] == numeric.Invalid {
			want[1] = have[0]
			if !have[0].IsFloat() {
				want[1] = numeric.F32
			}
		}
		want[0], _ = wider("Pow", want[0])
		return want, nil
	case op == elementwise.Select:
		t, err := join(have[1:])
		return []numeric.DataType{numeric.Bool, t, t}, err
	}
	t, err := join(have)
	if t == numeric.Bool && op != elementwise.Equal { // order is of numbers
		t = numeric.I32
	}
	for i := range want {
		want[i] = t
	}
	return want, err
}

// operation adds the nodes of one operation on operands of type t, and returns the name of the result.
func (e *Exporter) operation(in elementwise.Instr, t numeric.DataType, args []string) (string, error) {
	switch in.Op {
	case elementwise.Max:
		return e.Step("Max", nil, args...), nil
	case elementwise.Min:
		return e.Step("Min", nil, args...), nil
	case elementwise.Mod:
		return e.Step("Mod", Attributes{"fmod": 1}, args...), nil
	case elementwise.Silu:
		return e.Step("Mul", nil, args[0], e.Step("Sigmoid", nil, args[0])), nil
	case elementwise.Gelu:
		return e.Step("Gelu", nil, args...), nil
	case elementwise.GeluTanh:
		return e.Step("Gelu", Attributes{"approximate": "tanh"}, args...), nil
	case elementwise.Clamp:
		lo, err := e.number("min", t, float64(in.Imm[0]))
		if err != nil {
			return "", err
		}
		hi, err := e.number("max", t, float64(in.Imm[1]))
		return e.Step("Clip", nil, args[0], lo, hi), err
	case elementwise.PRelu: // ONNX's broadcasts to the first tensor's shape alone
		zero, err := e.number("zero", t, 0)
		return e.Step("Where", nil, e.Step("GreaterOrEqual", nil, args[0], zero), args[0], e.Step("Mul", nil, args...)), err
	case elementwise.Relu:
		if t.IsInteger() && !t.Signed() {
			return args[0], nil
		}
	case elementwise.Neg:
		if t == numeric.U8 || t == numeric.U16 || t == numeric.U32 || t == numeric.U64 {
			zero, err := e.number("zero", t, 0)
			return e.Step("Sub", nil, zero, args[0]), err
		}
	}
	for _, row := range elementwiseTable {
		if row.op != in.Op {
			continue
		}
		var attrs Attributes
		for i, m := range row.imms {
			if attrs == nil {
				attrs = Attributes{}
			}
			attrs[m.name] = in.Imm[i]
		}
		return e.Step(row.name, attrs, args...), nil
	}
	return "", fmt.Errorf("%s has no form in ONNX", in.Op)
}

func sameProgram(p, q elementwise.Program) bool {
	return p.Args == q.Args && slices.Equal(p.Code, q.Code)
}

// exportElementwise writes an element-wise layer as the operator that it was imported from where that gives its program, and
// otherwise as one node for each operation.
func exportElementwise(e *Exporter) error {
	l := e.Layer
	p := l.Attrs.(Elementwise).Program
	if l.Op.Strings == StringsOrdered && slices.ContainsFunc(l.OpInputs(), func(t *Tensor) bool { return t.Type == numeric.Str }) {
		return e.Node(l.Op.Onnx[0], nil)
	}
	if len(l.Op.Onnx) > 0 && (len(p.Code) != 1 || p.Code[0].Op == elementwise.Mod) {
		for _, fmod := range []int64{0, 1} {
			node := &Node{Name: l.Name, OpType: l.Op.Onnx[0], Version: OldestExport, Inputs: l.OpInputs(), Outputs: 1, Attrs: map[string]Attr{}}
			var attrs Attributes
			if l.Op.Name == "Mod" {
				node.Attrs["fmod"] = Attr{Kind: AttrInt, Int: fmod}
				attrs = Attributes{"fmod": int(fmod)}
			}
			made, _, err := l.Op.Import(node)
			if err == nil && sameProgram(made.(Elementwise).Program, p) && l.Op.Name != "Swish" {
				return e.Node(l.Op.Onnx[0], attrs)
			}
		}
	}
	if x := l.Inputs[0]; l.Op.Name == "PRelu" && x.Type.IsFloat() && x.Type == l.Inputs[1].Type && symbolic.Equal(x.Dims, l.Outputs[0].Dims) {
		return e.Node("PRelu", nil)
	}
	var args []programArg
	for _, t := range l.OpInputs() {
		args = append(args, programArg{t.Name, t.RealType()})
	}
	return e.program(p, args, e.outputs[0], l.Outputs[0].Type)
}
