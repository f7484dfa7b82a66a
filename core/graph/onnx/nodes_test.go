package onnx

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// nodeCase is a node with inputs and what ONNX Runtime computes for it; see testdata/nodes.py, geometry.py and microsoft.py.
type nodeCase struct {
	Name, Op, Domain string
	Opset            int64
	Version          int64 // of the domain's operators; 0: 1
	Attrs            map[string]json.RawMessage
	Consts           []int
	Inputs           []*nodeTensor
	Outputs          []*nodeTensor // nil for one that is not asked for
	Steps            float64       // that integers may be from those expected
	Within           float64       // that real numbers may be, where not the usual tolerance
}

type nodeTensor struct {
	Type  numeric.DataType
	Dims  []int
	Data  []float64
	Text  []string // elements that are strings
	NaN   []int    // places of elements that are none, 0 in Data
	Valid []int    // rows of each item that count, along the last axis but one or, of three axes, axis 1; nil: all
}

func (t nodeTensor) value() numeric.Value {
	if t.Type == numeric.Str {
		return numeric.Strings(t.Text, t.Dims...)
	}
	v := numeric.NewValue(t.Type, t.Dims...)
	for i, x := range t.Data {
		if slices.Contains(t.NaN, i) {
			x = math.NaN()
		}
		switch t.Type {
		case numeric.F32:
			v.F32()[i] = float32(x)
		case numeric.F64:
			numeric.View[float64](v.Data)[i] = x
		case numeric.F16:
			numeric.View[uint16](v.Data)[i] = numeric.F32ToF16(float32(x))
		case numeric.I64:
			v.I64()[i] = int64(x)
		case numeric.I32:
			v.I32()[i] = int32(x)
		case numeric.I16, numeric.U16:
			numeric.View[uint16](v.Data)[i] = uint16(int(x))
		default:
			v.Data[i] = byte(int(x))
		}
	}
	return v
}

// open says which extents of an input are symbols in a model of open shapes, such as of a transformer: those of items and places.
func (x nodeTensor) open(axis int) bool {
	switch len(x.Dims) {
	case 1, 2:
		return x.Type == numeric.I32 || x.Type == numeric.I64
	case 3:
		return axis < 2
	case 4:
		return axis == 0 || axis == 2
	}
	return false
}

// model returns the bytes of a model of the node alone, with inputs x0, x1, ... and outputs y0, y1, ... With open, equal extents that
// may be open are one symbol.
func (c nodeCase) model(t testing.TB, open bool) []byte {
	t.Helper()
	elem := map[numeric.DataType]int64{}
	for i, d := range dataTypes {
		elem[d.typ] = int64(i)
	}
	var fields [][]byte
	var in, out []string
	for i, x := range c.Inputs {
		name := fmt.Sprint("x", i)
		switch {
		case x == nil:
			name = ""
		case slices.Contains(c.Consts, i):
			fields = append(fields, initializer(name, x.value()))
		default:
			var dims []any
			for axis, d := range x.Dims {
				if open && x.open(axis) && d > 1 {
					dims = append(dims, fmt.Sprint("extent", d))
				} else {
					dims = append(dims, d)
				}
			}
			fields = append(fields, sub(11, valueBytes(name, elem[x.Type], dims...)))
		}
		in = append(in, name)
	}
	for i, y := range c.Outputs {
		if y == nil {
			out = append(out, "")
			continue
		}
		out = append(out, fmt.Sprint("y", i))
		fields = append(fields, sub(12, str(1, out[i])))
	}
	var attrs [][]byte
	for _, name := range slices.Sorted(maps.Keys(c.Attrs)) {
		attrs = append(attrs, attrBytes(t, name, string(c.Attrs[name])))
	}
	fields = append(fields, nodeField(c.Op, "", in, out, append(attrs, str(7, c.Domain))...))
	return msg(num(1, 8), opsetField("", c.Opset), opsetField("com.microsoft", 1), opsetField("ai.onnx.ml", max(1, c.Version)), sub(7, msg(fields...)))
}

// attrBytes returns a node's field for an attribute given as JSON: a number with a point is a float.
func attrBytes(t testing.TB, name, text string) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case string:
		return sub(5, msg(str(1, name), num(20, kindString), str(4, v)))
	case map[string]any:
		var value nodeTensor
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return sub(5, msg(str(1, name), num(20, kindTensor), sub(5, WriteTensor(name, value.value()))))
	case []any:
		if _, ok := v[0].(string); ok {
			fields := [][]byte{str(1, name), num(20, kindStrings)}
			for _, e := range v {
				fields = append(fields, str(9, e.(string)))
			}
			return sub(5, msg(fields...))
		}
		if strings.Contains(text, ".") {
			var floats []byte
			for _, e := range v {
				floats = protowire.AppendFixed32(floats, math.Float32bits(float32(e.(float64))))
			}
			return sub(5, msg(str(1, name), num(20, kindFloats), sub(7, floats)))
		}
		var list []int64
		for _, e := range v {
			list = append(list, int64(e.(float64)))
		}
		return intsAttr(name, list...)
	case float64:
		if !strings.ContainsAny(text, ".e") {
			return intAttr(name, int64(v))
		}
		bits := math.Float32bits(float32(v))
		return sub(5, msg(str(1, name), num(20, kindFloat), protowire.AppendFixed32(protowire.AppendTag(nil, 2, protowire.Fixed32Type), bits)))
	}
	t.Fatalf("attribute %s is %s", name, text)
	return nil
}

// TestNodes compares single nodes with ONNX Runtime.
func TestNodes(t *testing.T) {
	for _, file := range []string{"testdata/nodes.json", "testdata/geometry.json"} {
		for _, c := range readNodes(t, file) {
			t.Run(c.Name, func(t *testing.T) { c.evaluate(t, false) })
		}
	}
}

// TestMicrosoft does so for operators that are imported as several layers.
func TestMicrosoft(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range readNodes(t, "testdata/microsoft.json") {
		covered[c.Op] = true
		t.Run(c.Name, func(t *testing.T) { c.evaluate(t, false) })
		switch c.Op {
		case "BiasSplitGelu", "CausalConvWithState", "FusedConv", "FusedMatMul", "GroupNorm", "SkipGroupNorm", "NhwcConv", "NhwcFusedConv", "QLinearAveragePool", "QLinearGlobalAveragePool":
		default:
			t.Run(c.Name+"/open", func(t *testing.T) { c.evaluate(t, true) })
		}
	}
	for _, c := range graph.Ops().Composites() {
		if op, ok := strings.CutPrefix(c.Onnx, "com.microsoft:"); ok && !covered[op] {
			t.Errorf("no case of %s", c.Onnx)
		}
	}
}

// TestML does so for the operators of ai.onnx.ml.
func TestML(t *testing.T) {
	covered := map[string]bool{"ZipMap": true} // which gives what ONNX Runtime has maps for: TestZipMap
	for _, c := range readNodes(t, "testdata/ml.json") {
		covered[c.Op] = true
		t.Run(c.Name, func(t *testing.T) { c.evaluate(t, false) })
	}
	for _, c := range graph.Ops().Composites() {
		if op, ok := strings.CutPrefix(c.Onnx, "ai.onnx.ml:"); ok && !covered[op] {
			t.Errorf("no case of %s", c.Onnx)
		}
	}
}

func readNodes(t testing.TB, file string) []nodeCase {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []nodeCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// evaluate imports a case, evaluates it and compares.
func (c nodeCase) evaluate(t *testing.T, open bool) {
	n, err := Parse(graph.Ops(), "node", c.model(t, open))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]numeric.Value{}
	for i, x := range c.Inputs {
		if x != nil {
			inputs[fmt.Sprint("x", i)] = x.value()
		}
	}
	got, err := n.Eval(context.Background(), inputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range c.Outputs {
		if y != nil {
			c.compare(t, i, got[fmt.Sprint("y", i)], *y)
		}
	}
}

func (c nodeCase) compare(t *testing.T, i int, v numeric.Value, y nodeTensor) {
	t.Helper()
	if v.Type != y.Type || !slices.Equal(v.Dims, y.Dims) {
		t.Fatalf("output %d is %s%v, want %s%v", i, v.Type, v.Dims, y.Type, y.Dims)
	}
	if v.Type == numeric.Str {
		if got := v.Strings(); !slices.Equal(got, y.Text) {
			t.Fatalf("output %d is %q, want %q", i, got, y.Text)
		}
		return
	}
	for j, x := range v.Floats() {
		want := y.Data[j]
		if v.Type.IsNarrow() { // as it is stored
			x, want = float32(v.Data[j]), float64(y.value().Data[j])
		}
		tol := 1e-5 * max(1, math.Abs(want))
		if v.Type == numeric.F16 {
			tol *= 200
		}
		tol = max(tol, c.Within)
		if v.Type.IsInteger() || v.Type.IsNarrow() {
			tol = c.Steps
		}
		if slices.Contains(y.NaN, j) && x != x {
			continue
		}
		if y.counts(j) && !(math.Abs(float64(x)-want) <= tol) {
			t.Fatalf("output %d, element %d is %v, want %v", i, j, x, want)
		}
	}
}

// counts reports whether an element is one of the rows that count.
func (y nodeTensor) counts(j int) bool {
	if y.Valid == nil {
		return true
	}
	last := len(y.Dims) - 1
	row, item := j/y.Dims[last]%y.Dims[last-1], j/numeric.Count(y.Dims[1:])
	return row < y.Valid[item]
}
