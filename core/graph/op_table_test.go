package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// tableTensor is a tensor of testdata/ops.json, where infinities and NaN are strings.
type tableTensor struct {
	Type  numeric.DataType
	Dims  []int
	Data  []any
	Const bool
}

type tableCase struct {
	Op      string
	Version int
	Attrs   map[string]struct {
		Kind  int // onnx.AttributeProto.AttributeType
		Value json.RawMessage
	}
	Inputs  []*tableTensor
	Outputs []*tableTensor
}

func (t *tableTensor) value() numeric.Value {
	if t.Type == numeric.Str {
		list := make([]string, len(t.Data))
		for i, d := range t.Data {
			list[i] = d.(string)
		}
		return numeric.Strings(list, t.Dims...)
	}
	v := numeric.NewValue(t.Type, t.Dims...)
	floats, ints := make([]float64, len(t.Data)), make([]int64, len(t.Data))
	for i, d := range t.Data {
		s := fmt.Sprint(d)
		floats[i], _ = strconv.ParseFloat(s, 64)
		if n, err := strconv.ParseUint(s, 10, 64); err == nil {
			ints[i] = int64(n)
		} else {
			ints[i], _ = strconv.ParseInt(s, 10, 64)
		}
	}
	if t.Type.IsFloat() {
		v.SetFloats(floats)
	} else {
		v.SetInts(ints, t.Type == numeric.U64)
	}
	return v
}

func (c tableCase) attrs(t *testing.T) map[string]Attr {
	attrs := map[string]Attr{}
	for name, a := range c.Attrs {
		var attr Attr
		var target any
		switch a.Kind {
		case 1:
			attr.Kind, target = AttrFloat, &attr.Float
		case 2:
			attr.Kind, target = AttrInt, &attr.Int
		case 3:
			attr.Kind, target = AttrString, &attr.String
		case 4:
			tensor := &tableTensor{}
			if err := decode(a.Value, tensor); err != nil {
				t.Fatal(err)
			}
			attrs[name] = Attr{Kind: AttrTensor, Tensor: tensor.value()}
			continue
		case 6:
			attr.Kind, target = AttrFloats, &attr.Floats
		case 7:
			attr.Kind, target = AttrInts, &attr.Ints
		case 8:
			attr.Kind, target = AttrStrings, &attr.Strings
		default:
			t.Fatalf("attribute %s of kind %d", name, a.Kind)
		}
		if err := decode(a.Value, target); err != nil {
			t.Fatal(err)
		}
		attrs[name] = attr
	}
	return attrs
}

func decode(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(to)
}

// layer imports the case into a network of one layer. With symbolic, the extents of inputs that are not constant are
// symbols.
func (c tableCase) layer(t *testing.T, open bool) (*Network, *Layer, map[string]numeric.Value, error) {
	n, inputs := NewNetwork("case"), map[string]numeric.Value{}
	node := &Node{Name: "node", OpType: c.Op, Version: c.Version, Outputs: len(c.Outputs), Attrs: c.attrs(t)}
	for i, in := range c.Inputs {
		switch name := fmt.Sprintf("x%d", i); {
		case in == nil:
			node.Inputs = append(node.Inputs, nil)
		case in.Const:
			node.Inputs = append(node.Inputs, n.AddConst(name, in.value()))
		default:
			dims := symbolic.Shape(in.Dims...)
			for a := range dims {
				if open && in.Dims[a] > 1 {
					dims[a] = symbolic.Symbol(fmt.Sprintf("s%d_%d", i, a))
				}
			}
			inputs[name] = in.value()
			node.Inputs = append(node.Inputs, n.AddInput(name, in.Type, dims...))
		}
	}
	op := Ops().Onnx("", c.Op)
	if op == nil {
		t.Fatalf("no op imports %s", c.Op)
	}
	attrs, args := any(nil), node.Inputs
	if op.Import != nil {
		var err error
		if attrs, args, err = op.Import(node); err != nil {
			return nil, nil, nil, err
		}
		if errs := node.Errs(); len(errs) > 0 {
			return nil, nil, nil, errs[0]
		}
	}
	names := make([]string, len(c.Outputs))
	for i := range names {
		names[i] = fmt.Sprintf("y%d", i)
	}
	l, err := n.Add("node", op, attrs, args, names...)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, y := range l.Outputs {
		n.MarkOutput(y)
	}
	return n, l, inputs, n.Verify()
}

func readTable(t *testing.T) []tableCase {
	data, err := os.ReadFile("testdata/ops.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []tableCase
	if err := decode(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func (c tableCase) name(i int) string { return fmt.Sprintf("%d_%s", i, c.Op) }

// TestOpTable compares every op with what onnx.reference computes; testdata/ops.py made the cases.
func TestOpTable(t *testing.T) {
	for i, c := range readTable(t) {
		t.Run(c.name(i), func(t *testing.T) {
			n, l, inputs, err := c.layer(t, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(l.Attrs); err != nil {
				t.Error(err)
			}
			out, err := n.Eval(context.Background(), inputs, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, want := range c.Outputs {
				compareTable(t, l, out[fmt.Sprintf("y%d", k)], want.value())
			}
		})
	}
}

// compareTable wants integers to be equal and real numbers to agree within some roundings.
func compareTable(t *testing.T, l *Layer, got, want numeric.Value) {
	t.Helper()
	if got.Type != want.Type || fmt.Sprint(got.Dims) != fmt.Sprint(want.Dims) {
		t.Errorf("%s: got %s%v, want %s%v", l, got.Type, got.Dims, want.Type, want.Dims)
		return
	}
	if !want.Type.IsFloat() {
		if !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: got %v, want %v", l, got.Ints(), want.Ints())
		}
		return
	}
	tolerance := map[numeric.DataType]float64{numeric.F64: 1e-12, numeric.F32: 2e-6, numeric.F16: 2e-3}[want.Type]
	g, w := got.Float64s(), want.Float64s()
	for i := range w {
		same := g[i] == w[i] || math.IsNaN(g[i]) && math.IsNaN(w[i])
		if !same && !(math.Abs(g[i]-w[i]) <= tolerance*math.Max(1, math.Abs(w[i]))) {
			t.Errorf("%s: element %d is %v, want %v", l, i, g[i], w[i])
			return
		}
	}
}

// TestOpTableSymbolic infers every case with symbols for extents: what is inferred must be the shape, or be refused.
func TestOpTableSymbolic(t *testing.T) {
	inferred := map[string]bool{}
	for i, c := range readTable(t) {
		t.Run(c.name(i), func(t *testing.T) {
			inferred[c.Op] = inferred[c.Op] || false
			n, l, inputs, err := c.layer(t, true)
			if err != nil {
				return
			}
			env, err := n.Bind(inputs)
			if err != nil {
				t.Fatal(err)
			}
			for k, y := range l.Outputs {
				want := c.Outputs[k]
				if got := symbolic.Eval(y.Dims, env); fmt.Sprint(got) != fmt.Sprint(want.Dims) {
					t.Errorf("%s: got %v, want %v", l, got, want.Dims)
				}
				for j, d := range y.Value {
					if got := d.Eval(env); int64(got) != want.value().Ints()[j] {
						t.Errorf("%s: known element %d is %v, want %v", l, j, d, want.Data[j])
					}
				}
			}
			inferred[c.Op] = true
		})
	}
	for _, op := range Ops().All() {
		if done, tried := inferred[op.Name]; tried && !done {
			t.Errorf("%s: no case was inferred symbolically", op.Name)
		}
	}
}

// TestElementwiseOpsAreAlike: an operator is imported as the program that a rewrite makes of its operation.
func TestElementwiseOpsAreAlike(t *testing.T) {
	for _, e := range elementwiseTable {
		node := &Node{OpType: e.name}
		attrs, _, err := Ops().Onnx("", e.name).Import(node)
		if err != nil {
			t.Fatal(err)
		}
		var imms []float32
		for _, m := range e.imms {
			imms = append(imms, m.def)
		}
		if got := attrs.(Elementwise).Program; !reflect.DeepEqual(got, elementwise.Of(e.op, imms...)) {
			t.Errorf("%s: %#v", e.name, got)
		}
	}
}
