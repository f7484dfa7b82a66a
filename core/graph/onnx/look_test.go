package onnx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// valueInfoField states a value's type and shape.
func valueInfoField(name string, elem int64, dims ...any) []byte {
	return sub(13, valueBytes(name, elem, dims...))
}

// untyped is an output of which only the name is stated.
func untyped(name string) []byte { return sub(12, str(1, name)) }

func customField(op, name string, in, out []string, attrs ...[]byte) []byte {
	return sub(1, msg(nodeBytes(op, name, in, out, attrs...), str(7, "com.example")))
}

func graphAttr(name string, body []byte) []byte {
	return sub(5, msg(str(1, name), num(20, kindGraph), sub(6, body)))
}

// lookCases are models that cannot be run but looked at, with the lines of their networks.
var lookCases = []struct {
	name    string
	model   []byte
	network string
	refused string
}{
	{"in the middle", modelBytes(input("x", 2, 3), nodeField("Relu", "a", list("x"), list("u")), customField("Foo", "f", list("u", "", "w"), list("v", "", "h"), intAttr("hidden_size", 8), intsAttr("axes", 0, 1)),
		initializer("w", twoNumbers), nodeField("Neg", "b", list("v"), list("y")), nodeField("Exp", "c", list("u"), list("z")), output("y", 2, 3), output("z", 2, 3)), `
a: u f32[2,3] = Relu(x) program=relu($0)
f: v ?, f_output1 ?, h ? = unsupported com.example:Foo(u, -, w f32[2]) hidden_size=8 axes=[0 1] (operator is not supported)
b: y f32[2,3] = blocked Neg(v) (its input "v" has no known shape: it comes from unsupported node f)
c: z f32[2,3] = Exp(u) program=exp($0)
`, "com.example:Foo (node f): operator is not supported"},
	{"declared shape", modelBytes(input("x", "n", 3), nodeField("Foo", "f", list("x"), list("v")), nodeField("Neg", "b", list("v"), list("y")), nodeField("TopK", "t", list("v"), list("p", "q")),
		valueInfoField("v", 1, "n", 7, "m", nil), untyped("y"), untyped("q")), `
f: v f32[n,7,m,v_dim3] = unsupported Foo(x) (operator is not supported)
b: y f32[n,7,m,v_dim3] = Neg(v) program=neg($0)
t: p ?, q ? = blocked TopK(v) (-1 elements of axis 3 of v f32[n,7,m,v_dim3])
`, "Foo (node f): operator is not supported"},
	{"shape computation", modelBytes(input("x", 2, 3), nodeField("Foo", "f", list("x"), list("s")), nodeField("Reshape", "r", list("x", "s"), list("y")),
		valueInfoField("s", 7, 2), sub(12, valueBytes("y", 1, 3, 2))), `
f: s i64[2] = unsupported Foo(x) (operator is not supported)
r: y f32[3,2] = blocked Reshape(x, s) (shape s i64[2] does not follow from constants and the inputs' shapes)
`, "Foo (node f): operator is not supported"},
	{"attribute", modelBytes(input("x", 2), nodeField("Relu", "r", list("x"), list("y"), intAttr("odd", 1)), output("y", 2)), `
r: y f32[2] = unsupported Relu(x) odd=1 (attribute odd is not supported)
`, "Relu (node r): attribute odd is not supported"},
	{"subgraph", modelBytes(input("x", 2), initializer("n", numeric.Values(numeric.I64, []int64{3})), nodeField("Bar", "l", list("n", "", "x"), list("y"), graphAttr("body", nil)), output("y", 2)), `
l: y f32[2] = unsupported Bar(n i64[], -, x) body=graph (operator is not supported)
`, "Bar (node l): operator is not supported"},
	{"type of a weight", modelBytes(input("x", 2), sub(5, msg(num(1, 2), num(2, 14), str(8, "w"), sub(9, []byte{1, 2}))), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)), `
a: y f32[2] = unsupported Add(x) (initializer "w": element type complex64 is not supported)
`, `initializer "w": element type complex64 is not supported`},
	{"type of an input", modelBytes(sub(11, valueBytes("s", 14, 2)), input("x", 2), nodeField("Relu", "r", list("s"), list("y")), nodeField("Neg", "n", list("x"), list("z")), untyped("y"), output("z", 2)), `
r: y ? = unsupported Relu(s) (input "s": element type complex64 is not supported)
n: z f32[2] = Neg(x) program=neg($0)
`, `input "s": element type complex64 is not supported`},
	{"constant", modelBytes(input("x", 2), nodeField("Constant", "k", nil, list("c"), intAttr("odd", 1)), nodeField("Add", "a", list("x", "c"), list("y")), output("y", 2)), `
k: c ? = unsupported Constant() odd=1 (attribute odd is not supported)
a: y f32[2] = blocked Add(x, c) (its input "c" has no known shape: it comes from unsupported node k)
`, "Constant (node k): attribute odd is not supported"},
	{"unknown operator set", msg(num(1, 3), opsetField("", 29), sub(7, msg(input("x", 2), relu, output("y", 2)))), `
r: y f32[2] = unsupported Relu(x) (the model's operator set is not supported)
`, "operator set 29 is outside"},
	{"impossible declaration", modelBytes(input("x", 2), nodeField("Foo", "f", list("x"), list("y")), output("y", 1<<40, 1<<40)), `
f: y ? = unsupported Foo(x) (operator is not supported)
`, "Foo (node f): operator is not supported"},
	{"output of another rank", modelBytes(input("x", "n", 2), nodeField("Relu", "r", list("x"), list("y")), output("y", 4, 3, 1)), `
r: y f32[n,2] = Relu(x) program=relu($0)
`, `output "y" is declared with shape [4,3,1]`},
}

func TestLook(t *testing.T) {
	for _, c := range lookCases {
		got, err := Importer{Ops: graph.Ops()}.parse("m.onnx", c.model, nil, true)
		n, refused := got.network, got.refused
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		lines := "\n"
		for _, l := range n.Layers {
			lines += l.String() + "\n"
		}
		if lines != c.network {
			t.Errorf("%s: got%swant%s", c.name, lines, c.network)
		}
		_, strict := Parse(graph.Ops(), "m.onnx", c.model)
		if refused == nil || strict == nil || refused.Error() != strict.Error() || !strings.Contains(refused.Error(), c.refused) {
			t.Errorf("%s: to look at: %v; to run: %v; want %s", c.name, refused, strict, c.refused)
		}
	}
}

// TestLookAtDamaged checks that what is damaged is an error, whoever reads it.
func TestLookAtDamaged(t *testing.T) {
	lookable := map[string]bool{}
	for _, c := range lookCases {
		lookable[string(c.model)] = true
	}
	for _, c := range importErrorCases {
		got, err := Importer{Ops: graph.Ops()}.parse("m.onnx", c.model, nil, true)
		n, refused := got.network, got.refused
		_, strict := Parse(graph.Ops(), "m.onnx", c.model)
		switch c.name {
		case "empty", "text", "truncated", "wrong wire type", "no outputs", "cycle", "two producers", "shadowed input", "missing input", "missing output",
			"too little data", "too few bits", "huge weights", "external data in memory", "recursive function", "unknown opset":
			if e := new(ImportError); errors.As(strict, &e) && !e.Damaged && c.name != "unknown opset" {
				t.Errorf("%s: it is not said to be damaged", c.name)
			}
			if err == nil || !strings.HasPrefix(err.Error(), strict.Error()) {
				t.Errorf("%s: got %v, want %v", c.name, err, strict)
			}
		default:
			if err != nil || refused == nil || refused.Error() != strict.Error() || n == nil {
				t.Errorf("%s: to look at: %v, %v; to run: %v", c.name, refused, err, strict)
			}
		}
	}
}

// TestUnsupportedDoesNotRun checks that nothing computes or stores a layer that is not supported.
func TestUnsupportedDoesNotRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, lookCases[0].model, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Importer{Ops: graph.Ops()}.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Network.Eval(context.Background(), map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 2, 3)}, nil)
	if u := new(graph.UnsupportedError); !errors.As(err, &u) || u.Op != "com.example:Foo" {
		t.Errorf("evaluation: %v", err)
	}
	_, err = f.Network.Encode(func([]byte) int { return 0 })
	if u := new(graph.UnsupportedError); !errors.As(err, &u) || !strings.Contains(err.Error(), "layer f") {
		t.Errorf("storing: %v", err)
	}
	if _, err := Open(graph.Ops(), path); !errors.As(err, new(*ImportError)) {
		t.Errorf("opening: %v", err)
	}
}
